import type { ContractTestResult } from './testing/test-contract.ts'

/** `server.plugins.contracts`, for the command line. */
export interface ContractsApi {
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
