import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Page } from '../../server/http/page.ts'
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

/** Edges from some tables, towards what they are made from or what is made from them. */
export function edgesFrom(
  trx: Transaction,
  tableIds: readonly string[],
  direction: 'upstream' | 'downstream',
  most: number,
): Promise<LineageEdge[]> {
  const [from, to] =
    direction === 'upstream' ? ['downstream_id', 'upstream_id'] : ['upstream_id', 'downstream_id']
  return rows<LineageEdge>(
    trx,
    `select e.upstream_id, e.downstream_id from lineage_edges e
       join tables t on t.company_id = :companyId and t.id = e.${to}
      where e.company_id = :companyId and e.${from} = any(cast(:ids as uuid[]))
      order by t.qualified_name, e.${from} limit :most`,
    { companyId: companyOf(trx), ids: [...tableIds], most },
  )
}

export function edgesOfSource(trx: Transaction, sourceId: string, most: number): Promise<LineageEdge[]> {
  return rows<LineageEdge>(
    trx,
    `select e.upstream_id, e.downstream_id from lineage_edges e
       join tables u on u.company_id = :companyId and u.id = e.upstream_id
       join tables d on d.company_id = :companyId and d.id = e.downstream_id
      where e.company_id = :companyId and e.source_id = :sourceId
      order by u.qualified_name, d.qualified_name limit :most`,
    { companyId: companyOf(trx), sourceId, most },
  )
}

export interface GraphTable {
  id: string
  qualifiedName: string
  name: string
  kind: string
  sourceType: string
  isActive: boolean
}

const TABLE_QUERY = `select t.id, t.qualified_name, t.name, t.kind, s.source_type, t.is_active
  from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id`

export function readTables(trx: Transaction, ids: readonly string[]): Promise<GraphTable[]> {
  return rows<GraphTable>(
    trx,
    `${TABLE_QUERY}
      where t.company_id = :companyId and t.id = any(cast(:ids as uuid[])) order by t.qualified_name`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
}

/** One page of the tables that have an edge, by qualified name; counted in the same statement. */
export async function listConnected(
  trx: Transaction,
  { limit, offset }: Page,
): Promise<{ tables: GraphTable[]; total: number }> {
  const found = await rows<GraphTable & { total: number }>(
    trx,
    `with connected as materialized (
       select upstream_id as id from lineage_edges where company_id = :companyId
       union select downstream_id from lineage_edges where company_id = :companyId),
     counted as (select count(*)::int as total from connected)
     select counted.total, page.* from counted left join lateral (
       ${TABLE_QUERY}
        where t.company_id = :companyId and t.id in (select id from connected)
        order by t.qualified_name, t.id limit :limit offset :offset) page on true
      order by page.qualified_name, page.id`,
    { companyId: companyOf(trx), limit, offset },
  )
  // Behind the last page there is the total alone.
  return { tables: found.filter(({ id }) => id !== null), total: found[0]?.total ?? 0 }
}
