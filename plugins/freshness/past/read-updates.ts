/** The times at which a table was updated, as its own timestamp column shows them. */
import { numberLiteral } from '../../../checks/measures.ts'
import { keepingOf, writeBucketFor } from '../../../checks/plan.ts'
import { findTimeColumn, type ColumnInfo, type TableInfo } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import { join, sql, type Sql } from '../../../connectors/sql.ts'
import { readMoment } from '../run/moments.ts'

/** How far back updates are read. */
export const PAST_DAYS = 60
const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3_600
/** Checks of the time just before now that are followed one by one; from these a schedule learns. */
const MAX_FINE_CHECKS = 500

/** The checks that would have been made: their interval, and where the longer one of earlier times ends. */
export interface PastGrid {
  /** Epoch seconds: `since` is the first moment, `recentFrom` the first of the fine buckets. */
  since: number
  recentFrom: number
  fineSeconds: number
  coarseSeconds: number
}

/** A grid of checks every `intervalSeconds`; before the last five hundred of them, of at least an hour. */
export function pastGrid(now: Date, intervalSeconds: number): PastGrid {
  const fineSeconds = Math.max(60, Math.floor(intervalSeconds))
  const coarseSeconds = Math.max(HOUR_SECONDS, fineSeconds)
  const until = Math.floor(now.getTime() / 1_000)
  const recent = until - MAX_FINE_CHECKS * fineSeconds
  return {
    since: until - PAST_DAYS * DAY_SECONDS,
    // At an edge of both kinds of buckets.
    recentFrom: recent - (recent % coarseSeconds),
    fineSeconds,
    coarseSeconds,
  }
}

/** The end of the bucket of a moment, epoch seconds. */
export function bucketEnd(grid: PastGrid, seconds: number): number {
  const size = seconds >= grid.recentFrom ? grid.fineSeconds : grid.coarseSeconds
  return seconds - (seconds % size) + size
}

interface PastRequest {
  table: TableInfo
  /** A date or timestamp. */
  column: ColumnInfo
  /** The column of the default window of a large table, whose partitions are left out where they are older. */
  windowColumn: string | null
  grid: PastGrid
  zone: string
  now: Date
}

/** One SELECT of the newest moment of each bucket, local times taken as if in UTC. */
export function updatesSelect(
  dialect: Dialect,
  { table, column, windowColumn, grid, zone }: Omit<PastRequest, 'now'>,
): Sql {
  const seconds = dialect.epochSeconds(dialect.quote(column.name))
  const start = (size: number) => sql`${seconds} - mod(${seconds}, ${numberLiteral(size)})`
  const bucket =
    grid.fineSeconds === grid.coarseSeconds
      ? start(grid.fineSeconds)
      : sql`case when ${seconds} >= ${numberLiteral(grid.recentFrom)} then ${start(grid.fineSeconds)} else ${start(grid.coarseSeconds)} end`
  const windowed = windowColumn === null ? undefined : findTimeColumn(table, windowColumn)
  const columns = [column, ...(windowed && windowed.name !== column.name ? [windowed] : [])]
  const conditions = columns.map(each => {
    // On the bare column, so that engines use indexes and leave partitions out.
    const since = writeSince(new Date(grid.since * 1_000), each, { dialect, zone })
    return sql`${dialect.quote(each.name)} >= ${dialect.textLiteral(since)}`
  })
  return sql`select ${bucket} as ${dialect.quote('bucket')}, max(${seconds}) as ${dialect.quote('newest')} from ${dialect.table(table)} where ${join(conditions, ' and ')} group by 1`
}

function writeSince(moment: Date, column: ColumnInfo, { dialect, zone }: { dialect: Dialect; zone: string }) {
  const bucket = { start: moment, end: moment, from: '', to: '', label: '' }
  return writeBucketFor(bucket, { keeping: keepingOf(column, dialect), timezone: zone }).from
}

/**
 * Reads when a table was updated, oldest first: the newest value of each bucket of the grid. One statement.
 * @throws ConnectorError
 */
export async function readPastUpdates(
  connection: Pick<Connection, 'query'>,
  dialect: Dialect,
  request: PastRequest,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Date[]> {
  const { column, zone, now } = request
  const isMoment = dialect.isInstant(column)
  const rows = await connection.query(updatesSelect(dialect, request), options)
  const moments = rows.flatMap(row => {
    const seconds = Number(row.newest)
    const moment = Number.isFinite(seconds) ? new Date(seconds * 1_000) : undefined
    return readMoment(moment, { zone, isMoment, now }) ?? []
  })
  return moments.toSorted((a, b) => a.getTime() - b.getTime())
}
