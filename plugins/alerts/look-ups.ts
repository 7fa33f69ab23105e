/** What alerts ask of features above them: about contracts, lineage, what they hit, and the demo. */
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

/** What is made from what, by lineage. */
export interface LineageLookup {
  /** Follows the flow of data from tables: what lies there with its steps, nearest first, and the edges. */
  walk(
    trx: Transaction,
    ids: readonly string[],
    options: { direction: 'upstream' | 'downstream'; depth: number; most?: number },
  ): Promise<{
    nodes: { id: string; distance: number }[]
    edges: { upstreamId: string; downstreamId: string }[]
  }>
  /** How many tables, dashboards and the like are made from each set of tables, without these themselves. */
  countDownstream(trx: Transaction, sets: readonly (readonly string[])[]): Promise<number[]>
  /** Runs that write some tables and had an event since a time, the latest first. */
  runsOf(trx: Transaction, tableIds: readonly string[], since: Date): Promise<JobRun[]>
}

/** A run of a job that writes a table. */
export interface JobRun {
  tableId: string
  jobNamespace: string
  jobName: string
  state: 'running' | 'completed' | 'failed' | 'aborted'
  errorMessage: string | null
  endedAt: Date | null
  lastEventAt: Date
}

/** Takes a message of a demo destination in this process, as a service on the internet would. */
export type DemoReceiver = (message: { headers: Record<string, string>; body: string }) => {
  statusCode: number
  /** Shown before the note that nothing was sent. */
  body: string
}

export interface NamedOwner {
  name: string
  email: string | null
}

/** A table, or a thing outside the catalog, that is made from another table. */
export interface ReachedAsset {
  id: string
  name: string
  qualifiedName: string
  assetType: string
  url: string | null
  distance: number
}

/** What is made from the table of an alert, nearest first, and who owns it and the table itself. */
export interface AlertReach {
  assetOwners: NamedOwner[]
  tables: ReachedAsset[]
  /** Dashboards, notebooks, models and applications. */
  dashboards: ReachedAsset[]
  owners: NamedOwner[]
  /** False where more hang on it than are followed. */
  isComplete: boolean
}

/** What alerts hit, by the feature of impact. */
export interface ReachLookup {
  /** By the column that the details name, where they name one. */
  readReach(
    trx: Transaction,
    subject: { assetId: string; details: Record<string, unknown> },
  ): Promise<AlertReach>
}
