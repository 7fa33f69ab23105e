import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { recordEdges } from '../graph/record.ts'
import type { LineageEdge } from '../graph/unreported.ts'

interface ForeignKeyRow extends LineageEdge {
  name: string
  columns: string[]
  referenced: string[]
}

/**
 * Records the foreign keys of a source as the catalog has them stored, when any of its tables changed since: from the table
 * that is referred to, to the one that refers.
 * @param tablesHash of the fingerprints of all its tables
 */
export async function recordForeignKeys(
  trx: Transaction,
  sourceId: string,
  tablesHash: string,
): Promise<void> {
  const bindings = { companyId: companyOf(trx), sourceId, tablesHash }
  const changed = await rows(
    trx,
    `insert into lineage_sources as s (source_id, company_id, tables_hash)
     values (:sourceId, :companyId, :tablesHash)
     on conflict (source_id) do update set tables_hash = excluded.tables_hash
       where s.tables_hash <> excluded.tables_hash
     returning source_id`,
    bindings,
  )
  if (changed.length === 0) return
  const keys = await rows<ForeignKeyRow>(
    trx,
    `select parent.id as upstream_id, child.id as downstream_id, k ->> 'name' as name, k -> 'columns' as columns,
            k -> 'references' -> 'columns' as referenced
       from tables child
      cross join lateral jsonb_array_elements(child.constraints) k
       join tables parent on parent.company_id = :companyId and parent.source_id = :sourceId and parent.is_active
        and parent.catalog_name = k -> 'references' -> 'table' ->> 'catalog'
        and parent.schema_name = k -> 'references' -> 'table' ->> 'schema'
        and parent.name = k -> 'references' -> 'table' ->> 'name'
      where child.company_id = :companyId and child.source_id = :sourceId and child.is_active
        and k ->> 'type' = 'foreign_key'`,
    bindings,
  )
  await recordEdges(trx, {
    origin: 'foreign_key',
    sourceId,
    isComplete: true,
    edges: keys.map(({ upstreamId, downstreamId, name, columns, referenced }) => ({
      upstream: { tableId: upstreamId },
      downstream: { tableId: downstreamId },
      detail: name,
      columns: referenced.flatMap((column, index) => {
        const own = columns[index]
        return own === undefined ? [] : [{ upstream: column, downstream: own }]
      }),
    })),
  })
}
