import type { Transaction } from '../../server/database/database.ts'

/** A clause of a contract that fails while the cause of an alert does. */
export interface BrokenClause {
  contract: string
  clause: string
  owner: string | null
}

/** Contracts that rely on checks: an alert of a check names them, and they raise none of their own. */
export interface ContractLookup {
  /** The kind of the alerts of contracts: rules for it take alerts that name a contract, too. */
  alertKind: string
  /** The clauses that causes break, by the cause. */
  findClauses(trx: Transaction, causes: readonly string[]): Promise<Map<string, BrokenClause[]>>
}
