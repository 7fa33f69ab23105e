/** What checks of two tables have alike: how the second is loaded, and what becomes of them without it. */
import type { Transaction } from '../../server/database/database.ts'
import type { AssetExtension, CatalogApi, TableContext } from '../catalog/api.ts'
import type { CheckDeps } from './deps.ts'
import { publicIdOf, type Capture, type StoredKind } from './kind.ts'
import { CheckRow } from './models.ts'
import { removeCheck } from './store.ts'

/** The second tables of checks by their ids; undefined of one that is gone. */
export async function loadSecondTables(
  catalog: Pick<CatalogApi, 'loadTable'>,
  trx: Transaction,
  checks: readonly CheckRow[],
): Promise<Map<string, TableContext | undefined>> {
  const tables = new Map<string, TableContext | undefined>()
  for (const id of new Set(checks.map(({ otherTableId }) => otherTableId!)))
    tables.set(id, await catalog.loadTable(trx, id))
  return tables
}

/** The causes of the alerts of checks that cannot recover, since their second table is gone. */
export function causesWithoutSecondTable(
  kind: Pick<StoredKind, 'idPrefix'>,
  captures: readonly Capture[],
): string[] {
  return captures
    .filter(({ outcome, other }) => outcome.status === 'error' && !other?.isActive)
    .map(({ row }) => publicIdOf(kind, row))
}

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
