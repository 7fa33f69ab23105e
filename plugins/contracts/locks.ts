/** Locks of clauses: after checks and the alerts about them, before alerts about contracts. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import { ContractClause } from './models.ts'

/** Locks the clauses of a contract, by id. */
export async function lockClauses(trx: Transaction, contractId: string): Promise<ContractClause[]> {
  return ContractClause.query(trx).where({ contractId }).orderBy('id').forNoKeyUpdate()
}

/** Locks the clauses that some checks tell of, by id. */
export async function lockCheckedClauses(
  trx: Transaction,
  checkIds: readonly string[],
): Promise<ContractClause[]> {
  if (checkIds.length === 0) return []
  return ContractClause.query(trx)
    .whereRaw('check_id = any(?)', [[...checkIds]])
    .orderBy('id')
    .forNoKeyUpdate()
}
