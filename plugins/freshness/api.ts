import type { ConnectorError } from '../../connectors/errors.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { BulkScheduleRequest, BulkScheduleResult } from './schedules/bulk.ts'

export type { BulkScheduleResult } from './schedules/bulk.ts'

/** Which schedules of a source to check, and when. */
export interface SourceCheckRequest {
  companyId: string
  sourceId: string
  /** Defaults to all active schedules of the source. */
  scheduleIds?: readonly string[]
  /** Time of the check, to replay past days; defaults to the database's clock. */
  at?: Date
  /** Cancels statements at the source and rejects; observations not stored by then are dropped. */
  signal?: AbortSignal
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

/** What freshness offers other features, as `server.plugins.freshness`. */
export interface FreshnessApi {
  /**
   * Checks tables of one source, stores the results, and raises or resolves alerts. Failures of the source are stored
   * with its tables, not thrown.
   * @throws 409 `CONFLICT` if the source is paused, 503 `UNAVAILABLE` while all its sessions are in use
   */
  checkSource(request: SourceCheckRequest): Promise<SourceCheckResult>
  /**
   * Creates the missing schedules of the tables of a source that match.
   * @throws 400 for an invalid pattern, or a source that was not discovered yet
   */
  createSchedules(trx: Transaction, request: BulkScheduleRequest): Promise<BulkScheduleResult>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    freshness: FreshnessApi
  }
}
