import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { LineageDeps } from '../deps.ts'
import type { GraphNode } from './nodes.ts'

/** What a drawing shows of a node beside its name. */
interface NodeDetails {
  /** Null outside the catalog. */
  health: {
    quality_status: string
    freshness_status: string
    schema_change_status: string
    open_alerts: number
  } | null
  /** How many nodes it is made from, and how many are made from it, also those that are not in the graph. */
  upstream_count: number
  downstream_count: number
  /** Who owns a table; absent outside the catalog, where what reports a node names them. */
  owners?: { name: string; email: string | null }[]
}

interface KnownFields {
  owners?: { name: string; email: string | null }[]
  quality?: { status: string }
  freshness?: { status: string }
  schema_change_status: string
}

/** The details of nodes by id, in a fixed number of statements. */
export async function readDetails(
  { alerts, catalog }: Pick<LineageDeps, 'alerts' | 'catalog'>,
  trx: Transaction,
  nodes: readonly GraphNode[],
  { foreignKeys }: { foreignKeys: boolean },
): Promise<Map<string, NodeDetails>> {
  const tables = nodes.filter(({ outside }) => outside === null).map(({ id }) => id)
  const known = await catalog.readTableFields(trx, tables)
  const counted = await rows<{ id: string; upstream: number; downstream: number; alerts: number }>(
    trx,
    `select ids.id,
            (select count(*)::int from lineage_edges e where e.company_id = :companyId
               and e.downstream_id = ids.id and (e.is_flow or :foreignKeys)) as upstream,
            (select count(*)::int from lineage_edges e where e.company_id = :companyId
               and e.upstream_id = ids.id and (e.is_flow or :foreignKeys)) as downstream,
            coalesce(open.alerts, 0) as alerts
       from unnest(cast(:ids as uuid[])) as ids (id)
       left join (select a.asset_id, count(*)::int as alerts from (${alerts.openAlertsQuery}) a
                   where a.company_id = :companyId group by a.asset_id) open on open.asset_id = ids.id`,
    { companyId: companyOf(trx), ids: nodes.map(({ id }) => id), foreignKeys },
  )
  return new Map(
    counted.map(({ id, upstream, downstream, alerts: open }) => {
      const fields = known.get(id) as KnownFields | undefined
      const health = fields && {
        quality_status: fields.quality?.status ?? 'none',
        freshness_status: fields.freshness?.status ?? 'unknown',
        schema_change_status: fields.schema_change_status,
        open_alerts: open,
      }
      const owners = fields?.owners?.map(({ name, email }) => ({ name, email }))
      return [
        id,
        {
          health: health ?? null,
          upstream_count: upstream,
          downstream_count: downstream,
          ...(owners && { owners }),
        },
      ]
    }),
  )
}
