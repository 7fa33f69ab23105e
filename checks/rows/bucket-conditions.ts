/** Buckets of time as conditions on the bare column, so that engines prune partitions and use indexes. */
import { findTimeColumn, tablePath, TEMPORAL_KINDS, type ColumnInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { Check, CheckContext } from '../check.ts'
import type { Bucket, TimeKeeping } from './buckets.ts'
import { findUnfilteredProblem } from './partition-filter.ts'

/** Most buckets that one statement measures. */
export const MAX_BUCKETS = 100

/** What a time column keeps, as buckets of it are written. */
export function keepingOf(column: Pick<ColumnInfo, 'kind' | 'type' | 'base'>, dialect: Dialect): TimeKeeping {
  if (column.kind === 'date') return 'days'
  return dialect.isInstant(column) ? 'moments' : 'wall'
}

/** What is wrong with the window of a check, or with none, in a sentence; null if nothing is. */
export function findCheckWindowProblem(
  { type, window, config }: Pick<Check, 'type' | 'window' | 'config'>,
  on: Pick<CheckContext, 'dialect' | 'table'>,
): string | null {
  if (!window) return type.namesItsRows?.(config, on) ? null : findUnfilteredProblem(on.table, null)
  if (type.namesItsRows?.(config, on))
    return `window cannot be applied to a SELECT of ${type.name}, which names its rows itself: put the condition into its WHERE.`
  const column = findTimeColumn(on.table, window.column)
  if (!column) return `The column ${window.column} does not exist in ${tablePath(on.table)}.`
  if (!TEMPORAL_KINDS.includes(column.kind))
    return `time_column ${column.name} is of type ${column.type}: a window needs a column of dates or timestamps.`
  const unfiltered = findUnfilteredProblem(on.table, window.column)
  if (unfiltered !== null) return unfiltered
  return window.buckets.some(({ from, to }) => from === to)
    ? `time_column ${column.name} is of type ${column.type}, which has no hours: a window of it must be whole days, such as 1d.`
    : null
}

/** Holds for the rows of a bucket, of buckets that follow each other from the first to the last, or of none. */
export function bucketCondition(
  column: string,
  { from, to }: Pick<Bucket, 'from' | 'to'>,
  dialect: Dialect,
): Sql {
  const time = dialect.quote(column)
  return sql`${time} >= ${dialect.textLiteral(from)} and ${time} < ${dialect.textLiteral(to)}`
}

/** The number of the bucket that a row lies in, from 0; of rows within the buckets only, which follow each other. */
export function bucketNumber(column: string, buckets: readonly Bucket[], dialect: Dialect): Sql {
  const time = dialect.quote(column)
  // At least one case: an engine would take a lone number that is grouped by for the place of an output.
  const last = Math.max(1, buckets.length - 1)
  // Written out, not bound: engines would not recognise the expression that is grouped by.
  const cases = buckets
    .slice(0, last)
    .map(({ to }, number) => sql`when ${time} < ${dialect.textLiteral(to)} then ${raw(String(number))}`)
  return sql`case ${join(cases, ' ')} else ${raw(String(last))} end`
}
