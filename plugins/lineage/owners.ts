import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { DeclaredOwnership } from './api.ts'
import type { DeclaredOwner } from './dbt/owners.ts'

/** The owners that one declaration gives to a table. */
export interface TableOwners {
  tableId: string
  /** Who declares it: the project and model of dbt, `dataset` of OpenLineage. */
  detail: string
  owners: readonly DeclaredOwner[]
}

/** Where declarations come from. */
interface Declarer {
  origin: 'dbt' | 'openlineage'
  sourceId: string | null
  /** How the details begin of which these are all declarations; absent where they are those of single tables. */
  scope?: string
}

/** Stores the owners that a pipeline declares, in place of those that it declared before. */
export async function storeOwners(
  trx: Transaction,
  { origin, sourceId, scope }: Declarer,
  declared: readonly TableOwners[],
): Promise<void> {
  if (scope === undefined && declared.length === 0) return
  const given = declared.flatMap(({ tableId, detail, owners }) =>
    owners.map(({ name = '', email = '' }) => ({ table_id: tableId, detail, name, email })),
  )
  const ofTables = declared.map(({ tableId, detail }) => ({ table_id: tableId, detail }))
  const bindings = {
    companyId: companyOf(trx),
    origin,
    sourceId,
    scope: scope ?? null,
    given: JSON.stringify(given),
    tables: JSON.stringify(ofTables),
  }
  const record = 'g (table_id uuid, detail text, name text, email text)'
  await trx.raw(
    `delete from lineage_owners o
      where o.company_id = :companyId and o.origin = :origin
        and case when cast(:scope as text) is null
              then exists (select from jsonb_to_recordset(cast(:tables as jsonb)) as ${record}
                            where g.table_id = o.table_id and g.detail = o.detail)
              else o.source_id = cast(:sourceId as uuid) and starts_with(o.detail, cast(:scope as text)) end
        and not exists (
          select from jsonb_to_recordset(cast(:given as jsonb)) as ${record}
           where (g.table_id, g.detail, g.name, g.email) = (o.table_id, o.detail, o.name, o.email))`,
    bindings,
  )
  await trx.raw(
    `insert into lineage_owners (company_id, table_id, origin, detail, source_id, name, email)
     select distinct cast(:companyId as uuid), g.table_id, :origin, g.detail, cast(:sourceId as uuid), g.name, g.email
       from jsonb_to_recordset(cast(:given as jsonb)) as ${record}
       join tables t on t.company_id = :companyId and t.id = g.table_id
      order by 2, 4, 6, 7
     on conflict (company_id, table_id, origin, detail, name, email) do update set seen_at = now()`,
    bindings,
  )
}

/** The owners that pipelines declare of tables and outside nodes. @param ids of which; defaults to all */
export function listDeclaredOwners(trx: Transaction, ids?: readonly string[]): Promise<DeclaredOwnership[]> {
  return rows<DeclaredOwnership>(
    trx,
    `select * from (
       select table_id as id, true as is_table, origin, detail, nullif(name, '') as name, nullif(email, '') as email
         from lineage_owners where company_id = :companyId
       union
       select n.id, false, case when starts_with(n.namespace, 'dbt://') then 'dbt' else 'openlineage' end,
              n.namespace, o ->> 'name', o ->> 'email'
         from lineage_nodes n cross join lateral jsonb_array_elements(n.owners) o
        where n.company_id = :companyId) declared
      where cast(:ids as uuid[]) is null or id = any(cast(:ids as uuid[]))
      order by id, detail, name, email`,
    { companyId: companyOf(trx), ids: ids ? [...ids] : null },
  )
}
