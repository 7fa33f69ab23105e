import { numberLiteral, nonNullCount, rowCount } from '../measures.ts'
import type { Rollup } from '../check.ts'
import type { PlannedCheck } from '../plan.ts'
import { isNumeric } from '../column-values.ts'
import { join, raw, Sql, sql } from '../../connectors/sql.ts'

/** Periods of equal length, one after the other, in whole seconds since 1970. */
export interface HistoryPeriods {
  from: number
  seconds: number
  count: number
}

/** A measure of a check and its rollup. */
export interface RolledMeasure {
  name: string
  rollup: Rollup
  /** The select that it is an output of, by its number. */
  part: number
  /** Its output column there. */
  column: string
  /** For a mean: the output column with the number of values. */
  weight?: string
}

/** The one statement of a history, and where in its rows everything stands. */
export interface HistorySelect {
  select: Sql
  measures: RolledMeasure[]
}

/** The output columns: a period by when it begins, and the select that a row comes from. */
export const PERIOD_COLUMN = 'p'
export const PART_COLUMN = 'part'
/** The counts of the first select: of all rows, and of those that have a time. */
export const TOTAL_COLUMN = 'm0'
export const DATED_COLUMN = 'm1'

/** The period of the rows of before the first one, and of those without a time. */
export const BEFORE_FIRST_PERIOD = -1

/**
 * Writes the statement of a history: one select grouped by period for all that are aggregates, and, united with it,
 * one of its own for each measure that looks at values: those are grouped first.
 * @param rollups by the names of the measures
 * @param time the column of when a row was added
 */
export function writeHistorySelect(
  planned: PlannedCheck,
  rollups: Readonly<Record<string, Rollup>>,
  time: Sql,
  periods: HistoryPeriods,
): HistorySelect {
  const { context } = planned
  const { dialect } = context
  const aggregates: Sql[] = [rowCount, nonNullCount(time)]
  const parts: ((outputs: (own: readonly Sql[]) => Sql) => Sql)[] = []
  const seconds = dialect.epochSeconds(time)
  const timed = writePeriodSql(seconds, periods)
  const measures = Object.entries(rollups).map(([name, rollup]): RolledMeasure => {
    const own = rollup === 'distinct' || rollup === 'repeated' ? rollup : undefined
    if (own) {
      const part = parts.push(outputs => selectValues(own, planned, timed, outputs))
      return { name, rollup, part, column: TOTAL_COLUMN }
    }
    const column = `m${aggregates.push(aggregateOf(planned, name)) - 1}`
    if (rollup !== 'mean') return { name, rollup, part: 0, column }
    const { column: values, info } = context
    const present = isNumeric(info) ? nonNullCount(dialect.asNumber(values)) : nonNullCount(values)
    return { name, rollup, part: 0, column, weight: `m${aggregates.push(present) - 1}` }
  })
  const outputs = (part: number, own: readonly Sql[]) => {
    const numbers = aggregates.map((_, index) => own[index] ?? raw('0'))
    const named = numbers.map((number, index) => sql`${number} as ${dialect.quote(`m${index}`)}`)
    return sql`${numberLiteral(part)} as ${dialect.quote(PART_COLUMN)}, ${join(named)}`
  }
  const first = sql`select ${timed.periodOf(seconds)} as ${dialect.quote(PERIOD_COLUMN)}, ${outputs(0, aggregates)} from ${context.from} where ${timed.isReached} group by 1`
  const others = parts.map((write, index) => write(own => outputs(index + 1, own)))
  return { select: join([first, ...others], ' union all '), measures }
}

function aggregateOf({ check, measures }: PlannedCheck, name: string): Sql {
  const measure = measures[name]
  const aggregate =
    measure && !(measure instanceof Sql) && 'aggregate' in measure ? measure.aggregate : measure
  if (aggregate instanceof Sql) return aggregate
  throw new TypeError(`rollup of ${check.type.name} names ${name}, which is none of its measures`)
}

interface PeriodSql {
  /** When the period of a moment begins; that of before the first for an earlier one, and for NULL. */
  periodOf(moment: Sql): Sql
  /** The moment of a row, one before the first period for a row without. */
  moment: Sql
  /** Holds for rows up to the end of the last period. */
  isReached: Sql
}

/** Computing the seconds is most of what a history costs: the order of conditions spares most rows the later ones. */
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

/** In parentheses where it is negative: two minus signs begin a comment. */
function integer(value: number): Sql {
  return value < 0 ? sql`(${numberLiteral(value)})` : numberLiteral(value)
}

/**
 * What values of the column add, by period. A value is a different one in the period it is first seen in. The second
 * row of a value makes two rows repeated, every later one makes one.
 */
function selectValues(
  rollup: 'distinct' | 'repeated',
  { context: { column, info, from, dialect } }: PlannedCheck,
  { periodOf, moment, isReached }: PeriodSql,
  outputs: (own: readonly Sql[]) => Sql,
): Sql {
  const [at, rank] = ['tidemark_at', 'tidemark_rank'].map(name => dialect.quote(name)) as [Sql, Sql]
  const select = (added: Sql, inner: Sql) =>
    sql`select ${periodOf(sql`d.${at}`)} as ${dialect.quote(PERIOD_COLUMN)}, ${outputs([added])} from (${inner}) d group by 1`
  if (rollup === 'distinct') {
    const rows = sql`(select ${column}, ${moment} as ${at} from ${from} where ${isReached}) v`
    return select(rowCount, dialect.groupByValue(sql`min(${at}) as ${at}`, column, rows, info))
  }
  const ranked = sql`select ${moment} as ${at}, row_number() over (partition by ${column} order by ${moment}) as ${rank} from ${from} where ${column} is not null and ${isReached}`
  const added = sql`sum(case when d.${rank} = 2 then 2 when d.${rank} > 2 then 1 else 0 end)`
  return select(added, ranked)
}
