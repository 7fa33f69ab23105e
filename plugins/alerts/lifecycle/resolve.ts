import type { Server } from '@hapi/hapi'
import { insertAll, type Transaction } from '../../../server/database/database.ts'
import type { MessageReason } from './message.ts'
import { Alert, AlertTransition, IS_ONGOING } from '../models.ts'
import { notifyResolved } from './notify.ts'
import { databaseNow } from '../../../server/database/now.ts'
import { lockAlerts } from '../locks.ts'

/** Why an alert is resolved, and by whom: `system`, `user:<id>` or `key:<id>`. */
export interface Resolution extends MessageReason {
  actor: string
  reason: string | null
}

/** An alert whose row the caller holds. */
type LockedAlert = Pick<Alert, 'id' | 'status'>

/**
 * Resolves the open alerts of some causes and sends `alert.resolved` for each. Dismissals of these causes end.
 * @returns how many were open
 */
export async function resolveCauses(
  server: Server,
  trx: Transaction,
  type: string,
  causes: readonly string[],
  reason = 'It recovered',
): Promise<number> {
  if (causes.length === 0) return 0
  const ongoing = await lockAlerts(
    Alert.query(trx)
      .select('id', 'status')
      .where({ kind: type })
      .whereRaw('cause = any(cast(? as text[]))', [[...causes]])
      .whereRaw(IS_ONGOING),
  )
  return resolveOngoing(server, trx, ongoing, reason)
}

/** Resolves ongoing alerts whose rows the caller holds, and ends dismissals. @returns how many were open */
export async function resolveOngoing(
  server: Server,
  trx: Transaction,
  ongoing: readonly LockedAlert[],
  reason: string,
): Promise<number> {
  await endDismissals(
    trx,
    ongoing.filter(alert => !isOpen(alert)),
  )
  const open = ongoing.filter(isOpen)
  await resolveAlerts(server, trx, open, () => ({ actor: 'system', reason }))
  return open.length
}

/**
 * Whether an ongoing alert is open. One that is not is dismissed, or was dismissed and then resolved by the version
 * before, which leaves `dismissal_lasts` set.
 */
export function isOpen({ status }: Pick<Alert, 'status'>): boolean {
  return status !== 'dismissed' && status !== 'resolved'
}

/** Ends dismissals that last: the next failure opens a new alert. */
export async function endDismissals(trx: Transaction, closed: readonly LockedAlert[]): Promise<void> {
  if (closed.length === 0) return
  await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [closed.map(({ id }) => id)])
    .patch({ dismissalLasts: false })
}

/**
 * Resolves open alerts whose rows the caller holds, and sends `alert.resolved` to those who were notified that they
 * began.
 * @returns them as they are then
 */
export async function resolveAlerts<Each extends LockedAlert>(
  server: Server,
  trx: Transaction,
  alerts: readonly Each[],
  closingOf: (alert: Each) => Resolution,
): Promise<Alert[]> {
  const closings = new Map(alerts.map(alert => [alert.id, closingOf(alert)]))
  const reasonOf = ({ id }: Pick<Alert, 'id'>) => closings.get(id)!
  const resolved = await markResolved(trx, alerts, reasonOf)
  await notifyResolved(server, trx, { alerts: resolved, reasonOf })
  return resolved
}

/** The same without a message. */
export async function markResolved(
  trx: Transaction,
  alerts: readonly LockedAlert[],
  closingOf: (alert: LockedAlert) => Resolution,
): Promise<Alert[]> {
  if (alerts.length === 0) return []
  const ids = alerts.map(({ id }) => id)
  const resolved = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [ids])
    .patch({
      status: 'resolved',
      resolvedAt: databaseNow(),
      snoozedUntil: null,
      dismissalLasts: false,
    })
    .returning('*')
  if (resolved.length < alerts.length) throw new Error(`An alert of ${ids.join()} vanished under its lock`)
  const moves = alerts.map(alert => {
    const { actor, reason } = closingOf(alert)
    return { alertId: alert.id, fromStatus: alert.status, toStatus: 'resolved' as const, actor, reason }
  })
  await insertAll(moves, chunk => AlertTransition.query(trx).insert(chunk))
  return resolved
}
