/** Outcomes of attempts, as columns of deliveries and their attempts. */
import { companyOf, rows, type Reading, type Transaction } from '../../../server/database/database.ts'
import { failedOutcome, type DeliveryOutcome } from '../destinations/destination.ts'
import { DeliveryAttempt, type Delivery } from '../models.ts'
import { UNCLAIMED_FIELDS, type AttemptClaim } from './claims.ts'
import { databaseNow } from '../../../server/database/now.ts'

/** Milliseconds within which receivers should answer. */
const SLOW_MS = 5_000

export const ENDED_FIELDS = { completedAt: databaseNow(), nextAttemptAt: null, ...UNCLAIMED_FIELDS }

export const INTERRUPTED = failedOutcome(
  'interrupted',
  'The process that made the attempt was lost before it ended: the receiver may have got the message',
)

/** @param delay seconds until the next attempt; undefined if there is none */
export async function statusAfterAttempt(
  trx: Transaction,
  delivery: Delivery,
  outcome: DeliveryOutcome,
  delay: number | undefined,
): Promise<Delivery['status']> {
  if (outcome.isDelivered) return 'delivered'
  if (delay !== undefined) return 'pending'
  if (delivery.trigger === 'automatic') return 'failed'
  // A failed redelivery does not undo an earlier success.
  const delivered = await DeliveryAttempt.query(trx)
    .where({ deliveryId: delivery.id })
    .whereNull('errorClass')
    .resultSize()
  return delivered > 0 ? 'delivered' : 'failed'
}

/** The `n`th attempt of a delivery, and how it ended. */
export interface EndedAttempt {
  claim: AttemptClaim
  n: number
  outcome: DeliveryOutcome
}

/** The end of an attempt on its delivery. */
interface EndedRow {
  id: string
  /** Of the claim: another one in the table means that the attempt was taken over. */
  fence: number
  n: number
  status: Delivery['status']
  /** Null leaves them as they are. */
  served: readonly string[] | null
  /** Seconds until the next attempt, and its job; null if there is none. */
  delay: number | null
  job_id: string | null
}

/** Stores the ends of attempts on their deliveries where the fence still holds, as a statement that returns those. */
export function endedStore(trx: Transaction, ended: readonly EndedRow[]): Reading<{ id: string }> {
  return {
    name: 'store ended attempts',
    text: `with ended as (
       select id, fence, n, status, delay, job_id,
              case when jsonb_typeof(served) = 'array' then array(select jsonb_array_elements_text(served)) end as served
         from jsonb_to_recordset(cast(:ended as jsonb))
           as e (id uuid, fence int, n int, status text, served jsonb, delay float8, job_id uuid))
     update deliveries d
        set status = e.status, attempt = e.n, served = coalesce(e.served, d.served),
            claimed_by = null, claimed_at = null, job_id = coalesce(e.job_id, d.job_id),
            completed_at = case when e.delay is null then now() end,
            next_attempt_at = now() + make_interval(secs => e.delay)
       from ended e
      where d.company_id = :companyId and d.id = any(cast(:ids as uuid[])) and d.id = e.id
        and d.fence = e.fence and d.status = 'pending'
     returning d.id`,
    bindings: { companyId: companyOf(trx), ended: JSON.stringify(ended), ids: ended.map(({ id }) => id) },
  }
}

export function attemptRow(
  {
    delivery,
    requestId,
    startedAt,
  }: Pick<AttemptClaim, 'requestId' | 'startedAt'> & { delivery: Pick<Delivery, 'id' | 'trigger'> },
  n: number,
  { isDelivered: _isDelivered, served: _served, ...outcome }: DeliveryOutcome,
): Partial<DeliveryAttempt> {
  return {
    ...outcome,
    deliveryId: delivery.id,
    n,
    requestId,
    trigger: delivery.trigger,
    startedAt,
    // The start of its transaction, from which the delay of the next attempt counts too.
    endedAt: databaseNow(),
    isSlow: outcome.latencyMs > SLOW_MS,
  }
}

/** Updates `delivery_failed` of locked alerts: true if one of their messages failed at every destination. */
export async function updateDeliveryFailed(trx: Transaction, ids: readonly string[]): Promise<void> {
  await rows(
    trx,
    `update alerts a set delivery_failed = not delivery_failed
      where company_id = :companyId and id = any(cast(:ids as uuid[])) and delivery_failed <> exists (
        select 1 from deliveries d where d.company_id = :companyId and d.alert_id = a.id
            -- A simulated delivery reached no receiver.
            and destination_id not in (select id from destinations where company_id = :companyId and is_demo)
          group by event_type
        having bool_or(status = 'failed') and not bool_or(status in ('pending', 'delivered')))`,
    { companyId: companyOf(trx), ids },
  )
}
