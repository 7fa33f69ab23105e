/** Messages that a cooldown holds back: rows of deliveries without a job, due when the cooldown ends. */
import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { ENDED_FIELDS, type OutgoingMessage } from './delivery.ts'
import { updateDeliveryFailed } from './delivery-failed.ts'
import { Delivery } from '../models.ts'

/** Whether a delivery is postponed, a condition in SQL. */
export const IS_POSTPONED = `status = 'pending' and event_type = 'alert.triggered' and job_id is null and fence = 0`

/** Stores messages that wait until a time. The sweep sends them if the trouble lasts until then. */
export async function postponeMessages(
  trx: Transaction,
  postponed: readonly { message: OutgoingMessage; until: Date }[],
): Promise<void> {
  const deliveries = postponed.map(
    ({ message: { isFailing: _isFailing, isWaiting: _isWaiting, ...message }, until }) => ({
      ...message,
      id: v7(),
      messageId: message.alertId,
      nextAttemptAt: until,
    }),
  )
  await insertAll(deliveries, chunk => Delivery.query(trx).insert(chunk))
}

/** Ends postponed deliveries of alerts that the caller has locked, so that nothing is sent. */
export async function stopPostponed(
  trx: Transaction,
  postponed: readonly { deliveryId: string; alertId: string }[],
  reason: string,
): Promise<void> {
  if (postponed.length === 0) return
  const ids = postponed.map(({ deliveryId }) => deliveryId)
  const held = Delivery.query(trx).select('id').whereRaw('id = any(cast(? as uuid[]))', [ids])
  await Delivery.query(trx)
    .whereIn('id', held.whereRaw(IS_POSTPONED).orderBy('id').forUpdate())
    .patch({ ...ENDED_FIELDS, status: 'stopped', stoppedReason: reason })
  await updateDeliveryFailed(trx, [...new Set(postponed.map(({ alertId }) => alertId))])
}

/** Has the next sweep decide anew about what a rule postponed, since the rule was changed or deleted. */
export async function reviewPostponed(trx: Transaction, ruleId: string): Promise<void> {
  await rows(
    trx,
    `update deliveries set next_attempt_at = now() where id in (
       select id from deliveries
        where company_id = :companyId and ${IS_POSTPONED} and cast(:ruleId as uuid) = any(rule_ids)
          -- What another transaction holds is sent, or stopped, by it.
        for update skip locked)`,
    { companyId: companyOf(trx), ruleId },
  )
}
