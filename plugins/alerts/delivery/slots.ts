/** Limits the requests in flight to one destination, across all processes and queues. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { type Destination } from '../models.ts'
import { lockDestination } from '../locks.ts'

export const MAX_IN_FLIGHT = 4
/** For a destination whose last attempts timed out, until it answers again. */
const MAX_IN_FLIGHT_SILENT = 1
/** Longer than an attempt takes: an older slot belongs to a process that was lost. */
export const SLOT_LEASE_SECONDS = 60
const POLL_MS = 250

/**
 * Takes a slot of a destination whose row the caller has locked.
 * @param holder the id of the attempt
 * @param isTest whether it may overtake waiting tests; other attempts may not
 * @returns whether a slot was free
 */
export async function takeSlot(
  trx: Transaction,
  { id, silentSince }: Pick<Destination, 'id' | 'silentSince'>,
  holder: string,
  isTest = false,
): Promise<boolean> {
  const taken = await rows(
    trx,
    `with lapsed as (
       delete from destination_slots
        where company_id = :companyId and destination_id = :id
          and taken_at < now() - make_interval(secs => :lapse) and holder <> :holder)
     insert into destination_slots (holder, company_id, destination_id)
     select cast(:holder as uuid), cast(:companyId as uuid), cast(:id as uuid)
      where (select count(*) from destination_slots
              where company_id = :companyId and destination_id = :id
                and taken_at >= now() - make_interval(secs => :lapse) and holder <> :holder
                and not (is_waiting and :isTest)) < :most
     on conflict (holder) do update set is_waiting = false, taken_at = now()
     returning holder`,
    {
      companyId: companyOf(trx),
      id,
      holder,
      isTest,
      lapse: SLOT_LEASE_SECONDS,
      most: silentSince ? MAX_IN_FLIGHT_SILENT : MAX_IN_FLIGHT,
    },
  )
  return taken.length > 0
}

/** Frees the slot of an attempt, if it holds one. Call it after all other rows are locked. */
export async function releaseSlot(trx: Transaction, holder: string): Promise<void> {
  await rows(trx, 'delete from destination_slots where company_id = :companyId and holder = :holder', {
    companyId: companyOf(trx),
    holder,
  })
}

/**
 * Waits until a test has a slot. A waiting test keeps other attempts from starting, so it waits for at most one attempt
 * and for earlier tests.
 * @returns whether it got a slot within `timeoutMs`
 */
export async function waitForSlot(
  server: Server,
  companyId: string,
  destinationId: string,
  holder: string,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const isTaken = await server.db.company(companyId, async trx => {
      const destination = await lockDestination(trx, destinationId)
      if (!destination) return true
      const isFree = await takeSlot(trx, destination, holder, true)
      if (!isFree) await queueForSlot(trx, destinationId, holder)
      return isFree
    })
    if (isTaken) return true
    if (performance.now() + POLL_MS > deadline) break
    await wait(POLL_MS)
  }
  await server.db.company(companyId, trx => releaseSlot(trx, holder))
  return false
}

async function queueForSlot(trx: Transaction, destinationId: string, holder: string): Promise<void> {
  await rows(
    trx,
    `insert into destination_slots (holder, company_id, destination_id, is_waiting)
     values (:holder, :companyId, :destinationId, true)
     on conflict (holder) do update set taken_at = now()`,
    { holder, companyId: companyOf(trx), destinationId },
  )
}
