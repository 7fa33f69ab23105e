import type { CheckOutcome } from '../../checks/check.ts'
import type { TableContext } from '../catalog/api.ts'
import type { ConfiguredCheck, TriedCheck } from '../checks/api.ts'
import type { Transaction } from '../../server/database/database.ts'

/** What metrics offer other features, as `server.plugins.metrics`. */
export interface MetricsApi {
  /**
   * What `POST /sdk/metrics/dry-run` replies to a body, which is validated here.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off
   */
  dryRun(companyId: string, body: object): Promise<TriedCheck>
  /**
   * Finds the body of a metric with limits good for a table, to measure it once.
   * @throws 400 `VALIDATION_ERROR` naming the fields of the body
   */
  configureOnce(table: TableContext, body: object): Promise<MetricToMeasure>
  /** How often the active metrics of a source, or of one of its tables, alerted, and would have at other sensitivities. */
  countAlerts(trx: Transaction, request: MetricAlertsRequest): Promise<MetricAlerts[]>
}

/** A metric that is measured once. */
export interface MetricToMeasure {
  check: ConfiguredCheck['check']
  /** The limit that an outcome breaks, in words: `12 rows, at most 10`; null of none. */
  describeBreach(outcome: CheckOutcome): string | null
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
  /** Whether limits alone make a value fail, so that the sensitivity changes nothing. */
  isByLimits: boolean
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
