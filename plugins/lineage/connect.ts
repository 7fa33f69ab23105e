import { companyOf, rows } from '../../server/database/database.ts'
import type { LineageApi } from './api.ts'
import { recordEdges } from './graph/record.ts'
import type { LineageEdge } from './graph/unreported.ts'

/** Pairs whose tables are active become edges of the demo, or by hand. */
export const connectTables: LineageApi['connect'] = async (trx, sourceId, pairs, { isDemo = false } = {}) => {
  const given = await rows<LineageEdge>(
    trx,
    `with known as (
       select id, schema_name || '.' || name as path from tables
        where company_id = :companyId and source_id = :sourceId and is_active)
     select distinct u.id as upstream_id, d.id as downstream_id
       from unnest(cast(:upstream as text[]), cast(:downstream as text[])) as pair (upstream, downstream)
       join known u on u.path = pair.upstream
       join known d on d.path = pair.downstream`,
    {
      companyId: companyOf(trx),
      sourceId,
      upstream: pairs.map(([upstream]) => upstream),
      downstream: pairs.map(([, downstream]) => downstream),
    },
  )
  const { nodes, edges } = await recordEdges(trx, {
    origin: isDemo ? 'demo' : 'manual',
    sourceId,
    isComplete: false,
    edges: given.map(({ upstreamId, downstreamId }) => ({
      upstream: { tableId: upstreamId },
      downstream: { tableId: downstreamId },
      detail: '',
    })),
  })
  return { nodes, edges }
}
