import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { LineageApi, LineageEnd, OutsideNode, SeenEdge, SeenEdges } from '../api.ts'
import { countKeptColumns, IS_OUTDATED, storeColumns, type GivenEdge } from './column-edges.ts'
import { dropUnreported, type LineageEdge } from './unreported.ts'

const NODE_CAP = defineCap({
  name: 'lineage_nodes',
  most: 100_000,
  what: 'datasets and reports outside of the catalog',
  advice: 'map their namespaces to sources, or report fewer',
})
const EDGE_CAP = defineCap({
  name: 'lineage_edges',
  most: 1_000_000,
  what: 'edges of lineage',
  advice: 'report fewer datasets',
})

/** What discoveries read grows with the catalog alone, and a discovery does not fail for its lineage. */
const READ_ORIGINS: ReadonlySet<string> = new Set(['view', 'foreign_key'])

/** What one statement stores: writing the arrays of a larger one holds everything else up. */
const MAX_CHUNK = { nodes: 1_000, edges: 2_000 }

/**
 * Stores what an origin reports. Rows are written in the order of their keys, so that two writers do not deadlock; others
 * get their turn meanwhile.
 */
export const recordEdges: LineageApi['recordEdges'] = async (trx, seen) => {
  const outside = await listOutside(seen.edges)
  const merged = await mergeEdges(seen.edges, await storeOutside(trx, outside))
  const { added, joined, missing } = await storeEdges(trx, seen, merged)
  if (added.size > 0 && !READ_ORIGINS.has(seen.origin)) await enforceCap(trx, companyOf(trx), EDGE_CAP)
  const given = merged.filter(({ upstreamId, downstreamId }) => !missing.has(`${upstreamId} ${downstreamId}`))
  const inserted = await storeOrigins(trx, seen, given)
  const columns = await storeColumns(trx, seen, given)
  const removed = seen.isComplete ? await dropUnreported(trx, seen, given) : 0
  // Another transaction may have reported the same meanwhile: what it inserted is not counted here.
  const edges = [...added].filter(pair => inserted.has(pair))
  const newEnds = new Set(edges.flatMap(pair => pair.split(' ')))
  return {
    nodes: [...joined].filter(id => newEnds.has(id)).length,
    edges: edges.length,
    columns,
    keptColumns: await countKeptColumns(trx, seen, given),
    removed,
  }
}

/** The outside nodes that are ends of edges, each as it is described last. */
async function listOutside(edges: readonly SeenEdge[]): Promise<OutsideNode[]> {
  const [nodes, pause] = [new Map<string, OutsideNode>(), makePauses()]
  for (const { upstream, downstream } of edges) {
    for (const end of [upstream, downstream])
      if ('outside' in end) nodes.set(outsideKey(end.outside), end.outside)
    await pause()
  }
  return [...nodes.values()]
}

/** What an outside node is known by. */
export const outsideKey = ({ namespace, name }: Pick<OutsideNode, 'namespace' | 'name'>) =>
  JSON.stringify([namespace, name])

/** Creates the outside nodes that are new, and brings the others up to date. @returns their ids by `outsideKey` */
export async function storeOutside(
  trx: Transaction,
  seen: readonly OutsideNode[],
): Promise<Map<string, string>> {
  const nodes = new Map(seen.map(node => [outsideKey(node), node]))
  const ids = new Map<string, string>()
  let areNew = false
  for (const keys of chunksOf([...nodes.keys()].sort(), MAX_CHUNK.nodes)) {
    const stored = await upsertOutside(
      trx,
      keys.map(key => nodes.get(key)!),
    )
    for (const node of stored) ids.set(outsideKey(node), node.id)
    areNew ||= stored.some(({ isNew }) => isNew)
  }
  if (areNew) await enforceCap(trx, companyOf(trx), NODE_CAP)
  const bare = [...nodes].flatMap(([key, { url }]) => (url === null ? [ids.get(key)] : []))
  if (bare.length > 0)
    await trx.raw(
      `update lineage_nodes set url = null
        where company_id = :companyId and id = any(cast(:bare as uuid[])) and url is not null`,
      { companyId: companyOf(trx), bare },
    )
  return ids
}

function upsertOutside(trx: Transaction, nodes: readonly OutsideNode[]) {
  return rows<{ id: string; namespace: string; name: string; isNew: boolean }>(
    trx,
    `insert into lineage_nodes as n
       (id, company_id, kind, namespace, name, qualified_name, url, description, owners, details)
     select g.id, :companyId, g.kind, g.namespace, g.name, g.namespace || '/' || g.name, g.url, g.description,
            coalesce(g.owners, '[]'), coalesce(g.details, '{}')
       from jsonb_to_recordset(cast(:nodes as jsonb)) as g
         (id uuid, kind text, namespace text, name text, url text, description text, owners jsonb, details jsonb)
      order by g.namespace collate "C", g.name collate "C"
     on conflict (company_id, namespace, name) do update set
       kind = excluded.kind,
       url = coalesce(excluded.url, n.url),
       description = coalesce(excluded.description, n.description),
       owners = case when excluded.owners = '[]' then n.owners else excluded.owners end,
       details = n.details || excluded.details,
       last_seen_at = now()
     returning id, namespace, name, xmax = 0 as is_new`,
    {
      companyId: companyOf(trx),
      nodes: JSON.stringify(nodes.map(node => ({ ...node, id: v7() }))),
    },
  )
}

/** Each edge once for each detail, in the order of their keys. */
async function mergeEdges(
  edges: readonly SeenEdge[],
  nodeIds: ReadonlyMap<string, string>,
): Promise<GivenEdge[]> {
  const pause = makePauses()
  const idOf = (end: LineageEnd) => ('tableId' in end ? end.tableId : nodeIds.get(outsideKey(end.outside)))
  const byUpstream = new Map<string, Map<string, GivenEdge>>()
  for (const { upstream, downstream, detail, columns, keepsColumns = false, confidence = 1 } of edges) {
    await pause()
    const [upstreamId, downstreamId] = [idOf(upstream), idOf(downstream)]
    if (!upstreamId || !downstreamId) continue
    const merged = byUpstream.get(upstreamId) ?? new Map<string, GivenEdge>()
    byUpstream.set(upstreamId, merged)
    const key = `${downstreamId} ${detail}`
    const edge = merged.get(key) ?? {
      upstreamId,
      downstreamId,
      detail,
      confidence,
      columns: null,
      keepsColumns,
    }
    merged.set(key, edge)
    if (columns) edge.columns = edge.columns ? edge.columns.concat(columns) : [...columns]
  }
  const sorted: GivenEdge[] = []
  for (const upstreamId of [...byUpstream.keys()].sort()) {
    const merged = byUpstream.get(upstreamId)!
    for (const key of [...merged.keys()].sort()) sorted.push(merged.get(key)!)
    await pause()
  }
  return sorted
}

function* chunksOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/**
 * An edge of an end that the origin reported before, for each end by itself: joined, PostgreSQL would read all edges of
 * the origin for a few ends.
 */
const EDGE_OF_ORIGIN = `left join lateral (
    select true as is_there from lineage_edge_origins o
     where o.company_id = :companyId and o.upstream_id = ends.id and o.origin = :origin limit 1) outgoing on true
  left join lateral (
    select true as is_there from lineage_edges e
     cross join lateral (
       select from lineage_edge_origins o
        where o.company_id = :companyId and o.upstream_id = e.upstream_id and o.downstream_id = e.downstream_id
          and o.origin = :origin limit 1) o
     where e.company_id = :companyId and e.downstream_id = ends.id limit 1) incoming on true`

interface StoredEdges {
  /** Pairs that the origin had not reported, both ends with a blank between them. */
  added: Set<string>
  /** Ends that had no edge of the origin. */
  joined: Set<string>
  /** Pairs of which an end is not there. */
  missing: Set<string>
}

async function storeEdges(
  trx: Transaction,
  { origin }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<StoredEdges> {
  const all: StoredEdges = { added: new Set(), joined: new Set(), missing: new Set() }
  for (const chunk of chunksOf(given, MAX_CHUNK.edges)) {
    const { added, joined, missing } = await upsertEdges(trx, origin, chunk)
    for (const pair of added) all.added.add(pair.join(' '))
    for (const id of joined) all.joined.add(id)
    for (const pair of missing) all.missing.add(pair.join(' '))
  }
  return all
}

interface UpsertedEdges {
  added: [string, string][]
  joined: string[]
  missing: [string, string][]
}

async function upsertEdges(
  trx: Transaction,
  origin: SeenEdges['origin'],
  given: readonly GivenEdge[],
): Promise<UpsertedEdges> {
  const [stored] = await rows<UpsertedEdges>(
    trx,
    `with asked as materialized (
       select distinct g.upstream_id, g.downstream_id, coalesce(d.source_id, u.source_id) as source_id,
              coalesce(u.id, nu.id) is not null and coalesce(d.id, nd.id) is not null as is_there
         from unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[])) as g (upstream_id, downstream_id)
         left join tables u on u.company_id = :companyId and u.id = g.upstream_id
         left join tables d on d.company_id = :companyId and d.id = g.downstream_id
         left join lineage_nodes nu on nu.company_id = :companyId and nu.id = g.upstream_id
         left join lineage_nodes nd on nd.company_id = :companyId and nd.id = g.downstream_id),
     given as (select * from asked where is_there),
     added as materialized (
       select g.upstream_id, g.downstream_id from given g where not exists (
         select from lineage_edge_origins o where o.company_id = :companyId and o.upstream_id = g.upstream_id
            and o.downstream_id = g.downstream_id and o.origin = :origin)),
     joined as materialized (
       select id from (select upstream_id as id from added union select downstream_id from added) ends
         ${EDGE_OF_ORIGIN}
        where outgoing.is_there is null and incoming.is_there is null),
     stored as (
       insert into lineage_edges as e (company_id, source_id, upstream_id, downstream_id, is_flow, is_demo)
       select :companyId, source_id, upstream_id, downstream_id, :isFlow, :isDemo from given
        order by upstream_id, downstream_id
       on conflict (company_id, upstream_id, downstream_id) do update
         set last_seen_at = now(), is_flow = e.is_flow or excluded.is_flow, source_id = excluded.source_id
         where ${IS_OUTDATED} or excluded.is_flow > e.is_flow or e.source_id is distinct from excluded.source_id)
     select coalesce((select json_agg(json_build_array(upstream_id, downstream_id)) from added), '[]') as added,
            coalesce((select json_agg(id) from joined), '[]') as joined,
            coalesce((select json_agg(json_build_array(upstream_id, downstream_id)) from asked where not is_there), '[]')
              as missing`,
    {
      companyId: companyOf(trx),
      upstream: given.map(({ upstreamId }) => upstreamId),
      downstream: given.map(({ downstreamId }) => downstreamId),
      origin,
      isFlow: origin !== 'foreign_key',
      isDemo: origin === 'demo',
    },
  )
  return stored ?? { added: [], joined: [], missing: [] }
}

/** @returns the pairs that were inserted, as text */
async function storeOrigins(
  trx: Transaction,
  seen: SeenEdges,
  given: readonly GivenEdge[],
): Promise<Set<string>> {
  const inserted = new Set<string>()
  const store = async (edges: readonly GivenEdge[], isComplete: boolean) => {
    for (const chunk of chunksOf(edges, MAX_CHUNK.edges))
      for (const { upstreamId, downstreamId, isNew } of await upsertOrigins(
        trx,
        { ...seen, isComplete },
        chunk,
      ))
        if (isNew) inserted.add(`${upstreamId} ${downstreamId}`)
  }
  const [keeping, replacing] = [
    given.filter(edge => edge.keepsColumns),
    given.filter(edge => !edge.keepsColumns),
  ]
  await store(replacing, seen.isComplete)
  await store(keeping, false)
  return inserted
}

function upsertOrigins(
  trx: Transaction,
  { origin, sourceId, isComplete }: SeenEdges,
  given: readonly GivenEdge[],
) {
  return rows<LineageEdge & { isNew: boolean }>(
    trx,
    `insert into lineage_edge_origins as e
       (company_id, upstream_id, downstream_id, origin, detail, source_id, has_columns, confidence)
     select :companyId, g.upstream_id, g.downstream_id, :origin, g.detail, :sourceId, g.has_columns, g.confidence
       from unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[]), cast(:details as text[]),
                   cast(:hasColumns as boolean[]), cast(:confidences as real[]))
         as g (upstream_id, downstream_id, detail, has_columns, confidence)
      order by g.upstream_id, g.downstream_id, g.detail collate "C"
     on conflict (company_id, upstream_id, downstream_id, origin, detail) do update
       set last_seen_at = now(), source_id = excluded.source_id, confidence = excluded.confidence,
           has_columns = excluded.has_columns or (e.has_columns and not :isComplete)
       where ${IS_OUTDATED} or e.source_id is distinct from excluded.source_id
          or e.confidence <> excluded.confidence
          or e.has_columns <> (excluded.has_columns or (e.has_columns and not :isComplete))
     returning upstream_id, downstream_id, e.xmax = 0 as is_new`,
    {
      companyId: companyOf(trx),
      origin,
      sourceId,
      isComplete,
      upstream: given.map(({ upstreamId }) => upstreamId),
      downstream: given.map(({ downstreamId }) => downstreamId),
      details: given.map(({ detail }) => detail),
      hasColumns: given.map(({ columns }) => columns !== null),
      confidences: given.map(({ confidence }) => confidence),
    },
  )
}
