import { setImmediate } from 'node:timers/promises'
import type { Connector } from '../connectors/connector.ts'
import { tablePath, type TableInfo } from '../connectors/catalog.ts'
import { raw, Sql, sql } from '../connectors/sql.ts'
import { describeMissingCapability, isAggregateMetric, isRowRule } from './check.ts'
import { describeUngroupableColumn, describeUnsuitedColumn } from './suited-columns.ts'
import type { Check, CheckContext, CheckType, RuleCounts, Measure, MeasuredValues } from './check.ts'
import { columnForType } from './column-values.ts'
import { filterModes, findFilterProblem, readFilter, type FilterMode } from './sql/filter.ts'
import { NotFiniteError } from './measures.ts'
import type { RankedPercentile } from './ranked-percentiles.ts'
import { readRowCounts, rowMeasures } from './row-rules.ts'

/** What a plan needs to know about an engine: its dialect and capabilities. Any connector fits. */
export type Engine = Pick<Connector, 'name' | 'dialect' | 'capabilities'> & Partial<Pick<Connector, 'label'>>

/** What is wrong with a check. */
export interface CheckProblem {
  /** `missing-object`, `unsupported` (the engine lacks a capability), `invalid-check`, or a ConnectorError's. */
  kind: string
  message: string
}

/** Why a check cannot run, found without touching the database. */
export interface RefusedCheck extends CheckProblem {
  id: string
}

/** An aggregate that sorts its values; all of a statement have one SELECT of their own beside the others. */
export interface SortedAggregate {
  sorted: Sql
  /** For a percentile: its value and fraction (0 to 1), so that all of one value are found together. */
  percentile?: { value: Sql; fraction: number }
}

/** A number of a check; a percentile by ranks, where it is no aggregate of the engine. */
export type PlannedMeasure = Measure | RankedPercentile | SortedAggregate

/** A check with its SQL written. */
export interface PlannedCheck {
  check: Check
  context: CheckContext
  /** By the names that the check gave them. */
  measures: Record<string, PlannedMeasure>
  /** The rows that the statement of the check reads, where that is not all of them. */
  where?: Sql
  /** How many rows the check is about, where its statement reads others too. */
  rowCount?: Sql
}

const MAX_GROUP_COLUMNS = 3
/** SQL of users takes up to 20 ms to read, so that others get their turn before each. */
const CHECKS_BETWEEN_PAUSES = 50

/**
 * Validates every check against the catalog: a missing column, a kind it does not apply to, a config that the column
 * does not allow, a capability the engine lacks. Writes the remaining checks as SQL.
 */
export async function planChecks(
  engine: Engine,
  table: TableInfo,
  checks: readonly Check[],
): Promise<{ planned: PlannedCheck[]; refusals: RefusedCheck[] }> {
  const ids = new Set(checks.map(({ id }) => id))
  if (ids.size < checks.length) throw new TypeError('Two checks of a scan have the same id.')
  const planned: PlannedCheck[] = []
  const refusals: RefusedCheck[] = []
  const modes = filterModes(checks)
  for (const [index, check] of checks.entries()) {
    if (check.type.userSql || check.filter !== undefined || index % CHECKS_BETWEEN_PAUSES === 0)
      await setImmediate()
    const refusal =
      findCatalogProblem(engine, table, check) ?? (await findConfigProblem(engine, table, check))
    const requireSql = refusal ?? planCheck(engine, table, check, modes.get(check.id))
    if ('message' in requireSql) refusals.push({ ...requireSql, id: check.id })
    else planned.push(requireSql)
  }
  return { planned, refusals }
}

/** The column that a check reads, if any. */
function findColumn(
  { dialect }: Pick<Engine, 'dialect'>,
  table: TableInfo,
  { type, column }: Pick<Check, 'type' | 'column'>,
) {
  if (type.column === 'ignored' || column === undefined) return undefined
  const found = table.columns.find(({ name }) => name === column)
  return found && columnForType(type, found, dialect)
}

function findCatalogProblem(engine: Engine, table: TableInfo, check: Check): CheckProblem | null {
  const { type, column, groupBy = [] } = check
  const info = findColumn(engine, table, check)
  const names = type.column === 'ignored' || column === undefined ? groupBy : [column, ...groupBy]
  const missing = names.find(name => !table.columns.some(candidate => candidate.name === name))
  const unsupported = describeMissingCapability(type, engine)
  if (missing !== undefined) return missingColumnProblem(table, missing)
  if (type.column === 'required' && !info) return invalidCheck(`${type.name} needs a column.`)
  const unsuited = info && describeUnsuitedColumn(type, info, engine.dialect)
  if (unsuited) return invalidCheck(`${unsuited}.`)
  if (unsupported) return { kind: 'unsupported', message: unsupported }
  if (groupBy.length === 0) return null
  if (type.family === 'rule') return invalidCheck('Only metrics can be grouped.')
  if (groupBy.length > MAX_GROUP_COLUMNS)
    return invalidCheck(`At most ${MAX_GROUP_COLUMNS} columns can group.`)
  for (const grouping of table.columns.filter(({ name }) => groupBy.includes(name))) {
    const ungroupable = describeUngroupableColumn(grouping, engine.dialect)
    if (ungroupable) return invalidCheck(`${ungroupable}.`)
  }
  return null
}

function missingColumnProblem(table: TableInfo, name: string): CheckProblem {
  return { kind: 'missing-object', message: `The column ${name} does not exist in ${tablePath(table)}.` }
}

function invalidCheck(message: string): CheckProblem {
  return { kind: 'invalid-check', message }
}

async function findConfigProblem(
  { dialect }: Engine,
  table: TableInfo,
  check: Check,
): Promise<CheckProblem | null> {
  try {
    const on = { dialect, table }
    const sentence =
      (await check.type.validateConfig?.(check.config, findColumn({ dialect }, table, check), on)) ||
      (await findCheckFilterProblem(check, on))
    return sentence ? invalidCheck(sentence) : null
  } catch (thrown) {
    return problemFromThrown(check.type, thrown)
  }
}

/** What is wrong with the filter of a check, or with giving it one; null if nothing is, and without a filter. */
export async function findCheckFilterProblem(
  { type, filter, config }: Pick<Check, 'type' | 'filter' | 'config'>,
  on: Pick<CheckContext, 'dialect' | 'table'>,
): Promise<string | null> {
  if (filter === undefined) return null
  if (type.namesItsRows?.(config, on))
    return `filter cannot be applied to a SELECT of ${type.name}, which names its rows itself: put the condition into its WHERE.`
  return findFilterProblem(filter, on)
}

/** An error of the check type is an error of its check only; the other checks of the table still run. */
export function problemFromThrown(type: CheckType, thrown: unknown): CheckProblem {
  if (thrown instanceof NotFiniteError) return { kind: 'not-finite', message: thrown.message }
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return { kind: 'invalid-check', message: `${type.name} failed: ${reason}` }
}

/**
 * What a check knows of its table when it writes its SQL. A filter must have been found good.
 * @param mode how its filter is applied; defaults to a statement of the rows of that filter
 */
export function buildCheckContext(
  { dialect }: Pick<Engine, 'dialect'>,
  table: TableInfo,
  check: Omit<Check, 'id'>,
  mode: FilterMode = 'where',
): CheckContext {
  const info = findColumn({ dialect }, table, check)
  const column = info ? dialect.quote(info.name) : raw('')
  const from = dialect.table(table)
  const filter = check.filter === undefined ? undefined : readFilter(check.filter, { dialect, table })
  const aggregateFilter = mode === 'aggregates' ? filter?.condition : undefined
  return {
    column,
    value: info && aggregateFilter ? sql`case when ${aggregateFilter} then ${column} end` : column,
    info,
    table,
    from: filter && !check.type.filters ? UNFILTERED_TABLE : from,
    rows: filter ? sql`(select * from ${from} where ${filter.condition}) tidemark_rows` : from,
    filter,
    aggregateFilter,
    config: check.config,
    dialect,
    nullIsValid: check.nullIsValid ?? false,
  }
}

/** Stands for the table where a type that knows nothing of filters would read rows that the check is not about. */
const UNFILTERED_TABLE = raw('tidemark_unfiltered_table')

/** @throws TypeError for SQL that reads rows which a filter leaves out */
function requireFiltered(measures: readonly PlannedMeasure[]): void {
  const texts = measures.map(measure => {
    if (measure instanceof Sql) return measure
    if ('select' in measure) return measure.select
    return 'sorted' in measure ? measure.sorted : measure.tableAggregate
  })
  const marker = UNFILTERED_TABLE.strings[0]!
  if (texts.some(({ strings }) => strings.some(text => text.includes(marker))))
    throw new TypeError(
      'it reads the table itself, and a filter is not applied to that: leave the filter out',
    )
}

function planCheck(
  engine: Engine,
  table: TableInfo,
  check: Check,
  mode: FilterMode | undefined,
): PlannedCheck | CheckProblem {
  try {
    const { type, groupBy = [] } = check
    // Ranks are counted of all rows that are read, so that these must be the check's.
    const isRankedByGroup = groupBy.length > 0 && ranksPercentile(engine, type)
    const context = buildCheckContext(engine, table, check, isRankedByGroup ? 'where' : mode)
    const measures = planMeasures(engine, check, context)
    const isApart = (measure: PlannedMeasure) => 'select' in measure && !measure.aggregate
    if (groupBy.length > 0 && Object.values(measures).some(isApart))
      return invalidCheck(`${type.name} cannot be grouped.`)
    const { filter, aggregateFilter } = context
    if (filter && !type.filters) requireFiltered(Object.values(measures))
    return {
      check,
      context,
      measures,
      ...(filter && !aggregateFilter && { where: filter.condition }),
      ...(aggregateFilter && { rowCount: engine.dialect.countIf(aggregateFilter) }),
    }
  } catch (thrown) {
    return problemFromThrown(check.type, thrown)
  }
}

function planMeasures(
  engine: Engine,
  { type, groupBy = [] }: Check,
  context: CheckContext,
): PlannedCheck['measures'] {
  const measures = measuresOf(type, context)
  const rank = ranksPercentile(engine, type) ? rankedPercentileOf(type, context) : undefined
  if (rank) return { value: rank }
  return groupBy.length === 0 ? sortApart(type, context, measures) : measures
}

/** Marks the aggregate of a metric that sorts, where it is measured apart from the others. */
function sortApart(
  type: CheckType,
  context: CheckContext,
  measures: Record<string, Measure>,
): PlannedCheck['measures'] {
  const { value } = measures
  if (!context.dialect.sortingIsSerial || !isAggregateMetric(type) || !type.sorts) return measures
  return value instanceof Sql
    ? { value: { sorted: value, percentile: type.percentileOf?.(context) } }
    : measures
}

/** Whether a type is a percentile that the engine has no aggregate for. */
function ranksPercentile({ capabilities }: Pick<Engine, 'capabilities'>, type: CheckType): boolean {
  return !capabilities.groupedPercentile && isAggregateMetric(type) && type.percentileOf !== undefined
}

function rankedPercentileOf(type: CheckType, context: CheckContext): RankedPercentile | undefined {
  const percentile = isAggregateMetric(type) ? type.percentileOf?.(context) : undefined
  return percentile && isAggregateMetric(type)
    ? { ...percentile, tableAggregate: type.measure(context) }
    : undefined
}

function measuresOf(type: CheckType, context: CheckContext): Record<string, Measure> {
  if (isRowRule(type))
    return rowMeasures(context, written('valid', type.valid(context)), type.isStrict?.(context))
  if (isAggregateMetric(type)) return { value: written('measure', type.measure(context)) }
  const measures = type.measures(context)
  for (const [name, measure] of Object.entries(measures)) {
    const isTally = typeof measure === 'object' && measure !== null && 'select' in measure
    written(`measures.${name}`, isTally ? measure.select : measure)
    if (isTally && measure.aggregate !== undefined) written(`measures.${name}.aggregate`, measure.aggregate)
  }
  return measures
}

/** A check type in JavaScript may return a string, which would otherwise fail only when all checks are joined. */
function written(what: string, given: Sql): Sql {
  if (given instanceof Sql) return given
  throw new TypeError(`${what} must give SQL that was written with sql\`…\`, not ${typeof given}`)
}

/** How to read the numbers of a check: counts for a rule, a value for a metric. */
export function interpretMeasures(
  { check, context }: PlannedCheck,
  measured: MeasuredValues,
  total: number,
): RuleCounts | number | null {
  const { type } = check
  if (isRowRule(type)) return readRowCounts(measured, total, context)
  return isAggregateMetric(type) ? (measured.value ?? null) : type.readMeasures(measured, total, context)
}
