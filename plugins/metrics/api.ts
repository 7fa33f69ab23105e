import type { Transaction } from '../../server/database/database.ts'
import type { MissingCheckRequest, MissingCheckResult } from '../scans/api.ts'

/** What metrics offer other features, as `server.plugins.metrics`. */
export interface MetricsApi {
  /** Creates metrics of a type that takes no column for the tables that have none of it. Groups are other metrics. */
  createMissing(trx: Transaction, request: MissingCheckRequest): Promise<MissingCheckResult>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    metrics: MetricsApi
  }
}
