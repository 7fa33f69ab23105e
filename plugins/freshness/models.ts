import type { QueryBuilder } from 'objection'
import { CompanyRow, type Transaction } from '../../server/database/database.ts'

export type FreshnessStatus = 'fresh' | 'stale' | 'unknown'
export type SlaStatus = 'within_sla' | 'warning' | 'violated'

/** Where freshness is read from: a column, an expression over columns, or the engine's modification time. */
export const SIGNALS = ['column', 'expression', 'last_modified'] as const
export type FreshnessSignal = (typeof SIGNALS)[number]

/** The SLA of one table and the result of its last check. */
export class Schedule extends CompanyRow {
  static override tableName = 'freshness_schedules'

  declare id: string
  declare sourceId: string
  declare tableId: string
  declare timestampColumn: string | null
  /** SQL expression, instead of a column. */
  declare expression: string | null
  declare monitoringMode: 'explicit' | 'auto_learn'
  /** As given: `24h`. */
  declare slaThreshold: string | null
  declare checkInterval: string
  declare isActive: boolean
  declare status: FreshnessStatus
  declare slaStatus: SlaStatus | null
  declare lastUpdated: Date | null
  declare expectedNext: Date | null
  declare learnedSlaSeconds: number | null
  /** Why the last check failed; null if it did not. */
  declare lastError: string | null
  /** Severity of the open alert. */
  declare alertSeverity: 'warning' | 'critical' | null
  declare lastCheckAt: Date | null
  /** Uses the engine's modification time even if the table has a timestamp column. */
  declare usesLastModified: boolean
  /** The engine's modification time at the last reading; while it stays the same, so does the newest value. */
  declare modifiedAt: Date | null
  /** Time zone of that reading. */
  declare readZone: string | null
  /** The last reading was slow: the table is read alone, so that others do not wait for it. */
  declare isSlow: boolean
  declare nextRunAt: Date
  /** The slot that a check is queued or running for. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A schedule with the names of its table. */
export interface MonitoredTable extends Schedule {
  catalogName: string
  schemaName: string
  tableName: string
  qualifiedName: string
}

/** Schedules joined with their tables; conditions may refer to the table as `t`. */
export function monitoredTables(trx: Transaction): QueryBuilder<Schedule, MonitoredTable[]> {
  return Schedule.query(trx)
    .join('tables as t', 't.id', 'freshness_schedules.tableId')
    .select(
      'freshness_schedules.*',
      't.catalogName',
      't.schemaName',
      't.name as tableName',
      't.qualifiedName',
    )
    .castTo<MonitoredTable[]>()
}

export function tableRefOf(table: Pick<MonitoredTable, 'catalogName' | 'schemaName' | 'tableName'>) {
  return { catalog: table.catalogName, schema: table.schemaName, name: table.tableName }
}
