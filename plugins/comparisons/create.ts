import { validateFilterOnEngine, validationSession } from '../../checks/engine-validation.ts'
import { pairTables, type ComparisonPairs } from '../../checks/comparison.ts'
import { findFilterProblem, readFilter } from '../../checks/plan.ts'
import type { Connection } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Transaction } from '../../server/database/database.ts'
import { hasCode, invalidField, invalidInput } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'
import type { AskEngine, CheckChange } from '../checks/api.ts'
import { assertWindow, insertChecks, namingField, refusalMessage, windowColumnsOf } from '../checks/kit.ts'
import type { ComparisonDeps, MeasureDeps } from './deps.ts'
import { comparisonFields, storedPair, type ComparisonPatch, type NewComparison } from './fields.ts'
import { Comparison, type NamedComparison } from './models.ts'

/** The two tables of a comparison. */
export interface ComparedPair {
  left: TableContext
  right: TableContext
}

/** A comparison that was found good. */
export interface ConfiguredComparison extends ComparedPair {
  pairs: ComparisonPairs
}

type Body = Omit<NewComparison, 'table_path'>

/**
 * Finds the body of a comparison good for its tables. No transaction is open while engines are asked about filters.
 * @throws 400 `VALIDATION_ERROR` naming the field, 404 `ASSET_NOT_FOUND`
 */
export async function configureComparison(
  deps: Pick<MeasureDeps, 'catalog' | 'db'>,
  companyId: string,
  assetId: string,
  body: NewComparison,
): Promise<ConfiguredComparison> {
  const { catalog, db } = deps
  const pair = await db.company(companyId, async (trx): Promise<ComparedPair> => {
    const { source, table } = await catalog.findAsset(trx, assetId)
    const left = await namingField('table_path', catalog.findTable(trx, { source, table }, body.table_path))
    return { left: { source, table: left }, right: await findRight(catalog, trx, source, body) }
  })
  return { ...pair, pairs: await assertComparable(catalog, pair, body, true) }
}

/** The right table that a body names. */
export async function findRight(
  catalog: CatalogApi,
  trx: Transaction,
  left: TableContext['source'],
  { right_source: name, right_table_path: path }: Pick<NewComparison, 'right_source' | 'right_table_path'>,
): Promise<TableContext> {
  const { source } = name === undefined ? { source: left } : await catalog.findAsset(trx, name)
  return { source, table: await namingField('right_table_path', catalog.findTable(trx, { source }, path)) }
}

/**
 * Finds the columns, filters and limits of a comparison good, wherever its tables came from.
 * @param asksEngine whether engines are asked about filters, the left one in the caller's session where it has one
 */
export async function assertComparable(
  catalog: CatalogApi,
  pair: ComparedPair,
  body: Body,
  asksEngine: boolean | AskEngine,
): Promise<ComparisonPairs> {
  assertLevel(body)
  const [left, right] = [pair.left, pair.right].map(({ source, table }) => {
    const { dialect, name } = catalog.connectorOf(source)
    return { table: catalog.tableInfo(table), dialect, engine: name }
  }) as [Parameters<typeof pairTables>[0], Parameters<typeof pairTables>[1]]
  for (const [path, { table }] of [['left', pair.left] as const, ['right', pair.right] as const])
    assertColumns(catalog, path, table, body)
  const pairs = pairTables(left, right, {
    keys: body.key_columns.map(storedPair),
    columns:
      body.columns?.map(given => {
        const { left, right, ...rule } = storedPair(given)
        return { left, right, rule }
      }) ?? null,
    groups: body.group_by_columns.map(storedPair),
  })
  if ('message' in pairs) throw invalidField(FIELDS[pairs.field] ?? pairs.field, pairs.message)
  for (const [field, context] of [['filter', pair.left] as const, ['right_filter', pair.right] as const]) {
    const filter = body[field]
    if (filter == null) continue
    const session =
      field === 'filter' || pair.left.source.id === pair.right.source.id ? asksEngine : asksEngine !== false
    const error = await findProblemOfFilter(catalog, context, filter, session)
    if (error !== null) throw invalidInput([{ field, error: error.replace(/^filter\b/, field) }])
  }
  for (const side of [pair.left, pair.right]) {
    const { dialect } = catalog.connectorOf(side.source)
    assertWindow(side, windowColumnsOf(body), { dialect, table: catalog.tableInfo(side.table), catalog })
  }
  return pairs
}

const FIELDS: Readonly<Record<string, string>> = { left: 'table_path', right: 'right_table_path' }

/** Names that are no columns are refused with those that are near. */
function assertColumns(
  catalog: CatalogApi,
  side: 'left' | 'right',
  table: TableContext['table'],
  body: Pick<Body, 'key_columns' | 'columns' | 'group_by_columns'>,
): void {
  for (const field of ['key_columns', 'columns', 'group_by_columns'] as const)
    for (const given of body[field] ?? []) catalog.findColumn(table, storedPair(given)[side], field)
}

/** @throws 400 `VALIDATION_ERROR` for fields that do not belong to the level */
function assertLevel(body: Body): void {
  const { level, key_columns: keys, columns, group_by_columns: groups } = body
  if (level === 'rows' && keys.length === 0)
    throw invalidField(
      'key_columns',
      'are needed to compare rows: name the columns of which each row has its own values',
    )
  if (level === 'rows' && groups.length > 0)
    throw invalidField('group_by_columns', 'are for the levels aggregates and counts')
  if (level !== 'rows' && keys.length > 0) throw invalidField('key_columns', 'are for the level rows')
  if (level === 'counts' && columns !== null)
    throw invalidField('columns', 'are for the levels rows and aggregates')
  assertLimits(level, body)
}

/** What a patch changes. @throws 400 `VALIDATION_ERROR` for limits that the level has not */
export function changeOf(comparison: Comparison, patch: ComparisonPatch): CheckChange<Comparison> {
  assertLimits(comparison.level, patch)
  return { columns: columnsOf<Comparison>(comparisonFields, patch) }
}

/** @throws 400 `VALIDATION_ERROR` */
function assertLimits(
  level: Comparison['level'],
  limits: Partial<Pick<NewComparison, 'max_differing_rows' | 'max_differing_percent'>>,
): void {
  if (level !== 'aggregates') return
  for (const field of ['max_differing_rows', 'max_differing_percent'] as const)
    if (limits[field] != null)
      throw invalidField(field, 'is for the levels rows and counts: give columns a tolerance instead')
}

const ENGINE_TIMEOUT_MS = 5_000

/** What is wrong with a filter, by our analysis and then by the engine; without a session the first run shows it. */
async function findProblemOfFilter(
  catalog: CatalogApi,
  { source, table: stored }: TableContext,
  filter: string,
  asked: boolean | AskEngine,
): Promise<string | null> {
  const { dialect } = catalog.connectorOf(source)
  const table = catalog.tableInfo(stored)
  const problem = await findFilterProblem(filter, { dialect, table })
  if (problem !== null || asked === false) return problem
  if (!source.isActive || source.queryAccessLevel === 'schema_only') return null
  const question = async (connection: Connection) => {
    const session = validationSession(connection, ENGINE_TIMEOUT_MS)
    const read = readFilter(filter, { dialect, table })
    return (
      (await validateFilterOnEngine({ filter: read, table, dialect }, session).catch(refusalMessage)) ?? null
    )
  }
  try {
    return asked === true
      ? await catalog.withConnection(source, question, { purpose: 'dry_run', timeoutMs: ENGINE_TIMEOUT_MS })
      : await asked(question)
  } catch (error) {
    if (error instanceof ConnectorError || hasCode(error, 'UNAVAILABLE')) return null
    throw error
  }
}

/** Makes a comparison; it is due at once. `audit` is called in the same transaction. */
export async function createComparison(
  deps: Pick<ComparisonDeps, 'catalog' | 'db'>,
  companyId: string,
  assetId: string,
  body: NewComparison,
  audit: (trx: Transaction, comparison: NamedComparison) => Promise<unknown>,
): Promise<NamedComparison> {
  const configured = await configureComparison(deps, companyId, assetId, body)
  return deps.db.company(companyId, async trx => {
    const [comparison] = await insertChecks(trx, Comparison, [rowOf(configured, body)])
    await audit(trx, comparison!)
    return comparison!
  })
}

/** Two tables, with no more of them than a row needs. */
export interface PairToStore {
  left: { source: { id: string }; table: { id: string; name: string } }
  right: { source: { id: string; name: string }; table: { id: string; name: string } }
}

/** The columns of a new comparison. @param body its fields, validated */
export function rowOf({ left, right }: PairToStore, body: Body) {
  return {
    sourceId: left.source.id,
    tableId: left.table.id,
    otherTableId: right.table.id,
    type: 'comparison',
    columnName: null,
    name: usualName({ left, right }),
    ...settingsOf(body),
  }
}

/** What a comparison is set to, by the columns of its row. */
export function settingsOf(body: Body) {
  return {
    ...columnsOf<Comparison>(comparisonFields, body),
    level: body.level,
    filter: body.filter,
    rightFilter: body.right_filter,
    timeColumn: body.time_column ?? null,
    maxDifferingRows: body.max_differing_rows ?? null,
    maxDifferingPercent: body.max_differing_percent ?? null,
    keyColumns: body.key_columns.map(storedPair),
    comparedColumns: body.columns?.map(storedPair) ?? null,
    groupPairs: body.group_by_columns.map(storedPair),
  }
}

/** The name of a comparison that is given none. */
export function usualName({ left, right }: PairToStore): string {
  const other = left.source.id === right.source.id ? '' : ` of ${right.source.name}`
  return `${left.table.name} with ${right.table.name}${other}`.slice(0, 200)
}
