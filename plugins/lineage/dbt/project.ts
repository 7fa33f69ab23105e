import type { DbtArtifacts, DbtNode, DbtPlace } from './artifacts.ts'
import { isRecord } from '../json.ts'
import { listOwners, readOwners, type DeclaredOwner } from './owners.ts'
import { OUTSIDE_KINDS, type OutsideKind, type SeenColumn } from '../api.ts'

/** A model, seed, snapshot or source, which has a table or view. */
export interface DbtRelation {
  uniqueId: string
  resourceType: string
  place: DbtPlace
  description: string | null
  owners: DeclaredOwner[]
}

/** What people use the data for, outside the database. */
export interface DbtExposure {
  uniqueId: string
  kind: OutsideKind
  name: string
  url: string | null
  description: string | null
  owners: DeclaredOwner[]
}

export interface DbtEdge {
  /** A relation. */
  upstream: string
  /** A relation or an exposure. */
  downstream: string
  /** Absent where columns are not known. */
  columns?: SeenColumn[]
  /** Whether the artifacts have no SQL that columns could be in: those that were known stay. */
  keepsColumns?: true
}

/** A dbt project as a graph. */
export interface DbtProject {
  name: string
  relations: Map<string, DbtRelation>
  exposures: Map<string, DbtExposure>
  edges: DbtEdge[]
}

const RELATION_TYPES = new Set(['model', 'seed', 'snapshot', 'source'])

/** Reads the graph of a project. Ephemeral models, metrics and semantic models are passed through; disabled ones are left out. */
export function readProject({ manifest, catalog = {} }: DbtArtifacts): DbtProject {
  const all = new Map(
    [
      manifest.nodes,
      manifest.sources,
      manifest.metrics,
      manifest.semantic_models,
      manifest.saved_queries,
    ].flatMap(part => Object.entries(part).filter(([, node]) => isEnabled(node))),
  )
  const places = new Map(Object.entries(catalog))
  const relations = new Map<string, DbtRelation>()
  for (const [uniqueId, node] of all) {
    const place = hasRelation(node) && placeOfNode(node, places.get(uniqueId))
    if (place)
      relations.set(uniqueId, {
        uniqueId,
        resourceType: node.resource_type,
        place,
        description: node.description ?? null,
        owners: listOwners(node, manifest.groups),
      })
  }
  const exposures = new Map(
    Object.entries(manifest.exposures)
      .filter(([, node]) => isEnabled(node))
      .map(([uniqueId, node]) => [uniqueId, readExposure(uniqueId, node)] as const),
  )
  const edges: DbtEdge[] = []
  const link = (uniqueId: string, node: DbtNode | undefined) => {
    const known = new Map(Object.entries(node?.upstream_columns ?? {}))
    const keepsColumns = node?.resource_type === 'model' && node.upstream_columns === undefined
    for (const upstream of listUpstream(node, all, relations)) {
      const columns = known
        .get(upstream)
        ?.map(([from, to, kind]) => ({ upstream: from, downstream: to, kind }))
      if (upstream !== uniqueId)
        edges.push({
          upstream,
          downstream: uniqueId,
          ...(columns && { columns }),
          ...(keepsColumns && { keepsColumns }),
        })
    }
  }
  for (const uniqueId of relations.keys()) link(uniqueId, all.get(uniqueId))
  for (const uniqueId of exposures.keys()) link(uniqueId, manifest.exposures[uniqueId])
  return { name: projectNameOf({ manifest }), relations, exposures, edges }
}

const isEnabled = ({ config }: DbtNode) => config?.enabled !== false

function hasRelation({ resource_type: type, config }: DbtNode): boolean {
  return RELATION_TYPES.has(type) && config?.materialized !== 'ephemeral'
}

function placeOfNode(node: DbtNode, known: DbtPlace | undefined): DbtPlace | undefined {
  if (known) return known
  const { database, schema, name } = node
  if (schema == null) return undefined
  return { ...(database != null && { database }), schema, name: node.identifier ?? node.alias ?? name }
}

/** The relations that a node reads, directly or by way of nodes without a relation. */
function listUpstream(
  node: DbtNode | undefined,
  all: ReadonlyMap<string, DbtNode>,
  relations: ReadonlyMap<string, DbtRelation>,
): Set<string> {
  const found = new Set<string>()
  const seen = new Set<string>()
  const left = [...(node?.depends_on?.nodes ?? [])]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    if (relations.has(id)) found.add(id)
    else left.push(...(all.get(id)?.depends_on?.nodes ?? []))
  }
  return found
}

function readExposure(uniqueId: string, node: DbtNode): DbtExposure {
  const kind = OUTSIDE_KINDS.find(known => known === node.type && known !== 'dataset') ?? 'application'
  return {
    uniqueId,
    kind,
    name: node.label || node.name,
    url: node.url && /^https?:\/\/\S+$/i.test(node.url) ? node.url : null,
    description: node.description || null,
    owners: readOwners(isRecord(node.owner) ? node.owner : undefined),
  }
}

/** The name of the root project; manifests before v10 do not state it, and the package of most nodes is taken. */
function projectNameOf({ manifest }: Pick<DbtArtifacts, 'manifest'>): string {
  const { project_name: stated } = manifest.metadata
  if (stated) return stated
  const counts = new Map<string, number>()
  for (const { package_name: name } of Object.values(manifest.nodes))
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [most] = [...counts].toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
  return most?.[0] ?? 'dbt'
}
