import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { SEVERITIES, SYMPTOMS } from '../../api.ts'
import { INCIDENT_STATUSES, IS_ACTIVE } from '../models.ts'

interface Totals {
  opened: number
  ended: number
  active: number
  alerts: number
  [minutes: string]: number | null
}

const DAY_MS = 86_400_000

const MINUTES = {
  detect: 'extract(epoch from created_at - started_at) / 60',
  acknowledge: 'extract(epoch from acknowledged_at - created_at) / 60',
  resolve: 'extract(epoch from resolved_at - created_at) / 60',
} as const

/** Which incidents count for which of them. */
const COUNTED = {
  detect: 'created_at >= :since',
  acknowledge: 'acknowledged_at >= :since',
  resolve: `resolved_at >= :since and status = 'resolved'`,
} as const

/** Counts the incidents of some days up to now, and how long people took. Merged ones do not count. */
export async function summarizeIncidents(trx: Transaction, days: number) {
  const until = new Date()
  const since = new Date(until.getTime() - days * DAY_MS)
  const names = Object.keys(MINUTES) as (keyof typeof MINUTES)[]
  const [totals] = await rows<Totals>(
    trx,
    `select count(*) filter (where created_at >= :since)::int as opened,
            count(*) filter (where resolved_at >= :since)::int as ended,
            count(*) filter (where ${IS_ACTIVE})::int as active,
            coalesce(sum(alert_count) filter (where created_at >= :since), 0)::int as alerts,
            ${names
              .map(
                name => `
            percentile_cont(0.5) within group (order by ${MINUTES[name]}) filter (where ${COUNTED[name]}) as ${name}_median,
            avg(${MINUTES[name]}) filter (where ${COUNTED[name]})::float8 as ${name}_mean,
            count(${MINUTES[name]}) filter (where ${COUNTED[name]})::int as ${name}_count`,
              )
              .join()}
       from incidents
      where company_id = :companyId and merged_into is null
        and (created_at >= :since or resolved_at >= :since or ${IS_ACTIVE})`,
    { companyId: companyOf(trx), since },
  )
  const groups = await rows<{ by: string; name: string; count: number }>(
    trx,
    `select 'status' as by, status as name, count(*)::int as count from incidents
      where company_id = :companyId and merged_into is null and (resolved_at >= :since or ${IS_ACTIVE})
      group by status
      union all
     select 'severity', severity, count(*)::int from incidents
      where company_id = :companyId and merged_into is null and created_at >= :since group by severity
      union all
     select 'cause', cause ->> 'symptom', count(*)::int from incidents
      where company_id = :companyId and merged_into is null and created_at >= :since group by 2`,
    { companyId: companyOf(trx), since },
  )
  const countsOf = (by: string, all: readonly string[]) =>
    Object.fromEntries(
      all.map(name => [name, groups.find(row => row.by === by && row.name === name)?.count ?? 0]),
    )
  const minutesOf = (name: string) => ({
    median: rounded(totals?.[`${name}Median`] ?? null),
    mean: rounded(totals?.[`${name}Mean`] ?? null),
    count: totals?.[`${name}Count`] ?? 0,
  })
  const { opened = 0, ended = 0, active = 0, alerts = 0 } = totals ?? {}
  return {
    since,
    until,
    opened,
    ended,
    active,
    alerts,
    by_status: countsOf('status', INCIDENT_STATUSES),
    by_severity: countsOf('severity', SEVERITIES),
    by_cause: countsOf('cause', SYMPTOMS),
    minutes_to_detect: minutesOf('detect'),
    minutes_to_acknowledge: minutesOf('acknowledge'),
    minutes_to_resolve: minutesOf('resolve'),
  }
}

function rounded(minutes: number | null): number | null {
  return minutes === null ? null : Math.max(0, Math.round(minutes * 10) / 10)
}
