import type { ColumnInfo } from '../connectors/catalog.ts'
import type { Value } from '../connectors/connector.ts'
import type { Dialect } from '../connectors/dialect.ts'
import { raw, sql, type Sql } from '../connectors/sql.ts'
import type { CheckContext, SubqueryMeasure } from './check.ts'
import { shiftDecimal } from './decimals.ts'

/** All rows of the table. Every statement of a scan carries it once. */
export const rowCount: Sql = sql`count(*)`

/** Rows of the check whose column is not NULL; written in one place so that checks of one column share it. */
export function nonNullCount({
  column,
  info,
  aggregateFilter: filter,
  dialect,
}: Pick<CheckContext, 'column' | 'info' | 'aggregateFilter' | 'dialect'>): Sql {
  if (!filter) return dialect.countNonNull(column, info)
  return dialect.countIf(sql`${filter} and ${dialect.isNotNull(column, info)}`)
}

/** Distinct non-NULL values, compared by the column's own collation. */
export function distinctCount(column: Sql): Sql {
  return sql`count(distinct ${column})`
}

/** Counts of a column's non-NULL values, by its own collation, in one grouping. */
export interface OccurrenceMeasures {
  /** Number of distinct values. */
  distinct: SubqueryMeasure
  /** Number of rows whose value occurs more than once. */
  repeated: SubqueryMeasure
}

/** Both are columns of one SELECT, so that UNIQUE and the metrics of a column group the table once. */
export function occurrenceMeasures({
  column,
  info,
  aggregateFilter: filter,
  rows,
  dialect,
}: Pick<CheckContext, 'column' | 'info' | 'aggregateFilter' | 'rows' | 'dialect'>): OccurrenceMeasures {
  // No column has this name: otherwise some engines would group by that column.
  const sizes = dialect.groupByValue(sql`count(*) as tidemark_n`, column, rows, info)
  const select = sql`select count(*) as distinct_values, coalesce(sum(case when d.tidemark_n > 1 then d.tidemark_n else 0 end), 0) as repeated from (${sizes}) d`
  const alone = sql`select coalesce(sum(d.tidemark_n), 0) as repeated from (${sizes} having count(*) > 1) d`
  return {
    distinct: {
      select,
      column: 'distinct_values',
      aggregate: filter ? dialect.countDistinctIf(column, filter) : distinctCount(column),
    },
    repeated: { select, column: 'repeated', alone },
  }
}

/** A decimal number as SQL allows it, of any length. */
export const DECIMAL = /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i

/** Whether a text is a decimal number; with an exponent, only one that a double holds. */
export function isDecimal(text: string): boolean {
  if (!DECIMAL.test(text)) return false
  const [digits = '', exponent] = text.split(/e/i)
  return (
    exponent === undefined || (Number.isFinite(Number(text)) && (Number(text) !== 0 || !/[1-9]/.test(digits)))
  )
}

/** Characters of a decimal that every engine with decimals keeps exactly. */
const MAX_EXACT_LENGTH = 38

/** A decimal without its exponent, where exact types can hold it; else as JavaScript prints the double. */
function withoutExponent(text: string): string {
  if (!/e/i.test(text)) return text
  const plain = shiftDecimal(text, 0)
  return plain.length <= MAX_EXACT_LENGTH ? plain : String(Number(text))
}

/**
 * Writes a number into the statement. It is not bound, because engines give a bound value the type of the column it is
 * compared with, and would refuse 0.5 or 10^12 beside a column of 32-bit integers.
 * @param dialect how the engine writes numbers; defaults to plain digits
 * @throws TypeError if it is not a finite number, so that no other text can be injected
 */
export function numberLiteral(value: number | string, dialect?: Pick<Dialect, 'numberLiteral'>): Sql {
  const isNumber = typeof value === 'number' ? Number.isFinite(value) : isDecimal(value)
  if (!isNumber) throw new TypeError(`${String(value)} is not a finite number.`)
  const text = typeof value === 'number' ? String(value) : withoutExponent(value)
  return dialect ? dialect.numberLiteral(text) : raw(text)
}

/**
 * Writes a number for comparison with a column, in the column's precision: 0.1 as a 32-bit float differs from 0.1 as a
 * decimal or double. A number beyond the range of such a column equals none of its values and is written unchanged.
 */
export function columnNumber(
  info: ColumnInfo | undefined,
  value: number | string,
  dialect: Dialect,
): { literal: Sql; isHeld: boolean } {
  if (!info || !dialect.isFloat32(info)) return { literal: numberLiteral(value, dialect), isHeld: true }
  const single = Math.fround(Number(value))
  const isHeld = Number.isFinite(single) && (single !== 0 || Number(value) === 0)
  const literal = isHeld ? dialect.asFloat32(numberLiteral(single, dialect)) : numberLiteral(value, dialect)
  return { literal, isHeld }
}

/** A measure that is not a finite number: NaN, an infinity, a text, a date. Never used as a value. */
export class NotFiniteError extends Error {
  override readonly name = 'NotFiniteError'
}

const NUMERAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/**
 * Converts a measured value to a number; NULL becomes null. Exact up to 2^53, beyond it the nearest double, as in JSON.
 * @throws NotFiniteError for everything else
 */
export function toNumber(value: Value | bigint | undefined): number | null {
  if (value === null || value === undefined) return null
  const isNumeral =
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    (typeof value === 'string' && NUMERAL.test(value))
  const number = isNumeral ? Number(value) : NaN
  if (Number.isFinite(number)) return number
  throw new NotFiniteError(`The measured value is ${describe(value)}, which is not a finite number.`)
}

function describe(value: Value | bigint): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && /^[+-]?(nan|inf(inity)?)$/i.test(value)) return value
  if (typeof value === 'string' && NUMERAL.test(value)) return 'beyond the largest double'
  return value instanceof Date ? 'a date' : `a ${typeof value}`
}
