import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { presentFields, type RowOf } from '../../server/http/fields.ts'
import { checkFields } from './fields.ts'

/** One page of the checks of a schedule, newest first; limited to the last `days_back` days if given. */
export async function listChecks(
  trx: Transaction,
  scheduleId: string,
  { days_back: days, ...page }: Page & { days_back?: number },
) {
  const companyId = companyOf(trx)
  const matching = `from freshness_checks where company_id = :companyId and schedule_id = :scheduleId
    ${days === undefined ? '' : 'and checked_at >= now() - make_interval(days => :days)'}`
  // OFFSET skips entries of the index, not rows.
  const [listed] = await rows<{ total: number; ids: string[] | null; from: string; to: string }>(
    trx,
    // As text, because JavaScript dates have no microseconds.
    `select (select cast(count(*) as int) ${matching}) as total, array_agg(id) as ids,
       cast(min(checked_at) as text) as from, cast(max(checked_at) as text) as to
     from (select id, checked_at ${matching} order by checked_at desc, id desc limit :limit offset :offset) page`,
    { companyId, scheduleId, days: days ?? null, ...page },
  )
  if (!listed?.ids) return { data: [], pagination: pagination(listed?.total ?? 0, page) }
  const checks = await rows<RowOf<typeof checkFields>>(
    trx,
    `select status, sla_status, last_updated, cast(data_age_seconds / 60 as float8) as data_age_minutes, is_update,
       error_message, checked_at
     from freshness_checks where company_id = :companyId and id = any(cast(:ids as bigint[]))
       and checked_at between :from and :to
     order by checked_at desc, id desc`,
    { companyId, ...listed },
  )
  return {
    data: checks.map(check => presentFields(checkFields, check)),
    pagination: pagination(listed.total, page),
  }
}
