import { tablePath } from '../../connectors/catalog.ts'
import { parseDuration } from '../../server/settings/durations.ts'
import { shownThreshold, type Status } from './judge.ts'
import { refOf, type MonitoredTable, type Signal } from './models.ts'
import type { JudgedTable } from './readiness.ts'

/** What a table is now: unknown when its last verdict counts no more. */
export function statusOf({ status, isLapsed }: JudgedTable): Status {
  return isLapsed ? 'unknown' : status
}

/** The freshness record of a table. */
export function presentFreshness(table: JudgedTable): object {
  return {
    asset: table.qualifiedName,
    status: statusOf(table),
    last_updated: table.lastUpdated,
    sla_threshold: shownThreshold(table),
    sla_status: table.isLapsed ? null : table.slaStatus,
    checked_at: table.lastCheckAt,
    timestamp_column: table.timestampColumn,
    data_age_minutes: ageMinutes(table),
  }
}

/** The freshness record as the SDK lists it: with its schedule, its table and what there is to say. */
export function presentMonitored(table: JudgedTable): object {
  return {
    ...presentFreshness(table),
    readiness: table.readiness,
    schedule_id: table.id,
    asset_id: table.tableId,
    source_id: table.sourceId,
    table_path: tablePath(refOf(table)),
    monitoring_mode: table.monitoringMode,
    is_active: table.isActive,
    ...presentMeta(table),
  }
}

/** What the age is read from: null where nothing tells it. */
function signalOf({
  timestampColumn,
  expression,
  usesLastModified,
  lastUpdated,
}: MonitoredTable): Signal | null {
  if (timestampColumn !== null) return 'column'
  if (expression !== null) return 'expression'
  return usesLastModified || lastUpdated ? 'last_modified' : null
}

/** What the record has no field for: the next expected update, how the age was read, why nothing is known. */
export function presentMeta(table: JudgedTable): {
  signal: Signal | null
  expected_next_update: Date | null
  error_message: string | null
  note: string | null
} {
  return {
    signal: signalOf(table),
    expected_next_update: table.expectedNext,
    error_message: table.isLapsed ? null : table.lastError,
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
    freshness_expression: table.expression,
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

function noteOf(table: JudgedTable): string | null {
  const notes = [pauseOf(table), table.isLapsed ? null : findingOf(table)].filter(note => note !== null)
  return notes.length === 0 ? null : notes.join('. ')
}

/** That a table is not checked by itself, and what its last verdict is worth. */
function pauseOf({ isActive, isWatched, isLapsed, ...table }: JudgedTable): string | null {
  if (isWatched) return null
  const paused = isActive ? 'Its source is paused' : 'Its schedule is paused'
  const last = isActive ? 'what was found last' : 'a refresh'
  if (!isLapsed) return `${paused}, and ${last} counts for ${table.checkInterval}`
  const found =
    table.lastError === null ? `it was ${table.status}` : `it could not be read (${table.lastError})`
  return `${paused}, and nobody looks whether what was found last still holds: ${found}`
}

function findingOf(table: JudgedTable): string | null {
  const { lastUpdated, lastCheckAt } = table
  const read = table.timestampColumn ?? (table.expression === null ? null : 'freshness_expression')
  if (!lastCheckAt) return 'Not checked yet'
  if (table.lastError !== null) return null
  if (lastUpdated && lastUpdated > lastCheckAt)
    return `The newest ${read ?? 'timestamp'} lies in the future: its age is taken as 0`
  if (lastUpdated && read === null)
    return table.usesLastModified
      ? 'The age is that of the last change the engine knows of, as asked for'
      : 'There is no timestamp column: the age is that of the last change the engine knows of'
  if (table.usesLastModified)
    return 'The engine does not tell when the rows changed last: choose a freshness_column'
  if (read === null)
    return 'There is no timestamp column, and the engine does not tell when the table changed: choose a freshness_column'
  if (!lastUpdated) return `No row has a value in ${read}`
  if (table.status === 'unknown') return 'The update cadence is still being learned: it takes 7 updates'
  return null
}
