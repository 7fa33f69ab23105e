/** Claims of attempts by jobs: who makes an attempt, and whether its process was lost. */
import { v5 } from 'uuid'
import { rows, type Transaction } from '../../../server/database/database.ts'
import type { JobContext } from '../../../server/jobs/jobs.ts'
import { Delivery, Destination } from '../models.ts'
import { SLOT_LEASE_SECONDS, releaseSlot, takeSlot } from './slots.ts'

/** One attempt: the `n`th of a delivery, from 1. */
export interface AttemptData {
  company_id: string
  delivery_id: string
  n: number
}

/** An attempt that a job has claimed. */
export interface AttemptClaim {
  delivery: Delivery
  destination: Destination
  requestId: string
  startedAt: Date
  /**
   * The fence that says that nothing was sent under this claim: the one before it, which no process can hold any more.
   * After a former claim that was not given back, it is the claim's own, so that the former one records nothing.
   */
  unusedFence: number
  /**
   * `ready`: it holds a slot. `busy`: no slot is free, and the claim is given back. `off`: the destination is off.
   * `lost`: the process of the attempt was lost before it ended, so there is an outcome and nothing to send.
   */
  state: 'off' | 'lost' | 'busy' | 'ready'
}

/** Claims the attempt for this job, unless it was made or another job is at it, and takes a slot of its destination. */
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
  const destination = await Destination.query(trx)
    .findById(delivery.destinationId)
    .forNoKeyUpdate()
    .throwIfNotFound()
  const former = { requestId: requestIdOf(delivery.id, fence - 1), startedAt: formerAt ?? delivery.claimedAt }
  const claim = {
    delivery,
    destination,
    requestId: requestIdOf(delivery.id, fence),
    startedAt: delivery.claimedAt,
    unusedFence: formerJob ? fence : fence - 1,
  }
  if (formerJob) await releaseSlot(trx, former.requestId)
  // A claim that was not given back. One of this job's own may be left by a process that lives, without its database.
  if (formerJob && (formerJob !== jobId || isAfterLoss)) return { ...claim, ...former, state: 'lost' }
  if (!destination.isActive || destination.deletedAt) return { ...claim, state: 'off' }
  if (await takeSlot(trx, destination, claim.requestId)) return { ...claim, state: 'ready' }
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ ...UNCLAIMED_FIELDS, fence: claim.unusedFence })
  return { ...claim, state: 'busy' }
}

/** Seconds until a job looks again that found no free slot at its destination. */
const BUSY_SECONDS = 2
/**
 * The same for a destination that answers nothing, whose one slot is taken for up to 30 seconds: at `BUSY_SECONDS`, its
 * backlog would keep the queue turning. The spread keeps the backlog from coming all at once.
 */
const BUSY_SILENT_SECONDS = 15
const BUSY_SILENT_SPREAD_SECONDS = 10

/** Seconds until a new job claims an attempt that was `busy`. */
export function busySeconds({ silentSince }: Pick<Destination, 'silentSince'>): number {
  return silentSince ? BUSY_SILENT_SECONDS + Math.random() * BUSY_SILENT_SPREAD_SECONDS : BUSY_SECONDS
}

/** The id of the request that is made under a claim: known also when the process that made it is lost. */
function requestIdOf(deliveryId: string, fence: number): string {
  return v5(String(fence), deliveryId)
}

/** Gives back a claim under which no outcome was recorded, so that the attempt is made again. */
export async function releaseClaim(trx: Transaction, { delivery, requestId }: AttemptClaim): Promise<void> {
  await Delivery.query(trx)
    .where({ id: delivery.id, fence: delivery.fence, status: 'pending' })
    .patch(UNCLAIMED_FIELDS)
  await releaseSlot(trx, requestId)
}

/** What is the same of all deliveries that no job is at. */
export const UNCLAIMED_FIELDS = { claimedBy: null, claimedAt: null }
