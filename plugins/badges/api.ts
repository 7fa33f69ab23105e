import type { BadgeRecord } from './present.ts'

export interface BadgeInput {
  /** A source or a table, by id or qualified name. */
  asset_id: string
  label?: string | null
  /** Only tables with one of these tags count; empty means all. */
  tag_filters?: string[]
  schema_drift_enabled?: boolean
  freshness_enabled?: boolean
  /** Whether the tables that the table is made from count too. */
  include_upstream?: boolean
  /** Whether it has a picture. */
  is_active?: boolean
}

/** `server.plugins.badges`, for the command line. */
export interface BadgesApi {
  /**
   * Returns the newest active badge of an asset that has all given properties; creates it if there is none.
   * @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR`
   */
  ensureBadge(companyId: string, input: BadgeInput): Promise<{ badge: BadgeRecord; isNew: boolean }>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    badges: BadgesApi
  }
}
