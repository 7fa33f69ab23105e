import type { CheckContext, Counts, Measured } from './check.ts'
import { nonNullCount } from './measures.ts'
import { sql, type Sql } from '../connectors/sql.ts'

/** The part of a context that the NULL policy of a row rule looks at. */
type RowContext = Pick<CheckContext, 'column' | 'info' | 'dialect' | 'nullIsValid'>

/**
 * What counts the rows of a rule that judges each row by itself: `valid`, rows whose value is not NULL and
 * satisfies the condition, and `present`, rows whose value is not NULL. Without a column only `valid`.
 */
export function rowMeasures(context: RowContext, valid: Sql): Record<string, Sql> {
  if (!context.info) return { valid: context.dialect.countIf(valid) }
  return {
    present: nonNullCount(context.column),
    valid: context.dialect.countIf(sql`${context.column} is not null and (${valid})`),
  }
}

/**
 * Rows judged and rows invalid. A row is invalid when its value is present and the condition is false or
 * NULL, or when its value is NULL and NULLs are not skipped. `total` is all rows either way.
 */
export function readRows(measured: Measured, total: number, context: RowContext): Counts {
  const present = context.info ? (measured.present ?? 0) : total
  const invalidValues = present - (measured.valid ?? 0)
  return { total, invalid: invalidValues + (context.nullIsValid ? 0 : total - present) }
}

/** A condition, never NULL, that holds for exactly the rows that `readRows` counts as invalid. */
export function invalidRow(context: RowContext, valid: Sql): Sql {
  const fails = sql`case when ${valid} then 0 else 1 end = 1`
  if (!context.info) return fails
  const invalidValue = sql`(${context.column} is not null and ${fails})`
  return context.nullIsValid ? invalidValue : sql`(${context.column} is null or ${invalidValue})`
}
