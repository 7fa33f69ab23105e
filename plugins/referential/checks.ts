import type { Server } from '@hapi/hapi'
import type { QueryBuilder } from 'objection'
import { countByStatus, findByPublicId, whereAsset } from '../../server/database/asset-rows.ts'
import type { Transaction } from '../../server/database/database.ts'
import { rescheduled } from '../../server/database/due.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { joinedPageOf, newestFirst, type Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { ListedChecks } from '../scans/api.ts'
import { checkFields, type CheckPatch } from './fields.ts'
import { NamedCheck, ReferentialCheck } from './models.ts'

/** @throws 400 `VALIDATION_ERROR` when the limits of children per parent exclude every number */
export function assertLimits({
  min_child_count: minimum = null,
  max_child_count: maximum = null,
}: Pick<CheckPatch, 'min_child_count' | 'max_child_count'>): void {
  if (minimum === null || maximum === null || Number(minimum) <= Number(maximum)) return
  throw invalidField('min_child_count', `must not be above max_child_count, which is ${maximum}`)
}

/**
 * Changes what is given. A check that is switched off closes its alert, and what is being measured for it is not
 * recorded.
 * @throws 400 `VALIDATION_ERROR` when the limits do not fit together any more
 */
export async function patchCheck(
  server: Server,
  trx: Transaction,
  check: ReferentialCheck,
  patch: CheckPatch,
): Promise<NamedCheck> {
  assertLimits({ min_child_count: check.minChildCount, max_child_count: check.maxChildCount, ...patch })
  await ReferentialCheck.query(trx)
    .findById(check.id)
    .patch(rescheduled(columnsOf<ReferentialCheck>(checkFields, patch)))
  if (patch.is_active === false)
    await server.plugins.alerts.resolveOrphaned(trx, { type: 'referential_failure', causes: [check.id] })
  return checksWithNames(trx).findById(check.id).throwIfNotFound()
}

/** A check of an asset by its public or internal id. */
export function findCheck(trx: Transaction, asset: Asset, checkId: string): Promise<NamedCheck | undefined> {
  const columns = { uuid: 'referentialChecks.id', number: 'referentialChecks.internalId' }
  return findByPublicId(whereAsset(checksWithNames(trx), ReferentialCheck, asset), columns, checkId)
}

/** Removes a check with its results, and resolves its alert. */
export async function removeCheck(server: Server, trx: Transaction, check: ReferentialCheck): Promise<void> {
  await ReferentialCheck.query(trx).deleteById(check.id)
  await server.plugins.alerts.resolveOrphaned(trx, { type: 'referential_failure', causes: [check.id] })
}

export type CheckFilter = Page & { is_active?: boolean }

/** One page of the checks of an asset's children, newest first, and how many there are. */
export async function listChecks(trx: Transaction, asset: Asset, filter: CheckFilter) {
  const query = whereAsset(ReferentialCheck.query(trx), ReferentialCheck, asset).orderBy(NEWEST_FIRST)
  if (filter.is_active !== undefined) void query.where('referentialChecks.isActive', filter.is_active)
  return joinedPageOf(query, filter, page => checksWithNames(trx, page).orderBy(NEWEST_FIRST))
}

const NEWEST_FIRST = newestFirst('referentialChecks.createdAt', 'referentialChecks.internalId')

/** Counts the checks of an asset, or of a table those of which it is the child. */
export async function summarize(trx: Transaction, asset: Asset): Promise<object> {
  const { total, active, pass, fail, error, lastCheckAt } = await countByStatus<{ lastCheckAt: Date | null }>(
    trx,
    ReferentialCheck,
    'latest_status',
    asset,
    ['max(last_check_at) as last_check_at'],
  )
  return {
    total_checks: total,
    active_checks: active,
    passing_checks: pass,
    failing_checks: fail,
    error,
    last_check_at: lastCheckAt,
  }
}

/** Checks with the names of their tables. */
export function checksWithNames(trx: Transaction, some?: QueryBuilder<ReferentialCheck>) {
  const query = NamedCheck.query(trx)
  return (some ? query.from(some.as('referentialChecks')) : query)
    .innerJoin('tables as child', 'child.id', 'referentialChecks.tableId')
    .innerJoin('tables as parent', 'parent.id', 'referentialChecks.parentTableId')
    .select(
      'referentialChecks.*',
      'child.catalogName as childCatalog',
      'child.schemaName as childSchema',
      'child.name as childTable',
      'parent.catalogName as parentCatalog',
      'parent.schemaName as parentSchema',
      'parent.name as parentTable',
      'parent.isActive as parentIsActive',
    )
}

/** Referential checks in the list of all checks: their values are the numbers of orphans. */
export const listedReferences: ListedChecks = {
  kind: 'referential',
  alertKind: 'referential_failure',
  checks: `select company_id, source_id, table_id, created_at, internal_id as number, cast(id as text) as id, name,
      child_column_name as column_name, 'referential' as type, severity, is_active, check_interval,
      latest_status as last_status, false as is_learning, status_rank, search_text, table_path, true as has_series
    from referential_checks`,
  results: `select r.id, r.checked_at as at, cast(r.orphan_count as float8) as value, r.status, cast(null as float8) as low,
      cast(null as float8) as high, false as is_learning
    from referential_results r where r.company_id = c.company_id and r.referential_check_id = cast(c.id as uuid)
    order by r.checked_at desc, r.id desc`,
}
