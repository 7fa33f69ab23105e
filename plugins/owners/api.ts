import type { Transaction } from '../../server/database/database.ts'

/** Who said that someone owns something; for the same object, an earlier one goes before those after it. */
export const OWNER_ORIGINS = ['manual', 'dbt', 'openlineage', 'comment'] as const
export type OwnerOrigin = (typeof OWNER_ORIGINS)[number]

/** An owner of an asset. */
export interface Owner {
  /** `name` is a name that dbt or a comment gives, of which there is no team. */
  type: 'user' | 'team' | 'email' | 'name'
  /** The id of the user or team. */
  id: string | null
  name: string
  /** The address of a user, or the one that was given. */
  email: string | null
  origin: OwnerOrigin
  /** What the owner is set for, if not for the asset itself. */
  inheritedFrom: { type: 'tag' | 'schema' | 'source'; name: string } | null
}

/** The owners of a table as another system names them: an address, or a name, which means the team of that name. */
export interface ReportedOwners {
  tableId: string
  owners: readonly { name?: string | null; email?: string | null }[]
}

/** `server.plugins.owners`. All functions act inside the caller's transaction. */
export interface OwnersApi {
  /**
   * Replaces what an origin reported before within a scope: owners that are not among these are removed. What a person
   * set for the same table goes before it, and is not touched.
   * @param scope what reports: the source and name of a dbt project, the table that OpenLineage speaks of
   * @returns how many ownerships were added and removed
   */
  replaceFrom(
    trx: Transaction,
    origin: Exclude<OwnerOrigin, 'manual'>,
    scope: string,
    reported: readonly ReportedOwners[],
  ): Promise<{ added: number; removed: number }>
  /** The owners in force of tables and sources, by their ids; an asset without owners is missing. */
  ownersOf(trx: Transaction, assetIds: readonly string[]): Promise<Map<string, Owner[]>>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    owners: OwnersApi
  }
}
