import type { TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import { join, raw, Sql, sql } from '../connectors/sql.ts'
import type { Measure } from './check.ts'
import { rowsOf, windowKey, withBuckets, type ScanPart } from './rows/part.ts'
import { rowCount } from './measures.ts'
import type { Engine, PlannedCheck, PlannedMeasure, SortedAggregate } from './plan.ts'
import { selectRankedPercentiles, type RankedPercentile } from './rows/ranked-percentiles.ts'

/** The SELECT of a part. */
export interface ScanStatement {
  select: Sql
  /** The output column of a measure, by its `measureKey`. */
  columns: Map<string, string>
}

/** The most groups of a metric with `group_by`; one more makes it an error. */
export const MAX_GROUPS = 1000

/** The output column of all rows. */
export const TOTAL_COLUMN = 'm0'

/** The output column of the group column at a position. */
export function groupColumnName(index: number): string {
  return `g${index}`
}

function isRank(measure: PlannedMeasure): measure is RankedPercentile {
  return 'fraction' in measure
}

function isSorted(measure: PlannedMeasure): measure is SortedAggregate {
  return 'sorted' in measure
}

/** Equal for measures that are one number, which is then computed once. */
export function measureKey(measure: PlannedMeasure): string {
  if (measure instanceof Sql) return measure.key
  if (isSorted(measure)) return measure.sorted.key
  return isRank(measure)
    ? `${measure.value.key} ${measure.fraction}`
    : `${measure.select.key} ${measure.column}`
}

/** How many values a measure binds at most. */
function countBoundValues(measure: PlannedMeasure): number {
  if (measure instanceof Sql) return measure.values.length
  if (isSorted(measure)) return measure.sorted.values.length
  if (!isRank(measure)) return Math.max(measure.select.values.length, measure.aggregate?.values.length ?? 0)
  // Ranks name their value as output, in the order twice and in the count.
  return Math.max(4 * measure.value.values.length, measure.tableAggregate.values.length)
}

/** SELECTs beside the one of all aggregates: MySQL and MariaDB join 61 tables, SQLite 64. */
const MAX_JOINED_SELECTS = 60

/** The key of the SELECT that all sorted aggregates share. */
const SORTED = raw('sorted')

/**
 * The SELECT that a measure of a whole table may be read from beside the aggregates; of a percentile by ranks the
 * value, which others of it share one with.
 */
function separateSql(
  measure: PlannedMeasure,
  { countDistinctSorts: sortsDistinct }: Dialect,
): Sql | undefined {
  if (measure instanceof Sql) return undefined
  if (isSorted(measure)) return SORTED
  if (isRank(measure)) return measure.value
  return sortsDistinct || !measure.aggregate ? measure.select : undefined
}

/**
 * Puts checks together that one SELECT can measure: those with the same `group_by`, of these the percentiles by
 * ranks apart, each of the checks that stay alone by itself, and no more than engines take in output columns, bound
 * values and joined tables. Suspects come after the others, and the SELECTs of users last, so that they use up only time that
 * no other check needs.
 */
export function partitionChecks(
  planned: readonly PlannedCheck[],
  { dialect }: Pick<Engine, 'dialect'>,
): ScanPart[] {
  const groups = new Map<string, ScanPart>()
  for (const item of planned) {
    const groupBy = item.check.groupBy ?? []
    const isRanked = groupBy.length > 0 && Object.values(item.measures).some(isRank)
    const { suspectGroup } = item
    const shared = `${suspectGroup === undefined ? '' : `suspects ${suspectGroup} `}${isRanked ? 'ranks ' : ''}${JSON.stringify(groupBy)} ${item.where?.key ?? ''} ${windowKey(item)}`
    const key = needsOwnStatement(item) ? `alone ${item.check.id}` : shared
    const part = groups.get(key) ?? { checks: [], groupBy, isSuspect: suspectGroup !== undefined }
    part.checks.push(item)
    groups.set(key, part)
  }
  const rank = (part: ScanPart) => (part.checks.some(needsOwnStatement) ? 2 : part.isSuspect ? 1 : 0)
  const parts = [...groups.values()].toSorted((a, b) => rank(a) - rank(b))
  return parts.flatMap(part => splitByLimits(part, dialect)).map(withBuckets)
}

/** All that a check has measured. */
function measuresOf({ measures, rowCount: rows, branches = [] }: PlannedCheck): PlannedMeasure[] {
  if (branches.length > 0) return branches.flatMap(measuresOf)
  return rows ? [rows, ...Object.values(measures)] : Object.values(measures)
}

function needsOwnStatement({ check: { type, config }, context }: PlannedCheck): boolean {
  if (type.userSql === 'aggregate') return type.namesItsRows?.(config, context) === true
  return type.userSql === true || type.ownStatement === true
}

function splitByLimits({ checks, ...shared }: ScanPart, dialect: Dialect): ScanPart[] {
  const { groupBy } = shared
  const { limits } = dialect
  const parts: ScanPart[] = []
  let keys = new Set<string>()
  let beside = new Set<string>()
  let values = 0
  for (const item of checks) {
    const fresh = () => measuresOf(item).filter(measure => !keys.has(measureKey(measure)))
    const freshValues = () => fresh().reduce((sum, measure) => sum + countBoundValues(measure), 0)
    const columns = 1 + groupBy.length + keys.size + fresh().length
    const own =
      groupBy.length > 0
        ? []
        : Object.values(item.measures).flatMap(measure => separateSql(measure, dialect)?.key ?? [])
    const isFull =
      columns > limits.columns ||
      values + freshValues() > limits.values ||
      new Set([...beside, ...own]).size > MAX_JOINED_SELECTS
    if (parts.length === 0 || isFull) {
      parts.push({ ...shared, checks: [] })
      keys = new Set()
      beside = new Set()
      values = 0
    }
    values += freshValues()
    for (const measure of fresh()) keys.add(measureKey(measure))
    for (const key of own) beside.add(key)
    parts.at(-1)?.checks.push(item)
  }
  return parts
}

/**
 * The SELECT of a part: every measure once, however many checks ask for it, and the count of all rows. A
 * grouped one is limited to one group more than is allowed, which is enough to know that there are too many.
 */
export function writeStatement(
  part: ScanPart,
  table: TableInfo,
  { dialect }: Pick<Engine, 'dialect'>,
  within: { range?: Sql; buckets?: Aggregates; bucketCount?: number } = {},
): ScanStatement {
  const measures = new Map<string, PlannedMeasure>([[rowCount.key, rowCount]])
  for (const item of part.checks)
    for (const measure of measuresOf(item)) measures.set(measureKey(measure), measure)
  const columns = new Map([...measures.keys()].map((key, index) => [key, `m${index}`]))
  const asked = [...measures].map(([key, measure]) => ({ name: columns.get(key) ?? '', measure }))
  const { range, buckets = [], bucketCount = 1 } = within
  const from = rowsOf(part, dialect.table(table), range)
  if (part.groupBy.length === 0 && !range) {
    return { select: selectWholeTable(asked, from, dialect), columns }
  }
  const ofColumns = part.groupBy.map((name, index) => [groupColumnName(index), dialect.quote(name)] as const)
  const groups = [...buckets, ...ofColumns]
  const totals = asked.flatMap(({ name, measure }) =>
    isRank(measure) ? [] : [[name, toAggregate(measure)] as const],
  )
  const ranks = asked.flatMap(({ name, measure }) => (isRank(measure) ? [[name, measure] as const] : []))
  const select =
    ranks.length > 0
      ? selectRankedPercentiles(ranks, { from, groups, totals }, dialect)
      : selectGroups(totals, { from, groups }, dialect)
  if (ofColumns.length === 0) return { select, columns }
  return { select: dialect.limit(select, bucketCount * MAX_GROUPS + 1), columns }
}

interface NamedMeasure<Of> {
  name: string
  measure: Of
}

export type Aggregates = readonly (readonly [name: string, measure: Sql])[]

/** The measure of a group; a plan lets no tally without an aggregate come here. */
function toAggregate(measure: Measure | SortedAggregate): Sql {
  if (measure instanceof Sql) return measure
  if (isSorted(measure)) return measure.sorted
  if (measure.aggregate) return measure.aggregate
  throw new TypeError(`The measure ${measure.column} has no aggregate, so that it cannot be grouped.`)
}

function selectGroups(
  aggregates: Aggregates,
  { from, groups }: { from: Sql; groups: Aggregates },
  dialect: Dialect,
): Sql {
  const outputs = [...groups, ...aggregates].map(output => selectAs(output, dialect))
  const select = sql`select ${join(outputs)} from ${from}`
  return groups.length === 0 ? select : sql`${select} group by ${join(groups.map(([, column]) => column))}`
}

/**
 * The SELECT of a whole table: one row of aggregates, and beside it a row of each SELECT that further measures are
 * read from. A tally that has an aggregate joins the others, unless the engine has it sooner by its SELECT, or another
 * check has that computed anyway. Several percentiles of one value are ranked together.
 */
function selectWholeTable(asked: readonly NamedMeasure<PlannedMeasure>[], from: Sql, dialect: Dialect): Sql {
  const beside = [
    ...joinedSubqueries(asked, dialect),
    ...joinedPercentiles(asked, from, dialect),
    ...joinedSorts(asked, from, dialect),
  ]
  const read = new Set(beside.flatMap(({ columns }) => columns.map(([name]) => name)))
  const aggregates = asked
    .filter(({ name }) => !read.has(name))
    .map(
      ({ name, measure }) => [name, isRank(measure) ? measure.tableAggregate : toAggregate(measure)] as const,
    )
  const whole = sql`select ${join(aggregates.map(output => selectAs(output, dialect)))} from ${from}`
  if (beside.length === 0) return whole
  const outputs = [
    ...aggregates.map(([name]) => sql`a.${dialect.quote(name)}`),
    ...beside.flatMap(({ columns }, index) =>
      columns.map(([name, column]) => selectAs([name, sql`${raw(`d${index}`)}.${column}`], dialect)),
    ),
  ]
  const tables = beside.map(({ select }, index) => sql`(${select}) ${raw(`d${index}`)}`)
  return sql`select ${join(outputs)} from ${join([sql`(${whole}) a`, ...tables], ' cross join ')}`
}

/** A SELECT of one row, and which of its columns are read as what. */
interface JoinedSelect {
  select: Sql
  columns: Aggregates
}

function joinedSorts(
  asked: readonly NamedMeasure<PlannedMeasure>[],
  from: Sql,
  dialect: Dialect,
): JoinedSelect[] {
  const sorts = asked.flatMap(({ name, measure }) => (isSorted(measure) ? [{ name, measure }] : []))
  if (sorts.length === 0) return []
  const together = groupInOrder(sorts, ({ measure: { sorted, percentile } }) =>
    dialect.percentiles && percentile ? `percentiles of ${percentile.value.key}` : sorted.key,
  ).map((group, index) => sortedOutput(group, `p${index}`, dialect))
  const outputs = together.map(({ output }) => selectAs(output, dialect))
  return [
    {
      select: sql`select ${join(outputs)} from ${from}`,
      columns: together.flatMap(({ columns }) => columns),
    },
  ]
}

/** What is computed of one sort, under its name, and the measures that are read from it. */
function sortedOutput(
  group: readonly [NamedMeasure<SortedAggregate>, ...NamedMeasure<SortedAggregate>[]],
  sharedName: string,
  dialect: Dialect,
): { output: Aggregates[number]; columns: Aggregates } {
  const [{ name, measure }] = group
  const { percentile } = measure
  const { percentiles } = dialect
  if (!percentiles || !percentile || group.length === 1)
    return { output: [name, measure.sorted], columns: [[name, dialect.quote(name)]] }
  const fractions = group.flatMap(one => one.measure.percentile?.fraction ?? [])
  return {
    output: [sharedName, percentiles.select(percentile.value, fractions)],
    columns: group.map((one, index) => [
      one.name,
      sql`${dialect.quote(sharedName)}${percentiles.subscript(index)}`,
    ]),
  }
}

function joinedSubqueries(asked: readonly NamedMeasure<PlannedMeasure>[], dialect: Dialect): JoinedSelect[] {
  const tallies = asked.flatMap(({ name, measure }) => ('select' in measure ? [{ name, measure }] : []))
  return groupInOrder(tallies, ({ measure }) => measure.select.key)
    .filter(together => together.some(({ measure }) => separateSql(measure, dialect)))
    .map(together => {
      const [{ measure: first }] = together
      const isAlone = together.every(({ measure }) => measure.column === first.column)
      return {
        select: (isAlone && first.alone) || first.select,
        columns: together.map(({ name, measure }) => [name, raw(measure.column)] as const),
      }
    })
}

function joinedPercentiles(
  asked: readonly NamedMeasure<PlannedMeasure>[],
  from: Sql,
  dialect: Dialect,
): JoinedSelect[] {
  const ranks = asked.flatMap(({ name, measure }) => (isRank(measure) ? [[name, measure] as const] : []))
  return groupInOrder(ranks, ([, { value }]) => value.key)
    .filter(together => together.length > 1)
    .map(together => ({
      select: selectRankedPercentiles(together, { from, groups: [], totals: [] }, dialect),
      columns: together.map(([name]) => [name, dialect.quote(name)] as const),
    }))
}

/** Items with one key together, in the order of their first. */
function groupInOrder<Item>(items: readonly Item[], keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return [...groups.values()]
}

function selectAs([name, measure]: readonly [name: string, measure: Sql], dialect: Dialect): Sql {
  return sql`${measure} as ${dialect.quote(name)}`
}
