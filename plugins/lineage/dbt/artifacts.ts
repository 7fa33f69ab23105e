/** What lineage uses of the artifacts that dbt writes: manifest.json (v4 to v12, v20), catalog.json, run_results.json. */
import { isRecord, pickTexts, textOf, type Json } from '../json.ts'
import { ArtifactError } from './artifact-error.ts'
import { findUpstreamColumns, keepUpstreamColumns, type UpstreamColumns } from './column-lineage.ts'
import { MAX_TEXT_LENGTH, reduceRunResults, type DbtRunResults } from './run-results.ts'

export interface DbtNode {
  resource_type: string
  name: string
  package_name?: string
  database?: string | null
  schema?: string | null
  /** The name of the table of a model, seed or snapshot. */
  alias?: string
  /** The name of the table of a source. */
  identifier?: string
  description?: string
  config?: { enabled?: boolean; materialized?: string; severity?: string; meta?: DbtMeta; group?: string }
  meta?: DbtMeta
  group?: string
  depends_on?: { nodes: string[] }
  /** The columns that it is made from, where its SQL shows them. */
  upstream_columns?: UpstreamColumns
  column_name?: string
  test_metadata?: { name?: string; kwargs?: { column_name?: string; model?: string } }
  attached_node?: string
  /** Which version `ref` of the model means where it names none. */
  latest_version?: string
  /** What an exposure is: dashboard, notebook, … */
  type?: string
  label?: string
  url?: string
  owner?: Json
}

/** The keys of `meta` that name owners. */
type DbtMeta = Partial<Record<(typeof OWNER_KEYS)[number], Json>>

/** The parts of a manifest whose entries are kept, by their unique ids. */
const MANIFEST_PARTS = [
  'nodes',
  'sources',
  'exposures',
  'metrics',
  'semantic_models',
  'saved_queries',
  'groups',
] as const

export type DbtManifest = Record<(typeof MANIFEST_PARTS)[number], Record<string, DbtNode>> & {
  metadata: {
    dbt_schema_version: string
    dbt_version?: string
    project_name?: string
    adapter_type?: string
    generated_at?: string
    invocation_id?: string
  }
}

/** Where a table of the project is, as the engine spells it. */
export interface DbtPlace {
  database?: string
  schema: string
  name: string
}

/** The artifacts of one project, reduced to what lineage uses. */
export interface DbtArtifacts {
  manifest: DbtManifest
  /** From catalog.json, by unique id. */
  catalog?: Record<string, DbtPlace>
  run_results?: DbtRunResults
}

const OWNER_KEYS = ['owner', 'owners', 'owner_email', 'owner_name'] as const
/** 20 is of dbt 2 (Fusion): as 12 in all that is used. There is none between. */
const VERSIONS = { oldest: 4, newest: 12, fusion: 20 }
/** Resources that no edge, owner or test is made from. */
const UNUSED_TYPES = new Set(['analysis', 'operation', 'rpc', 'sql_operation', 'sql', 'docs_block'])

/**
 * Reduces artifacts to what lineage uses, about a fiftieth of a manifest of a large project. What is reduced already stays
 * as it is, so that the command line may send less.
 * @param timezone of times without an offset, which are reduced as they are; the command line does not know that of the
 *   service
 * @throws ArtifactError
 */
export async function reduceArtifacts(
  given: { manifest?: Json; catalog?: Json; run_results?: Json },
  timezone = 'UTC',
): Promise<DbtArtifacts> {
  const catalog = given.catalog == null ? undefined : reduceCatalog(given.catalog)
  const results = given.run_results == null ? undefined : reduceRunResults(given.run_results, timezone)
  const manifest = reduceManifest(given.manifest)
  for (const [id, columns] of await findUpstreamColumns(given.manifest, given.catalog)) {
    const node = manifest.nodes[id]
    if (node) node.upstream_columns = columns
  }
  return {
    manifest,
    ...(catalog && { catalog }),
    ...(results && { run_results: results }),
  }
}

function reduceManifest(given: Json): DbtManifest {
  if (!isRecord(given)) throw new ArtifactError('manifest', 'must be the object that manifest.json holds')
  const metadata = isRecord(given.metadata) ? given.metadata : {}
  const schemaVersion = textOf(metadata.dbt_schema_version) ?? ''
  const version = Number(/\/manifest\/v(\d+)(\.json)?$/.exec(schemaVersion)?.[1])
  const { oldest, newest, fusion } = VERSIONS
  if (Number.isNaN(version))
    throw new ArtifactError(
      'manifest',
      'must be a manifest.json of dbt: its metadata.dbt_schema_version names no manifest',
    )
  if (version < oldest || (version > newest && version !== fusion))
    throw new ArtifactError(
      'manifest',
      `is of version ${version} of its schema; versions ${oldest} (dbt 1.0) to ${newest} (dbt 1.8 and later) and ${fusion} (dbt 2) can be read`,
    )
  const parts = MANIFEST_PARTS.map(part => [part, reducePart(part, given[part])] as const)
  return {
    metadata: {
      dbt_schema_version: schemaVersion,
      ...pickTexts(metadata, [
        'dbt_version',
        'project_name',
        'adapter_type',
        'generated_at',
        'invocation_id',
      ] as const),
    },
    ...(Object.fromEntries(parts) as Record<(typeof MANIFEST_PARTS)[number], Record<string, DbtNode>>),
  }
}

function reducePart(part: string, given: Json): Record<string, DbtNode> {
  if (given == null) return {}
  if (!isRecord(given))
    throw new ArtifactError(
      `manifest.${part}`,
      'has entries by their ids: send manifest.json as dbt wrote it',
    )
  const kept: [string, DbtNode][] = []
  for (const [id, entry] of Object.entries(given)) {
    if (!isRecord(entry))
      throw new ArtifactError(`manifest.${part}.${id}`, 'has fields: send manifest.json as dbt wrote it')
    const node = reduceNode(entry, id)
    if (!UNUSED_TYPES.has(node.resource_type)) kept.push([id, node])
  }
  return Object.fromEntries(kept)
}

function reduceNode(entry: Record<string, Json>, id: string): DbtNode {
  const config = isRecord(entry.config) ? entry.config : undefined
  const tested = isRecord(entry.test_metadata) ? entry.test_metadata : undefined
  const kwargs = tested && isRecord(tested.kwargs) ? tested.kwargs : {}
  const depends = isRecord(entry.depends_on) ? entry.depends_on.nodes : undefined
  const description = textOf(entry.description)?.slice(0, MAX_TEXT_LENGTH)
  const { latest_version: latest } = entry
  const upstreamColumns = keepUpstreamColumns(entry.upstream_columns)
  return {
    // Parts other than nodes have no such field in older versions.
    resource_type: textOf(entry.resource_type) ?? id.split('.')[0] ?? '',
    name: textOf(entry.name) ?? id,
    ...pickTexts(entry, [
      'package_name',
      'database',
      'schema',
      'alias',
      'identifier',
      'group',
      'column_name',
      'attached_node',
      'type',
      'label',
      'url',
    ] as const),
    ...((typeof latest === 'string' || typeof latest === 'number') && {
      latest_version: textOf(String(latest)),
    }),
    ...(description && { description }),
    ...(config && {
      config: {
        ...(typeof config.enabled === 'boolean' && { enabled: config.enabled }),
        ...pickTexts(config, ['materialized', 'severity', 'group'] as const),
        ...(isRecord(config.meta) && { meta: pickOwners(config.meta) }),
      },
    }),
    ...(isRecord(entry.meta) && { meta: pickOwners(entry.meta) }),
    ...(entry.owner != null && { owner: entry.owner }),
    ...(Array.isArray(depends) && {
      depends_on: { nodes: depends.filter(each => typeof each === 'string') },
    }),
    ...(upstreamColumns && { upstream_columns: upstreamColumns }),
    ...(tested && {
      test_metadata: {
        ...pickTexts(tested, ['name'] as const),
        kwargs: pickTexts(kwargs, ['column_name', 'model'] as const),
      },
    }),
  }
}

function pickOwners(meta: Record<string, Json>): DbtMeta {
  return Object.fromEntries(OWNER_KEYS.flatMap(key => (meta[key] == null ? [] : [[key, meta[key]]])))
}

/** catalog.json, or the places that it was reduced to. */
function reduceCatalog(given: Json): Record<string, DbtPlace> {
  if (!isRecord(given)) throw new ArtifactError('catalog', 'must be the object that catalog.json holds')
  const isWhole = isRecord(given.nodes) || isRecord(given.sources)
  const entries = isWhole
    ? [given.nodes, given.sources].flatMap(part => (isRecord(part) ? Object.entries(part) : []))
    : Object.entries(given)
  return Object.fromEntries(
    entries.flatMap(([id, entry]) => {
      const place = isRecord(entry) && isRecord(entry.metadata) ? entry.metadata : entry
      const { database, schema, name } = isRecord(place)
        ? pickTexts(place, ['database', 'schema', 'name'] as const)
        : {}
      return schema !== undefined && name !== undefined
        ? [[id, { ...(database !== undefined && { database }), schema, name }]]
        : []
    }),
  )
}
