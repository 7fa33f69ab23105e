import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { editsBetween, maxEditsOf, onlyNearest } from '../../../server/http/nearest.ts'
import type { Source } from '../models.ts'

const MAX_CANDIDATES = 5
/** Names that are compared; each takes some microseconds, and no other request is served meanwhile. */
const MAX_COMPARED = 10_000
/** Characters of a name beyond which nothing is suggested. */
const MAX_LENGTH = 128

/**
 * The tables of a source that are nearest to a name the catalog does not know, as table paths:
 * names that differ in case, or in up to three characters. A name of another schema counts too.
 */
export async function nearTables(trx: Transaction, { id }: Source, name: string): Promise<string[]> {
  if (name.length > MAX_LENGTH) return []
  const maxEdits = maxEditsOf(name)
  const tables = await rows<TableRef>(
    trx,
    `select catalog_name as catalog, schema_name as schema, name from tables
     where company_id = :companyId and source_id = :id and is_active
       and char_length(name) between :shortest and :longest
     order by qualified_name limit :limit`,
    {
      companyId: companyOf(trx),
      id,
      shortest: name.length - maxEdits,
      longest: name.length + maxEdits,
      limit: MAX_COMPARED,
    },
  )
  const near = tables
    .map(table => ({ table, edits: editsBetween(name.toLowerCase(), table.name.toLowerCase()) }))
    .filter(({ edits }) => edits <= maxEdits)
  return onlyNearest(near)
    .slice(0, MAX_CANDIDATES)
    .map(({ table }) => tablePath(table))
}
