import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { presentFields, type RowOf } from '../../server/http/fields.ts'
import type { CheckStatus } from '../checks/kit.ts'
import { checkFields } from './fields.ts'
import { freshnessOf, slaStatusOf, type Schedule } from './models.ts'

type FoundCheck = Omit<RowOf<typeof checkFields>, 'status' | 'slaStatus'> & { status: CheckStatus | null }

/** One page of the checks of a schedule, newest first; limited to the last `days_back` days if given. */
export async function listChecks(
  trx: Transaction,
  { id: checkId, baselineAfter }: Pick<Schedule, 'id' | 'baselineAfter'>,
  { days_back: days, ...page }: Page & { days_back?: number },
) {
  const companyId = companyOf(trx)
  const matching = `from check_results where company_id = :companyId and check_id = :checkId
    ${days === undefined ? '' : 'and at >= now() - make_interval(days => :days)'}`
  // OFFSET skips entries of the index, not rows.
  const [listed] = await rows<{ total: number; ids: string[] | null; from: string; to: string }>(
    trx,
    // As text, because JavaScript dates have no microseconds.
    `select (select cast(count(*) as int) ${matching}) as total, array_agg(id) as ids,
       cast(min(at) as text) as from, cast(max(at) as text) as to
     from (select id, at ${matching} order by at desc, id desc limit :limit offset :offset) page`,
    { companyId, checkId, days: days ?? null, ...page },
  )
  if (!listed?.ids) return { data: [], pagination: pagination(listed?.total ?? 0, page) }
  const checks = await rows<FoundCheck>(
    trx,
    `select at as checked_at, status, cast(details ->> 'lastUpdated' as timestamptz) as last_updated,
       floor(value / 60) as data_age_minutes, id > :baselineAfter and details ->> 'isUpdate' is not null as is_update,
       error_message, is_backfilled
     from check_results where company_id = :companyId and id = any(cast(:ids as bigint[])) and at between :from and :to
     order by at desc, id desc`,
    { companyId, baselineAfter, ...listed },
  )
  return {
    data: checks.map(({ status, ...check }) =>
      presentFields(checkFields, { ...check, status: freshnessOf(status), slaStatus: slaStatusOf(status) }),
    ),
    pagination: pagination(listed.total, page),
  }
}
