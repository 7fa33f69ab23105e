import type { Transaction } from '../../server/database/database.ts'
import type { TableClause } from './enforcement/contracts.ts'
import type { ContractTestResult } from './testing/test-contract.ts'

export type { TableClause } from './enforcement/contracts.ts'

/** `server.plugins.contracts`, for the command line and other features. */
export interface ContractsApi {
  /** The clauses of all contracts about some tables, by contract and position. */
  listClauses(trx: Transaction, tableIds: readonly string[]): Promise<TableClause[]>
  /**
   * Judges all clauses of a contract on a source now, and stores nothing.
   * @throws 400 for a text that is no valid contract, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` of a source that is switched off
   */
  test(
    companyId: string,
    asked: { text: string; source: string; extraColumns: 'allow' | 'fail' },
    signal: AbortSignal,
  ): Promise<ContractTestResult>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    contracts: ContractsApi
  }
}
