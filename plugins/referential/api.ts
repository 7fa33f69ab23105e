import type { TableRef } from '../../connectors/catalog.ts'

/** What a reference is tried with. */
export interface ReferenceTrial {
  sourceId: string
  child: TableRef
  childColumn: string
  parent: TableRef
  parentColumn: string
}

/** What a trial found, by the names in replies. */
export interface TriedReference {
  status: 'pass' | 'fail' | 'error'
  orphan_count: number
  total_child_rows: number
  error_message: string | null
}

/** What referential checks offer other features, as `server.plugins.referential`. */
export interface ReferentialApi {
  /**
   * Counts the orphans of a reference that is not stored.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off
   */
  dryRun(companyId: string, trial: ReferenceTrial): Promise<TriedReference>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    referential: ReferentialApi
  }
}
