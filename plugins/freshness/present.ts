import { MIN_UPDATES } from '../../checks/cadence.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { parseDuration } from '../../server/settings/durations.ts'
import { shownThreshold } from './run/judge.ts'
import type { FreshnessRollup } from './lists.ts'
import { freshnessOf, slaStatusOf, tableRefOf, type FreshnessStatus, type MonitoredTable } from './models.ts'
import type { JudgedTable } from './readiness.ts'

/** The current status: unknown if the last verdict has lapsed. */
export function statusOf({ status, isLapsed }: JudgedTable): FreshnessStatus {
  return isLapsed ? 'unknown' : freshnessOf(status)
}

/** The freshness record of a table. */
export function presentFreshness(table: JudgedTable) {
  return {
    asset: table.qualifiedName,
    status: statusOf(table),
    last_updated: table.lastUpdated,
    sla_threshold: shownThreshold(table),
    sla_status: table.isLapsed ? null : slaStatusOf(table.status),
    checked_at: table.lastCheckedAt,
    timestamp_column: table.timestampColumn,
    data_age_minutes: ageMinutes(table),
  }
}

/** The freshness record of the SDK: with schedule, table and notes. */
export function presentMonitored(table: JudgedTable) {
  const status = statusOf(table)
  return {
    ...presentFreshness(table),
    qualified_name: table.qualifiedName,
    is_stale: status === 'stale',
    last_update_time: table.lastUpdated,
    hours_since_update: presentHours(table.ageSeconds),
    staleness_threshold_hours: wholeHours(thresholdSeconds(table)),
    // Before the first check nothing is known, which is so since the schedule was created or got another signal.
    checked_at: table.lastCheckedAt ?? table.updatedAt,
    last_check_at: table.lastCheckedAt,
    readiness: table.readiness,
    schedule_id: table.uuid,
    asset_id: table.tableId,
    source_id: table.sourceId,
    table_path: tablePath(tableRefOf(table)),
    monitoring_mode: table.monitoringMode,
    is_active: table.isActive,
    ...presentMeta(table),
  }
}

/** The rolled-up fields of a source, named as in the record of a table. */
export function presentRollup(source: { sourceId: string; name: string }, rollup: FreshnessRollup) {
  return {
    asset_id: source.sourceId,
    qualified_name: source.name,
    status: rollup.status,
    is_stale: rollup.status === 'stale',
    last_update_time: rollup.lastUpdated,
    hours_since_update: presentHours(rollup.ageSeconds),
    staleness_threshold_hours: wholeHours(rollup.thresholdSeconds),
    checked_at: rollup.checkedAt,
  }
}

/** Hours to four decimals, which is less than a second; a time in the future is no hours ago. */
export function presentHours(seconds: number | null): number | null {
  return seconds === null ? null : Math.round((Math.max(0, seconds) / 3600) * 10_000) / 10_000
}

/** Rounded up, because clients take an age above it for stale. */
function wholeHours(seconds: number | null): number | null {
  return seconds === null ? null : Math.ceil(seconds / 3600)
}

function thresholdSeconds(table: MonitoredTable): number | null {
  return parseDuration(shownThreshold(table) ?? '')
}

/** The signal that was used; null without one. */
function usedSignal({ timestampColumn, expression, usesLastModified, lastUpdated }: MonitoredTable) {
  if (timestampColumn !== null) return 'column'
  if (expression !== null) return 'expression'
  return usesLastModified || lastUpdated ? 'last_modified' : null
}

/** Metadata: the signal, the next expected update, errors and notes. */
export function presentMeta(table: JudgedTable) {
  return {
    signal: usedSignal(table),
    expected_next_update: table.expectedNext,
    error_message: table.isLapsed ? null : table.lastError,
    note: presentNote(table),
    learning: learningOf(table),
  }
}

/** How far the learning of a threshold is; null where there is one. */
export function learningOf(
  table: Pick<MonitoredTable, 'monitoringMode' | 'learnedSlaSeconds' | 'updatesSeen'>,
): { seen: number; needed: number } | null {
  if (table.monitoringMode === 'explicit' || table.learnedSlaSeconds !== null) return null
  return { seen: Math.min(table.updatesSeen ?? 0, MIN_UPDATES), needed: MIN_UPDATES }
}

/** A schedule. */
export function presentSchedule(table: MonitoredTable) {
  const threshold = shownThreshold(table)
  return {
    id: table.uuid,
    asset_id: table.sourceId,
    table_path: tablePath(tableRefOf(table)),
    check_interval: table.checkInterval,
    freshness_column: table.timestampColumn,
    freshness_expression: table.expression,
    freshness_signal: usedSignal(table),
    expected_interval_hours: threshold === null ? null : (parseDuration(threshold) ?? 0) / 3600,
    sla_threshold: threshold,
    monitoring_mode: table.monitoringMode,
    is_active: table.isActive,
    last_check: table.lastCheckedAt,
    next_check: table.isActive ? table.nextRunAt : null,
    created_at: table.createdAt,
    updated_at: table.updatedAt,
  }
}

/** Minutes at the time of the check; null if it failed. */
function ageMinutes({ lastError, lastUpdated, lastCheckedAt }: MonitoredTable): number | null {
  if (lastError !== null || !lastUpdated || !lastCheckedAt) return null
  return Math.max(0, Math.floor((lastCheckedAt.getTime() - lastUpdated.getTime()) / 60_000))
}

function presentNote(table: JudgedTable): string | null {
  const notes = [pauseNote(table), table.isLapsed ? null : statusNote(table)].filter(note => note !== null)
  return notes.length === 0 ? null : notes.join('. ')
}

/** That a table is not checked automatically, and whether its last verdict is still valid. */
function pauseNote({ isActive, isWatched, isLapsed, ...table }: JudgedTable): string | null {
  if (isWatched) return null
  const paused = isActive ? 'Its source is paused' : 'Its schedule is paused'
  const last = isActive ? 'the last result' : 'a refresh'
  if (!isLapsed) return `${paused}; ${last} is valid for ${table.checkInterval}`
  const result =
    table.lastError === null
      ? `it was ${freshnessOf(table.status)}`
      : `it could not be read (${table.lastError})`
  return `${paused}, so the last result is outdated: ${result}`
}

function statusNote(table: JudgedTable): string | null {
  const { lastUpdated, lastCheckedAt } = table
  const read = table.timestampColumn ?? (table.expression === null ? null : 'freshness_expression')
  if (!lastCheckedAt) return 'Not checked yet'
  if (table.lastError !== null) return null
  if (lastUpdated && lastUpdated > lastCheckedAt)
    return `The newest ${read ?? 'timestamp'} is in the future, so its age is 0`
  if (lastUpdated && read === null)
    return table.usesLastModified
      ? 'The age is that of the last change that the engine reports, as requested'
      : 'There is no timestamp column: the age is that of the last change that the engine reports'
  if (table.usesLastModified) return 'The engine does not report when rows changed: choose a freshness_column'
  if (read === null)
    return 'There is no timestamp column, and the engine does not report when the table changed: choose a freshness_column'
  if (!lastUpdated) return `No row has a value in ${read}`
  const learning = learningOf(table)
  if (learning)
    return `Its cadence is learned: ${learning.seen} of ${learning.needed} updates seen${pastNote(table)}`
  return null
}

/** Why the past of the table does not show its cadence. */
function pastNote({ pastReadAt, pastNote: note }: MonitoredTable): string {
  if (pastReadAt === null) return '; its past is being read'
  return note === null ? '' : `: ${note}`
}
