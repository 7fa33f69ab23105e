/** Tables of which the engine reads no rows without a condition on their partitions. */
import { findTimeColumn, tablePath, TEMPORAL_KINDS, type TableInfo } from '../../connectors/catalog.ts'

/**
 * Why a check without a window on the column of partitions cannot be measured, in a sentence; null where the engine needs no
 * condition on it.
 */
export function findUnfilteredProblem(table: TableInfo, timeColumn: string | null): string | null {
  const { columns = [], requiresFilter } = table.partitioning ?? {}
  if (!requiresFilter || columns.some(({ name }) => name === timeColumn)) return null
  const path = tablePath(table)
  const names = columns.map(({ name }) => name)
  const named = names.length > 0 ? names.join(' or ') : 'its partitions'
  const temporal = names.find(name => TEMPORAL_KINDS.includes(findTimeColumn(table, name)?.kind ?? 'other'))
  return temporal === undefined
    ? `${path} is read only with a condition on ${named}, which no window of time is: write a CUSTOM_SQL SELECT with it in its WHERE.`
    : `${path} is read only with a condition on ${named}: give time_column ${temporal} and a window, such as 1d.`
}
