import { describeMissingCapability, type CheckType } from '../../../checks/check.ts'
import { describeUnsuitedColumn, type SuitedColumn } from '../../../checks/suited-columns.ts'
import type { CatalogApi, Source } from '../../catalog/api.ts'
import type { CheckDeps } from '../deps.ts'
import type { MissingCheckRequest, MissingCheckResult, MissingCheckStore } from './missing-checks.ts'

/** Why a type does not suit a source or a column: which of the two to blame, and a sentence. */
interface SuitabilityRefusal {
  blamed: 'type' | 'column'
  error: string
}

/** What a check of a type and a column is refused for, whatever its config. */
export function findSuitabilityRefusal(
  catalog: CatalogApi,
  type: CheckType,
  source: Source,
  column: SuitedColumn | undefined,
): SuitabilityRefusal | null {
  const connector = catalog.connectorOf(source)
  const missing = describeMissingCapability(type, connector)
  if (missing) return { blamed: 'type', error: missing }
  const error = column ? describeUnsuitedColumn(type, column, connector.dialect) : null
  return error === null ? null : { blamed: 'column', error }
}

const keyOf = (tableId: string, column: string | null) => JSON.stringify([tableId, column])

/** Creates the checks of a type that tables or columns lack, as requests for single ones would create them. */
export async function createMissingChecks(
  { catalog, types }: Pick<CheckDeps, 'catalog' | 'types'>,
  { source, type: name, targets, isDryRun }: MissingCheckRequest,
  store: MissingCheckStore,
): Promise<MissingCheckResult> {
  const type = types.get(name)
  const { suited = [], unsuited = [] } = Object.groupBy(targets, ({ column }) =>
    findSuitabilityRefusal(catalog, type, source, column) ? 'unsuited' : 'suited',
  )
  const ids = [...new Set(suited.map(({ table }) => table.id))]
  const existing = new Set(
    (await store.find(ids)).map(({ tableId, columnName }) => keyOf(tableId, columnName)),
  )
  const created = suited.filter(({ table, column }) => !existing.has(keyOf(table.id, column?.name ?? null)))
  if (!isDryRun && created.length > 0) await store.insert(created)
  return { created, existing: suited.length - created.length, unsuited }
}
