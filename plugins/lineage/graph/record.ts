import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import type { LineageApi, LineageEnd, OutsideNode, SeenColumn, SeenEdge, SeenEdges } from '../api.ts'
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

/** An edge between known ends, with everything that was reported of it under one detail. */
interface GivenEdge {
  upstreamId: string
  downstreamId: string
  detail: string
  confidence: number
  columns: Map<string, Required<SeenColumn>> | null
}

/** Rows seen within the last hour are not written again: a job that runs each minute would rewrite them each minute. */
const IS_OUTDATED = `e.last_seen_at < now() - interval '1 hour'`

/** What discoveries read grows with the catalog alone, and a discovery does not fail for its lineage. */
const READ_ORIGINS: ReadonlySet<string> = new Set(['view', 'foreign_key'])

/** Stores what an origin reports. Rows are written in the order of their keys, so that two writers do not deadlock. */
export const recordEdges: LineageApi['recordEdges'] = async (trx, seen) => {
  const ends = seen.edges.flatMap(({ upstream, downstream }) => [upstream, downstream])
  const nodeIds = await storeOutside(
    trx,
    ends.flatMap(end => ('outside' in end ? [end.outside] : [])),
  )
  const merged = mergeEdges(seen.edges, nodeIds)
  const { added, joined, missing } = await storeEdges(trx, seen, merged)
  if (added.length > 0 && !READ_ORIGINS.has(seen.origin)) await enforceCap(trx, companyOf(trx), EDGE_CAP)
  const unknown = new Set(missing.map(([from, to]) => `${from} ${to}`))
  const given = merged.filter(({ upstreamId, downstreamId }) => !unknown.has(`${upstreamId} ${downstreamId}`))
  const inserted = given.length > 0 ? await storeOrigins(trx, seen, given) : new Set<string>()
  const columns = await storeColumns(trx, seen, given)
  const removed = seen.isComplete ? await dropUnreported(trx, seen, given) : 0
  // Another transaction may have reported the same meanwhile: what it inserted is not counted here.
  const edges = added.filter(([from, to]) => inserted.has(`${from} ${to}`))
  const newEnds = new Set(edges.flat())
  return { nodes: joined.filter(id => newEnds.has(id)).length, edges: edges.length, columns, removed }
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
  if (nodes.size === 0) return new Map()
  const stored = await rows<{ id: string; namespace: string; name: string; isNew: boolean }>(
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
      nodes: JSON.stringify([...nodes.values()].map(node => ({ ...node, id: v7() }))),
    },
  )
  if (stored.some(({ isNew }) => isNew)) await enforceCap(trx, companyOf(trx), NODE_CAP)
  const ids = new Map(stored.map(node => [outsideKey(node), node.id]))
  const bare = [...nodes].flatMap(([key, { url }]) => (url === null ? [ids.get(key)] : []))
  if (bare.length > 0)
    await trx.raw(
      `update lineage_nodes set url = null
        where company_id = :companyId and id = any(cast(:bare as uuid[])) and url is not null`,
      { companyId: companyOf(trx), bare },
    )
  return ids
}

function mergeEdges(edges: readonly SeenEdge[], nodeIds: ReadonlyMap<string, string>): GivenEdge[] {
  const idOf = (end: LineageEnd) => ('tableId' in end ? end.tableId : nodeIds.get(outsideKey(end.outside)))
  const merged = new Map<string, GivenEdge>()
  for (const { upstream, downstream, detail, columns, confidence = 1 } of edges) {
    const [upstreamId, downstreamId] = [idOf(upstream), idOf(downstream)]
    if (!upstreamId || !downstreamId) continue
    const key = JSON.stringify([upstreamId, downstreamId, detail])
    const edge = merged.get(key) ?? { upstreamId, downstreamId, detail, confidence, columns: null }
    merged.set(key, edge)
    if (!columns) continue
    edge.columns ??= new Map()
    for (const { kind = 'direct', ...pair } of columns)
      edge.columns.set(JSON.stringify([pair.upstream, pair.downstream, kind]), { ...pair, kind })
  }
  return [...merged.values()]
}

/** Edges that the origin reported before. */
const OF_ORIGIN = `from lineage_edges e
  join lineage_edge_origins o on o.company_id = :companyId and o.upstream_id = e.upstream_id
   and o.downstream_id = e.downstream_id and o.origin = :origin
 where e.company_id = :companyId`

interface StoredEdges {
  /** Pairs that the origin had not reported. */
  added: [string, string][]
  /** Ends that had no edge of the origin. */
  joined: string[]
  /** Pairs of which an end is not there. */
  missing: [string, string][]
}

async function storeEdges(
  trx: Transaction,
  { origin }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<StoredEdges> {
  const nothing = { added: [], joined: [], missing: [] }
  if (given.length === 0) return nothing
  const [stored] = await rows<StoredEdges>(
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
        where not exists (select ${OF_ORIGIN} and e.upstream_id = ends.id)
          and not exists (select ${OF_ORIGIN} and e.downstream_id = ends.id)),
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
  return stored ?? nothing
}

/** @returns the pairs that were inserted, as text */
async function storeOrigins(
  trx: Transaction,
  { origin, sourceId, isComplete }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<Set<string>> {
  const written = await rows<LineageEdge & { isNew: boolean }>(
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
  return new Set(
    written.flatMap(({ upstreamId, downstreamId, isNew }) =>
      isNew ? [`${upstreamId} ${downstreamId}`] : [],
    ),
  )
}

/** Edges, and pairs of columns, that one statement stores. */
const MAX_CHUNK = { edges: 2_000, pairs: 50_000 }

/** Replaces the columns of the edges that came with some. @returns how many there are now */
async function storeColumns(
  trx: Transaction,
  { origin, isComplete }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<number> {
  const replaced = given.filter(({ columns }) => isComplete || columns)
  let stored = 0
  for (const chunk of splitByColumns(replaced)) stored += await replaceColumns(trx, origin, chunk)
  return stored
}

function splitByColumns(edges: readonly GivenEdge[]): GivenEdge[][] {
  const chunks: GivenEdge[][] = []
  let pairs = Infinity
  for (const edge of edges) {
    const own = edge.columns?.size ?? 0
    if (pairs + own > MAX_CHUNK.pairs || chunks.at(-1)!.length === MAX_CHUNK.edges) {
      chunks.push([])
      pairs = 0
    }
    chunks.at(-1)!.push(edge)
    pairs += own
  }
  return chunks
}

async function replaceColumns(
  trx: Transaction,
  origin: SeenEdges['origin'],
  replaced: readonly GivenEdge[],
): Promise<number> {
  const pairs = replaced.flatMap(({ columns, ...edge }) =>
    [...(columns?.values() ?? [])].map(column => ({ ...edge, ...column })),
  )
  // Against the arrays themselves: of an intermediate result, PostgreSQL expects one row, and compares all with all.
  await trx.raw(
    `delete from lineage_column_edges e
      using unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[]), cast(:details as text[]))
              as edge (upstream_id, downstream_id, detail)
      where e.company_id = :companyId and e.origin = :origin
        and (e.upstream_id, e.downstream_id, e.detail) = (edge.upstream_id, edge.downstream_id, edge.detail)
        and not exists (
          select from ${PAIRS}
           where (g.upstream_id, g.downstream_id, g.detail) = (e.upstream_id, e.downstream_id, e.detail)
             and (g.upstream_column, g.downstream_column, g.kind) =
                 (e.upstream_column, e.downstream_column, e.kind))`,
    {
      ...columnBindings(trx, origin, pairs),
      upstream: replaced.map(({ upstreamId }) => upstreamId),
      downstream: replaced.map(({ downstreamId }) => downstreamId),
      details: replaced.map(({ detail }) => detail),
    },
  )
  if (pairs.length === 0) return 0
  await trx.raw(
    `insert into lineage_column_edges as e
       (company_id, upstream_id, downstream_id, origin, detail, upstream_column, downstream_column, kind)
     select :companyId, upstream_id, downstream_id, :origin, detail, upstream_column, downstream_column, kind
       from ${PAIRS}
      order by upstream_id, downstream_id, detail collate "C", upstream_column collate "C",
               downstream_column collate "C", kind
     on conflict (company_id, upstream_id, downstream_id, origin, detail, upstream_column, downstream_column, kind)
       do update set last_seen_at = now() where ${IS_OUTDATED}`,
    columnBindings(trx, origin, pairs),
  )
  return pairs.length
}

type ColumnPairs = readonly (Omit<GivenEdge, 'columns'> & Required<SeenColumn>)[]

const PAIRS = `unnest(cast(:pairUpstream as uuid[]), cast(:pairDownstream as uuid[]), cast(:pairDetails as text[]),
                      cast(:from as text[]), cast(:to as text[]), cast(:kinds as text[]))
                 as g (upstream_id, downstream_id, detail, upstream_column, downstream_column, kind)`

function columnBindings(trx: Transaction, origin: SeenEdges['origin'], pairs: ColumnPairs) {
  return {
    companyId: companyOf(trx),
    origin,
    pairUpstream: pairs.map(({ upstreamId }) => upstreamId),
    pairDownstream: pairs.map(({ downstreamId }) => downstreamId),
    pairDetails: pairs.map(({ detail }) => detail),
    from: pairs.map(({ upstream }) => upstream),
    to: pairs.map(({ downstream }) => downstream),
    kinds: pairs.map(({ kind }) => kind),
  }
}
