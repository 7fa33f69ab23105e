/** Checks that one SELECT measures, and the rows that it reads. */
import { join, sql, type Sql } from '../../connectors/sql.ts'
import type { PlannedCheck } from '../plan.ts'
import type { Bucket } from './buckets.ts'

/** Checks that one SELECT measures. */
export interface ScanPart {
  checks: PlannedCheck[]
  groupBy: readonly string[]
  /** Whether its checks are suspects. */
  isSuspect?: boolean
  /** Where its checks have a window: all buckets of any of them, which follow each other. */
  window?: { column: string; buckets: readonly Bucket[] }
}

/** Equal for checks whose buckets one SELECT can measure; branches only of the same buckets. */
export function windowKey({ check: { window }, branches }: PlannedCheck): string {
  if (!window) return ''
  const own = branches ? window.buckets.map(({ from }) => from) : []
  return JSON.stringify([window.column, window.grid, branches !== undefined, ...own])
}

export function withBuckets(part: ScanPart): ScanPart {
  const windows = part.checks.flatMap(({ check }) => check.window ?? [])
  const [first] = windows
  if (!first) return part
  const all = new Map(windows.flatMap(({ buckets }) => buckets.map(bucket => [bucket.from, bucket] as const)))
  const buckets = [...all.values()].toSorted((a, b) => a.start.getTime() - b.start.getTime())
  return { ...part, window: { column: first.column, buckets } }
}

/** What stands in FROM of a part, with the WHERE of rows that any of its checks is about. */
export function rowsOf({ checks }: ScanPart, table: Sql, range: Sql | undefined): Sql {
  const conditions = [range, filterOf(checks)].filter(condition => condition !== undefined)
  return conditions.length === 0 ? table : sql`${table} where ${join(conditions, ' and ')}`
}

function filterOf(checks: readonly PlannedCheck[]): Sql | undefined {
  const [{ where } = { where: undefined }] = checks
  if (where) return where
  const filters = checks.map(({ context }) => context.aggregateFilter)
  if (filters.length === 0 || !filters.every(filter => filter !== undefined)) return undefined
  const different = [...new Map(filters.map(filter => [filter.key, filter])).values()]
  return different.length === 1 ? different[0] : sql`(${join(different, ' or ')})`
}
