import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { SeenColumn, SeenEdges } from '../api.ts'

/** An edge between known ends, with everything that was reported of it under one detail. */
export interface GivenEdge {
  upstreamId: string
  downstreamId: string
  detail: string
  confidence: number
  /** Some of them more than once. */
  columns: SeenColumn[] | null
  /** Whether the columns that were stored stay where there are none. */
  keepsColumns: boolean
}

/** Rows seen within the last hour are not written again: a job that runs each minute would rewrite them each minute. */
export const IS_OUTDATED = `e.last_seen_at < now() - interval '1 hour'`

/** Edges, and pairs of columns, that one statement stores: writing larger arrays holds everything else up. */
const MAX_CHUNK = { edges: 2_000, pairs: 10_000 }

/** Replaces the columns of the edges that came with some. @returns how many there are now */
export async function storeColumns(
  trx: Transaction,
  { origin, isComplete }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<number> {
  const replaced = given.filter(({ columns, keepsColumns }) => columns || (isComplete && !keepsColumns))
  let stored = 0
  for (const chunk of splitByColumns(replaced)) stored += await replaceColumns(trx, origin, chunk)
  return stored
}

/** @returns how many columns the edges have that came with none and keep theirs */
export async function countKeptColumns(
  trx: Transaction,
  { origin }: SeenEdges,
  given: readonly GivenEdge[],
): Promise<number> {
  const kept = given.filter(({ columns, keepsColumns }) => keepsColumns && !columns)
  let count = 0
  for (let from = 0; from < kept.length; from += MAX_CHUNK.edges) {
    const chunk = kept.slice(from, from + MAX_CHUNK.edges)
    const [counted] = await rows<{ pairs: number }>(
      trx,
      `select count(*)::int as pairs from lineage_column_edges e
         join unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[]), cast(:details as text[]))
                as edge (upstream_id, downstream_id, detail)
           on (e.upstream_id, e.downstream_id, e.detail) = (edge.upstream_id, edge.downstream_id, edge.detail)
        where e.company_id = :companyId and e.origin = :origin`,
      { companyId: companyOf(trx), origin, ...edgeBindings(chunk) },
    )
    count += counted?.pairs ?? 0
  }
  return count
}

function edgeBindings(edges: readonly GivenEdge[]) {
  return {
    upstream: edges.map(({ upstreamId }) => upstreamId),
    downstream: edges.map(({ downstreamId }) => downstreamId),
    details: edges.map(({ detail }) => detail),
  }
}

function splitByColumns(edges: readonly GivenEdge[]): GivenEdge[][] {
  const chunks: GivenEdge[][] = []
  let pairs = Infinity
  for (const edge of edges) {
    const own = edge.columns?.length ?? 0
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
  const pairs = await listPairs(replaced)
  const [only] = replaced
  if (only && pairs.length > MAX_CHUNK.pairs) await deleteOthersOf(trx, origin, only, pairs)
  else await deleteOthers(trx, origin, replaced, pairs)
  for (let from = 0; from < pairs.length; from += MAX_CHUNK.pairs)
    await insertPairs(trx, origin, pairs.slice(from, from + MAX_CHUNK.pairs))
  return pairs.length
}

/** The pairs of all edges, each once. */
async function listPairs(edges: readonly GivenEdge[]): Promise<ColumnPairs> {
  const [pairs, pause] = [[] as ColumnPairs[number][], makePauses()]
  for (const { columns, keepsColumns: _kept, ...edge } of edges) {
    const seen = new Set<string>()
    for (const { upstream, downstream, kind = 'direct' } of columns ?? []) {
      const key = JSON.stringify([upstream, downstream, kind])
      if (!seen.has(key)) pairs.push({ ...edge, upstream, downstream, kind })
      seen.add(key)
      await pause()
    }
  }
  return pairs
}

/** Removes the pairs of edges that are not reported any more. */
async function deleteOthers(
  trx: Transaction,
  origin: SeenEdges['origin'],
  replaced: readonly GivenEdge[],
  pairs: ColumnPairs,
): Promise<void> {
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
      ...edgeBindings(replaced),
    },
  )
}

/** The same of one edge, whose ids are written once and not for each of many pairs. */
async function deleteOthersOf(
  trx: Transaction,
  origin: SeenEdges['origin'],
  { upstreamId, downstreamId, detail }: GivenEdge,
  pairs: ColumnPairs,
): Promise<void> {
  const { companyId, from, to, kinds } = columnBindings(trx, origin, pairs)
  await trx.raw(
    `delete from lineage_column_edges e
      where e.company_id = :companyId and e.origin = :origin
        and e.upstream_id = :upstreamId and e.downstream_id = :downstreamId and e.detail = :detail
        and not exists (
          select from unnest(cast(:from as text[]), cast(:to as text[]), cast(:kinds as text[]))
                   as g (upstream_column, downstream_column, kind)
           where (g.upstream_column, g.downstream_column, g.kind) =
                 (e.upstream_column, e.downstream_column, e.kind))`,
    { companyId, origin, upstreamId, downstreamId, detail, from, to, kinds },
  )
}

async function insertPairs(trx: Transaction, origin: SeenEdges['origin'], pairs: ColumnPairs): Promise<void> {
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
}

type ColumnPairs = readonly (Omit<GivenEdge, 'columns' | 'keepsColumns'> & Required<SeenColumn>)[]

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
