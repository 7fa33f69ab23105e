import Joi from 'joi'
import type { CheckContext, RowRule } from '../check.ts'
import { compareDecimals } from '../decimals.ts'
import { DECIMAL, columnNumber, isDecimal } from '../measures.ts'
import { isNumeric } from '../column-values.ts'
import { parseMoment, type IsoMoment } from '../moments.ts'
import { join, sql, type Sql } from '../../connectors/sql.ts'

/** A number, a decimal text too long for a double, or an ISO date or timestamp. */
type Bound = number | string

type RangeConfig = {
  min?: Bound
  max?: Bound
}

const bound = Joi.alternatives(
  Joi.string()
    .pattern(DECIMAL, 'a decimal number')
    .custom((text: string, { error }) => (isDecimal(text) ? text : error('any.invalid'))),
  Joi.string()
    .max(40)
    .custom((text: string, { error }) => (parseMoment(text) ? text : error('any.invalid'))),
  Joi.number().strict().unsafe(),
)
  .empty(null)
  .messages({
    'alternatives.match':
      '{{#label}} must be a number, or an ISO date of the years 0001 to 9999 such as 2024-12-31',
    'alternatives.types':
      '{{#label}} must be a number, or an ISO date of the years 0001 to 9999 such as 2024-12-31',
  })

function isNumber(value: Bound): boolean {
  return typeof value === 'number' || isDecimal(value)
}

function inOrder({ min, max }: RangeConfig, { error }: Joi.CustomHelpers): RangeConfig | Joi.ErrorReport {
  if (min === undefined || max === undefined) return { min, max }
  if (isNumber(min) !== isNumber(max)) return error('range.mixed')
  const position = (value: Bound) => parseMoment(String(value))!.from
  const distance = isNumber(min) ? compareDecimals(min, max) : position(min) - position(max)
  return distance > 0 ? error('range.order') : { min, max }
}

function withinNumbers(context: CheckContext<RangeConfig>): Sql[] {
  const { config, column, info, dialect } = context
  const { min, max } = config
  const conditions: Sql[] = []
  if (min !== undefined) conditions.push(sql`${column} >= ${columnNumber(info, min, dialect).literal}`)
  if (max !== undefined) conditions.push(sql`${column} <= ${columnNumber(info, max, dialect).literal}`)
  // An upper bound keeps it out by itself.
  const isNumber = max === undefined ? dialect.isNumber(column, info) : null
  if (isNumber) conditions.push(isNumber)
  return conditions
}

function withinMoments({ column, info, dialect, config: { min, max } }: CheckContext<RangeConfig>): Sql[] {
  const conditions: Sql[] = []
  const [from, to] = [min, max].map(value => (value === undefined ? null : parseMoment(String(value))))
  if (from) conditions.push(sql`${column} >= ${from.text}`)
  // A day given as the last one includes all of its hours, on columns that have hours.
  if (to?.isDay && info?.kind === 'timestamp')
    conditions.push(to.nextDay ? sql`${column} < ${to.nextDay}` : sql`${column} <= ${dialect.lastMoment}`)
  else if (to) conditions.push(sql`${column} <= ${to.text}`)
  return conditions
}

/**
 * RANGE: `min` ≤ value ≤ `max`, either bound may be missing, both inclusive. Numbers on numeric columns (a
 * decimal text where a double is too short), ISO dates on date columns, ISO dates or timestamps on timestamp
 * columns. A day as `max` of a timestamp column includes that whole day; a timestamp with a zone is taken in
 * UTC, one without is compared as it stands. NaN is always invalid; an infinity is beyond every bound on its
 * side and within a range that is open there. A column of 32-bit floats is compared in its own precision: 0.1 as `max`
 * includes the 0.1 that it holds. A column that keeps moments with a zone is compared in UTC.
 *
 * Where engines differ: SQLite has neither decimals nor moments. It keeps the one as doubles, so that values and
 * bounds that differ from the 16th digit on are equal to it, the other as texts, so that one with a zone is compared
 * by the digits before the zone. Databricks takes the bounds of a moment in its own time zone, UTC unless set.
 */
export const range: RowRule<RangeConfig> = {
  family: 'rule',
  name: 'RANGE',
  failure: 'with values out of range',
  description: 'Values lie between min and max, both inclusive.',
  config: Joi.object({ min: bound, max: bound }).or('min', 'max').custom(inOrder).messages({
    'range.order': '{{#label}} has min above max',
    'range.mixed': '{{#label}} must have two numbers or two dates, not one of each',
  }),
  column: 'required',
  mergesParts: true,
  kinds: ['integer', 'decimal', 'float', 'date', 'timestamp'],
  validateConfig({ min, max }, column) {
    const bounds = [min, max].filter(value => value !== undefined)
    if (isNumeric(column)) {
      return bounds.every(isNumber) ? null : 'A numeric column needs numbers as min and max.'
    }
    if (bounds.some(isNumber)) return 'A date column needs ISO dates as min and max.'
    const moments: (IsoMoment | null)[] = bounds.map(value => parseMoment(String(value)))
    const hasTime = moments.some(moment => !moment?.isDay)
    return column?.kind === 'date' && hasTime
      ? 'A date column needs min and max without a time of day.'
      : null
  },
  // An upper bound, or none that is needed, leaves nothing but comparisons with constants.
  isStrict: ({ info, column, config, dialect }) =>
    !isNumeric(info) || config.max !== undefined || dialect.isNumber(column, info) === null,
  valid(context) {
    const conditions = isNumeric(context.info) ? withinNumbers(context) : withinMoments(context)
    return join(conditions, ' and ')
  },
}
