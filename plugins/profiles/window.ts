/** The rows that a profile of a table with a window reads: those of the last buckets that are over. */
import { bucketCondition } from '../../checks/plan.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import type { TableWindow } from '../../server/http/check-schemas.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'
import { recentWindow, windowColumnsOf, windowPlace } from '../checks/kit.ts'
import type { ProfiledWindow } from './api.ts'

/** Days that are read, so that each day of the week is among them. */
const PROFILED_DAYS = 7

/** Buckets as a part of a table, and as replies show them. */
export interface WindowRows {
  /** The rows, as statements name them, or a sample of them. */
  from(sample?: { fraction: number; byRow: boolean }): Sql
  shown: ProfiledWindow
}

/** The rows of a table that lie in its last buckets. */
export function windowRows(
  catalog: Pick<CatalogApi, 'connectorOf' | 'tableInfo'>,
  loaded: TableContext,
  window: TableWindow,
  moment: { timezone: string; now: Date },
): WindowRows | undefined {
  const place = windowPlace(catalog, loaded, moment)
  const recent = place && recentWindow(windowColumnsOf(window), place, PROFILED_DAYS)
  if (!recent) return undefined
  const { column, buckets } = recent
  const [first, last] = [buckets[0]!, buckets.at(-1)!]
  const { dialect, table } = place
  const condition = bucketCondition(column, { from: first.from, to: last.to }, dialect)
  return {
    from(sample) {
      const all = dialect.table(table)
      const inWindow = (rows: Sql) => sql`(select * from ${rows} where ${condition}) tidemark_window`
      if (!sample) return inWindow(all)
      const sampled = dialect.sample(all, { ...sample, kind: table.kind })
      // A sub-select would read all partitions before the condition; what is written behind a table would not.
      const isSubselect = dialect.render(sampled).text.startsWith('(')
      return isSubselect ? dialect.sample(inWindow(all), { ...sample, kind: 'view' }) : inWindow(sampled)
    },
    shown: {
      time_column: column,
      window: window.window,
      start: first.start.toISOString(),
      end: last.end.toISOString(),
    },
  }
}
