/** Outcomes of attempts, as columns of deliveries and their attempts. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { DeliveryOutcome } from '../destinations/destination.ts'
import { DeliveryAttempt, type Delivery } from '../models.ts'
import { UNCLAIMED_FIELDS, type AttemptClaim } from './claims.ts'
import { databaseNow } from '../../../server/database/now.ts'

/** Milliseconds within which receivers should answer. */
const SLOW_MS = 5_000

export const ENDED_FIELDS = { completedAt: databaseNow(), nextAttemptAt: null, ...UNCLAIMED_FIELDS }

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
