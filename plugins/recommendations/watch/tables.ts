import type { TableRef } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { filterWithPauses } from '../../../server/filter-with-pauses.ts'
import type { Source } from '../../catalog/api.ts'
import type { RecommendationsDeps } from '../deps.ts'

export interface WatchedTable extends TableRef {
  id: string
}

/** The active tables of a source that match patterns, by name. */
export async function matchingTables(
  deps: RecommendationsDeps,
  trx: Transaction,
  source: Source,
  patterns: { include_patterns: string[]; exclude_patterns: string[] },
): Promise<WatchedTable[]> {
  const isMatch = deps.catalog.patternMatcher(patterns)
  const tables = await rows<WatchedTable>(
    trx,
    `select id, catalog_name as catalog, schema_name as schema, name from tables
     where company_id = ? and source_id = ? and is_active order by qualified_name, id`,
    [companyOf(trx), source.id],
  )
  return filterWithPauses(tables, isMatch)
}
