import type { QueryBuilder } from 'objection'
import type { TableRef } from '../../connectors/catalog.ts'
import { CompanyRow, type Transaction } from '../../server/database/database.ts'
import type { SlaStatus, Status } from './judge.ts'

/** What freshness is read from: a column of the table, an expression over its columns, or the engine's time of its last change. */
export const SIGNALS = ['column', 'expression', 'last_modified'] as const
export type Signal = (typeof SIGNALS)[number]

/** How fresh one table must be, and how fresh it was at the last check. */
export class Schedule extends CompanyRow {
  static override tableName = 'freshness_schedules'

  declare id: string
  declare sourceId: string
  declare tableId: string
  declare timestampColumn: string | null
  /** A SQL expression that is read in place of a column. */
  declare expression: string | null
  declare monitoringMode: 'explicit' | 'auto_learn'
  /** As it was given: `24h`. */
  declare slaThreshold: string | null
  declare checkInterval: string
  declare isActive: boolean
  declare status: Status
  declare slaStatus: SlaStatus | null
  declare lastUpdated: Date | null
  declare expectedNext: Date | null
  declare learnedSlaSeconds: number | null
  /** Why the last check failed; null when it did not. */
  declare lastError: string | null
  /** Of the alert raised last and not resolved since. */
  declare alertSeverity: 'warning' | 'critical' | null
  declare lastCheckAt: Date | null
  /** Asked to go by the engine's time of the last change, though the table may have a timestamp column. */
  declare usesLastModified: boolean
  /** The engine's time of the last change when the column was read last: while it stays, so does the newest value. */
  declare modifiedAt: Date | null
  /** The zone that was taken for that reading. */
  declare readZone: string | null
  /** The last reading took longer than a statement may: it is read alone, so that no other has to wait for it. */
  declare isSlow: boolean
  declare nextRunAt: Date
  /** The slot that a check is queued or running for. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A schedule with what replies tell of its table. */
export interface MonitoredTable extends Schedule {
  catalogName: string
  schemaName: string
  tableName: string
  qualifiedName: string
}

/** Schedules with their tables; conditions may name both, the table as `t`. */
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

/** Where the table of a schedule lives. */
export function refOf(table: Pick<MonitoredTable, 'catalogName' | 'schemaName' | 'tableName'>): TableRef {
  return { catalog: table.catalogName, schema: table.schemaName, name: table.tableName }
}
