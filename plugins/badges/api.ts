import type { ResponseObject, ResponseToolkit } from '@hapi/hapi'
import type { BadgeRecord } from './present.ts'
import type { BadgeStatus } from './status.ts'

/** What a picture shows; the label defaults to that of badges without one. */
export interface BadgePicture {
  status: BadgeStatus
  label?: string | null
}

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

/** `server.plugins.badges`, for the command line, and for features with pictures of their own. */
export interface BadgesApi {
  /**
   * Returns the newest active badge of an asset that has all given properties; creates it if there is none.
   * @throws 404 `ASSET_NOT_FOUND`, 400 `VALIDATION_ERROR`
   */
  ensureBadge(companyId: string, input: BadgeInput): Promise<{ badge: BadgeRecord; isNew: boolean }>
  /** Answers with a picture, as all badges do: grey with 404 for one that there is not. */
  answerPicture(h: ResponseToolkit, picture: BadgePicture | undefined): ResponseObject
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    badges: BadgesApi
  }
}
