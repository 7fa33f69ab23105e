import type { ConnectorError } from '../../connectors/errors.ts'

/** What one check of a source asks for. */
export interface CheckRequest {
  companyId: string
  sourceId: string
  /** All active schedules of the source unless told. */
  scheduleIds?: readonly string[]
  /** When the check takes place; the database's clock unless told. For replaying past days. */
  at?: Date
  /** Ends what runs at the source and rejects; what was not recorded by then is not. */
  signal?: AbortSignal
}

/** What a check of a source found. */
export interface Checked {
  /** Tables that could be read, those without data included. */
  measured: number
  fresh: number
  stale: number
  unknown: number
  /** Tables that could not be read, by qualified name; they count as unknown too. */
  failed: { asset: string; error: ConnectorError }[]
  /** Statements sent to the source. */
  statements: number
}

/** What other features may ask of freshness, as `server.plugins.freshness`. */
export interface FreshnessApi {
  /**
   * Checks tables of one source, records what was found, and raises or resolves their alerts. Failures of the
   * source are recorded with its tables, not thrown.
   * @throws 409 `CONFLICT` of a source that is paused, 503 `UNAVAILABLE` while all its sessions are in use
   */
  checkSource(request: CheckRequest): Promise<Checked>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    freshness: FreshnessApi
  }
}
