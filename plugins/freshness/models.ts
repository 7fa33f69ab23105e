import type { Pojo, QueryBuilder } from 'objection'
import type { Transaction } from '../../server/database/database.ts'
import { CheckRow, checksWithNames, withoutValues, type CheckStatus, type TableNames } from '../checks/kit.ts'

export type FreshnessStatus = 'fresh' | 'stale' | 'unknown'
export type SlaStatus = 'within_sla' | 'warning' | 'violated'

/** Where freshness is read from: a column, an expression over columns, or the engine's modification time. */
export const SIGNALS = ['column', 'expression', 'last_modified'] as const
export type FreshnessSignal = (typeof SIGNALS)[number]

/** The settings that are times. JSON holds them as text. */
const TIMES = ['lastUpdated', 'expectedNext', 'modifiedAt', 'pastReadAt'] as const

const SETTINGS = [
  ...(['timestampColumn', 'expression', 'usesLastModified', 'monitoringMode', 'slaThreshold'] as const),
  ...(['learnedSlaSeconds', 'readZone', 'isSlow', 'alertSeverity', 'lastError'] as const),
  ...(['updatesSeen', 'pastNote'] as const),
  ...TIMES,
]

/**
 * The freshness check of one table, which the API calls a schedule: its SLA, and what the last check found. Its status is
 * null where nothing could be judged. Its results have the age in seconds as their value, and `FreshnessDetails`.
 */
export class Schedule extends CheckRow {
  static override kind = 'freshness'
  static override settings = SETTINGS

  /** A duration, such as 90m. */
  declare checkInterval: string
  declare timestampColumn: string | null
  /** SQL expression, instead of a column. */
  declare expression: string | null
  /** Uses the engine's modification time even if the table has a timestamp column. */
  declare usesLastModified: boolean
  declare monitoringMode: 'explicit' | 'auto_learn'
  /** As given: `24h`. */
  declare slaThreshold: string | null
  declare lastUpdated: Date | null
  declare expectedNext: Date | null
  declare learnedSlaSeconds: number | null
  /** The engine's modification time at the last reading; while it stays the same, so does the newest value. */
  declare modifiedAt: Date | null
  /** Time zone of that reading. */
  declare readZone: string | null
  /** The last reading was slow: the table is read alone, so that others do not wait for it. */
  declare isSlow: boolean | null
  /** Severity of the open alert. */
  declare alertSeverity: 'warning' | 'critical' | null
  /** Why the last check failed; null if it did not. */
  declare lastError: string | null
  /** The updates from which its threshold is learned, 500 at most. */
  declare updatesSeen: number | null
  /** When the updates before its first check were read from the table, or could not be; null until then. */
  declare pastReadAt: Date | null
  /** Why they were not used; null if they were. */
  declare pastNote: string | null

  override $parseDatabaseJson(json: Pojo): Pojo {
    return withTimes(super.$parseDatabaseJson(json))
  }
}

/** The settings of a schedule. */
export type ScheduleSettings = Pick<Schedule, (typeof SETTINGS)[number]>

/**
 * Puts the settings of rows that SQL gave beside their columns. Statements about all tables of a source use it: models of
 * thousands of rows would take most of the time of a check.
 */
export function withSettings<Row extends { settings: object }>(
  found: readonly Row[],
): (Omit<Row, 'settings'> & ScheduleSettings)[] {
  const unset = withoutValues(Schedule)
  return found.map(({ settings, ...row }) => ({
    ...row,
    ...(withTimes({ ...unset, ...settings }) as ScheduleSettings),
  }))
}

/** Reads the settings that are times. */
function withTimes(settings: Pojo): Pojo {
  for (const name of TIMES) if (typeof settings[name] === 'string') settings[name] = new Date(settings[name])
  return settings
}

/** What a result has besides the age. */
export interface FreshnessDetails {
  /** The newest timestamp, which may be in the future. */
  lastUpdated: Date | null
  /** Present where it was new: what a cadence is learned from. */
  isUpdate?: true
}

/** The status of a table by how its check did last: unknown after an error, and where nothing could be judged. */
export function freshnessOf(status: CheckStatus | null): FreshnessStatus {
  if (status === 'fail') return 'stale'
  return status === 'pass' || status === 'warning' ? 'fresh' : 'unknown'
}

const SLA_STATUSES = { pass: 'within_sla', warning: 'warning', fail: 'violated', error: null } as const

/** The same against the SLA; null where the status is unknown. */
export function slaStatusOf(status: CheckStatus | null): SlaStatus | null {
  return status && SLA_STATUSES[status]
}

/** A schedule with the names of its table. */
export type MonitoredTable = Schedule & TableNames

/** Schedules joined with their tables, `tables`. */
export function monitoredTables(trx: Transaction): QueryBuilder<MonitoredTable, MonitoredTable[]> {
  return checksWithNames(trx, Schedule)
}

export function tableRefOf(table: Pick<TableNames, 'catalogName' | 'schemaName' | 'ofTable'>) {
  return { catalog: table.catalogName, schema: table.schemaName, name: table.ofTable }
}
