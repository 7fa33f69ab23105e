import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import { insertAll, type Transaction } from '../../server/database.ts'
import type { EventType } from './api.ts'
import type { Ending } from './message.ts'
import { Alert, AlertMove, OPEN } from './models.ts'
import { tell } from './tell.ts'

/** Why an alert is resolved, and by whom: `system`, `user:<id>` or `key:<id>`. */
export interface Closing extends Ending {
  actor: string
  reason: string | null
}

/** Resolves the open alerts of some causes and sends `alert.resolved` for each. @returns how many were open */
export async function resolveAll(
  server: Server,
  trx: Transaction,
  type: EventType,
  causes: readonly string[],
  reason = 'It recovered',
): Promise<number> {
  if (causes.length === 0) return 0
  const open = await Alert.query(trx)
    .select('id', 'status')
    .where({ kind: type })
    .whereRaw('cause = any(cast(? as text[]))', [[...causes]])
    .whereRaw(OPEN)
    // In the order in which raising locks them.
    .orderByRaw('cause collate "C"')
    .forUpdate()
  await close(server, trx, open, () => ({ actor: 'system', reason }))
  return open.length
}

/**
 * Resolves open alerts whose rows the caller holds, and sends `alert.resolved` for each: who was told that something
 * began is told that it is over.
 * @returns them as they are then
 */
export async function close<Held extends Pick<Alert, 'id' | 'status'>>(
  server: Server,
  trx: Transaction,
  alerts: readonly Held[],
  closingOf: (alert: Held) => Closing,
): Promise<Alert[]> {
  if (alerts.length === 0) return []
  const closings = new Map(alerts.map(alert => [alert.id, closingOf(alert)]))
  const resolved = await Alert.query(trx)
    .whereRaw('id = any(cast(? as uuid[]))', [[...closings.keys()]])
    .patch({ status: 'resolved', resolvedAt: raw('now()') as unknown as Date, snoozedUntil: null })
    .returning('*')
  if (resolved.length < alerts.length)
    throw new Error(`Of the alerts ${[...closings.keys()].join()} one vanished under its lock`)
  const moves = alerts.map(alert => {
    const { actor, reason } = closings.get(alert.id)!
    return { alertId: alert.id, fromStatus: alert.status, toStatus: 'resolved' as const, actor, reason }
  })
  await insertAll(moves, chunk => AlertMove.query(trx).insert(chunk))
  await tell(server, trx, resolved, 'alert.resolved', ({ id }) => closings.get(id)!)
  return resolved
}
