import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { formatName } from '../../../connectors/catalog.ts'

interface CountedName {
  id: string
  name: string
  schemaName: string
  catalogName: string
  source: string
  ofName: number
  ofSchema: number
  ofSource: number
  ofCatalog: number
}

/**
 * The shortest names by which people of the company know some tables: the name alone, or with its schema, source or database
 * where others share it. One statement, however many tables there are.
 * @returns by id, without tables that are gone
 */
export async function shortTableNames(
  trx: Transaction,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const found = await rows<CountedName>(
    trx,
    `with named as (
       select id, lower_name, name, schema_name, catalog_name, source_id from tables
        where company_id = :companyId and is_active and lower_name in (
          select lower_name from tables where company_id = :companyId and id = any(cast(:ids as uuid[])))
       union
       select id, lower_name, name, schema_name, catalog_name, source_id from tables
        where company_id = :companyId and id = any(cast(:ids as uuid[]))),
     counted as (
       select named.*,
         count(*) over (partition by lower_name)::int as of_name,
         count(*) over (partition by lower_name, lower(schema_name))::int as of_schema,
         count(*) over (partition by lower_name, source_id)::int as of_source,
         count(*) over (partition by lower_name, lower(schema_name), lower(catalog_name))::int as of_catalog
       from named)
     select c.*, s.name as source from counted c
       join sources s on s.company_id = :companyId and s.id = c.source_id
      where c.id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return new Map(found.map(table => [table.id, formatName(partsOf(table))]))
}

function partsOf(table: CountedName): string[] {
  const { name, schemaName, catalogName, source, ofName, ofSchema, ofSource, ofCatalog } = table
  if (ofName === 1) return [name]
  if (ofSchema === 1) return [schemaName, name].filter(Boolean)
  if (ofSource === 1) return [source, name]
  const path = [catalogName, schemaName, name].filter(Boolean)
  return ofCatalog === 1 ? path : [source, ...path]
}
