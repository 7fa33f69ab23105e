/** Limits the requests in flight to one destination, across all processes and queues. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import {
  companyOf,
  rows,
  sendStatements,
  type Reading,
  type Transaction,
} from '../../../server/database/database.ts'
import { type Destination } from '../models.ts'
import { lockDestination } from '../locks.ts'

export const MAX_IN_FLIGHT = 4
/** For a destination whose last attempts timed out, until it answers again. */
const MAX_IN_FLIGHT_SILENT = 1
/** Longer than an attempt takes: an older slot belongs to a process that was lost. */
export const SLOT_LEASE_SECONDS = 60
const POLL_MS = 250

/** What asks for a slot: the id of an attempt. */
export interface SlotRequest {
  holder: string
  destination: Pick<Destination, 'id' | 'silentSince'>
}

/**
 * Takes slots of destinations whose rows the caller has locked, in the order of the requests.
 * @param isTest whether they may overtake waiting tests; other attempts may not
 * @returns the holders that got one
 */
export async function takeSlots(
  trx: Transaction,
  requests: readonly SlotRequest[],
  isTest = false,
): Promise<Set<string>> {
  if (requests.length === 0) return new Set()
  const asked = requests.map(({ holder, destination: { id, silentSince } }, place) => ({
    holder,
    place,
    destination_id: id,
    most: silentSince ? MAX_IN_FLIGHT_SILENT : MAX_IN_FLIGHT,
  }))
  const taking: Reading<{ holder: string }> = {
    name: 'take slots',
    text: `with asked as (
       select * from jsonb_to_recordset(cast(:asked as jsonb))
           as a (holder uuid, place int, destination_id uuid, most int)),
     others as (
       select s.* from destination_slots s
        where company_id = :companyId and destination_id in (select destination_id from asked)
          and holder not in (select holder from asked)),
     lapsed as (
       delete from destination_slots
        where company_id = :companyId and holder in (
          select holder from others where taken_at < now() - make_interval(secs => :lapse))),
     ranked as (
       select a.*, row_number() over (partition by destination_id order by place) +
              (select count(*) from others o
                where o.destination_id = a.destination_id and taken_at >= now() - make_interval(secs => :lapse)
                  and not (is_waiting and :isTest)) as rank
         from asked a)
     insert into destination_slots (holder, company_id, destination_id)
     select holder, cast(:companyId as uuid), destination_id from ranked where rank <= most
     on conflict (holder) do update set is_waiting = false, taken_at = now()
     returning holder`,
    bindings: { companyId: companyOf(trx), asked: JSON.stringify(asked), isTest, lapse: SLOT_LEASE_SECONDS },
  }
  const [slots] = await sendStatements(trx, [taking])
  return new Set(slots.map(({ holder }) => holder))
}

/** Frees the slots of attempts that hold one. Call it after all other rows are locked. */
export async function releaseSlots(trx: Transaction, holders: readonly string[]): Promise<void> {
  if (holders.length === 0) return
  const releasing: Reading<object> = {
    name: 'release slots',
    text: 'delete from destination_slots where company_id = :companyId and holder = any(cast(:holders as uuid[]))',
    bindings: { companyId: companyOf(trx), holders: [...holders] },
  }
  await sendStatements(trx, [releasing])
}

/**
 * Waits until a test has a slot. A waiting test keeps other attempts from starting, so it waits for at most one attempt
 * and for earlier tests.
 * @returns whether it got a slot within `timeoutMs`
 */
export async function waitForSlot(
  db: Deps['db'],
  companyId: string,
  destinationId: string,
  holder: string,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const isTaken = await db.company(companyId, async trx => {
      const destination = await lockDestination(trx, destinationId)
      if (!destination) return true
      const isFree = (await takeSlots(trx, [{ holder, destination }], true)).has(holder)
      if (!isFree) await queueForSlot(trx, destinationId, holder)
      return isFree
    })
    if (isTaken) return true
    if (performance.now() + POLL_MS > deadline) break
    await wait(POLL_MS)
  }
  await db.company(companyId, trx => releaseSlots(trx, [holder]))
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
