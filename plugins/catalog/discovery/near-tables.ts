import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Source } from '../models.ts'

const MAX_CANDIDATES = 5
/** Names that are compared; each takes some microseconds, and no other request is served meanwhile. */
const MAX_COMPARED = 10_000
/** Characters of a name beyond which nothing is suggested. */
const MAX_LENGTH = 128

/**
 * The tables of a source that are nearest to a name the catalog does not know, as table paths, the nearest first:
 * names that differ in case, or in up to three characters. A name of another schema counts too.
 */
export async function nearTables(trx: Transaction, { id }: Source, name: string): Promise<string[]> {
  if (name.length > MAX_LENGTH) return []
  const maxEdits = Math.min(3, Math.max(1, Math.floor(name.length / 3)))
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
  return tables
    .map(table => ({ table, edits: editsBetween(name.toLowerCase(), table.name.toLowerCase()) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, MAX_CANDIDATES)
    .map(({ table }) => tablePath(table))
}

/** The Levenshtein distance: characters to insert, delete or replace. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
