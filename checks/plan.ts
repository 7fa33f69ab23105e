import { setImmediate } from 'node:timers/promises'
import type { Connector } from '../connectors/connector.ts'
import { tablePath, type TableInfo } from '../connectors/catalog.ts'
import { Sql } from '../connectors/sql.ts'
import { isAggregateMetric, isRowRule } from './check.ts'
import {
  describeMissingCapability,
  describeUngroupableColumn,
  describeUnsuitedColumn,
} from './suited-columns.ts'
import type {
  Check,
  CheckContext,
  CheckType,
  CheckWindow,
  RuleCounts,
  Measure,
  MeasuredValues,
} from './check.ts'
import { bucketCondition, findCheckWindowProblem } from './rows/bucket-conditions.ts'
import type { Bucket } from './rows/buckets.ts'
import { buildCheckContext, findColumn, UNFILTERED_TABLE } from './rows/context.ts'
import { filterModes, findFilterProblem, type FilterMode } from './rows/filter.ts'
import { NotFiniteError } from './measures.ts'
import type { RankedPercentile } from './rows/ranked-percentiles.ts'
import { readRowCounts, rowMeasures } from './rows/row-rules.ts'

/** What features find checks good with. */
export { buildCheckContext } from './rows/context.ts'
export { findFilterProblem, readFilter } from './rows/filter.ts'
export { bucketCondition, keepingOf, MAX_BUCKETS } from './rows/bucket-conditions.ts'
export { findUnfilteredProblem } from './rows/partition-filter.ts'
export { completeBuckets, findWindowProblem, windowSeconds, writeBucketFor } from './rows/buckets.ts'

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
  /** The check of each bucket of a window, where its measures are no aggregates: each has a SELECT of its own. */
  branches?: PlannedCheck[]
  /** Which of the few statements of suspects has it. */
  suspectGroup?: number
  /** The check of the newest bucket of a window, for samples. */
  newest?: PlannedCheck
  /** What samples are taken from in turn, in place of the whole table. */
  sampleFrom?: readonly Sql[]
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
  given?: ReadonlyMap<string, FilterMode>,
): Promise<{ planned: PlannedCheck[]; refusals: RefusedCheck[] }> {
  const ids = new Set(checks.map(({ id }) => id))
  if (ids.size < checks.length) throw new TypeError('Two checks of a scan have the same id.')
  const planned: PlannedCheck[] = []
  const refusals: RefusedCheck[] = []
  const sound: Check[] = []
  const pause = async (check: Check, index: number) => {
    if (check.type.userSql || check.filter !== undefined || index % CHECKS_BETWEEN_PAUSES === 0)
      await setImmediate()
  }
  for (const [index, check] of checks.entries()) {
    await pause(check, index)
    const refusal =
      findCatalogProblem(engine, table, check) ?? (await findConfigProblem(engine, table, check))
    if (refusal) refusals.push({ ...refusal, id: check.id })
    else sound.push(check)
  }
  const groups = suspectGroups(sound)
  const modes = given ?? filterModes(sound, { dialect: engine.dialect, table, groups })
  for (const [index, check] of sound.entries()) {
    await pause(check, index)
    const plan = planCheck(engine, table, check, modes.get(check.id))
    const group = groups.get(check.id)
    if ('message' in plan) refusals.push({ ...plan, id: check.id })
    else planned.push({ ...plan, ...(group !== undefined && { suspectGroup: group }) })
  }
  return { planned, refusals }
}

/** Statements that the suspects of a table are measured by: one that is to blame leaves an eighth of them suspected. */
const MAX_SUSPECT_GROUPS = 8

/** Deals the suspects out; checks without SQL of users are none. */
function suspectGroups(checks: readonly Check[]): Map<string, number> {
  const suspects = checks.filter(
    ({ isSuspect, type, filter }) => isSuspect && (type.userSql || filter !== undefined),
  )
  return new Map(suspects.map(({ id }, place) => [id, place % MAX_SUSPECT_GROUPS]))
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
      (await findCheckFilterProblem(check, on)) ||
      findCheckWindowProblem(check, on)
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
  bucket?: Sql,
): PlannedCheck | CheckProblem {
  try {
    const { type, groupBy = [], window } = check
    const isGrouped = groupBy.length > 0 || window !== undefined
    // Ranks are counted of all rows that are read, so that these must be the check's.
    const isRankedByGroup = isGrouped && ranksPercentile(engine, type)
    const context = buildCheckContext(engine, table, check, isRankedByGroup ? 'where' : mode, bucket)
    const measures = planMeasures(engine, check, context)
    const isApart = (measure: PlannedMeasure) => 'select' in measure && !measure.aggregate
    if (isGrouped && Object.values(measures).some(isApart))
      return window && groupBy.length === 0
        ? planBranches(engine, table, check, { context, window, mode })
        : invalidCheck(`${type.name} cannot be grouped.`)
    const { filter, aggregateFilter } = context
    // Within the buckets, the aggregates have the filter.
    const where = aggregateFilter ? bucket : filter?.condition
    const newest =
      window && planBucket(engine, table, check, { bucket: window.buckets.at(-1)!, mode: 'where' })
    if (filter && !type.filters) requireFiltered(Object.values(measures))
    return {
      check,
      context,
      measures,
      ...(where && { where }),
      ...(aggregateFilter && { rowCount: engine.dialect.countIf(aggregateFilter) }),
      ...(newest && !('message' in newest) && { newest }),
    }
  } catch (thrown) {
    return problemFromThrown(check.type, thrown)
  }
}

/** A check of one bucket of its window alone. */
function planBucket(
  engine: Engine,
  table: TableInfo,
  { window, ...check }: Check,
  { bucket, mode }: { bucket: Bucket; mode: FilterMode | undefined },
): PlannedCheck | CheckProblem {
  return planCheck(engine, table, check, mode, bucketCondition(window!.column, bucket, engine.dialect))
}

function planBranches(
  engine: Engine,
  table: TableInfo,
  check: Check,
  { context, window, mode }: { context: CheckContext; window: CheckWindow; mode: FilterMode | undefined },
): PlannedCheck | CheckProblem {
  const branches: PlannedCheck[] = []
  for (const bucket of window.buckets) {
    const branch = planBucket(engine, table, check, { bucket, mode })
    if ('message' in branch) return branch
    branches.push(branch)
  }
  const newest = planBucket(engine, table, check, { bucket: window.buckets.at(-1)!, mode: 'where' })
  return { check, context, measures: {}, branches, ...(!('message' in newest) && { newest }) }
}

function planMeasures(
  engine: Engine,
  { type, groupBy = [], window }: Check,
  context: CheckContext,
): PlannedCheck['measures'] {
  const measures = measuresOf(type, context)
  const rank = ranksPercentile(engine, type) ? rankedPercentileOf(type, context) : undefined
  if (rank) return { value: rank }
  return groupBy.length === 0 && !window ? sortApart(type, context, measures) : measures
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
