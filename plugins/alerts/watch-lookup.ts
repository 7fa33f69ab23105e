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

/** The check that raised an alert, and where its past ends. */
export interface PastOfAlert {
  /** The public id of the check. */
  checkId: string
  tableId: string
  /** The group of a check by groups, else {}. */
  series: Record<string, unknown>
  before: Date
}

/** The last result of a check that passed; both null where none of those that are kept did. */
export interface LastPass {
  at: Date | null
  value: number | null
}

/** What checks watch, by the feature of checks. */
export interface WatchLookup {
  /** Counts tables without checks in one statement. @param owned counts only these; undefined for all */
  readUnwatched(trx: Transaction, owned: OwnedAssets | undefined): Promise<Unwatched>
  /** The last pass before an alert, in one statement; undefined without such a check. */
  readLastPass(trx: Transaction, past: PastOfAlert): Promise<LastPass | undefined>
}
