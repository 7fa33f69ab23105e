import { whereAsset } from '../../server/database/asset-rows.ts'
import type { Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { joinedPageOf, newestFirst, type Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { CheckChange } from '../checks/api.ts'
import { checksWithNames } from '../checks/kit.ts'
import { checkFields, type CheckPatch } from './fields.ts'
import { ReferentialCheck } from './models.ts'

/** @throws 400 `VALIDATION_ERROR` when the limits of children per parent exclude every number */
export function assertLimits({
  min_child_count: minimum = null,
  max_child_count: maximum = null,
}: Pick<CheckPatch, 'min_child_count' | 'max_child_count'>): void {
  if (minimum === null || maximum === null || Number(minimum) <= Number(maximum)) return
  throw invalidField('min_child_count', `must not be above max_child_count, which is ${maximum}`)
}

/** What a patch changes. @throws 400 `VALIDATION_ERROR` when the limits do not fit together any more */
export function changeOf(check: ReferentialCheck, patch: CheckPatch): CheckChange<ReferentialCheck> {
  assertLimits({ min_child_count: check.minChildCount, max_child_count: check.maxChildCount, ...patch })
  return { columns: columnsOf<ReferentialCheck>(checkFields, patch) }
}

export type CheckFilter = Page & { is_active?: boolean }

/** One page of the checks of an asset's children, newest first, and how many there are. */
export async function listChecks(trx: Transaction, asset: Asset, filter: CheckFilter) {
  const query = whereAsset(ReferentialCheck.query(trx), ReferentialCheck, asset).orderBy(NEWEST_FIRST)
  if (filter.is_active !== undefined) void query.where('checks.isActive', filter.is_active)
  return joinedPageOf(query, filter, page =>
    checksWithNames(trx, ReferentialCheck, page).orderBy(NEWEST_FIRST),
  )
}

const NEWEST_FIRST = newestFirst('checks.createdAt', 'checks.id')
