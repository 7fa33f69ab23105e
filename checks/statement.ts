import type { TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import { join, raw, Sql, sql } from '../connectors/sql.ts'
import type { Measure } from './check.ts'
import { rowCount } from './measures.ts'
import type { Engine, Planned } from './plan.ts'
import { rankedSelect, type Rank } from './ranked-percentiles.ts'

/** Checks that one SELECT measures. */
export interface Part {
  checks: Planned[]
  groupBy: readonly string[]
}

/** The SELECT of a part. */
export interface Statement {
  select: Sql
  /** The output column of a measure, by its `measureKey`. */
  columns: Map<string, string>
}

/** The most groups of a metric with `group_by`; one more makes it an error. */
export const MAX_GROUPS = 1000

/** The output column of all rows. */
export const TOTAL = 'm0'

/** The output column of the group column at a position. */
export function groupColumn(index: number): string {
  return `g${index}`
}

function isRank(measure: Measure | Rank): measure is Rank {
  return 'fraction' in measure
}

/** Equal for measures that are one number, which is then computed once. */
export function measureKey(measure: Measure | Rank): string {
  if (measure instanceof Sql) return measure.key
  return isRank(measure)
    ? `${measure.value.key} ${measure.fraction}`
    : `${measure.select.key} ${measure.column}`
}

/** How many values a measure binds at most. */
function countValues(measure: Measure | Rank): number {
  if (measure instanceof Sql) return measure.values.length
  if (!isRank(measure)) return Math.max(measure.select.values.length, measure.aggregate?.values.length ?? 0)
  // Ranks name their value as output, in the order twice and in the count.
  return Math.max(4 * measure.value.values.length, measure.whole.values.length)
}

/** SELECTs beside the one of all aggregates: MySQL and MariaDB join 61 tables, SQLite 64. */
const MAX_BESIDE = 60

/**
 * The SELECT that a measure of a whole table may be read from beside the aggregates; of a percentile by ranks the
 * value, which others of it share one with.
 */
function besideOf(measure: Measure | Rank, { countDistinctSorts: sortsDistinct }: Dialect): Sql | undefined {
  if (measure instanceof Sql) return undefined
  if (isRank(measure)) return measure.value
  return sortsDistinct || !measure.aggregate ? measure.select : undefined
}

/**
 * Puts checks together that one SELECT can measure: those with the same `group_by`, of these the percentiles by
 * ranks apart, each of the checks that stay alone by itself, and no more than engines take in output columns, bound
 * values and joined tables. The users' own SQL comes last, so that it uses up only time that no other check needs.
 */
export function partition(planned: readonly Planned[], { dialect }: Pick<Engine, 'dialect'>): Part[] {
  const groups = new Map<string, Part>()
  for (const item of planned) {
    const groupBy = item.check.groupBy ?? []
    const isRanked = groupBy.length > 0 && Object.values(item.measures).some(isRank)
    const shared = `${isRanked ? 'ranks ' : ''}${JSON.stringify(groupBy)}`
    const key = item.check.type.userSql ? `alone ${item.check.id}` : shared
    const part = groups.get(key) ?? { checks: [], groupBy }
    part.checks.push(item)
    groups.set(key, part)
  }
  const isAlone = (part: Part) => (part.checks.some(({ check }) => check.type.userSql) ? 1 : 0)
  const parts = [...groups.values()].toSorted((a, b) => isAlone(a) - isAlone(b))
  return parts.flatMap(part => cut(part, dialect))
}

function cut({ checks, groupBy }: Part, dialect: Dialect): Part[] {
  const { limits } = dialect
  const parts: Part[] = []
  let keys = new Set<string>()
  let beside = new Set<string>()
  let values = 0
  for (const item of checks) {
    const fresh = () => Object.values(item.measures).filter(measure => !keys.has(measureKey(measure)))
    const freshValues = () => fresh().reduce((sum, measure) => sum + countValues(measure), 0)
    const columns = 1 + groupBy.length + keys.size + fresh().length
    const own =
      groupBy.length > 0
        ? []
        : Object.values(item.measures).flatMap(measure => besideOf(measure, dialect)?.key ?? [])
    const isFull =
      columns > limits.columns ||
      values + freshValues() > limits.values ||
      new Set([...beside, ...own]).size > MAX_BESIDE
    if (parts.length === 0 || isFull) {
      parts.push({ checks: [], groupBy })
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
export function statementOf(part: Part, table: TableInfo, { dialect }: Pick<Engine, 'dialect'>): Statement {
  const measures = new Map<string, Measure | Rank>([[rowCount.key, rowCount]])
  for (const { measures: own } of part.checks) {
    for (const measure of Object.values(own)) measures.set(measureKey(measure), measure)
  }
  const columns = new Map([...measures.keys()].map((key, index) => [key, `m${index}`]))
  const asked = [...measures].map(([key, measure]) => ({ name: columns.get(key) ?? '', measure }))
  const from = dialect.table(table)
  if (part.groupBy.length === 0) {
    return { select: wholeSelect(asked, from, dialect), columns }
  }
  const groups = part.groupBy.map((name, index) => [groupColumn(index), dialect.quote(name)] as const)
  const totals = asked.flatMap(({ name, measure }) =>
    isRank(measure) ? [] : [[name, inGroups(measure)] as const],
  )
  const ranks = asked.flatMap(({ name, measure }) => (isRank(measure) ? [[name, measure] as const] : []))
  const select =
    ranks.length > 0
      ? rankedSelect(ranks, { from, groups, totals }, dialect)
      : groupedSelect(totals, { from, groups }, dialect)
  return { select: dialect.limit(select, MAX_GROUPS + 1), columns }
}

interface Asked<Of> {
  name: string
  measure: Of
}

type Aggregates = readonly (readonly [name: string, measure: Sql])[]

/** The measure of a group; a plan lets no tally without an aggregate come here. */
function inGroups(measure: Measure): Sql {
  if (measure instanceof Sql) return measure
  if (measure.aggregate) return measure.aggregate
  throw new TypeError(`The measure ${measure.column} has no aggregate, so that it cannot be grouped.`)
}

function groupedSelect(
  aggregates: Aggregates,
  { from, groups }: { from: Sql; groups: Aggregates },
  dialect: Dialect,
): Sql {
  const outputs = [...groups, ...aggregates].map(output => as(output, dialect))
  return sql`select ${join(outputs)} from ${from} group by ${join(groups.map(([, column]) => column))}`
}

/**
 * The SELECT of a whole table: one row of aggregates, and beside it a row of each SELECT that further measures are
 * read from. A tally that has an aggregate joins the others, unless the engine has it sooner by its SELECT, or another
 * check has that computed anyway. Several percentiles of one value are ranked together.
 */
function wholeSelect(asked: readonly Asked<Measure | Rank>[], from: Sql, dialect: Dialect): Sql {
  const beside = [...talliesApart(asked, dialect), ...ranksApart(asked, from, dialect)]
  const read = new Set(beside.flatMap(({ columns }) => columns.map(([name]) => name)))
  const aggregates = asked
    .filter(({ name }) => !read.has(name))
    .map(({ name, measure }) => [name, isRank(measure) ? measure.whole : inGroups(measure)] as const)
  const whole = sql`select ${join(aggregates.map(output => as(output, dialect)))} from ${from}`
  if (beside.length === 0) return whole
  const outputs = [
    ...aggregates.map(([name]) => sql`a.${dialect.quote(name)}`),
    ...beside.flatMap(({ columns }, index) =>
      columns.map(([name, column]) => as([name, sql`${raw(`d${index}`)}.${column}`], dialect)),
    ),
  ]
  const tables = beside.map(({ select }, index) => sql`(${select}) ${raw(`d${index}`)}`)
  return sql`select ${join(outputs)} from ${join([sql`(${whole}) a`, ...tables], ' cross join ')}`
}

/** A SELECT of one row, and which of its columns are read as what. */
interface Beside {
  select: Sql
  columns: Aggregates
}

function talliesApart(asked: readonly Asked<Measure | Rank>[], dialect: Dialect): Beside[] {
  const tallies = asked.flatMap(({ name, measure }) => ('select' in measure ? [{ name, measure }] : []))
  return groupsOf(tallies, ({ measure }) => measure.select.key)
    .filter(together => together.some(({ measure }) => besideOf(measure, dialect)))
    .map(together => ({
      select: together[0].measure.select,
      columns: together.map(({ name, measure }) => [name, raw(measure.column)] as const),
    }))
}

function ranksApart(asked: readonly Asked<Measure | Rank>[], from: Sql, dialect: Dialect): Beside[] {
  const ranks = asked.flatMap(({ name, measure }) => (isRank(measure) ? [[name, measure] as const] : []))
  return groupsOf(ranks, ([, { value }]) => value.key)
    .filter(together => together.length > 1)
    .map(together => ({
      select: rankedSelect(together, { from, groups: [], totals: [] }, dialect),
      columns: together.map(([name]) => [name, dialect.quote(name)] as const),
    }))
}

/** Items with one key together, in the order of their first. */
function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return [...groups.values()]
}

function as([name, measure]: readonly [name: string, measure: Sql], dialect: Dialect): Sql {
  return sql`${measure} as ${dialect.quote(name)}`
}
