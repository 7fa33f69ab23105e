import type { Transaction } from '../../server/database/database.ts'
import type { MissingCheckRequest, MissingCheckResult } from '../scans/api.ts'

/** What validity offers other features, as `server.plugins.validity`. */
export interface ValidityApi {
  /** Creates rules of a type without a config for the columns that have none of it. */
  createMissing(trx: Transaction, request: MissingCheckRequest): Promise<MissingCheckResult>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    validity: ValidityApi
  }
}
