import type { Pojo } from 'objection'
import type {
  ColumnInfo,
  ConstraintInfo,
  TableInfo,
  TableKind,
  TablePartitioning,
} from '../../connectors/catalog.ts'
import type { TableWindow } from '../../server/http/check-schemas.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A connection to a monitored database. */
export class Source extends CompanyRow {
  static override tableName = 'sources'
  static override cap = defineCap({
    name: 'sources',
    most: 1_000,
    what: 'sources',
    advice: 'remove one first',
  })
  static override jsonAttributes = [
    'config',
    'connectionError',
    'readPatterns',
    'tagCounts',
    'freshnessDefaults',
  ]

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
  /** Bytes that a statement may read at most, as PostgreSQL gives a bigint; null for no limit. */
  declare maxBytesPerStatement: string | null
  declare discoveryInterval: string
  declare nextRunAt: Date | null
  declare runningSlot: Date | null
  declare connectionStatus: 'untested' | 'connected' | 'failed'
  declare connectionError: { code: string; message: string } | null
  declare testedAt: Date | null
  /** Connections in a row that failed. */
  declare connectionFailures: number
  /** Since when; null when the last one went through. */
  declare failingSince: Date | null
  /** Before this, what is scheduled leaves the source alone; null while it does not. */
  declare dialAfter: Date | null
  /** Seconds of the last such pause. */
  declare pauseSeconds: number
  /** Until when the one try after a pause is waited for. */
  declare trialUntil: Date | null
  declare discoveryState: 'never' | 'queued' | 'running' | 'completed' | 'failed'
  declare lastDiscoveryAt: Date | null
  /** Globs over `schema.table` that name what is read; empty means everything. */
  declare includePatterns: string[]
  /** Globs that name what is not, even if included. */
  declare excludePatterns: string[]
  /** The patterns of the last discovery; null before one. */
  declare readPatterns: ReadPatterns | null
  /** Discoveries that failed since the last one that did not. */
  declare failedDiscoveries: number
  /** When a discovery that failed is tried again. */
  declare retryAt: Date | null
  declare tableCount: number
  declare columnCount: number
  declare schemaCount: number
  declare catalogCount: number
  /** Tables that the last discovery could not read. */
  declare unreadCount: number
  /** The tags of the source itself. */
  declare tags: string[]
  /** What of it is tagged; null when nothing is. */
  declare tagCounts: TagCounts | null
  /** What freshness schedules made later have where they name nothing else; null for none. */
  declare freshnessDefaults: FreshnessDefaults | null
  /** Whether discoveries tag columns by their names and types. */
  declare autoTagEnabled: boolean
  /** Whether it is the one that the company tries the product with. */
  declare isDemo: boolean
  /** Whether the last connection test spoke TLS; null before one. */
  declare isEncrypted: boolean | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** What freshness schedules of a source have where they name nothing else, as the API takes it. */
export interface FreshnessDefaults {
  monitoring_mode?: 'explicit' | 'auto_learn'
  sla_threshold?: string
  check_interval?: string
  /** Names of timestamp columns that are looked for before the conventional ones, the surest first. */
  freshness_columns?: string[]
}

/** Which tables of a source are read. */
export interface Patterns {
  include: string[]
  exclude: string[]
}

/** Which tables of a source were read, the last time. */
export interface ReadPatterns extends Patterns {
  /** The source was given another config since, and may be another database. */
  isElsewhere?: boolean
}

/** What of a source is tagged. */
interface TagCounts {
  /** Tables in use that carry a tag, or a column of which does. */
  tables: number
  /** Columns that carry a tag. */
  columns: number
  /** What carries each of the 50 commonest tags, the source itself included. */
  by_tag: Record<string, number>
}

/** What drift looks at of a table. */
export type Definition = Pick<TableInfo, 'kind' | 'columns' | 'constraints' | 'identity'>

/** A column as it is stored: what most columns have in common is left out, since a catalog has 100,000 of them. */
type StoredColumn = Omit<ColumnInfo, 'rawType' | 'nullable' | 'default' | 'comment'> & Partial<ColumnInfo>

/** A column with what is left out when it is stored. */
function restoreColumn(column: StoredColumn): ColumnInfo {
  return { rawType: column.type, nullable: true, default: null, comment: null, ...column }
}

/** What of a column has to be stored, for `restored` to give it back. */
export function compactColumn({
  rawType,
  nullable,
  default: expression,
  comment,
  ...rest
}: ColumnInfo): StoredColumn {
  return {
    ...rest,
    ...(rawType !== rest.type && { rawType }),
    ...(!nullable && { nullable }),
    ...(expression !== null && { default: expression }),
    ...(comment !== null && { comment }),
  }
}

/** A table, view or materialized view found in a source. */
export class Table extends CompanyRow {
  static override tableName = 'tables'
  static override jsonAttributes = [
    'columns',
    'constraints',
    'columnTags',
    'personalFromUpstream',
    'baseline',
    'readError',
    'partitioning',
    'windowSetting',
  ]

  override $parseDatabaseJson(json: Pojo): Pojo {
    const parsed = super.$parseDatabaseJson(json) as Pojo & Partial<Pick<Table, 'columns' | 'baseline'>>
    if (parsed.columns) parsed.columns = parsed.columns.map(restoreColumn)
    if (parsed.baseline && 'columns' in parsed.baseline)
      parsed.baseline = { ...parsed.baseline, columns: parsed.baseline.columns.map(restoreColumn) }
    return parsed
  }

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
  /** The tags in force, its own. */
  declare tags: string[]
  /** The tags in force, of its columns. */
  declare columnTags: Record<string, string[]>
  /**
   * Columns of a view that show personal data of the tables below it: `column` where such a column is tagged, `table` where
   * only its table is.
   */
  declare personalFromUpstream: Record<string, 'column' | 'table'>
  declare columnCount: number
  /** Null unless what was accepted differs from what is there. */
  declare baseline: Definition | { absent: true } | null
  declare estimatedRows: string | null
  /** How its rows are kept apart; null where they are not, or the catalog does not say it. */
  declare partitioning: TablePartitioning | null
  /** The window of its new checks; null where nothing is set. */
  declare windowSetting: TableWindow | null
  declare isActive: boolean
  /** Why an inactive table is one. */
  declare absence: 'removed' | 'excluded' | null
  /** Why the last discovery could not read it; the columns are those known before. */
  declare readError: { code: string; message: string } | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** The statuses of a run that has not ended. */
export const UNFINISHED: readonly ('pending' | 'running')[] = ['pending', 'running']

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
  declare acknowledgedAt: Date | null
  /** `user:<id>` or `key:<id>`; `reverted` when it was taken back, `excluded` when its table left the patterns. */
  declare acknowledgedBy: string | null
  declare discoveryId: string
  declare detectedAt: Date
}

/** A record that a source, or a table of it, was accepted as it was. */
export class SchemaBaseline extends CompanyRow {
  static override tableName = 'schema_baselines'

  declare id: string
  declare sourceId: string
  /** Null when the whole source was accepted. */
  declare tableId: string | null
  declare description: string | null
  declare tableCount: number
  declare columnCount: number
  declare capturedBy: string
  declare capturedAt: Date
}

/** A tag on a source, a table or a column. */
export class Tag extends CompanyRow {
  static override tableName = 'tags'

  declare id: string
  declare sourceId: string
  /** Null when it is the source's. */
  declare tableId: string | null
  declare columnName: string | null
  declare name: string
  declare category: 'business' | 'technical' | 'governance'
  declare description: string | null
  declare origin: 'manual' | 'automatic'
  /** An automatic tag that was removed and must not come back. */
  declare isRefused: boolean
  declare createdAt: Date
}
