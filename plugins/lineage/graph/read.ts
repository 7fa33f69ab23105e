import type { Asset } from '../../catalog/api.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { LineageDeps } from '../deps.ts'
import { readDetails } from './details.ts'
import { describeEdges, edgeKey, edgesOfSource } from './edges.ts'
import { readNodes, type GraphNode } from './nodes.ts'
import { presentEdge, presentGraphNode, presentNode, presentSource } from './present.ts'
import type { LineageEdge } from './unreported.ts'
import { MAX_EDGES, walkEdges } from './walk.ts'

export const DIRECTIONS = ['upstream', 'downstream'] as const
type Direction = (typeof DIRECTIONS)[number]

export interface GraphQuery {
  /** Steps away from the table. */
  depth: number
  direction: Direction | 'both'
  columns: boolean
  details: boolean
  include?: 'foreign_keys'
}

/** What a graph is read around: a table, an outside node, or all of a source. */
export type GraphRoot = Asset | { outside: GraphNode }

/** The graph around a table or an outside node, or that of a source, which knows no direction and no depth. */
export async function readGraph(deps: LineageDeps, trx: Transaction, root: GraphRoot, query: GraphQuery) {
  const start = 'outside' in root ? root.outside.id : root.table?.id
  const found =
    start === undefined
      ? await readSource(trx, (root as Asset).source.id, query)
      : await walkBothWays(trx, start, query)
  const ids = new Set(found.edges.flatMap(({ upstreamId, downstreamId }) => [upstreamId, downstreamId]))
  if (start !== undefined) ids.add(start)
  const nodes = await readNodes(trx, [...ids])
  const names = new Map(nodes.map(({ id, qualifiedName }) => [id, qualifiedName]))
  // Between the statements, a table may have gone.
  const edges = found.edges.filter(edge => names.has(edge.upstreamId) && names.has(edge.downstreamId))
  const described = await describeEdges(trx, edges, { withColumns: query.columns })
  const details = query.details
    ? await readDetails(deps, trx, nodes, { foreignKeys: query.include === 'foreign_keys' })
    : undefined
  const rootNode = nodes.find(({ id }) => id === start)
  const { upstream, downstream } = found.distances
  const onSide = (side: ReadonlyMap<string, number> | undefined) =>
    nodes.filter(({ id }) => id !== start && side?.has(id)).map(presentNode)
  const source = rootNode ? undefined : (root as Asset).source
  return {
    asset_id: rootNode?.id ?? source?.id,
    root: rootNode ? presentNode(rootNode) : presentSource((root as Asset).source),
    upstream: onSide(upstream),
    downstream: onSide(downstream),
    nodes: nodes.map(node => ({
      ...presentGraphNode(node),
      upstream_distance: upstream?.get(node.id) ?? null,
      downstream_distance: downstream?.get(node.id) ?? null,
      ...details?.get(node.id),
    })),
    edges: described.map(edge => presentEdge(edge, names, query.columns)),
    is_complete: found.isComplete,
  }
}

interface FoundEdges {
  edges: LineageEdge[]
  /** By direction, how many steps each node is away. */
  distances: Partial<Record<Direction, ReadonlyMap<string, number>>>
  isComplete: boolean
}

async function readSource(trx: Transaction, sourceId: string, { include }: GraphQuery): Promise<FoundEdges> {
  const edges = await edgesOfSource(trx, sourceId, {
    most: MAX_EDGES + 1,
    foreignKeys: include === 'foreign_keys',
  })
  return { edges: edges.slice(0, MAX_EDGES), distances: {}, isComplete: edges.length <= MAX_EDGES }
}

async function walkBothWays(
  trx: Transaction,
  start: string,
  { depth, direction, include }: GraphQuery,
): Promise<FoundEdges> {
  const edges = new Map<string, LineageEdge>()
  const distances: FoundEdges['distances'] = {}
  let isComplete = true
  for (const each of DIRECTIONS.filter(one => direction === 'both' || direction === one)) {
    const walked = await walkEdges(trx, [start], {
      direction: each,
      depth,
      foreignKeys: include === 'foreign_keys',
    })
    for (const edge of walked.edges) edges.set(edgeKey(edge), edge)
    distances[each] = new Map([
      [start, 0],
      ...walked.nodes.map(({ id, distance }) => [id, distance] as const),
    ])
    isComplete &&= walked.isComplete
  }
  return {
    edges: [...edges.values()].slice(0, MAX_EDGES),
    distances,
    isComplete: isComplete && edges.size <= MAX_EDGES,
  }
}
