import { tablePath } from '../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { percentOf } from '../../server/percent.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { Schedule } from './models.ts'
import { LAST_UPDATED } from './readiness.ts'
import { presentHours } from './present.ts'
import { tableOf } from './schedules/schedules.ts'

/** The body of `POST /sdk/freshness/dry-run`, validated. */
export interface FreshnessDryRun {
  asset_id: string
  table_path?: string
  expected_interval_hours: number
  lookback_days: number
}

/** How the stored checks of a table would have been judged by another threshold. */
interface ReplayedChecks {
  /** Checks that found an age. */
  total: number
  /** Those that found it at or above the threshold. */
  stale: number
  /** Times at which it went from below to above: each opens one alert. */
  alerts: number
  /** The age that 95 % of the checks found at most. */
  usualSeconds: number | null
  samples: { timestamp: string; hours_since_update: number }[] | null
}

const MAX_SAMPLES = 10
const SECONDS_PER_HOUR = 3_600

/**
 * Judges the stored checks of a table by a threshold, without a query to its source. Stores nothing. A table without
 * checks gives zeros. @throws 404
 */
export async function dryRunFreshness(
  catalog: CatalogApi,
  trx: Transaction,
  { expected_interval_hours: hours, lookback_days: days, ...named }: FreshnessDryRun,
) {
  const { table } = await tableOf(catalog, trx, named)
  const schedule = await Schedule.query(trx)
    .findOne('tableId', table.id)
    .select('id', trx.raw(`cast(extract(epoch from now() - ${LAST_UPDATED}) as float8) as age_seconds`))
    .castTo<{ id: string; ageSeconds: number | null } | undefined>()
  // Ages and thresholds are stored in whole seconds.
  const threshold = Math.round(hours * SECONDS_PER_HOUR)
  const replayed = schedule && (await replayChecks(trx, schedule.id, threshold, days))
  const { total = 0, stale = 0, alerts = 0, usualSeconds = null, samples = null } = replayed ?? {}
  const age = schedule?.ageSeconds == null ? null : Math.max(0, schedule.ageSeconds) / SECONDS_PER_HOUR
  return {
    table_path: tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name }),
    threshold_hours: hours,
    lookback_days: days,
    total_checks: total,
    would_alert_count: stale,
    would_open_alerts: alerts,
    alert_rate_percent: percentOf(stale, total, 1),
    current_age_hours: presentHours(schedule?.ageSeconds ?? null),
    would_alert_now: age !== null && age >= hours,
    sample_alerts: samples ?? [],
    recommendation: recommend({ total, stale, usualSeconds, hours, days, isWatched: schedule !== undefined }),
  }
}

const REPLAY_CHECKS = `
  with checks as (
    select at, cast(floor(value) as bigint) as age, value >= :threshold as is_stale,
      lag(value >= :threshold) over (order by at, id) as was_stale
    from check_results
    where company_id = :companyId and check_id = :checkId and value is not null
      and at >= now() - make_interval(days => :days)
  )
  select cast(count(*) as int) as total, cast(count(*) filter (where is_stale) as int) as stale,
    cast(count(*) filter (where is_stale and was_stale is not true) as int) as alerts,
    cast(percentile_disc(0.95) within group (order by age) as float8) as usual_seconds,
    (select jsonb_agg(jsonb_build_object('timestamp', at,
         'hours_since_update', round(age / 3600.0, 2)) order by at desc)
       from (select at, age from checks where is_stale order by at desc limit :limit) newest)
      as samples
  from checks`

async function replayChecks(trx: Transaction, checkId: string, thresholdSeconds: number, days: number) {
  const [replayed] = await rows<ReplayedChecks>(trx, REPLAY_CHECKS, {
    companyId: companyOf(trx),
    checkId,
    threshold: thresholdSeconds,
    days,
    limit: MAX_SAMPLES,
  })
  return replayed
}

/** A sentence on what to choose, from the ages that the checks found. */
function recommend(past: {
  total: number
  stale: number
  usualSeconds: number | null
  hours: number
  days: number
  isWatched: boolean
}): string {
  const { total, stale, usualSeconds, hours, days } = past
  if (!past.isWatched)
    return 'The table has no freshness schedule, so no check is stored: create one with monitoring_mode auto_learn, and try again after some days'
  if (total === 0 || usualSeconds === null)
    return `No check of the last ${days} days found an age: check the table, or look further back`
  const usualHours = Math.floor(usualSeconds / SECONDS_PER_HOUR) + 1
  const usual = `95 % of ${total} checks found data younger than ${usualHours} h`
  if (stale === 0)
    return usualHours < hours
      ? `No check would have alerted. ${usual}: a threshold of that many hours would notice delays sooner`
      : `No check would have alerted: the threshold suits the table`
  if (stale * 20 <= total)
    return `${stale} of ${total} checks would have alerted: the threshold suits the table`
  return `${stale} of ${total} checks would have alerted. ${usual}: a threshold of that many hours would alert less`
}
