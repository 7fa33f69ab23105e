import { insertAll, type Transaction } from '../../../server/database/database.ts'
import { databaseNow } from '../../../server/database/now.ts'
import type { AlertResolution, OrphanedAlerts } from '../api.ts'
import type { Deps } from '../deps.ts'
import { lockAlerts } from '../locks.ts'
import type { MessageReason } from '../messages/message.ts'
import { Alert, AlertTransition, IS_ONGOING, isOpen } from '../models.ts'
import { notifyResolved } from '../rules/notify.ts'
import { noticeAlerts } from './notice.ts'

/** The reason and the actor of a resolution: `system`, `user:<id>` or `key:<id>`. */
interface Resolution extends MessageReason {
  actor: string
  reason: string | null
  /** What a person stated about the end of the alert. */
  resolution?: AlertResolution | null
}

/** An alert whose row the caller has locked. */
type LockedAlert = Pick<Alert, 'id' | 'status'>

/**
 * Resolves the open alerts of some causes and sends `alert.resolved` for each. Dismissals of these causes end.
 * @returns how many were open
 */
export async function resolveCauses(
  deps: Deps,
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
  return resolveOngoing(deps, trx, ongoing, reason)
}

export async function resolveOrphaned(
  deps: Deps,
  trx: Transaction,
  orphaned: OrphanedAlerts,
): Promise<number> {
  const ongoing = Alert.query(trx).select('id', 'status').whereRaw(IS_ONGOING)
  if ('causes' in orphaned) {
    if (orphaned.causes.length === 0) return 0
    void ongoing
      .where({ kind: orphaned.type })
      .whereRaw('cause = any(cast(? as text[]))', [[...orphaned.causes]])
  } else {
    if (orphaned.onlyRechecked) {
      const rechecked = deps.kinds.all().filter(({ isRechecked }) => isRechecked)
      void ongoing.whereRaw('kind = any(cast(? as text[]))', [rechecked.map(({ name }) => name)])
    }
    if ('sourceId' in orphaned) void ongoing.where({ sourceId: orphaned.sourceId })
    else if (orphaned.assetIds.length === 0) return 0
    else void ongoing.whereRaw('asset_id = any(cast(? as uuid[]))', [[...orphaned.assetIds]])
  }
  return resolveOngoing(deps, trx, await lockAlerts(ongoing), 'It is no longer watched')
}

/** Resolves locked ongoing alerts, and ends dismissals. @returns how many were open */
async function resolveOngoing(
  deps: Deps,
  trx: Transaction,
  ongoing: readonly LockedAlert[],
  reason: string,
): Promise<number> {
  const closed = ongoing.filter(alert => !isOpen(alert))
  await endDismissals(trx, closed)
  const open = ongoing.filter(isOpen)
  await resolveAlerts(deps, trx, open, () => ({ actor: 'system', reason }))
  return open.length
}

/** Ends lasting dismissals: the next failure opens a new alert. */
export async function endDismissals(trx: Transaction, closed: readonly LockedAlert[]): Promise<void> {
  if (closed.length === 0) return
  await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [closed.map(({ id }) => id)])
    .patch({ dismissalLasts: false })
}

/** Resolves locked open alerts, and sends `alert.resolved` to the notified destinations. @returns the resolved alerts */
export async function resolveAlerts<Each extends LockedAlert>(
  deps: Deps,
  trx: Transaction,
  alerts: readonly Each[],
  resolutionOf: (alert: Each) => Resolution,
): Promise<Alert[]> {
  const resolutions = new Map(alerts.map(alert => [alert.id, resolutionOf(alert)]))
  const reasonOf = ({ id }: Pick<Alert, 'id'>) => resolutions.get(id)!
  const resolved = await markResolved(trx, alerts, reasonOf)
  await notifyResolved(deps, trx, { alerts: resolved, reasonOf })
  await noticeAlerts(deps, trx, resolved)
  return resolved
}

/** Resolves locked alerts without sending messages. */
export async function markResolved(
  trx: Transaction,
  alerts: readonly LockedAlert[],
  resolutionOf: (alert: LockedAlert) => Resolution,
): Promise<Alert[]> {
  if (alerts.length === 0) return []
  const ids = alerts.map(({ id }) => id)
  const resolved = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [ids])
    .patch({ status: 'resolved', resolvedAt: databaseNow(), snoozedUntil: null, dismissalLasts: false })
    .returning('*')
  if (resolved.length < alerts.length) throw new Error(`An alert of ${ids.join()} vanished under its lock`)
  const transitions = alerts.map(alert => {
    const { actor, reason, resolution = null } = resolutionOf(alert)
    const toStatus = 'resolved' as const
    return { alertId: alert.id, fromStatus: alert.status, toStatus, actor, reason, resolution }
  })
  await insertAll(transitions, chunk => AlertTransition.query(trx).insert(chunk))
  return resolved
}
