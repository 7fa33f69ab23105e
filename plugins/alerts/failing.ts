import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { audit } from '../../server/audit.ts'
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { Delivery, Destination } from './models.ts'

/** Days of nothing but failures after which a destination is switched off. */
const DAYS = 5

/** What makes a destination one to switch off: a failure for good, after so many days without a success. */
const HOPELESS = `is_active and deleted_at is null and failing_since <= now() - interval '${DAYS} days'
  and exists (
    select 1 from deliveries d
     where d.company_id = destinations.company_id and d.destination_id = destinations.id
       and d.created_at >= destinations.failing_since and d.status = 'failed'
       and d.completed_at >= destinations.failing_since + interval '${DAYS} days')`

/** Switches off, in all companies, destinations that nothing has reached for days. @returns how many */
export async function switchOffHopeless(server: Server): Promise<number> {
  const hopeless = await server.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from destinations where ${HOPELESS}`,
  )
  let count = 0
  for (const { id, companyId } of hopeless)
    if (await server.db.company(companyId, trx => switchOff(server, trx, id))) count += 1
  return count
}

/**
 * Switches a destination off, unless it has recovered meanwhile, stops what is on its way to it and tells the others.
 * Its alert is locked after it, against the order: nobody holds the row of an alert that does not exist, or of one
 * that is open only while its destination is off.
 */
async function switchOff(server: Server, trx: Transaction, id: string): Promise<boolean> {
  await Delivery.query(trx)
    .select('id')
    .where({ destinationId: id, status: 'pending' })
    .orderBy('id')
    .forUpdate()
  const before = await Destination.query(trx).findById(id).whereRaw(HOPELESS).forNoKeyUpdate()
  if (!before) return false
  const reason = `Every attempt has failed since ${before.failingSince?.toISOString()}: switched off after ${DAYS} days. Mend it, then switch it on again`
  await stopDeliveries(trx, id, 'The destination was switched off: every attempt had failed for days')
  await Destination.query(trx)
    .where({ id })
    .patch({ isActive: false, disabledReason: reason, updatedAt: raw('now()') })
  const details = { destination_type: before.destinationType, failing_since: before.failingSince }
  await server.plugins.alerts.raise(trx, {
    type: 'destination_disabled',
    cause: id,
    severity: 'warning',
    sourceId: null,
    asset: { id, qualifiedName: before.name, assetType: 'destination' },
    ruleName: before.name,
    title: `The destination ${before.name} was switched off: every attempt to reach it has failed for ${DAYS} days`,
    details,
  })
  const origin = { companyId: companyOf(trx), actor: 'system' }
  await audit(trx, origin, { action: 'destination.disabled', target: { type: 'destination', id }, details })
  return true
}

/** Ends all that is on its way to a destination. Rows are locked by their ids, as everybody does. */
export async function stopDeliveries(trx: Transaction, destinationId: string, reason: string): Promise<void> {
  await rows(
    trx,
    `update deliveries set status = 'stopped', stopped_reason = :reason, completed_at = now(),
            next_attempt_at = null, claimed_by = null, claimed_at = null
      where company_id = :companyId and id in (
        select id from deliveries
         where company_id = :companyId and destination_id = :destinationId and status = 'pending'
         order by id for update)`,
    { companyId: companyOf(trx), destinationId, reason },
  )
}
