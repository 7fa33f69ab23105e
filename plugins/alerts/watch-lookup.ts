import type { Transaction } from '../../server/database/database.ts'

/** A SELECT of the `asset_id` of all assets that an owner owns, with its bindings. */
export interface OwnedAssets {
  text: string
  bindings: Record<string, string | string[]>
}

/** How many tables lack what. */
export interface Unwatched {
  /** All active tables. */
  tables: number
  withoutFreshness: number
  withoutVolume: number
  /** Tables with a key of one column that neither a check nor the engine holds unique. */
  withoutKeys: number
  /** The first tables that no check watches at all, by name. */
  examples: { id: string; qualifiedName: string }[]
}

/** What checks watch, by the feature of checks. */
export interface WatchLookup {
  /** Counts tables without checks in one statement. @param owned counts only these; undefined for all */
  readUnwatched(trx: Transaction, owned: OwnedAssets | undefined): Promise<Unwatched>
}
