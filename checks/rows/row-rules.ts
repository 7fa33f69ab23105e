import type { CheckContext, RuleCounts, MeasuredValues } from '../check.ts'
import { nonNullCount } from '../measures.ts'
import { sql, type Sql } from '../../connectors/sql.ts'

/** The part of a context that the NULL policy of a row rule looks at. */
type RowContext = Pick<CheckContext, 'column' | 'info' | 'aggregateFilter' | 'dialect' | 'nullIsValid'>

/** Whether NULL rows are left out of the count. */
function skipsNull({ info, nullIsValid }: RowContext): boolean {
  return info !== undefined && nullIsValid
}

/**
 * The measures of a rule that judges each row by itself: `invalid`, rows whose value is not NULL and for which the condition
 * is false or NULL, and, unless NULLs are skipped, `present`, rows whose value is not NULL. Invalid rows are counted and
 * not valid ones, because they are few: a row that is not counted costs less.
 * @param isStrict whether the condition is NULL for NULL only, so that NULL need not be guarded against
 */
export function rowMeasures(context: RowContext, valid: Sql, isStrict = false): Record<string, Sql> {
  const { info, dialect, aggregateFilter: filter } = context
  const invalid = isStrict
    ? sql`not (${valid})`
    : invalidRowCondition({ ...context, nullIsValid: true }, valid)
  return {
    ...(info && !skipsNull(context) && { present: nonNullCount(context) }),
    // The filter comes first: it may keep a condition from values on which it fails.
    invalid: dialect.countIf(filter ? sql`${filter} and ${invalid}` : invalid),
  }
}

/**
 * Rows judged and rows invalid. A row is invalid when its value is present and the condition is false or
 * NULL, or when its value is NULL and NULLs are not skipped. `total` is all rows either way.
 */
export function readRowCounts(measured: MeasuredValues, total: number, context: RowContext): RuleCounts {
  const nulls = context.info && !skipsNull(context) ? total - (measured.present ?? 0) : 0
  return { total, invalid: (measured.invalid ?? 0) + nulls }
}

/** A condition, never NULL, that is true for exactly the rows that `readRows` counts as invalid. */
export function invalidRowCondition(context: RowContext, valid: Sql): Sql {
  const fails = context.dialect.isNotTrue(valid)
  if (!context.info) return fails
  const { column, info, dialect } = context
  const invalidValue = sql`(${dialect.isNotNull(column, info)} and ${fails})`
  return context.nullIsValid ? invalidValue : sql`(${dialect.isNull(column, info)} or ${invalidValue})`
}
