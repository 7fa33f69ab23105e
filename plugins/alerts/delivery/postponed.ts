/** Messages postponed by a cooldown or a mute window: deliveries without a job, due when it ends. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { ENDED_FIELDS, updateDeliveryFailed } from './outcomes.ts'
import { Delivery } from '../models.ts'
import { IS_ABOUT, lockDeliveries, type SubjectKind } from '../locks.ts'

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

/** Makes the next sweep review what is postponed: by a rule that was changed or deleted, or all of it. */
export async function reviewPostponed(trx: Transaction, ruleId: string | null = null): Promise<void> {
  await rows(
    trx,
    `update deliveries set next_attempt_at = now() where id in (
       select id from deliveries
        where company_id = :companyId and ${IS_POSTPONED}
          and (cast(:ruleId as uuid) is null or cast(:ruleId as uuid) = any(rule_ids))
          -- Another transaction that holds one sends or stops it.
        for update skip locked)`,
    { companyId: companyOf(trx), ruleId },
  )
}

/** The subjects and destinations, as `<subject> <destination>`, that postponed messages are about. */
export async function findPostponed(
  trx: Transaction,
  kind: SubjectKind,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const postponed = await rows<{ key: string }>(
    trx,
    `select ${kind}_id || ' ' || destination_id as key from deliveries d
      where company_id = :companyId and ${kind}_id = any(cast(:ids as uuid[])) and ${IS_ABOUT[kind]}
        and ${IS_POSTPONED}`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return new Set(postponed.map(({ key }) => key))
}
