/** The numbers of a column, as the metrics that a scan takes. */
import Joi from 'joi'
import type { AggregateMetric, Check, CheckContext, CheckType } from '../../checks/check.ts'
import { asColumnNumber, asColumnText, columnTextLength, isNumeric } from '../../checks/column-values.ts'
import { distinctCount, nonNullCount } from '../../checks/measures.ts'
import { TEMPORAL_KINDS, type ColumnInfo, type ColumnKind } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import type { PatternName, Quantiles } from './api.ts'
import { TEXT_PATTERNS } from './patterns.ts'

/** The quantiles of a profile, as fractions. */
const QUANTILES: Readonly<Record<keyof Quantiles, number>> = {
  p05: 0.05,
  p25: 0.25,
  p50: 0.5,
  p75: 0.75,
  p95: 0.95,
}
export const QUANTILE_NAMES = Object.keys(QUANTILES) as (keyof Quantiles)[]

/** What is measured of one column: the name of the number in `columnChecks`. */
export type NumberName =
  | 'count'
  | 'distinct'
  | 'min'
  | 'max'
  | 'mean'
  | 'stddev'
  | 'minLength'
  | 'maxLength'
  | 'meanLength'
  | 'matches'
  | keyof Quantiles

/** Kinds of documents, whose distinct values say little for what they cost. */
const UNCOUNTED_KINDS: readonly ColumnKind[] = ['json', 'binary']

/** What a dialect says of the values of columns. */
type ValueDialect = Pick<Dialect, 'isComparable' | 'isPrintable'>

/** How the columns of a table are measured. */
export interface ColumnMeasuring {
  /** Columns whose values must not show. */
  masked: ReadonlySet<string>
  /** Whether the engine's approximation of distinct values serves. */
  isDistinctApproximate: boolean
  /** The pattern that each text column is matched with, by the column's name. */
  patterns: ReadonlyMap<string, PatternName>
  /** Columns whose distinct values are known already. */
  counted: ReadonlySet<string>
}

/** The checks of one column; their ids are `checkId` of the column's name and the number's. */
export function columnChecks(column: ColumnInfo, measuring: ColumnMeasuring, dialect: ValueDialect): Check[] {
  const checks = [check(column, 'count', metric('count', nonNullCount))]
  const add = (name: NumberName, type: CheckType, config: object = {}) =>
    checks.push(check(column, name, type, config))
  const isMasked = measuring.masked.has(column.name)
  if (sortsDistinct(column, dialect) && !measuring.counted.has(column.name))
    add('distinct', measuring.isDistinctApproximate ? approximateDistinct : exactDistinct)
  if (isNumeric(column)) {
    add(
      'mean',
      metric('mean', ({ dialect, column: value }) => dialect.mean(value)),
    )
    add(
      'stddev',
      metric('stddev', ({ dialect, column: value }) => dialect.standardDeviation(value)),
    )
  }
  if (!isMasked) {
    const extreme = isNumeric(column) ? asColumnNumber : momentOf
    if (isNumeric(column) || TEMPORAL_KINDS.includes(column.kind)) {
      const wrap = isNumeric(column) ? (_: CheckContext, value: Sql) => value : secondsOf
      add(
        'min',
        metric('min', context => wrap(context, sql`min(${extreme(context)})`)),
      )
      add(
        'max',
        metric('max', context => wrap(context, sql`max(${extreme(context)})`)),
      )
    }
    if (sortsQuantiles(column, measuring.masked))
      for (const name of QUANTILE_NAMES) add(name, quantileMetric(QUANTILES[name]))
  }
  if (column.kind === 'text') {
    add(
      'minLength',
      metric('min_length', context => sql`min(${columnTextLength(context)})`),
    )
    add(
      'maxLength',
      metric('max_length', context => sql`max(${columnTextLength(context)})`),
    )
    add(
      'meanLength',
      metric('mean_length', context => context.dialect.mean(columnTextLength(context))),
    )
    const pattern = measuring.patterns.get(column.name)
    if (pattern && pattern !== 'enum') add('matches', patternMetric(pattern))
  }
  return checks
}

/** The checks that show which pattern most values of text columns have, and how many are distinct of those in `few`. */
export function surveyChecks(columns: readonly ColumnInfo[], few: ReadonlySet<string>): Check[] {
  return columns.flatMap(column => {
    const patterns = column.kind === 'text' ? TEXT_PATTERNS : []
    const checks = patterns.map(({ name }) => check(column, name, patternMetric(name)))
    if (few.has(column.name)) checks.push(check(column, 'distinct', surveyedDistinct))
    return checks.length > 0 ? [check(column, 'count', metric('count', nonNullCount)), ...checks] : []
  })
}

/** How often the values of a column are sorted, which is what takes an engine's time and its disk. */
export function countSorts(column: ColumnInfo, masked: ReadonlySet<string>, dialect: ValueDialect): number {
  return Number(sortsDistinct(column, dialect)) + Number(sortsQuantiles(column, masked))
}

/** Whether the distinct values of a column are counted. */
export function sortsDistinct(column: ColumnInfo, dialect: ValueDialect): boolean {
  if (UNCOUNTED_KINDS.includes(column.kind)) return false
  return dialect.isComparable(column) && dialect.isPrintable(column)
}

function sortsQuantiles(column: ColumnInfo, masked: ReadonlySet<string>): boolean {
  return isNumeric(column) && !masked.has(column.name)
}

/** The id of the check of a number. */
export function checkId(column: string, name: string): string {
  return `${name} ${column}`
}

function check({ name: column }: ColumnInfo, name: string, type: CheckType, config: object = {}): Check {
  return { id: checkId(column, name), type, column, config: { ...config } }
}

function metric(name: string, measure: (context: CheckContext) => Sql): AggregateMetric {
  return { family: 'metric', name, description: name, config: Joi.object({}), column: 'required', measure }
}

const exactDistinct: AggregateMetric = {
  ...metric('distinct', ({ column }) => distinctCount(column)),
  sorts: true,
}
/** A SELECT of its own would not pay, because few rows are surveyed. */
const surveyedDistinct = metric('distinct', ({ column }) => distinctCount(column))
const approximateDistinct = metric('distinct', ({ column, dialect }) =>
  dialect.approximateDistinct ? dialect.approximateDistinct(column) : distinctCount(column),
)

function patternMetric(name: PatternName): CheckType {
  const expression = TEXT_PATTERNS.find(pattern => pattern.name === name)?.expression ?? ''
  const counted = metric(name, context =>
    context.dialect.countIf(context.dialect.matches(asColumnText(context), expression, context.info)),
  )
  return { ...counted, needs: ['regex'] }
}

function quantileMetric(fraction: number): CheckType {
  return {
    ...metric('quantile', ({ column, dialect, from }) => dialect.percentile(column, fraction, from)),
    percentileOf: ({ column }) => ({ value: column, fraction }),
    sorts: true,
    needs: ['percentile'],
  }
}

function momentOf({ column }: CheckContext): Sql {
  return column
}

function secondsOf({ dialect }: CheckContext, value: Sql): Sql {
  return dialect.epochSeconds(value)
}
