/** Which buckets of time a check with a window is measured of. */
import type { Bucket, BucketGrid, CheckWindow } from '../../../checks/check.ts'
import { completeBuckets, keepingOf, MAX_BUCKETS, windowSeconds } from '../../../checks/plan.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { findTimeColumn, type TableInfo } from '../../../connectors/catalog.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { parseDuration } from '../../../server/settings/durations.ts'
import type { CatalogApi, Source, TableContext } from '../../catalog/api.ts'
import type { CheckRow } from '../models.ts'

/** The columns of a check that say how time is cut. */
export type WindowColumns = Pick<CheckRow, 'timeColumn' | 'windowSize' | 'windowDelay' | 'revisit'>

/** The fields of a body that say how time is cut; one that is left out is not null. */
export interface WindowBody {
  time_column?: string | null
  window?: string | null
  window_delay?: string | null
  revisit?: number | null
}

/** Where buckets are counted from: the zone of the source, the engine, the table and the moment of the run. */
export interface WindowPlace {
  timezone: string
  dialect: Dialect
  table: TableInfo
  now: Date
}

const DEFAULT_REVISIT = 2

/** Where the buckets of a table are counted from; null of a source whose engine no extension provides any more. */
export function windowPlace(
  catalog: Pick<CatalogApi, 'connectorOf' | 'tableInfo'>,
  { source, table }: TableContext,
  { timezone, now }: { timezone: string; now: Date },
): WindowPlace | null {
  try {
    const { dialect } = catalog.connectorOf(source)
    return { timezone: zoneOf(source, timezone), dialect, table: catalog.tableInfo(table), now }
  } catch (error) {
    if (hasCode(error, 'CONFLICT')) return null
    throw error
  }
}

/** The zone of a source's timestamps that name none, in which its days begin: its own, else that of the setting TIMEZONE. */
export function zoneOf(source: Pick<Source, 'config'>, fallback: string): string {
  const { timezone } = source.config
  return typeof timezone === 'string' ? timezone : fallback
}

/** How the buckets of a check are cut; null of a check without a window. */
function gridOf(
  { timeColumn, windowSize: size }: WindowColumns,
  { timezone, dialect, table }: WindowPlace,
): BucketGrid | null {
  if (timeColumn === null || size === null) return null
  const column = findTimeColumn(table, timeColumn)
  // A column that is gone is an error of its check when it is measured.
  return { size, timezone, keeping: column ? keepingOf(column, dialect) : 'moments' }
}

/** A window of these buckets. */
function windowOf(row: WindowColumns, grid: BucketGrid, buckets: readonly Bucket[]): CheckWindow {
  return { column: row.timeColumn!, grid: `${grid.size} ${grid.timezone}`, buckets }
}

/**
 * The buckets that a run measures: the newest that is over once its delay has passed, those that runs before it missed,
 * and the last ones once more, for late data. A first run has those too, so that its series begins with them.
 * @returns undefined of a check without a window
 */
export function dueWindow(
  row: WindowColumns & Pick<CheckRow, 'lastBucketEnd'>,
  place: WindowPlace,
): CheckWindow | undefined {
  const grid = gridOf(row, place)
  if (!grid) return undefined
  const revisit = row.revisit ?? DEFAULT_REVISIT
  const { lastBucketEnd: last } = row
  const asked = delayed(row, place.now)
  // A delay that has become longer takes back no bucket: the newest results are those that are judged last.
  const until = last !== null && last > asked && last <= place.now ? last : asked
  const passed = last === null ? 0 : (until.getTime() - last.getTime()) / 1_000 / windowSeconds(grid.size)
  const most = Math.min(MAX_BUCKETS, Math.max(1, Math.ceil(passed) + 1) + revisit)
  const newest = completeBuckets(grid, until, most)
  const fresh = last === null ? 1 : Math.max(1, newest.filter(({ end }) => end > last).length)
  return windowOf(row, grid, newest.slice(-Math.min(MAX_BUCKETS, fresh + revisit)))
}

/** The buckets of the past, without the newest one that is over; at most a hundred. */
export function pastWindow(row: WindowColumns, place: WindowPlace, days: number): CheckWindow | undefined {
  const grid = gridOf(row, place)
  if (!grid) return undefined
  const count = Math.min(MAX_BUCKETS, Math.floor((days * 86_400) / windowSeconds(grid.size)))
  if (count < 1) return undefined
  const buckets = completeBuckets(grid, delayed(row, place.now), count + 1).slice(0, -1)
  return windowOf(row, grid, buckets)
}

/** The newest bucket that is over, of a table; undefined without a window. */
export function completeWindow(
  catalog: Pick<CatalogApi, 'connectorOf' | 'tableInfo'>,
  table: TableContext,
  columns: WindowColumns,
  timezone: string,
): CheckWindow | undefined {
  const place = windowPlace(catalog, table, { timezone, now: new Date() })
  return place ? newestWindow(columns, place) : undefined
}

/** The newest bucket that is over. */
export function newestWindow(row: WindowColumns, place: WindowPlace): CheckWindow | undefined {
  const grid = gridOf(row, place)
  return grid ? windowOf(row, grid, completeBuckets(grid, delayed(row, place.now), 1)) : undefined
}

/** The newest buckets that are over and have some days together, at least one. */
export function recentWindow(row: WindowColumns, place: WindowPlace, days: number): CheckWindow | undefined {
  const grid = gridOf(row, place)
  if (!grid) return undefined
  const count = Math.max(1, Math.ceil((days * 86_400) / windowSeconds(grid.size)))
  return windowOf(row, grid, completeBuckets(grid, delayed(row, place.now), count))
}

function delayed({ windowDelay }: WindowColumns, now: Date): Date {
  const seconds = windowDelay === null ? 0 : (parseDuration(windowDelay) ?? 0)
  return new Date(now.getTime() - seconds * 1_000)
}

/** How often a check has a value, as its series is judged: by its window, else by its interval. */
export function seriesInterval({
  windowSize,
  checkInterval,
}: Partial<Pick<CheckRow, 'windowSize'>> & { checkInterval: 'hourly' | 'daily' | 'weekly' }):
  'hourly' | 'daily' | 'weekly' {
  if (windowSize == null) return checkInterval
  const seconds = windowSeconds(windowSize)
  return seconds < 86_400 / 2 ? 'hourly' : seconds < 7 * 86_400 ? 'daily' : 'weekly'
}
