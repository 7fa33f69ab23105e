import { numberLiteral, rowCount } from '../measures.ts'
import type { Rollup } from '../check.ts'
import type { PlannedCheck } from '../plan.ts'
import { aggregateOf, companionsOf, type RolledColumns } from './rollups.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'

/** Consecutive periods of equal length, in whole epoch seconds. */
export interface HistoryPeriods {
  from: number
  seconds: number
  count: number
}

/** A check of a history, with how its measures accumulate. */
export interface RolledCheck {
  planned: PlannedCheck
  /** By the names of the measures. */
  rollups: Readonly<Record<string, Rollup>>
}

/** A measure of a check and its rollup. */
export interface RolledMeasure extends RolledColumns {
  name: string
  /** The check that it is of. */
  planned: PlannedCheck
  /** The index of the select that outputs it. */
  part: number
}

/** The statement of a history, and the layout of its rows. */
export interface HistorySelect {
  select: Sql
  measures: RolledMeasure[]
}

/** The output columns: the start of a period, and the select that a row comes from. */
export const PERIOD_COLUMN = 'p'
export const PART_COLUMN = 'part'
/** The counts of the first select: all rows, and those with a time. */
export const TOTAL_COLUMN = 'm0'
export const DATED_COLUMN = 'm1'

/** The period for rows before the first one, and for rows without a time. */
export const BEFORE_FIRST_PERIOD = -1

/**
 * Writes the statement of the histories of checks of the same rows: one select grouped by period for all aggregates and, in
 * a UNION with it, one select for each measure of values, which are grouped first.
 * @param time the column of when a row was added
 */
export function writeHistorySelect(
  checks: readonly [RolledCheck, ...RolledCheck[]],
  time: Sql,
  periods: HistoryPeriods,
): HistorySelect {
  const { context } = checks[0].planned
  const { dialect } = context
  const aggregates: Sql[] = [rowCount, dialect.countNonNull(time)]
  const parts: ((outputs: (own: readonly Sql[]) => Sql) => Sql)[] = []
  const seconds = dialect.epochSeconds(time)
  const timed = writePeriodSql(seconds, periods)
  const all = checks.flatMap(({ planned, rollups }) =>
    Object.entries(rollups).map(([name, rollup]) => ({ planned, name, rollup })),
  )
  const measures = all.map(({ planned, name, rollup }): RolledMeasure => {
    const own = rollup === 'distinct' || rollup === 'repeated' ? rollup : undefined
    if (own) {
      const part = parts.push(outputs => selectValues(own, planned, timed, outputs))
      return { planned, name, rollup, part, column: TOTAL_COLUMN }
    }
    const column = `m${aggregates.push(aggregateOf(planned, name)) - 1}`
    const { weight, mean } = companionsOf(planned, rollup)
    const added = (aggregate: Sql) => `m${aggregates.push(aggregate) - 1}`
    return {
      planned,
      name,
      rollup,
      part: 0,
      column,
      ...(weight && { weight: added(weight) }),
      ...(mean && { mean: added(mean) }),
    }
  })
  const outputs = (part: number, own: readonly Sql[]) => {
    const numbers = aggregates.map((_, index) => own[index] ?? raw('0'))
    const named = numbers.map((number, index) => sql`${number} as ${dialect.quote(`m${index}`)}`)
    return sql`${numberLiteral(part)} as ${dialect.quote(PART_COLUMN)}, ${join(named)}`
  }
  const first = sql`select ${timed.periodOf(seconds)} as ${dialect.quote(PERIOD_COLUMN)}, ${outputs(0, aggregates)} from ${context.rows} where ${timed.isReached} group by 1`
  const others = parts.map((write, index) => write(own => outputs(index + 1, own)))
  return { select: join([first, ...others], ' union all '), measures }
}

interface PeriodSql {
  /** The start of a moment's period; the period before the first for an earlier moment and for NULL. */
  periodOf(moment: Sql): Sql
  /** The moment of a row; for a row without one, a moment before the first period. */
  moment: Sql
  /** Holds for rows up to the end of the last period. */
  isReached: Sql
}

/** Computing the seconds is most of the cost of a history, so the order of conditions skips it for most rows. */
function writePeriodSql(seconds: Sql, { from, seconds: length, count }: HistoryPeriods): PeriodSql {
  const [first, end] = [from, from + count * length].map(integer) as [Sql, Sql]
  const before = integer(from + BEFORE_FIRST_PERIOD * length)
  return {
    periodOf: moment =>
      sql`case when ${moment} >= ${first} then ${moment} - mod(${moment} - ${first}, ${integer(length)}) else ${before} end`,
    moment: sql`coalesce(${seconds}, ${integer(from - 1)})`,
    isReached: sql`(${seconds} < ${end} or ${seconds} is null)`,
  }
}

/** Negative numbers get parentheses, since two minus signs begin a comment. */
function integer(value: number): Sql {
  return value < 0 ? sql`(${numberLiteral(value)})` : numberLiteral(value)
}

/**
 * What the values of the column add in each period. A value counts as distinct in the period of its first row. Its
 * second row adds two repeated rows, each later one adds one.
 */
function selectValues(
  rollup: 'distinct' | 'repeated',
  { context: { column, info, rows, dialect } }: PlannedCheck,
  { periodOf, moment, isReached }: PeriodSql,
  outputs: (own: readonly Sql[]) => Sql,
): Sql {
  const [at, rank] = ['tidemark_at', 'tidemark_rank'].map(name => dialect.quote(name)) as [Sql, Sql]
  const select = (added: Sql, inner: Sql) =>
    sql`select ${periodOf(sql`d.${at}`)} as ${dialect.quote(PERIOD_COLUMN)}, ${outputs([added])} from (${inner}) d group by 1`
  if (rollup === 'distinct') {
    const dated = sql`(select ${column}, ${moment} as ${at} from ${rows} where ${isReached}) v`
    return select(rowCount, dialect.groupByValue(sql`min(${at}) as ${at}`, column, dated, info))
  }
  const ranked = sql`select ${moment} as ${at}, row_number() over (partition by ${column} order by ${moment}) as ${rank} from ${rows} where ${dialect.isNotNull(column, info)} and ${isReached}`
  const added = sql`sum(case when d.${rank} = 2 then 2 when d.${rank} > 2 then 1 else 0 end)`
  return select(added, ranked)
}
