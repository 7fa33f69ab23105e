import { rows, type Transaction } from './database.ts'

/** Default rows per transaction, so that none reaches its time limit. */
const BATCH_ROWS = 5_000

/** Runs work in a transaction of the owner. */
export type Transact = <T>(work: (trx: Transaction) => Promise<T>) => Promise<T>

export interface Pace {
  /** Rows that one transaction deletes. */
  batch?: number
  signal?: AbortSignal
}

/**
 * Deletes some in a transaction, until nothing is left or the signal says to stop; the next time goes on.
 * @param statement deletes at most `:batch` rows and returns one for each
 * @param bindings of the statement, by name
 * @returns how many were deleted
 */
export async function prune(
  transact: Transact,
  statement: string,
  bindings: Record<string, unknown>,
  { batch = BATCH_ROWS, signal }: Pace = {},
): Promise<number> {
  let deleted = 0
  for (let isMore = true; isMore && !signal?.aborted;) {
    const gone = await transact(trx => rows(trx, statement, { ...bindings, batch }))
    deleted += gone.length
    isMore = gone.length === batch
  }
  return deleted
}

/**
 * SQL for `prune` that deletes rows of a table, the first ones first. What another transaction holds is left for the
 * next time.
 * @param by the column of an index
 */
export function deleteFirst(table: string, by: string, where: string): string {
  return `
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${where} order by ${by} limit :batch for update skip locked))
    returning 1 as gone`
}
