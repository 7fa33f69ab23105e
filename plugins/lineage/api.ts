import type { Transaction } from '../../server/database/database.ts'

export interface ConnectResult {
  /** Tables that had no edge before. */
  nodes: number
  edges: number
}

/** What other features may ask of lineage, as `server.plugins.lineage`. */
export interface LineageApi {
  /**
   * Says of tables of a source that one is made from the other. What is known already stays; pairs of which a table is
   * not in the catalog are left out.
   * @param pairs upstream and downstream, each as `schema.table`
   */
  connect(
    trx: Transaction,
    sourceId: string,
    pairs: readonly (readonly [string, string])[],
    options?: { isDemo?: boolean },
  ): Promise<ConnectResult>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    lineage: LineageApi
  }
}
