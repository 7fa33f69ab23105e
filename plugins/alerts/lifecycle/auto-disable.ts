import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { audit } from '../../../server/http/audit.ts'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import { ENDED_FIELDS, updateDeliveryFailed } from '../delivery/outcomes.ts'
import { Alert, Delivery, Destination } from '../models.ts'
import { destinationDisabled } from '../kinds.ts'
import { sweepCompanies, type SweepContext } from '../delivery/sweep-companies.ts'
import { lockAlertsOfDeliveries, lockDeliveries, lockDestination } from '../locks.ts'

/** A destination that every attempt has failed to reach for so long is switched off. */
const FAILING_DAYS = 5

/** A condition in SQL on destinations: no success for `FAILING_DAYS`, and since then a delivery that has failed for good. */
const IS_TO_DISABLE = `is_active and deleted_at is null and failing_since <= now() - interval '${FAILING_DAYS} days'
  and exists (
    select 1 from deliveries d
     where d.company_id = destinations.company_id and d.destination_id = destinations.id
       and d.created_at >= destinations.failing_since and d.status = 'failed'
       and d.completed_at >= destinations.failing_since + interval '${FAILING_DAYS} days')`

/** Switches off destinations of all companies that have failed for `FAILING_DAYS`. @returns how many */
export async function disableFailingDestinations({ server, log }: SweepContext): Promise<number> {
  const failing = await server.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from destinations where ${IS_TO_DISABLE}`,
  )
  return sweepCompanies(log, 'disable failing destinations', failing, async (companyId, those) => {
    let count = 0
    for (const { id } of those)
      if (await server.db.company(companyId, trx => disableDestination(server, trx, id))) count += 1
    return count
  })
}

/**
 * Switches a destination off unless it recovered meanwhile, stops its pending deliveries and notifies the other
 * destinations. Locks its alert after it, against the lock order: no transaction holds the row of an alert that does not
 * exist, or that is open only while its destination is off.
 */
async function disableDestination(server: Server, trx: Transaction, id: string): Promise<boolean> {
  const locked = await lockPendingDeliveries(trx, id)
  const before = await lockDestination(trx, id).whereRaw(IS_TO_DISABLE)
  if (!before) return false
  const reason = `Every attempt has failed since ${before.failingSince?.toISOString()}: switched off after ${FAILING_DAYS} days. Correct it, then switch it on again`
  await stopLocked(trx, locked, 'The destination was switched off: every attempt had failed for days')
  await Destination.query(trx)
    .where({ id })
    .patch({ isActive: false, disabledReason: reason, updatedAt: raw('now()') })
  const details = { destination_type: before.destinationType, failing_since: before.failingSince }
  await server.plugins.alerts.raise(trx, {
    type: destinationDisabled.name,
    cause: id,
    severity: 'warning',
    sourceId: null,
    asset: { id, qualifiedName: before.name, assetType: 'destination' },
    ruleName: before.name,
    title: `The destination ${before.name} was switched off: every attempt to reach it has failed for ${FAILING_DAYS} days`,
    details,
  })
  const origin = { companyId: companyOf(trx), actor: 'system' }
  await audit(trx, origin, { action: 'destination.disabled', target: { type: 'destination', id }, details })
  return true
}

export async function stopDeliveries(trx: Transaction, destinationId: string, reason: string): Promise<void> {
  await stopLocked(trx, await lockPendingDeliveries(trx, destinationId), reason)
}

interface LockedDeliveries {
  alertIds: string[]
  deliveryIds: string[]
}

/**
 * Locks the pending deliveries to a destination. Lock order: alerts by kind and cause, as raising does, then deliveries by
 * id. A delivery that is added meanwhile ends with its first attempt, which finds the destination off.
 */
async function lockPendingDeliveries(trx: Transaction, destinationId: string): Promise<LockedDeliveries> {
  const pending = Delivery.query(trx).where({ destinationId, status: 'pending' })
  const alerts = await lockAlertsOfDeliveries(
    Alert.query(trx).select('id').whereIn('id', pending.clone().select('alertId')),
  )
  const alertIds = alerts.map(({ id }) => id)
  const deliveries = await lockDeliveries(
    pending
      .select('id')
      .where(
        either =>
          void either.whereNull('alertId').orWhereRaw('alert_id = any(cast(? as uuid[]))', [alertIds]),
      ),
  )
  return { alertIds, deliveryIds: deliveries.map(({ id }) => id) }
}

/** Stops locked deliveries; each may have been the last one that could still reach a receiver of its alert. */
async function stopLocked(trx: Transaction, { alertIds, deliveryIds }: LockedDeliveries, reason: string) {
  await Delivery.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [deliveryIds])
    .patch({ ...ENDED_FIELDS, status: 'stopped', stoppedReason: reason })
  await updateDeliveryFailed(trx, alertIds)
}
