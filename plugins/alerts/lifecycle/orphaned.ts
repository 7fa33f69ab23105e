import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../../server/database/database.ts'
import type { OrphanedAlerts } from '../api.ts'
import { Alert, IS_ONGOING } from '../models.ts'
import { resolveOngoing } from './resolve.ts'
import { lockAlerts } from '../locks.ts'

/** `resolveOrphaned` of the API of alerts. */
export async function resolveOrphaned(
  server: Server,
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
      const rechecked = server.plugins.alerts.kinds.all().filter(({ isRechecked }) => isRechecked)
      void ongoing.whereRaw('kind = any(cast(? as text[]))', [rechecked.map(({ name }) => name)])
    }
    if ('sourceId' in orphaned) void ongoing.where({ sourceId: orphaned.sourceId })
    else if (orphaned.assetIds.length === 0) return 0
    else void ongoing.whereRaw('asset_id = any(cast(? as uuid[]))', [[...orphaned.assetIds]])
  }
  return resolveOngoing(server, trx, await lockAlerts(ongoing), 'It is no longer watched')
}
