import { parseName } from '../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { CatalogApi, Source, Table } from '../catalog/api.ts'

/** The tables in use of a schema, given as `catalog.schema` or `schema`; none where there is no such schema. */
export async function readSchemaTables(
  catalog: CatalogApi,
  trx: Transaction,
  source: Source,
  path: string,
): Promise<Table[]> {
  const [schema = '', database = null] = (parseName(path) ?? []).toReversed()
  const found = await rows<{ id: string }>(
    trx,
    `select id from tables where company_id = :companyId and source_id = :sourceId and is_active
        and lower(schema_name) = lower(:schema)
        and (cast(:catalog as text) is null or lower(catalog_name) = lower(:catalog))`,
    { companyId: companyOf(trx), sourceId: source.id, schema, catalog: database },
  )
  return catalog.loadTables(
    trx,
    found.map(({ id }) => id),
  )
}
