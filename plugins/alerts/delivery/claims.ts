/** Claims of attempts by jobs. A claim that was never released shows that the process of its attempt was lost. */
import { v5 } from 'uuid'
import { rows, type Transaction } from '../../../server/database/database.ts'
import type { JobContext } from '../../../server/jobs/jobs.ts'
import { Delivery, type Destination } from '../models.ts'
import { SLOT_LEASE_SECONDS, releaseSlot, takeSlot } from './slots.ts'
import { lockDestination } from '../locks.ts'

/** The data of an attempt job: the `n`th attempt of a delivery, from 1. */
export interface AttemptData {
  company_id: string
  delivery_id: string
  n: number
}

export interface AttemptClaim {
  delivery: Delivery
  destination: Destination
  requestId: string
  startedAt: Date
  /**
   * The fence to store if nothing was sent under this claim: the previous one, which no process can hold any more. After
   * a former claim that was not released, it is the claim's own, so that the former one cannot record an outcome.
   */
  unusedFence: number
  /**
   * `ready`: the claim holds a slot. `busy`: no slot is free, and the claim is released. `off`: the destination is
   * switched off or deleted. `lost`: the process of the attempt was lost, so its outcome is `interrupted`.
   */
  state: 'off' | 'lost' | 'busy' | 'ready'
}

/** Claims the attempt and takes a slot of its destination. @returns null if it was made or another job holds it */
export async function claimAttempt(
  trx: Transaction,
  job: AttemptData,
  { id: jobId, isAfterLoss }: Pick<JobContext, 'id' | 'isAfterLoss'>,
): Promise<AttemptClaim | null> {
  const [delivery] = await rows<Delivery & { formerJob: string | null; formerAt: Date | null }>(
    trx,
    `with former as (
       select id, claimed_by, claimed_at from deliveries
        where company_id = :companyId and id = :id and status = 'pending' and attempt = :n - 1
          and (claimed_by is null or claimed_by = :jobId or claimed_at < now() - make_interval(secs => :seconds))
          for update)
     update deliveries d set fence = fence + 1, claimed_by = :jobId, claimed_at = now()
       from former f where d.company_id = :companyId and d.id = :id and f.id = d.id
     returning d.*, f.claimed_by as former_job, f.claimed_at as former_at`,
    { jobId, companyId: job.company_id, id: job.delivery_id, n: job.n, seconds: SLOT_LEASE_SECONDS },
  )
  if (!delivery?.claimedAt) return null
  const { formerJob, formerAt, fence } = delivery
  const destination = await lockDestination(trx, delivery.destinationId).throwIfNotFound()
  const former = { requestId: requestIdOf(delivery.id, fence - 1), startedAt: formerAt ?? delivery.claimedAt }
  const claim = {
    delivery,
    destination,
    requestId: requestIdOf(delivery.id, fence),
    startedAt: delivery.claimedAt,
    unusedFence: formerJob ? fence : fence - 1,
  }
  if (formerJob) await releaseSlot(trx, former.requestId)
  // A claim that was not released. One of this job may come from a process that is alive but lost its database.
  if (formerJob && (formerJob !== jobId || isAfterLoss)) return { ...claim, ...former, state: 'lost' }
  if (!destination.isActive || destination.deletedAt) return { ...claim, state: 'off' }
  if (await takeSlot(trx, destination, claim.requestId)) return { ...claim, state: 'ready' }
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ ...UNCLAIMED_FIELDS, fence: claim.unusedFence })
  return { ...claim, state: 'busy' }
}

const BUSY_SECONDS = 2
/**
 * For a silent destination, whose only slot is taken for up to 30 seconds: at `BUSY_SECONDS`, its backlog would occupy
 * the queue. The spread keeps the backlog from becoming due all at once.
 */
const BUSY_SILENT_SECONDS = 15
const BUSY_SILENT_SPREAD_SECONDS = 10

/** Seconds until a `busy` attempt is claimed again. */
export function busySeconds({ silentSince }: Pick<Destination, 'silentSince'>): number {
  return silentSince ? BUSY_SILENT_SECONDS + Math.random() * BUSY_SILENT_SPREAD_SECONDS : BUSY_SECONDS
}

/** Derived, so that the id is known even if the process that made the request is lost. */
const requestIdOf = (deliveryId: string, fence: number): string => v5(String(fence), deliveryId)

/** Releases a claim under which no outcome was recorded, so that the attempt is made again. */
export async function releaseClaim(trx: Transaction, { delivery, requestId }: AttemptClaim): Promise<void> {
  await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch(UNCLAIMED_FIELDS)
  await releaseSlot(trx, requestId)
}

export const UNCLAIMED_FIELDS = { claimedBy: null, claimedAt: null }
