/** Messages postponed by a cooldown: deliveries without a job, due when the cooldown ends. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { ENDED_FIELDS, updateDeliveryFailed } from './outcomes.ts'
import { Delivery } from '../models.ts'
import { lockDeliveries } from '../locks.ts'

/** A condition in SQL on deliveries. */
export const IS_POSTPONED = `status = 'pending' and event_type = 'alert.triggered' and job_id is null and fence = 0`

/** Stops postponed deliveries of alerts that the caller has locked. */
export async function stopPostponed(
  trx: Transaction,
  postponed: readonly { deliveryId: string; alertId: string }[],
  reason: string,
): Promise<void> {
  if (postponed.length === 0) return
  const ids = postponed.map(({ deliveryId }) => deliveryId)
  const locked = Delivery.query(trx).select('id').whereRaw('id = any(cast(? as uuid[]))', [ids])
  await Delivery.query(trx)
    .whereIn('id', lockDeliveries(locked.whereRaw(IS_POSTPONED)))
    .patch({ ...ENDED_FIELDS, status: 'stopped', stoppedReason: reason })
  await updateDeliveryFailed(trx, [...new Set(postponed.map(({ alertId }) => alertId))])
}

/** Makes the next sweep review what a rule postponed, after the rule was changed or deleted. */
export async function reviewPostponed(trx: Transaction, ruleId: string): Promise<void> {
  await rows(
    trx,
    `update deliveries set next_attempt_at = now() where id in (
       select id from deliveries
        where company_id = :companyId and ${IS_POSTPONED} and cast(:ruleId as uuid) = any(rule_ids)
          -- Another transaction that holds one sends or stops it.
        for update skip locked)`,
    { companyId: companyOf(trx), ruleId },
  )
}
