import { formatName } from '../../../connectors/catalog.ts'
import type { Asset } from '../../catalog/api.ts'
import { toApiNames } from '../../../server/http/fields.ts'
import type { DescribedEdge } from './edges.ts'
import type { GraphNode } from './nodes.ts'

/** A node as the client of the API family reads it. */
export function presentNode({ id, qualifiedName, name, kind, sourceType }: GraphNode) {
  return { id, qualified_name: qualifiedName, name, asset_type: kind, source_type: sourceType }
}

export function presentSource({ id, name, sourceType }: Asset['source']) {
  return {
    id,
    qualified_name: formatName([name]),
    name,
    asset_type: 'source',
    source_type: sourceType,
  }
}

/** A node with what only the graph shows. */
export function presentGraphNode(node: GraphNode) {
  return {
    ...presentNode(node),
    is_active: node.isActive,
    is_external: node.outside !== null,
    namespace: node.outside?.namespace ?? null,
    url: node.outside?.url ?? null,
    description: node.outside?.description ?? null,
    owners: (node.outside?.owners ?? []).map(({ name, email }) => ({
      name: name ?? null,
      email: email ?? null,
    })),
  }
}

/** @param names the qualified names of nodes by their ids */
export function presentEdge(
  { columns, ...edge }: DescribedEdge,
  names: ReadonlyMap<string, string>,
  withColumns: boolean,
) {
  return {
    upstream_id: edge.upstreamId,
    downstream_id: edge.downstreamId,
    source: names.get(edge.upstreamId),
    target: names.get(edge.downstreamId),
    edge_type: edge.origins[0]?.origin,
    confidence: Math.max(...edge.origins.map(({ confidence }) => confidence)),
    origins: edge.origins.map(origin => toApiNames({ ...origin })),
    last_seen_at: edge.lastSeenAt,
    is_stale: edge.isStale,
    ...(withColumns && { columns: columns?.map(pair => toApiNames({ ...pair })) ?? null }),
  }
}
