import { percentileFraction, type Dialect } from '../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../connectors/sql.ts'

/** A percentile that is computed by ranks, where the engine's own is no aggregate. */
export interface RankedPercentile {
  /** What the percentile is of. */
  value: Sql
  /** From 0, the least, to 1, the greatest. */
  fraction: number
  /** The same of the whole table as the engine has it, which is taken where no other percentile of the value is asked. */
  tableAggregate: Sql
}

/** An output column and what stands in it. */
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
    // The rank counts from 0, as the wanted one does.
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

/** What a value, its rank and the number of values are called; engines fold them alike where they are not quoted. */
function namesOf(index: number): [Sql, Sql, Sql] {
  return [raw(`x${index}`), raw(`i${index}`), raw(`n${index}`)]
}
