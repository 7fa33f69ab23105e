import type { TriedCheck } from '../checks/api.ts'

/** What validity offers other features, as `server.plugins.validity`. */
export interface ValidityApi {
  /**
   * What `POST /sdk/validity/dry-run` replies to a body, which is validated here.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off
   */
  dryRun(companyId: string, body: object): Promise<TriedCheck>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    validity: ValidityApi
  }
}
