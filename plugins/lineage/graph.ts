import { formatName } from '../../connectors/catalog.ts'
import type { Asset } from '../catalog/api.ts'
import type { Transaction } from '../../server/database/database.ts'
import { toApiNames } from '../../server/http/fields.ts'
import { edgesFrom, edgesOfSource, readTables, type GraphTable } from './edges.ts'
import type { LineageEdge } from './graph/unreported.ts'

export const DIRECTIONS = ['upstream', 'downstream'] as const
type Direction = (typeof DIRECTIONS)[number]

/** Most edges that are followed; a graph of more can be neither drawn nor read. */
const MAX_EDGES = 2_000

export interface GraphQuery {
  /** Steps away from the table. */
  depth: number
  direction: Direction | 'both'
}

/** The graph around a table, or that of a source as a whole, which knows no direction and no depth. */
export async function readGraph(
  trx: Transaction,
  asset: Asset,
  { depth, direction }: GraphQuery,
): Promise<object> {
  const { table, source } = asset
  const found = table
    ? await walkFrom(
        trx,
        table.id,
        DIRECTIONS.filter(each => direction === 'both' || direction === each),
        depth,
      )
    : { edges: await edgesOfSource(trx, source.id, MAX_EDGES + 1), distances: {} as Partial<Distances> }
  const edges = found.edges.slice(0, MAX_EDGES)
  const ids = new Set(edges.flatMap(({ upstreamId, downstreamId }) => [upstreamId, downstreamId]))
  if (table) ids.add(table.id)
  const tables = await readTables(trx, [...ids])
  const names = new Map(tables.map(({ id, qualifiedName }) => [id, qualifiedName]))
  const root = table && tables.find(({ id }) => id === table.id)
  const { upstream, downstream } = found.distances
  const onSide = (side: Map<string, number> | undefined) =>
    tables.filter(({ id }) => id !== table?.id && side?.has(id)).map(presentNode)
  return {
    asset_id: (table ?? source).id,
    root: root ? presentNode(root) : presentSource(source),
    upstream: onSide(upstream),
    downstream: onSide(downstream),
    nodes: tables.map(node => ({
      ...presentNode(node),
      is_active: node.isActive,
      upstream_distance: upstream?.get(node.id) ?? null,
      downstream_distance: downstream?.get(node.id) ?? null,
    })),
    edges: edges.map(edge => ({
      ...toApiNames({ ...edge }),
      source: names.get(edge.upstreamId),
      target: names.get(edge.downstreamId),
    })),
    is_complete: found.edges.length <= MAX_EDGES,
  }
}

/** A table of the graph as the client of the API family reads it. */
export function presentNode({ id, qualifiedName, name, kind, sourceType }: GraphTable): object {
  return { id, qualified_name: qualifiedName, name, asset_type: kind, source_type: sourceType }
}

function presentSource({ id, name, sourceType }: Asset['source']): object {
  return {
    id,
    qualified_name: formatName([name]),
    name,
    asset_type: 'source',
    source_type: sourceType,
  }
}

/** By direction, how many steps each table is away. */
type Distances = Record<Direction, Map<string, number>>

async function walkFrom(trx: Transaction, id: string, directions: readonly Direction[], depth: number) {
  const edges = new Map<string, LineageEdge>()
  const distances: Partial<Distances> = {}
  for (const direction of directions) {
    const seen = new Map([[id, 0]])
    distances[direction] = seen
    let frontier = [id]
    // A table that was seen is not left again, so that a circle ends.
    for (let step = 1; step <= depth && frontier.length > 0 && edges.size <= MAX_EDGES; step++) {
      const found = await edgesFrom(trx, frontier, direction, MAX_EDGES + 1)
      for (const edge of found) edges.set(`${edge.upstreamId} ${edge.downstreamId}`, edge)
      const reached = found.map(edge => (direction === 'upstream' ? edge.upstreamId : edge.downstreamId))
      frontier = [...new Set(reached)].filter(each => !seen.has(each))
      for (const each of frontier) seen.set(each, step)
    }
  }
  return { edges: [...edges.values()], distances }
}
