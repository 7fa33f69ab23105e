import type { ConnectorError } from '../../connectors/errors.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Source, TableContext } from '../catalog/api.ts'
import type { SlotRange } from '../checks/api.ts'
import type { FreshnessSignal, FreshnessStatus } from './models.ts'

/** Which schedules of a source to check, and when. */
export interface SourceCheckRequest {
  companyId: string
  sourceId: string
  /** Defaults to all active schedules of the source. */
  scheduleIds?: readonly string[]
  /** Only those that a sweep claimed for one job and that have no result yet. */
  claimed?: SlotRange
  /** Time of the check, to replay past days; defaults to the database's clock. */
  at?: Date
  /** Cancels statements at the source and rejects; observations not stored by then are dropped. */
  signal?: AbortSignal
  /** Milliseconds to wait while all sessions of the source are in use. */
  slotWaitMs?: number
}

/** Counts of one check of a source. */
export interface SourceCheckResult {
  /** Tables that could be read, including tables without data. */
  measured: number
  fresh: number
  stale: number
  unknown: number
  /** Tables that could not be read, by qualified name; also counted as unknown. */
  failed: { asset: string; error: ConnectorError }[]
  /** Statements sent to the source. */
  statements: number
}

/** The tables of a source that get schedules with the defaults of the source. */
export interface MissingSchedulesRequest {
  asset_id: string
  /** Defaults to all. */
  include_patterns?: readonly string[]
  exclude_patterns?: readonly string[]
  only_with_signal: boolean
  dry_run: boolean
  is_active: boolean
  /** Only tables of these ids; defaults to all. */
  table_ids?: ReadonlySet<string>
  /** A column of tables, by their ids, that shows when they were updated; used where nothing else shows it. */
  columns?: ReadonlyMap<string, string>
}

/** What would show when a table was updated, if it got a schedule now. */
export interface TableSignal {
  /** Null where nothing shows it. */
  signal: DetectedSignal | null
  /** The column of the signal `column`. */
  column: string | null
  /** Whether the table has a schedule, active or not. */
  isScheduled: boolean
}

/** The times at which a scheduled table was updated. */
export interface TableUpdates {
  tableId: string
  /** Oldest first. */
  updates: Date[]
}

/** Created schedules, or in a dry run the ones to create. `matched` = `created` + `existing` + skipped tables. */
export interface BulkScheduleResult {
  created: number
  /** Tables that had a schedule before. */
  existing: number
  /** Tables without a signal; skipped unless `only_with_signal` is false. */
  without_signal: number
  /** Active tables that match the patterns. */
  matched: number
  /** The first tables without a signal, by path. */
  tables_without_signal: string[]
  /** Why these have none: the path and the reason. */
  reasons_without_signal: string[]
  /** Signals of the created schedules. */
  signals: Record<DetectedSignal, number>
  /** Statements a day that the created schedules add at the source, if each check of a table reads it. */
  statements_per_day: number
  dry_run: boolean
}

/** Signals that are chosen automatically. */
export type DetectedSignal = Exclude<FreshnessSignal, 'expression'>

/** What a check found of a schedule. */
export interface FreshnessFinding {
  scheduleId: string
  status: FreshnessStatus
  /** A sentence without a full stop; null if the table is fresh. */
  reason: string | null
}

/** Called in the transaction that stored what checks of a source found, with the source locked. */
export type FreshnessListener = (
  trx: Transaction,
  sourceId: string,
  findings: readonly FreshnessFinding[],
) => Promise<void>

/** What freshness offers other features, as `server.plugins.freshness`. */
export interface FreshnessApi {
  /**
   * Checks tables of one source, stores the results, and raises or resolves alerts. Failures of the source are stored
   * with its tables, not thrown.
   * @throws 404 `ASSET_NOT_FOUND` if the source was removed, 409 `CONFLICT` if it is paused, 503 `UNAVAILABLE` while all its sessions are in use
   */
  checkSource(request: SourceCheckRequest): Promise<SourceCheckResult>
  /** Measures the age of a table now, and judges it. Stores nothing. @param terms without a column, one is detected */
  judgeOnce(
    table: TableContext,
    terms: { timestampColumn: string | null; slaThreshold: string },
  ): Promise<Omit<FreshnessFinding, 'scheduleId'>>
  /** Adds a function that is called after checks were stored, in their transaction. */
  afterCheck(listener: FreshnessListener): void
  /**
   * Creates the missing schedules of the tables of a source that match.
   * @throws 400 for an invalid pattern, or a source that was not discovered yet
   */
  createSchedules(trx: Transaction, request: MissingSchedulesRequest): Promise<BulkScheduleResult>
  /** The signals that schedules of tables of a source would get, by table. */
  findSignals(
    trx: Transaction,
    source: Source,
    tableIds: readonly string[],
  ): Promise<Map<string, TableSignal>>
  /** The updates that the schedules of some tables found, active or not; tables without a schedule are left out. */
  readUpdates(trx: Transaction, tableIds: readonly string[]): Promise<TableUpdates[]>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    freshness: FreshnessApi
  }
}
