import { companyOf, rows } from '../../server/database/database.ts'
import type { AssetExtension } from '../catalog/api.ts'

export const lineageExtension: AssetExtension = {
  upstreamQuery: 'select company_id, downstream_id as table_id, upstream_id from lineage_edges where is_flow',
  viewColumnQuery: `select company_id, upstream_id as table_id, upstream_column as column_name,
      downstream_id as view_id, downstream_column as view_column
      from lineage_column_edges where origin = 'view' and kind = 'direct'
    union all
    select company_id, upstream_id, null, downstream_id, null
      from lineage_edge_origins where origin = 'view' and not has_columns`,
  async sourceFields(trx, sources) {
    const counted = await rows<{ sourceId: string; edges: number; tables: number }>(
      trx,
      `select source_id, cast(count(distinct (upstream_id, downstream_id)) as int) as edges,
              cast(count(distinct id) as int) as tables
         from lineage_edges cross join lateral (values (upstream_id), (downstream_id)) as ends (id)
        where company_id = :companyId and source_id = any(cast(:ids as uuid[])) and is_flow
        group by source_id`,
      { companyId: companyOf(trx), ids: sources.map(({ id }) => id) },
    )
    return new Map(
      counted.map(({ sourceId, edges, tables }) => [
        sourceId,
        {
          lineage_status: 'ready',
          lineage_message: `${tables} tables hang together by ${edges} edges: GET /api/v1/sdk/lineage/${sourceId}`,
        },
      ]),
    )
  },
  async forgetAssets(trx, assetIds) {
    await trx.raw(
      `delete from lineage_edges where company_id = :companyId
          and (upstream_id = any(cast(:ids as uuid[])) or downstream_id = any(cast(:ids as uuid[])))`,
      { companyId: companyOf(trx), ids: [...assetIds] },
    )
  },
}
