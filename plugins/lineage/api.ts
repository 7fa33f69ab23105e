import type { Transaction } from '../../server/database/database.ts'

/** Who reports an edge, the strongest first. A foreign key moves no data. */
export const LINEAGE_ORIGINS = ['view', 'dbt', 'openlineage', 'manual', 'demo', 'foreign_key'] as const
export type LineageOrigin = (typeof LINEAGE_ORIGINS)[number]

export const OUTSIDE_KINDS = ['dataset', 'dashboard', 'notebook', 'ml', 'analysis', 'application'] as const
export type OutsideKind = (typeof OUTSIDE_KINDS)[number]

/** A thing that no source has: a dataset of a pipeline, a dashboard. It is known by its namespace and name. */
export interface OutsideNode {
  kind: OutsideKind
  namespace: string
  name: string
  /** Null removes the one that is stored. */
  url?: string | null
  description?: string
  owners?: readonly { name?: string; email?: string }[]
  details?: object
}

/** A table of the catalog, or an outside node, which has no source. */
export interface GraphNode {
  id: string
  qualifiedName: string
  name: string
  /** `table`, `view`, …; or the kind of an outside node. */
  kind: string
  sourceType: string | null
  isActive: boolean
  /** Null for a table. */
  outside: Pick<OutsideNode, 'namespace' | 'url' | 'description' | 'owners'> | null
}

/** A table of the catalog, or a thing outside it, which is created when it is new. */
export type LineageEnd = { tableId: string } | { outside: OutsideNode }

/** In place of the downstream column, where a column decides which rows there are: a filter, a join, a grouping. */
export const ALL_COLUMNS = '*'

export interface SeenColumn {
  upstream: string
  /** The column that is made from it, or `ALL_COLUMNS`. */
  downstream: string
  /** `direct` (the default) where values come from it; `indirect` where it filters, joins, groups or sorts. */
  kind?: 'direct' | 'indirect'
}

export interface SeenEdge {
  upstream: LineageEnd
  downstream: LineageEnd
  /** What within the origin reports it: the view, the constraint, the dbt model, the job as `namespace.name`. */
  detail: string
  /** All columns of the edge, of which there may be none; absent where columns are not known. */
  columns?: readonly SeenColumn[]
  /** Whether columns that were known stay although all edges are reported: the origin could not look for them. */
  keepsColumns?: boolean
  /** From 0 to 1, the default: less where names were guessed. */
  confidence?: number
}

export interface SeenEdges {
  origin: LineageOrigin
  /** The source whose reading reports them, or null. */
  sourceId: string | null
  /** How the `detail` of all edges begins that `isComplete` speaks about, such as a dbt project; defaults to all. */
  scope?: string
  /** Whether these are all edges of the origin, source and scope: others that they reported before go. */
  isComplete: boolean
  /** Limits `isComplete` to the edges into these. */
  downstreamIds?: readonly string[]
  edges: readonly SeenEdge[]
}

export interface ConnectResult {
  /** Tables and outside nodes that had no edge of this origin before. */
  nodes: number
  /** Edges that the origin had not reported before. */
  edges: number
}

export interface RecordedEdges extends ConnectResult {
  /** Pairs of columns that were reported. */
  columns: number
  /** Pairs of columns that edges with `keepsColumns` had. */
  keptColumns: number
  /** Edges that the origin does not report any more; one may stay for another origin. */
  removed: number
}

export interface WalkOptions {
  direction: 'upstream' | 'downstream'
  /** Steps; defaults to any number. */
  depth?: number
  /** Columns of the tables where the walk starts; defaults to all, and then none are followed. */
  columns?: readonly string[]
  /** Whether foreign keys are followed too, which move no data. */
  foreignKeys?: boolean
  /** Edges after which the walk ends; defaults to 2,000. */
  most?: number
}

export interface WalkNode {
  /** The id of a table, or of an outside node. */
  id: string
  distance: number
  isTable: boolean
  /**
   * The columns that the walk reached, sorted: `ALL_COLUMNS` among them where a filter, join or grouping was reached, and
   * so every row. Null where it came by an edge whose columns are not known, or follows no columns.
   */
  columns: string[] | null
}

export interface WalkEdge {
  upstreamId: string
  downstreamId: string
  origins: LineageOrigin[]
}

export interface WalkResult {
  /** Without those where it started, nearest first. */
  nodes: WalkNode[]
  edges: WalkEdge[]
  /** False where there are more edges than `most`. */
  isComplete: boolean
}

export type LineageRunState = 'running' | 'completed' | 'failed' | 'aborted'

/** A run of a job that writes a table, as OpenLineage or dbt reported it. */
export interface LineageRun {
  id: string
  tableId: string
  jobNamespace: string
  jobName: string
  /** As the producer knows it. */
  runId: string
  state: LineageRunState
  startedAt: Date | null
  endedAt: Date | null
  /** The time for which it was scheduled. */
  nominalStartAt: Date | null
  /** Why it failed or was aborted, where the producer says so. */
  errorMessage: string | null
  lastEventAt: Date
}

/** What other features may ask of lineage, as `server.plugins.lineage`. */
export interface LineageApi {
  /**
   * Records tables of a source one of which is made from the other. What is known already stays; pairs of which a table is
   * not in the catalog are left out.
   * @param pairs upstream and downstream, each as `schema.table`
   */
  connect(
    trx: Transaction,
    sourceId: string,
    pairs: readonly (readonly [string, string])[],
    options?: { isDemo?: boolean },
  ): Promise<ConnectResult>
  /**
   * Stores the edges that an origin reports, sets of any size in a few statements. Edges with a table that the company does
   * not have are left out. Reported again without columns, an edge keeps those it had, unless `isComplete`
   * without `keepsColumns`.
   */
  recordEdges(trx: Transaction, seen: SeenEdges): Promise<RecordedEdges>
  /** Follows the flow of data from tables and outside nodes, in one statement a step; cycles end. */
  walk(trx: Transaction, ids: readonly string[], options: WalkOptions): Promise<WalkResult>
  /** How many tables and outside nodes are made from each set of tables, without these themselves: in one walk. */
  countDownstream(trx: Transaction, sets: readonly (readonly string[])[]): Promise<number[]>
  /** Runs that write some tables and had an event since a time, the latest first; at most 1,000. */
  runsOf(trx: Transaction, tableIds: readonly string[], since: Date): Promise<LineageRun[]>
  /** Tables and outside nodes by their ids, by qualified name. */
  readNodes(trx: Transaction, ids: readonly string[]): Promise<GraphNode[]>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    lineage: LineageApi
  }
}
