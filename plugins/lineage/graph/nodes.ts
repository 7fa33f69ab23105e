import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Page } from '../../../server/http/page.ts'
import type { GraphNode } from '../api.ts'

export type { GraphNode } from '../api.ts'

const TABLE_QUERY = `select t.id, t.qualified_name, t.name, t.kind, s.source_type, t.is_active, null::jsonb as outside
  from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
 where t.company_id = :companyId`

const OUTSIDE_QUERY = `select n.id, n.qualified_name, n.name, n.kind, null as source_type, true as is_active,
       jsonb_build_object('namespace', n.namespace, 'url', n.url, 'description', n.description, 'owners', n.owners)
         as outside
  from lineage_nodes n where n.company_id = :companyId`

/** Tables and outside nodes by id, ordered by qualified name. */
export function readNodes(trx: Transaction, ids: readonly string[]): Promise<GraphNode[]> {
  return rows<GraphNode>(
    trx,
    `${TABLE_QUERY} and t.id = any(cast(:ids as uuid[]))
      union all ${OUTSIDE_QUERY} and n.id = any(cast(:ids as uuid[]))
      order by qualified_name, id`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
}

/** An outside node by its id or qualified name. */
export async function findOutside(trx: Transaction, node: string): Promise<GraphNode | undefined> {
  const [found] = await rows<GraphNode>(
    trx,
    `${OUTSIDE_QUERY} and (n.id::text = :node or n.qualified_name = :node)
      order by n.id::text = :node desc, n.id limit 1`,
    { companyId: companyOf(trx), node },
  )
  return found
}

/** One page of the tables and outside nodes that have an edge, by qualified name; counted in the same statement. */
export async function listConnected(
  trx: Transaction,
  { limit, offset }: Page,
): Promise<{ nodes: GraphNode[]; total: number }> {
  const found = await rows<GraphNode & { total: number }>(
    trx,
    `with connected as materialized (
       select upstream_id as id from lineage_edges where company_id = :companyId and is_flow
       union select downstream_id from lineage_edges where company_id = :companyId and is_flow),
     counted as (select count(*)::int as total from connected)
     select counted.total, page.* from counted left join lateral (
       ${TABLE_QUERY} and t.id in (select id from connected)
       union all ${OUTSIDE_QUERY} and n.id in (select id from connected)
        order by qualified_name, id limit :limit offset :offset) page on true
      order by page.qualified_name, page.id`,
    { companyId: companyOf(trx), limit, offset },
  )
  // Behind the last page there is the total alone.
  return { nodes: found.filter(({ id }) => id !== null), total: found[0]?.total ?? 0 }
}
