import { percentileFraction, type Dialect } from '../../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'

/** A percentile computed from ranks, for engines whose own percentile is not an aggregate. */
export interface RankedPercentile {
  /** The expression of which the percentile is taken. */
  value: Sql
  /** From 0 (the minimum) to 1 (the maximum). */
  fraction: number
  /** The engine's own form for the whole table, used when no other percentile of the expression is needed. */
  tableAggregate: Sql
}

/** An output column and its expression. */
type NamedSql = readonly [name: string, measure: Sql]

/**
 * The SELECT of percentiles by group, or without groups of the whole table: inside, each row with its group, its
 * values, their ranks and how many values its group has; outside, for each group, the two values around the wanted
 * rank (n - 1) × fraction, weighed by how near they are, which is the interpolation of SQL's percentile_cont (ISO/IEC
 * 9075-2, inverse distribution functions). NULLs come after all values and have no weight; a group without values
 * gives NULL, and NULL as a group is a group of its own. Percentiles of one value share its columns.
 * @param groups the group columns, by output column
 * @param totals further aggregates of each group
 */
export function selectRankedPercentiles(
  ranks: readonly (readonly [name: string, rank: RankedPercentile])[],
  { from, groups, totals }: { from: Sql; groups: readonly NamedSql[]; totals: readonly NamedSql[] },
  dialect: Dialect,
): Sql {
  const as = ([name, what]: NamedSql) => sql`${what} as ${dialect.quote(name)}`
  const keys = groups.map(([, column]) => column)
  const partition = keys.length > 0 ? sql`partition by ${join(keys)}` : raw('')
  const values = [...new Map(ranks.map(([, { value }]) => [value.key, value])).values()]
  const windows = values.map((value, index) => {
    const [x, i, n] = namesOf(index)
    const number = dialect.asNumber(value)
    const order = sql`${partition} order by case when ${number} is null then 1 else 0 end, ${number}`
    // Ranks count from 0, like the wanted rank.
    return sql`${number} as ${x}, row_number() over (${order}) - 1 as ${i}, count(${number}) over (${partition}) as ${n}`
  })
  const ranked = sql`select ${join([...groups.map(as), ...windows])} from ${from}`
  const outputs = ranks.map(([name, { value, fraction }]): NamedSql => {
    const [x, i, n] = namesOf(values.findIndex(({ key }) => key === value.key))
    const far = sql`abs(${i} - (${n} - 1) * ${dialect.asNumber(percentileFraction(fraction))})`
    return [name, sql`sum(case when ${far} < 1 then ${x} * (1 - ${far}) end)`]
  })
  const names = groups.map(([name]) => dialect.quote(name))
  const select = sql`select ${join([...names, ...[...totals, ...outputs].map(as)])} from (${ranked}) r`
  return names.length > 0 ? sql`${select} group by ${join(names)}` : select
}

/** Column names of a value, its rank and the number of values; every engine folds them the same way unquoted. */
function namesOf(index: number): [Sql, Sql, Sql] {
  return [raw(`x${index}`), raw(`i${index}`), raw(`n${index}`)]
}
