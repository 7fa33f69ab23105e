import type { TableRef } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Source } from '../catalog/api.ts'

/** Two columns of which the first refers to the second. */
export interface MissingReference {
  child: { id: string; name: string; column: string }
  parent: { id: string; name: string; column: string }
}

/** References to create where there are none. The caller has locked the source, so that none is created twice. */
export interface MissingReferencesRequest {
  source: Source
  interval: 'hourly' | 'daily' | 'weekly'
  references: readonly MissingReference[]
  /** Creates nothing, and returns what would be created. */
  isDryRun: boolean
}

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
  /** Creates the checks that columns lack. @returns those that were missing */
  createMissing(trx: Transaction, request: MissingReferencesRequest): Promise<MissingReference[]>
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
