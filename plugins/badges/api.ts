import type { BadgeRecord } from './present.ts'

/** What a badge is made of, as the API takes it. */
export interface BadgeInput {
  /** A source or a table, by id or qualified name. */
  asset_id: string
  label?: string | null
  /** Only tables that carry one of these count; empty means all. */
  tag_filters?: string[]
  schema_drift_enabled?: boolean
  freshness_enabled?: boolean
}

/** What the command line may ask of badges, as `server.plugins.badges`. */
export interface BadgesApi {
  /**
   * The newest badge of an asset that has all that is given; made where there is none.
   * @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR`
   */
  ensure(companyId: string, wanted: BadgeInput): Promise<{ badge: BadgeRecord; isNew: boolean }>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    badges: BadgesApi
  }
}
