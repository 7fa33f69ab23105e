import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { CheckDeps } from '../deps.ts'
import type { CheckRow } from '../models.ts'

/** What a result has of a check that was measured apart and took long. */
export const SLOW_DETAILS = { isSlow: true }

/**
 * The checks whose users wrote SQL that may have failed the statement of all, by their ids: those that could not run last, and
 * those that took long when they were measured apart. One that was only beside such a check is cleared by its next run.
 */
export async function findSuspects(
  { types }: Pick<CheckDeps, 'types'>,
  trx: Transaction,
  checks: readonly CheckRow[],
): Promise<ReadonlySet<string>> {
  const written = checks.filter(
    ({ type, filter }) => filter !== null || (types.has(type) && types.get(type).userSql !== undefined),
  )
  const [failed, others] = [true, false].map(hasFailed =>
    written.filter(({ status }) => (status === 'error') === hasFailed).map(({ id }) => id),
  )
  if (others!.length === 0) return new Set(failed)
  const slow = await rows<{ id: string }>(
    trx,
    `select c.id from unnest(cast(:ids as bigint[])) c (id)
     cross join lateral (
       select r.details from check_results r where r.company_id = :companyId and r.check_id = c.id
       order by r.at desc, r.id desc limit 1) r
     where r.details ->> 'isSlow' = 'true'`,
    { companyId: companyOf(trx), ids: others },
  )
  return new Set([...failed!, ...slow.map(({ id }) => id)])
}
