import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'

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
