// Not from `lib/api.ts`, whose types need those of a browser, which tests in Node do not have.
import type { ReplyOf } from 'tidemark/client'

/** What the API knows of the lineage around a table. */
export type LineageReply = ReplyOf<'get', '/api/v1/sdk/lineage/{asset_id}'>['data']
export type Node = LineageReply['nodes'][number]
export type Edge = LineageReply['edges'][number]

/** The part of the lineage that was loaded. */
export interface Graph {
  nodes: ReadonlyMap<string, Node>
  edges: ReadonlyMap<string, Edge>
}

export type Direction = 'upstream' | 'downstream'

/** As the API writes a column of a table whose rows another column decides. */
const ALL_COLUMNS = '*'

export const edgeKey = ({ upstream_id: up, downstream_id: down }: Edge) => `${up} ${down}`

/** Whether data moves along an edge; a foreign key moves none. */
export const isFlow = (edge: Edge) => edge.edge_type !== 'foreign_key'

/** A graph with what was loaded later. */
export function mergeGraph(
  graph: Graph | undefined,
  { nodes, edges }: Pick<LineageReply, 'nodes' | 'edges'>,
): Graph {
  return {
    nodes: new Map([...(graph?.nodes ?? []), ...nodes.map(node => [node.id, node] as const)]),
    edges: new Map([...(graph?.edges ?? []), ...edges.map(edge => [edgeKey(edge), edge] as const)]),
  }
}

/** The edges whose both ends are among some nodes, those that move data first. */
export function edgesAmong({ edges }: Graph, ids: ReadonlySet<string>): Edge[] {
  const among = [...edges.values()].filter(edge => ids.has(edge.upstream_id) && ids.has(edge.downstream_id))
  return [...among.filter(isFlow), ...among.filter(edge => !isFlow(edge))]
}

/** The other ends of the edges of a node, by direction. */
export function neighboursOf({ edges }: Graph, id: string): Record<Direction, string[]> {
  const all = [...edges.values()]
  return {
    upstream: all.filter(edge => edge.downstream_id === id).map(edge => edge.upstream_id),
    downstream: all.filter(edge => edge.upstream_id === id).map(edge => edge.downstream_id),
  }
}

/** How many steps each node is away, along the flow of data or also along foreign keys. */
export function measureSteps(
  graph: Graph,
  root: string,
  direction: Direction,
  { isFlowOnly = false } = {},
): Map<string, number> {
  const [from, to] =
    direction === 'upstream'
      ? (['downstream_id', 'upstream_id'] as const)
      : (['upstream_id', 'downstream_id'] as const)
  const followed = [...graph.edges.values()].filter(edge => !isFlowOnly || isFlow(edge))
  const next = Map.groupBy(followed, edge => edge[from])
  const steps = new Map([[root, 0]])
  // A Map is walked in the order of insertion, also what is inserted meanwhile.
  for (const [id, step] of steps)
    for (const edge of next.get(id) ?? []) if (!steps.has(edge[to])) steps.set(edge[to], step + 1)
  steps.delete(root)
  return steps
}

/** The nodes that are drawn first: the nearest ones. */
export function chooseNearest(graph: Graph, root: string, most: number): Set<string> {
  const [up, down] = (['upstream', 'downstream'] as const).map(side => measureSteps(graph, root, side))
  const near = (id: string) => Math.min(up!.get(id) ?? Infinity, down!.get(id) ?? Infinity)
  const others = [...graph.nodes.keys()].filter(id => id !== root).sort((a, b) => near(a) - near(b))
  return new Set([root, ...others.slice(0, most - 1)])
}

/** The columns of a node that edges name, by name. */
export function columnsOf({ edges }: Graph, id: string): string[] {
  const names = new Set<string>()
  for (const { upstream_id: up, downstream_id: down, columns } of edges.values())
    for (const pair of columns ?? []) {
      if (up === id) names.add(pair.upstream_column)
      if (down === id && pair.downstream_column !== ALL_COLUMNS) names.add(pair.downstream_column)
    }
  return [...names].sort((a, b) => a.localeCompare(b))
}

/** A pair of columns that a trace passes; without a column, the rows of the table. */
export interface TracedPair {
  edge: Edge
  upstream: string
  downstream: string | null
  isDirect: boolean
}

/** What a column is made from and goes into. */
export interface Trace {
  /** The columns that were reached, by node; null where they are not known, empty where rows alone depend on it. */
  columns: ReadonlyMap<string, ReadonlySet<string> | null>
  edges: ReadonlySet<string>
  pairs: readonly TracedPair[]
}

/** Follows a column along the edges whose columns are known, and by table along the others. */
export function traceColumn(graph: Graph, start: { id: string; column: string }): Trace {
  const columns = new Map<string, Set<string> | null>()
  const edges = new Set<string>()
  const pairs = new Map<string, TracedPair>()
  for (const direction of ['upstream', 'downstream'] as const) {
    const isUp = direction === 'upstream'
    const seen = new Set<string>()
    const queue: { id: string; column: string | null }[] = [start]
    for (const { id, column } of queue) {
      if (seen.has(`${id} ${column}`)) continue
      seen.add(`${id} ${column}`)
      reach(columns, id, column)
      for (const edge of graph.edges.values()) {
        if (!isFlow(edge) || (isUp ? edge.downstream_id : edge.upstream_id) !== id) continue
        for (const next of followEdge(edge, column, isUp)) {
          edges.add(edgeKey(edge))
          if (next.pair)
            pairs.set(`${edgeKey(edge)} ${next.pair.upstream} ${next.pair.downstream}`, next.pair)
          queue.push({ id: isUp ? edge.upstream_id : edge.downstream_id, column: next.column })
        }
      }
    }
  }
  return { columns, edges, pairs: [...pairs.values()] }
}

/** Null means that columns are not known from here on. */
function reach(columns: Map<string, Set<string> | null>, id: string, column: string | null): void {
  const known = columns.get(id)
  if (known === null) return
  if (column === null) columns.set(id, null)
  else columns.set(id, new Set([...(known ?? []), ...(column === ALL_COLUMNS ? [] : [column])]))
}

function followEdge(
  edge: Edge,
  column: string | null,
  isUp: boolean,
): { column: string | null; pair?: TracedPair }[] {
  if (column === null || edge.columns == null) return [{ column: null }]
  // All rows of the upstream table depend on it, so all that is made from them does.
  if (!isUp && column === ALL_COLUMNS) return [{ column: ALL_COLUMNS }]
  return edge.columns
    .filter(pair =>
      isUp
        ? [column, ALL_COLUMNS].includes(pair.downstream_column) || column === ALL_COLUMNS
        : pair.upstream_column === column,
    )
    .map(pair => ({
      column: isUp ? pair.upstream_column : pair.downstream_column,
      pair: {
        ...{ edge, upstream: pair.upstream_column, isDirect: pair.kind === 'direct' },
        downstream: pair.downstream_column === ALL_COLUMNS ? null : pair.downstream_column,
      },
    }))
}
