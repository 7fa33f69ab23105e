import type { ColumnInfo, ConstraintInfo, TableKind } from '../../connectors/catalog.ts'
import { CompanyRow } from '../../server/database.ts'

/** A connection to a monitored database. */
export class Source extends CompanyRow {
  static override tableName = 'sources'
  static override jsonAttributes = ['config', 'connectionError']

  declare id: string
  declare internalId: string
  declare name: string
  declare sourceType: string
  declare description: string | null
  /** The connection config without its secrets. */
  declare config: Record<string, unknown>
  /** The secrets of the config, sealed JSON. */
  declare secrets: string | null
  declare isActive: boolean
  /** What may be asked of it: its catalog alone, numbers of its rows, or rows as samples too. */
  declare queryAccessLevel: 'schema_only' | 'aggregates' | 'full'
  /** Sessions that may be open there at once, over all processes. */
  declare maxConcurrency: number
  /** Null means the setting STATEMENT_TIMEOUT. */
  declare statementTimeoutSeconds: number | null
  declare discoveryInterval: string
  declare nextRunAt: Date | null
  declare runningSlot: Date | null
  declare connectionStatus: 'untested' | 'connected' | 'failed'
  declare connectionError: { code: string; message: string } | null
  declare testedAt: Date | null
  declare discoveryState: 'never' | 'queued' | 'running' | 'completed' | 'failed'
  declare lastDiscoveryAt: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A table, view or materialized view found in a source. */
export class Table extends CompanyRow {
  static override tableName = 'tables'
  static override jsonAttributes = ['columns', 'constraints', 'columnTags']

  declare id: string
  declare sourceId: string
  declare catalogName: string
  declare schemaName: string
  declare name: string
  declare qualifiedName: string
  declare kind: TableKind
  declare identity: string | null
  declare comment: string | null
  declare description: string | null
  declare columns: ColumnInfo[]
  declare constraints: ConstraintInfo[]
  declare fingerprint: string
  declare tags: string[]
  declare columnTags: Record<string, string[]>
  declare estimatedRows: string | null
  declare isActive: boolean
  declare createdAt: Date
  declare updatedAt: Date
}

/** Asynchronous work that a client asked for; `GET /sdk/jobs/{job_id}` shows it. */
export class Run extends CompanyRow {
  static override tableName = 'runs'
  static override jsonAttributes = ['result', 'error']

  declare id: string
  declare workflowName: string
  declare sourceId: string
  declare assetId: string
  declare status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  declare progress: number
  declare result: object | null
  declare error: { code: string; message: string } | null
  declare createdAt: Date
  declare startedAt: Date | null
  declare completedAt: Date | null
}

/** One recorded difference between two discoveries. */
export class SchemaChange extends CompanyRow {
  static override tableName = 'schema_changes'
  static override jsonAttributes = ['oldValue', 'newValue']

  declare id: string
  declare sourceId: string
  declare tableId: string
  declare tablePath: string
  declare changeType: string
  declare objectName: string
  declare objectType: 'table' | 'column'
  declare oldValue: object | null
  declare newValue: object | null
  declare impact: 'low' | 'medium' | 'high'
  declare isAcknowledged: boolean
  declare discoveryId: string
  declare detectedAt: Date
}
