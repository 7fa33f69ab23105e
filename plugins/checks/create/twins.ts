/** Checks that are there already and find the same wrong as a new one. */
import { tablePath } from '../../../connectors/catalog.ts'
import type { ExistingCheck } from '../../../server/http/trial-schemas.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { CheckResource } from '../check-resource.ts'
import type { CheckDeps } from '../deps.ts'
import { publicIdOf } from '../kind.ts'
import { queryChecks, type CheckRow, type NewRow, type TableNames } from '../models.ts'
import { checksWithNames } from '../store.ts'
import { findTheSame } from '../reconcile/same-check.ts'

/** What a new check is compared by, beside its table. */
const COMPARED_COLUMNS = [
  'type',
  'columnName',
  'filter',
  'timeColumn',
  'windowSize',
  'config',
  'otherTableId',
] as const

/** The oldest check of the table that finds the same wrong, active or not; undefined without one. */
export async function findTwin<Row extends CheckRow>(
  trx: Transaction,
  resource: Pick<CheckResource<Row>, 'kind'>,
  row: NewRow<Row>,
): Promise<ExistingCheck | undefined> {
  const { kind } = resource
  const { tableId, type, columnName = null, uuid } = row as NewRow<CheckRow>
  const some = queryChecks(kind.model, trx).where({ tableId, type, columnName } as object)
  const candidates = await checksWithNames(trx, kind.model, some).orderBy('checks.id')
  const wanted = comparedOf(kind.model, row)
  const twin = candidates.find(
    check => check.uuid !== uuid && findTheSame(comparedOf(kind.model, check), wanted),
  )
  return (
    twin && {
      id: publicIdOf(kind, twin),
      kind: kind.name,
      title: titleOf(twin),
      is_active: twin.isActive,
      asset_id: twin.tableId,
      table_path: tablePath({ catalog: twin.catalogName, schema: twin.schemaName, name: twin.ofTable }),
    }
  )
}

/** Its name, else what it measures: a metric need not have one. */
function titleOf(twin: Pick<CheckRow & TableNames, 'type' | 'columnName' | 'ofTable'>): string {
  const { type, columnName, ofTable } = twin
  const name = 'name' in twin ? twin.name : null
  return typeof name === 'string'
    ? name
    : `${type} ${[ofTable, columnName].filter(part => part !== null).join('.')}`
}

/** What people are warned of. */
export function warnOfTwin(twin: ExistingCheck | undefined): string[] {
  return twin ? [`This check exists: ${twin.title} (${twin.id})${twin.is_active ? '' : ', paused'}`] : []
}

/** Fields of the body of a dry run that say where, not what. */
const PLACE_FIELDS = new Set(['asset_id', 'lookback_days', 'table_path', 'child_table_path'])

/** The row that the body of a dry run would make. Opens transactions of its own. */
export async function rowOfBody<Row extends CheckRow>(
  { db, catalog }: Pick<CheckDeps, 'db' | 'catalog'>,
  companyId: string,
  { declaration }: Pick<CheckResource<Row>, 'declaration'>,
  body: Record<string, unknown>,
): Promise<NewRow<Row>> {
  const { asset_id: assetId, table_path: path, child_table_path: childPath } = body
  const table = await db.company(companyId, async (trx): Promise<TableContext> => {
    const asset = await catalog.findAsset(trx, String(assetId))
    return { source: asset.source, table: await catalog.findTable(trx, asset, String(path ?? childPath)) }
  })
  const declared = Object.fromEntries(Object.entries(body).filter(([name]) => !PLACE_FIELDS.has(name)))
  const fields = await declaration.read(table, { ...declared, is_active: true }, false)
  const [row] = await db.company(companyId, trx => declaration.rowsOf(trx, [{ table, fields }]))
  return row!
}

function comparedOf({ settings }: { settings: readonly string[] }, row: object): Record<string, unknown> {
  const values = row as Record<string, unknown>
  const entries = [...COMPARED_COLUMNS, ...settings].map(name => [name, values[name]])
  // A row that is not stored lacks what is its default.
  entries.push(['groupByColumns', values.groupByColumns ?? []])
  // As the database has it: without what is undefined.
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Record<string, unknown>
}
