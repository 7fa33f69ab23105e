import type { Transaction } from '../../server/database/database.ts'
import type { MissingCheckRequest, MissingCheckResult } from '../checks/api.ts'

/** What validity offers other features, as `server.plugins.validity`. */
export interface ValidityApi {
  /** Creates rules of a type for the columns that have none of it. */
  createMissing(trx: Transaction, request: MissingCheckRequest): Promise<MissingCheckResult>
  /**
   * What `POST /sdk/validity/dry-run` replies to a body, which is validated here.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off
   */
  dryRun(companyId: string, body: object): Promise<object>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    validity: ValidityApi
  }
}
