import type { Transaction } from '../../../server/database/database.ts'
import { lockAlerts, lockDeliveries } from '../locks.ts'
import { Alert, Delivery } from '../models.ts'
import { ENDED_FIELDS, updateDeliveryFailed } from './outcomes.ts'

/** Stops the pending deliveries to a destination, whose row the caller has not locked yet. */
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
export async function lockPendingDeliveries(
  trx: Transaction,
  destinationId: string,
): Promise<LockedDeliveries> {
  const pending = Delivery.query(trx).where({ destinationId, status: 'pending' })
  const alerts = await lockAlerts(
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
export async function stopLocked(
  trx: Transaction,
  { alertIds, deliveryIds }: LockedDeliveries,
  reason: string,
): Promise<void> {
  await Delivery.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [deliveryIds])
    .patch({ ...ENDED_FIELDS, status: 'stopped', stoppedReason: reason })
  await updateDeliveryFailed(trx, alertIds)
}
