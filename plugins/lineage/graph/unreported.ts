import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { SeenEdges } from '../api.ts'

/** An edge of the graph: the second end is made from the first. */
export interface LineageEdge {
  upstreamId: string
  downstreamId: string
}

/**
 * Removes what an origin reported before and does not any more, and edges that no origin reports.
 * @returns how many edges it does not report any more
 */
export async function dropUnreported(
  trx: Transaction,
  { origin, sourceId, scope = '', downstreamIds }: Omit<SeenEdges, 'edges' | 'isComplete'>,
  reported: readonly (LineageEdge & { detail: string })[],
): Promise<number> {
  const dropped = await rows<LineageEdge>(
    trx,
    `delete from lineage_edge_origins e
      where e.company_id = :companyId and e.origin = :origin
        and e.source_id is not distinct from cast(:sourceId as uuid) and starts_with(e.detail, :scope)
        and (cast(:into as uuid[]) is null or e.downstream_id = any(cast(:into as uuid[])))
        and not exists (
          select from unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[]), cast(:details as text[]))
              as g (upstream_id, downstream_id, detail)
           where (g.upstream_id, g.downstream_id, g.detail) = (e.upstream_id, e.downstream_id, e.detail))
      returning e.upstream_id, e.downstream_id`,
    {
      companyId: companyOf(trx),
      origin,
      sourceId,
      scope,
      into: downstreamIds ? [...downstreamIds] : null,
      upstream: reported.map(({ upstreamId }) => upstreamId),
      downstream: reported.map(({ downstreamId }) => downstreamId),
      details: reported.map(({ detail }) => detail),
    },
  )
  await settleEdges(trx, dropped)
  return new Set(dropped.map(({ upstreamId, downstreamId }) => `${upstreamId} ${downstreamId}`)).size
}

/** Brings edges in line with their origins, some of which went: one without any goes, one of foreign keys alone is no flow. */
export async function settleEdges(trx: Transaction, edges: readonly LineageEdge[]): Promise<void> {
  if (edges.length === 0) return
  const bindings = {
    companyId: companyOf(trx),
    upstream: edges.map(({ upstreamId }) => upstreamId),
    downstream: edges.map(({ downstreamId }) => downstreamId),
  }
  const given = `unnest(cast(:upstream as uuid[]), cast(:downstream as uuid[])) as g (upstream_id, downstream_id)`
  const ofEdge = `o.company_id = :companyId and o.upstream_id = e.upstream_id and o.downstream_id = e.downstream_id`
  await trx.raw(
    `delete from lineage_edges e using ${given}
      where e.company_id = :companyId and e.upstream_id = g.upstream_id and e.downstream_id = g.downstream_id
        and not exists (select from lineage_edge_origins o where ${ofEdge})`,
    bindings,
  )
  await trx.raw(
    `update lineage_edges e set is_flow = false from ${given}
      where e.company_id = :companyId and e.upstream_id = g.upstream_id and e.downstream_id = g.downstream_id
        and e.is_flow
        and not exists (select from lineage_edge_origins o where ${ofEdge} and o.origin <> 'foreign_key')`,
    bindings,
  )
}
