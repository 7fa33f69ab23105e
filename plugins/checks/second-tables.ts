import type { AssetExtension } from '../catalog/api.ts'
import type { CheckDeps } from './deps.ts'
import { CheckRow } from './models.ts'
import { removeCheck } from './store.ts'

/** Removes checks of two tables, of which the second is of another source that is removed: they have nothing left to compare. */
export function secondTables({ alerts, kinds }: Pick<CheckDeps, 'alerts' | 'kinds'>): AssetExtension {
  return {
    async releaseTables(trx, tableIds) {
      const checks = await CheckRow.query(trx)
        .whereRaw('other_table_id = any(cast(? as uuid[]))', [tableIds])
        .whereRaw('table_id <> all(cast(? as uuid[]))', [tableIds])
        .orderBy('id')
      for (const check of checks) {
        const kind = kinds.get(check.kind)
        if (kind) await removeCheck(alerts, trx, kind, check)
      }
    },
  }
}
