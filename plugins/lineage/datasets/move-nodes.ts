import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { OwnersApi, ReportedOwners } from '../../owners/api.ts'
import { findRule, listCandidates, mayFitSource, type DatasetName } from './namespaces.ts'
import { findTables, readNamespaceContext, type NamespaceContext } from './resolve-datasets.ts'

interface OutsideDataset extends DatasetName {
  id: string
  details: { symlinks?: DatasetName[] }
}

/**
 * Turns datasets outside the catalog into tables of a source, which was discovered or which a rule maps their namespace to:
 * their edges, runs and owners move.
 * @returns how many
 */
export async function adoptDatasets(owners: OwnersApi, trx: Transaction, sourceId: string): Promise<number> {
  const context = await readNamespaceContext(trx)
  const namespaces = await findNamespaces(trx, context, sourceId)
  if (namespaces.length === 0) return 0
  const nodes = await rows<OutsideDataset>(
    trx,
    `select id, namespace, name, details from lineage_nodes
      where company_id = :companyId and kind = 'dataset'
        and (namespace = any(cast(:namespaces as text[])) or exists (
          select from jsonb_array_elements(details -> 'symlinks') s
           where s ->> 'namespace' = any(cast(:namespaces as text[]))))
      order by id`,
    { companyId: companyOf(trx), namespaces },
  )
  const given = nodes
    .map(node => ({
      key: node.id,
      candidates: [node, ...(node.details.symlinks ?? [])].flatMap((name, index) =>
        listCandidates(name, context.sources, context.rules).map(candidate => ({
          ...candidate,
          rank: candidate.rank + index * 2,
        })),
      ),
    }))
    .filter(({ candidates }) => candidates.some(candidate => candidate.sourceId === sourceId))
  const tables = await findTables(trx, given)
  await moveNodes(owners, trx, tables)
  return tables.size
}

/** The namespaces, of datasets or their other names, that may stand for a source: most companies have few, and many datasets. */
async function findNamespaces(
  trx: Transaction,
  { sources, rules }: NamespaceContext,
  sourceId: string,
): Promise<string[]> {
  const source = sources.find(({ id }) => id === sourceId)
  const found = await rows<{ namespace: string }>(
    trx,
    `select distinct namespace from lineage_nodes where company_id = :companyId and kind = 'dataset'
     union select s ->> 'namespace' from lineage_nodes n, jsonb_array_elements(n.details -> 'symlinks') s
      where n.company_id = :companyId and n.kind = 'dataset'`,
    { companyId: companyOf(trx) },
  )
  return found.flatMap(({ namespace }) => {
    const rule = findRule(namespace, rules)
    const isOurs = rule ? rule.sourceId === sourceId : source && mayFitSource(namespace, source)
    return isOurs ? [namespace] : []
  })
}

/**
 * Moves edges, runs and owners of outside nodes to what the nodes are too, and deletes the nodes.
 * @param endIds the table or outside node that a node becomes, by the id of the node
 */
export async function moveNodes(
  ownersApi: OwnersApi,
  trx: Transaction,
  endIds: ReadonlyMap<string, string>,
): Promise<void> {
  if (endIds.size === 0) return
  const bindings = {
    companyId: companyOf(trx),
    nodes: [...endIds.keys()],
    ends: [...endIds.values()],
  }
  const moved = `moved as (
    select * from unnest(cast(:nodes as uuid[]), cast(:ends as uuid[])) as m (node_id, end_id))`
  const joins = `left join moved u on u.node_id = e.upstream_id left join moved d on d.node_id = e.downstream_id
    where e.company_id = :companyId and (u.node_id is not null or d.node_id is not null)
      and coalesce(u.end_id, e.upstream_id) <> coalesce(d.end_id, e.downstream_id)`
  const ends = 'coalesce(u.end_id, e.upstream_id), coalesce(d.end_id, e.downstream_id)'
  await trx.raw(
    `with ${moved}
     insert into lineage_edges as k
       (company_id, source_id, upstream_id, downstream_id, is_flow, is_demo, created_at, last_seen_at)
     select distinct on (1, 3, 4) e.company_id, coalesce(td.source_id, tu.source_id), ${ends}, e.is_flow, e.is_demo,
            e.created_at, e.last_seen_at
       from lineage_edges e
       left join moved mu on mu.node_id = e.upstream_id left join moved md on md.node_id = e.downstream_id
       left join tables tu on tu.company_id = :companyId and tu.id = coalesce(mu.end_id, e.upstream_id)
       left join tables td on td.company_id = :companyId and td.id = coalesce(md.end_id, e.downstream_id)
       ${joins}
      order by 1, 3, 4, e.last_seen_at desc
     on conflict (company_id, upstream_id, downstream_id)
       do update set is_flow = k.is_flow or excluded.is_flow,
                     last_seen_at = greatest(k.last_seen_at, excluded.last_seen_at)`,
    bindings,
  )
  await trx.raw(
    `with ${moved}
     insert into lineage_edge_origins as k
       (company_id, upstream_id, downstream_id, origin, detail, source_id, has_columns, confidence, first_seen_at,
        last_seen_at)
     select distinct on (1, 2, 3, 4, 5) e.company_id, ${ends}, e.origin, e.detail, e.source_id, e.has_columns,
            e.confidence, e.first_seen_at, e.last_seen_at
       from lineage_edge_origins e ${joins}
      order by 1, 2, 3, 4, 5, e.last_seen_at desc
     on conflict (company_id, upstream_id, downstream_id, origin, detail)
       do update set last_seen_at = greatest(k.last_seen_at, excluded.last_seen_at),
                     has_columns = k.has_columns or excluded.has_columns`,
    bindings,
  )
  await trx.raw(
    `with ${moved}
     insert into lineage_column_edges
       (company_id, upstream_id, downstream_id, origin, detail, upstream_column, downstream_column, kind, last_seen_at)
     select e.company_id, ${ends}, e.origin, e.detail, e.upstream_column, e.downstream_column, e.kind, e.last_seen_at
       from lineage_column_edges e ${joins}
      order by 2, 3, 4, 5, 6, 7, 8
     on conflict do nothing`,
    bindings,
  )
  await trx.raw(
    `delete from lineage_edges where company_id = :companyId
        and (upstream_id = any(cast(:nodes as uuid[])) or downstream_id = any(cast(:nodes as uuid[])))`,
    bindings,
  )
  await trx.raw(
    `with ${moved},
     ends as (
       delete from lineage_run_ends e using moved m
        where e.company_id = :companyId and e.end_id = m.node_id
       returning e.lineage_run_id, e.direction, m.end_id)
     insert into lineage_run_ends (company_id, lineage_run_id, direction, end_id)
     select :companyId, lineage_run_id, direction, end_id from ends order by 2, 3, 4
     on conflict do nothing`,
    bindings,
  )
  await trx.raw(
    `with ${moved}
     update lineage_nodes k
        set owners = case when k.owners = '[]' then n.owners else k.owners end,
            url = coalesce(k.url, n.url), description = coalesce(k.description, n.description)
       from moved m join lineage_nodes n on n.company_id = :companyId and n.id = m.node_id
      where k.company_id = :companyId and k.id = m.end_id`,
    bindings,
  )
  const left = await rows<{ endId: string; owners: ReportedOwners['owners']; isTable: boolean }>(
    trx,
    `with ${moved}
     delete from lineage_nodes n using moved m where n.company_id = :companyId and n.id = m.node_id
     returning m.end_id, n.owners,
               exists (select from tables t where t.company_id = :companyId and t.id = m.end_id) as is_table`,
    bindings,
  )
  for (const { endId: tableId, owners, isTable } of left)
    if (isTable && owners.length > 0)
      await ownersApi.replaceFrom(trx, 'openlineage', tableId, [{ tableId, owners }])
}
