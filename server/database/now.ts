import { raw } from 'objection'

/**
 * SQL in the place of a time in a row to write. Objection types the column as `Date` and has no type for SQL there,
 * which is why the cast stands here alone.
 */
export function timeOf(sql: string, ...bindings: (string | number)[]): Date {
  return raw(sql, bindings) as unknown as Date
}

/** The time of the database's transaction, for a row to write. */
export function databaseNow(): Date {
  return timeOf('now()')
}

/** The time of the database's transaction plus some seconds, for a row to write. */
export function secondsFromNow(seconds: number): Date {
  return timeOf('now() + make_interval(secs => ?)', seconds)
}
