import type { TriedCheck } from '../checks/api.ts'
import type { Transaction } from '../../server/database/database.ts'

/** What metrics offer other features, as `server.plugins.metrics`. */
export interface MetricsApi {
  /**
   * What `POST /sdk/metrics/dry-run` replies to a body, which is validated here.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off
   */
  dryRun(companyId: string, body: object): Promise<TriedCheck>
  /** How often the active metrics of a source, or of one of its tables, alerted, and would have at other sensitivities. */
  countAlerts(trx: Transaction, request: MetricAlertsRequest): Promise<MetricAlerts[]>
}

export interface MetricAlertsRequest {
  sourceId: string
  tableId?: string | undefined
  days: number
}

/** The alerts of one metric in the last days. */
export interface MetricAlerts {
  /** `schema.table`. */
  tablePath: string
  columnName: string | null
  metricType: string
  sensitivity: number
  /** Captures that were judged. */
  captures: number
  /** Alerts that were opened, at its own sensitivity. */
  alerts: number
  /** Alerts that would have been opened, by sensitivity. */
  bySensitivity: { sensitivity: number; alerts: number }[]
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    metrics: MetricsApi
  }
}
