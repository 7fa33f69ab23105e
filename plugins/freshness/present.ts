import { tablePath } from '../../connectors/catalog.ts'
import { parseDuration } from '../../server/durations.ts'
import { shownThreshold } from './judge.ts'
import { refOf, type MonitoredTable, type Signal } from './models.ts'

/** How usable a table is downstream. */
export type Readiness = 'ready' | 'not_ready' | 'unknown' | 'error'

export const READINESS: readonly Readiness[] = ['ready', 'not_ready', 'unknown', 'error']

/** `readinessOf` as SQL. */
export const READINESS_SQL = `case when freshness_schedules.last_error is not null then 'error'
  when freshness_schedules.status = 'fresh' then 'ready'
  when freshness_schedules.status = 'stale' then 'not_ready' else 'unknown' end`

/** Fresh is ready, stale is not; a check that failed is an error, whatever the one before said. */
export function readinessOf({ lastError, status }: MonitoredTable): Readiness {
  if (lastError !== null) return 'error'
  return status === 'fresh' ? 'ready' : status === 'stale' ? 'not_ready' : 'unknown'
}

/** The freshness record of a table. */
export function presentFreshness(table: MonitoredTable): object {
  return {
    asset: table.qualifiedName,
    status: table.status,
    last_updated: table.lastUpdated,
    sla_threshold: shownThreshold(table),
    sla_status: table.slaStatus,
    checked_at: table.lastCheckAt,
    timestamp_column: table.timestampColumn,
    data_age_minutes: ageMinutes(table),
  }
}

/** The freshness record as the SDK lists it: with its schedule, its table and what there is to say. */
export function presentMonitored(table: MonitoredTable): object {
  return {
    ...presentFreshness(table),
    readiness: readinessOf(table),
    schedule_id: table.id,
    asset_id: table.tableId,
    source_id: table.sourceId,
    table_path: tablePath(refOf(table)),
    monitoring_mode: table.monitoringMode,
    ...presentMeta(table),
  }
}

/** What the age is read from: null where nothing tells it. */
function signalOf({ timestampColumn, usesLastModified, lastUpdated }: MonitoredTable): Signal | null {
  if (timestampColumn !== null) return 'column'
  return usesLastModified || lastUpdated ? 'last_modified' : null
}

/** What the record has no field for: the next expected update, how the age was read, why nothing is known. */
export function presentMeta(table: MonitoredTable): {
  signal: Signal | null
  expected_next_update: Date | null
  error_message: string | null
  note: string | null
} {
  return {
    signal: signalOf(table),
    expected_next_update: table.expectedNext,
    error_message: table.lastError,
    note: noteOf(table),
  }
}

/** A schedule. */
export function presentSchedule(table: MonitoredTable): object {
  const threshold = shownThreshold(table)
  return {
    id: table.id,
    asset_id: table.sourceId,
    table_path: tablePath(refOf(table)),
    check_interval: table.checkInterval,
    freshness_column: table.timestampColumn,
    freshness_signal: signalOf(table),
    expected_interval_hours: threshold === null ? null : (parseDuration(threshold) ?? 0) / 3600,
    sla_threshold: threshold,
    monitoring_mode: table.monitoringMode,
    is_active: table.isActive,
    last_check: table.lastCheckAt,
    next_check: table.isActive ? table.nextRunAt : null,
    created_at: table.createdAt,
    updated_at: table.updatedAt,
  }
}

/** Minutes, at the time of the check; null when that check read nothing. */
function ageMinutes({ lastError, lastUpdated, lastCheckAt }: MonitoredTable): number | null {
  if (lastError !== null || !lastUpdated || !lastCheckAt) return null
  return Math.max(0, Math.floor((lastCheckAt.getTime() - lastUpdated.getTime()) / 60_000))
}

function noteOf(table: MonitoredTable): string | null {
  const { lastUpdated, lastCheckAt, timestampColumn: column } = table
  if (!lastCheckAt) return 'Not checked yet'
  if (table.lastError !== null) return null
  if (lastUpdated && lastUpdated > lastCheckAt)
    return `The newest ${column ?? 'timestamp'} lies in the future: its age is taken as 0`
  if (lastUpdated && column === null)
    return table.usesLastModified
      ? 'The age is that of the last change the engine knows of, as asked for'
      : 'There is no timestamp column: the age is that of the last change the engine knows of'
  if (table.usesLastModified)
    return 'The engine does not tell when the rows changed last: choose a freshness_column'
  if (column === null)
    return 'There is no timestamp column, and the engine does not tell when the table changed: choose a freshness_column'
  if (!lastUpdated) return `No row has a value in ${column}`
  if (table.status === 'unknown') return 'The update cadence is still being learned: it takes 7 updates'
  return null
}
