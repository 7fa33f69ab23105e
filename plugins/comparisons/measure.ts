/** Measures a comparison: opens a session of each source, and has the tables compared. */
import type { Bucket, BucketOutcome, CheckWindow } from '../../checks/check.ts'
import {
  compareAggregates,
  compareRows,
  pairTables,
  RepeatedKeyError,
  sideOf,
  TooManyGroupsError,
  type ColumnPair,
  type ComparedTable,
  type ComparedTables,
  type ComparisonPairs,
} from '../../checks/comparison.ts'
import {
  bucketCondition,
  findFilterProblem,
  keepingOf,
  readFilter,
  writeBucketFor,
} from '../../checks/plan.ts'
import type { Connection } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Sql } from '../../connectors/sql.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'
import type { OutcomeWithoutId, OwnMeasurementOptions, OwnOutcome } from '../checks/api.ts'
import { tableRefusal, zoneOf } from '../checks/kit.ts'
import type { MeasureDeps } from './deps.ts'
import type { Comparison } from './models.ts'

/** What is measured, of a comparison that need not exist. */
export type MeasuredComparison = Pick<
  Comparison,
  'level' | 'keyColumns' | 'comparedColumns' | 'groupPairs' | 'filter' | 'rightFilter' | 'timeColumn'
>

interface Sides<T> {
  left: T
  right: T
}

/** Rows of the lists of differing rows at most. */
export const MAX_SAMPLES = 100

/** How a comparison is measured. */
interface ComparisonOptions extends OwnMeasurementOptions {
  /** What its statements count as; defaults to `scan`. */
  purpose?: 'scan' | 'dry_run'
}

/** Measures a comparison of two tables. Whatever keeps it from running is its outcome. */
export async function measureComparison(
  deps: MeasureDeps,
  comparison: MeasuredComparison,
  tables: Sides<TableContext>,
  options: ComparisonOptions,
): Promise<OwnOutcome> {
  let statements = 0
  const startedAt = performance.now()
  const failed = (kind: string, message: string): OutcomeWithoutId => ({
    status: 'error',
    kind,
    message,
    durationMs: Math.round(performance.now() - startedAt),
  })
  const prepared = await prepare(deps.catalog, comparison, tables)
  if ('message' in prepared) return { outcome: failed(prepared.kind, prepared.message), statements }
  try {
    const outcome = await withBothSources(deps.catalog, tables, options, async connections => {
      const sideFor = (name: 'left' | 'right', bucket?: Bucket): ComparedTable => {
        const context = tables[name]
        const timeoutMs = deps.catalog.statementTimeoutMs(context.source)
        return {
          dialect: prepared[name].dialect,
          table: prepared[name].table,
          conditions: conditionsOf(deps, comparison, prepared[name], bucket),
          query: async statement => {
            options.signal?.throwIfAborted()
            statements += 1
            const { signal } = options
            return connections[name].query(statement, { timeoutMs, ...(signal && { signal }) })
          },
        }
      }
      const compare = async (bucket?: Bucket): Promise<OutcomeWithoutId> => {
        const began = performance.now()
        const found = await compareTables(comparison, tables, prepared, {
          left: sideFor('left', bucket),
          right: sideFor('right', bucket),
          sampleLimit: hidesRows(tables) ? 0 : options.sampleLimit,
        })
        const durationMs = Math.round(performance.now() - began)
        return {
          status: 'compared',
          found: withoutPersonalData(deps.catalog, tables, prepared.pairs, found),
          durationMs,
        }
      }
      return options.window ? compareBuckets(options.window, compare, startedAt) : compare()
    })
    return { outcome, statements }
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof RepeatedKeyError || error instanceof TooManyGroupsError)
      return { outcome: failed('invalid-check', error.message), statements }
    if (error instanceof ConnectorError) return { outcome: failed(error.kind, error.message), statements }
    throw error
  }
}

/** A side, with its filter read. */
interface PreparedSide {
  context: TableContext
  table: TableInfo
  dialect: Dialect
  filter?: Sql
}

interface Prepared extends Sides<PreparedSide> {
  pairs: ComparisonPairs
}

interface Refusal {
  kind: string
  message: string
}

/** Finds the comparison good for its tables as they are now. */
async function prepare(
  catalog: CatalogApi,
  comparison: MeasuredComparison,
  tables: Sides<TableContext>,
): Promise<Prepared | Refusal> {
  for (const side of [tables.left, tables.right]) {
    const refusal = tableRefusal(side) ?? accessRefusal(comparison, tables, side)
    if (refusal) return refusal
  }
  const sides = {
    left: await prepareSide(catalog, tables.left, comparison.filter),
    right: await prepareSide(catalog, tables.right, comparison.rightFilter),
  }
  if ('message' in sides.left) return sides.left
  if ('message' in sides.right) return sides.right
  const [left, right] = [sides.left, sides.right].map(({ context, table, dialect }) => ({
    table,
    dialect,
    engine: catalog.connectorOf(context.source).name,
  })) as [Parameters<typeof pairTables>[0], Parameters<typeof pairTables>[1]]
  const pairs = pairTables(left, right, {
    keys: comparison.keyColumns,
    columns: comparison.comparedColumns?.map(({ left, right, ...rule }) => ({ left, right, rule })) ?? null,
    groups: comparison.groupPairs,
  })
  if ('message' in pairs) return { kind: 'invalid-check', message: pairs.message }
  return { left: sides.left, right: sides.right, pairs }
}

async function prepareSide(
  catalog: CatalogApi,
  context: TableContext,
  filter: string | null,
): Promise<PreparedSide | Refusal> {
  const { dialect } = catalog.connectorOf(context.source)
  const table = catalog.tableInfo(context.table)
  if (filter === null) return { context, table, dialect }
  const message = await findFilterProblem(filter, { dialect, table })
  if (message !== null) return { kind: 'invalid-check', message }
  return { context, table, dialect, filter: readFilter(filter, { dialect, table }).condition }
}

function isOneSource({ left, right }: Sides<TableContext>): boolean {
  return left.source.id === right.source.id
}

/** Between two sources, rows that differ have to be read. */
function accessRefusal(
  { level }: MeasuredComparison,
  tables: Sides<TableContext>,
  { source }: TableContext,
): Refusal | null {
  if (level !== 'rows' || isOneSource(tables) || source.queryAccessLevel === 'full') return null
  const message = `The query_access_level of ${source.name} is ${source.queryAccessLevel}: comparing rows of two sources reads rows, which needs full. The levels aggregates and counts do not`
  return { kind: 'permission', message }
}

/** Whether no row may be shown. */
function hidesRows({ left, right }: Sides<TableContext>): boolean {
  return [left, right].some(({ source }) => source.queryAccessLevel !== 'full')
}

/** Opens a session of each source, in one order for all, so that no two comparisons wait for each other. */
async function withBothSources<T>(
  catalog: CatalogApi,
  tables: Sides<TableContext>,
  { signal, isScheduled, slotWaitMs, purpose = 'scan' }: ComparisonOptions,
  work: (connections: Sides<Connection>) => Promise<T>,
): Promise<T> {
  const open = <Result>({ source }: TableContext, use: (connection: Connection) => Promise<Result>) =>
    catalog.withConnection(source, use, {
      purpose,
      isScheduled,
      slotWaitMs,
      timeoutMs: catalog.statementTimeoutMs(source),
      ...(signal && { signal }),
    })
  const { left, right } = tables
  if (isOneSource(tables)) return open(left, connection => work({ left: connection, right: connection }))
  return left.source.id < right.source.id
    ? open(left, one => open(right, other => work({ left: one, right: other })))
    : open(right, other => open(left, one => work({ left: one, right: other })))
}

function conditionsOf(
  { timezone }: Pick<MeasureDeps, 'timezone'>,
  { timeColumn }: MeasuredComparison,
  { context, table, dialect, filter }: PreparedSide,
  bucket: Bucket | undefined,
): Sql[] {
  const column = table.columns.find(({ name }) => name === timeColumn)
  const within =
    bucket && column
      ? [
          bucketCondition(
            column.name,
            writeBucketFor(bucket, {
              keeping: keepingOf(column, dialect),
              timezone: zoneOf(context.source, timezone),
            }),
            dialect,
          ),
        ]
      : []
  return [...(filter ? [filter] : []), ...within]
}

/** Each bucket is compared by itself, the oldest first. */
async function compareBuckets(
  { buckets }: CheckWindow,
  compare: (bucket: Bucket) => Promise<OutcomeWithoutId>,
  startedAt: number,
): Promise<OutcomeWithoutId> {
  const found: BucketOutcome[] = []
  for (const bucket of buckets) found.push({ bucket, outcome: { id: '', ...(await compare(bucket)) } })
  return { status: 'windowed', buckets: found, durationMs: Math.round(performance.now() - startedAt) }
}

async function compareTables(
  { level }: MeasuredComparison,
  tables: Sides<TableContext>,
  { pairs }: Prepared,
  { left, right, sampleLimit }: Sides<ComparedTable> & { sampleLimit: number },
): Promise<ComparedTables> {
  if (level === 'rows') {
    const limit = Math.min(sampleLimit, MAX_SAMPLES)
    const found = await compareRows({
      left,
      right,
      isOneSource: isOneSource(tables),
      pairs,
      sampleLimit: limit,
    })
    return { by: 'rows', ...found }
  }
  const { columns, groups } = pairs
  const found = await compareAggregates({
    left: sideOf('left', left),
    right: sideOf('right', right),
    columns: level === 'counts' ? [] : columns,
    groups,
  })
  return { by: 'aggregates', ...found }
}

/** What is shown in place of a value of personal data. */
const HIDDEN = '•••'

/** Takes out the values of columns that are tagged as personal data on either side. */
function withoutPersonalData(
  catalog: CatalogApi,
  tables: Sides<TableContext>,
  { keys, columns, groups }: ComparisonPairs,
  found: ComparedTables,
): ComparedTables {
  const [ofLeft, ofRight] = [catalog.personalColumns(tables.left), catalog.personalColumns(tables.right)]
  const isPersonal = ({ left, right }: ColumnPair) => ofLeft.has(left.name) || ofRight.has(right.name)
  const masked = new Set([...keys, ...columns, ...groups].filter(isPersonal).map(({ left }) => left.name))
  if (masked.size === 0) return found
  const hide = (column: string | null, value: string | null) =>
    // Not even that there is none.
    column !== null && masked.has(column) ? HIDDEN : value
  const hideBoth = <Of extends { column: string | null; left: string | null; right: string | null }>(
    item: Of,
  ): Of => ({
    ...item,
    left: hide(item.column, item.left),
    right: hide(item.column, item.right),
  })
  if (found.by === 'aggregates') {
    const differing = found.differing.map(item => ({
      ...(isCount(item.measure) ? item : hideBoth(item)),
      group: Object.fromEntries(
        Object.entries(item.group).map(([column, value]) => [column, hide(column, value)]),
      ),
    }))
    return { ...found, differing }
  }
  const samples = found.samples.map(row => ({
    ...row,
    key: row.key.map((value, place) => hide(keys[place]!.left.name, value) ?? value),
    ...(row.values && { values: row.values.map(hideBoth) }),
  }))
  return { ...found, samples }
}

function isCount(measure: string): boolean {
  return measure === 'rows' || measure === 'nulls' || measure === 'distinct'
}
