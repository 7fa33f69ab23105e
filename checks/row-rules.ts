import type { CheckContext, RuleCounts, MeasuredValues } from './check.ts'
import { nonNullCount } from './measures.ts'
import { sql, type Sql } from '../connectors/sql.ts'

/** The part of a context that the NULL policy of a row rule looks at. */
type RowContext = Pick<CheckContext, 'column' | 'info' | 'dialect' | 'nullIsValid'>

/** Whether NULL rows are left out of the count. */
function skipsNull({ info, nullIsValid }: RowContext): boolean {
  return info !== undefined && nullIsValid
}

/**
 * The measures of a rule that judges each row by itself: `valid`, rows whose value is not NULL and satisfies the
 * condition, and, only if NULLs are skipped, `present`, rows whose value is not NULL.
 */
export function rowMeasures(context: RowContext, valid: Sql): Record<string, Sql> {
  const { column, info, dialect } = context
  return {
    ...(skipsNull(context) && { present: nonNullCount(column) }),
    valid: dialect.countIf(info ? sql`${column} is not null and (${valid})` : valid),
  }
}

/**
 * Rows judged and rows invalid. A row is invalid when its value is present and the condition is false or
 * NULL, or when its value is NULL and NULLs are not skipped. `total` is all rows either way.
 */
export function readRowCounts(measured: MeasuredValues, total: number, context: RowContext): RuleCounts {
  const judged = skipsNull(context) ? (measured.present ?? 0) : total
  return { total, invalid: judged - (measured.valid ?? 0) }
}

/** A condition, never NULL, that is true for exactly the rows that `readRows` counts as invalid. */
export function invalidRowCondition(context: RowContext, valid: Sql): Sql {
  const fails = sql`case when ${valid} then 0 else 1 end = 1`
  if (!context.info) return fails
  const invalidValue = sql`(${context.column} is not null and ${fails})`
  return context.nullIsValid ? invalidValue : sql`(${context.column} is null or ${invalidValue})`
}
