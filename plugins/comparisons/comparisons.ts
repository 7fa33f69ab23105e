import { whereAsset } from '../../server/database/asset-rows.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { joinedPageOf, newestFirst, type Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { CheckChange } from '../checks/api.ts'
import { checksWithNames } from '../checks/kit.ts'
import { assertLimits } from './create.ts'
import { comparisonFields, type ComparisonPatch } from './fields.ts'
import { Comparison } from './models.ts'

/** What a patch changes. @throws 400 `VALIDATION_ERROR` for limits that the level has not */
export function changeOf(comparison: Comparison, patch: ComparisonPatch): CheckChange<Comparison> {
  assertLimits(comparison.level, patch)
  return { columns: columnsOf<Comparison>(comparisonFields, patch) }
}

export type ComparisonFilter = Page & { is_active?: boolean }

/** One page of the comparisons of an asset's tables, newest first, and how many there are. */
export async function listComparisons(trx: Transaction, asset: Asset, filter: ComparisonFilter) {
  const query = whereAsset(Comparison.query(trx), Comparison, asset).orderBy(NEWEST_FIRST)
  if (filter.is_active !== undefined) void query.where('checks.isActive', filter.is_active)
  return joinedPageOf(query, filter, page => checksWithNames(trx, Comparison, page).orderBy(NEWEST_FIRST))
}

const NEWEST_FIRST = newestFirst('checks.createdAt', 'checks.id')

/** The source of the right table of each comparison, by the id of that table. */
export async function findRightSources(
  trx: Transaction,
  comparisons: readonly Pick<Comparison, 'otherTableId'>[],
): Promise<Map<string, { id: string; name: string }>> {
  const ids = [...new Set(comparisons.flatMap(({ otherTableId }) => otherTableId ?? []))]
  if (ids.length === 0) return new Map()
  const found = await rows<{ tableId: string; id: string; name: string }>(
    trx,
    `select t.id as table_id, s.id, s.name from tables t join sources s on s.company_id = t.company_id and s.id = t.source_id
     where t.company_id = :companyId and t.id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids },
  )
  return new Map(found.map(({ tableId, ...source }) => [tableId, source]))
}
