import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../../server/database/database.ts'
import type { OrphanedAlerts } from '../api.ts'
import { Alert, IS_ONGOING } from '../models.ts'
import { resolveOngoing } from './resolve.ts'
import { lockAlerts } from '../locks.ts'

/** What the history of an alert says when nobody looks any more at what it spoke of. */
const REASON = 'It is no longer watched'

/**
 * Resolves the open alerts of what is no longer watched, and sends `alert.resolved` for each. Dismissals end with it.
 * @returns how many were open
 */
export async function resolveOrphaned(
  server: Server,
  trx: Transaction,
  what: OrphanedAlerts,
): Promise<number> {
  const ongoing = Alert.query(trx).select('id', 'status').whereRaw(IS_ONGOING)
  if ('causes' in what) {
    if (what.causes.length === 0) return 0
    void ongoing.where({ kind: what.type }).whereRaw('cause = any(cast(? as text[]))', [[...what.causes]])
  } else {
    if (what.types) void ongoing.whereRaw('kind = any(cast(? as text[]))', [[...what.types]])
    if ('sourceId' in what) void ongoing.where({ sourceId: what.sourceId })
    else if (what.assetIds.length === 0) return 0
    else void ongoing.whereRaw('asset_id = any(cast(? as uuid[]))', [[...what.assetIds]])
  }
  const held = await lockAlerts(ongoing)
  return resolveOngoing(server, trx, held, REASON)
}
