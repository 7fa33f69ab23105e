import { DateTime } from 'luxon'
import { inCompany, type ValidRequest } from '../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { lastDays } from '../../../server/times/last-days.ts'
import { SEVERITIES, type Severity } from '../api.ts'
import type { Deps } from '../deps.ts'
import { routineNames } from '../kinds.ts'
import { NOT_DEMO } from '../models.ts'
import { TREND_PERIODS, type TrendQuery } from './schemas.ts'

interface TrendPeriod {
  companyId: string
  assetId: string | null
  /** Names of kinds that do not count. */
  routineKinds: string[]
  /** The first moment of each day or hour, and that after the last. */
  starts: Date[]
  since: Date
  until: Date
}

/** The number of alerts that were opened, resolved or dismissed on a day, or within an hour. */
interface TrendCount {
  /** The place of the day or hour, counted from 1. */
  place: number
  what: 'opened' | 'resolved' | 'dismissed'
  severity: Severity
  kind: string
  count: number
  /** The sum of the times for which they were open. */
  minutes: number | null
}

const HOURLY_PERIOD = '24h'
const DEFAULT_DAYS = 30
const HOURS_PER_DAY = 24

const MAX_NOISIEST = 10

/** A condition in SQL: neither an alert of a routine kind nor a demo alert. */
const COUNTED = `a.company_id = :companyId and a.kind <> all(cast(:routineKinds as text[])) and ${NOT_DEMO}
  and (cast(:assetId as uuid) is null or a.asset_id = :assetId or a.source_id = :assetId)`
const OPENED = `${COUNTED} and a.created_at >= :since and a.created_at < :until`

/** Counts alerts by day or hour, severity and kind, with mean times and the noisiest assets and rules: in four statements. */
export async function showTrends(
  { kinds, lookUps, config }: Deps,
  request: ValidRequest<unknown, TrendQuery>,
) {
  const { days, period, timezone, asset_id: asset } = request.query
  const zone = timezone ?? config.timezone
  const dayCount = days ?? TREND_PERIODS.get(period ?? '') ?? DEFAULT_DAYS
  const isHourly = period === HOURLY_PERIOD
  const times = isHourly ? lastHours(zone) : lastDays(zone, dayCount)
  const starts = times.map(time => time.toJSDate())
  return inCompany(request, async trx => {
    const span: TrendPeriod = {
      companyId: companyOf(trx),
      assetId: asset ? ((await lookUps.assets?.resolveId(trx, asset)) ?? asset) : null,
      routineKinds: routineNames(kinds),
      starts,
      since: starts[0]!,
      until: starts.at(-1)!,
    }
    const tallies = await countByPlace(trx, span)
    const points = times.slice(0, -1).map((time, at) => {
      const own = tallies.filter(({ place }) => place === at + 1)
      return { time, own }
    })
    const dates = Map.groupBy(points, ({ time }) => time.toISODate())
    return {
      data: {
        period: period ?? `${dayCount}d`,
        trends: points.map(({ time, own }) => ({ timestamp: time.toJSDate(), ...describeCounts(own) })),
        since: span.since,
        until: span.until,
        timezone: zone,
        ...sumByOutcome(tallies),
        mean_minutes_to_acknowledge: await minutesToAcknowledge(trx, span),
        mean_minutes_to_resolve: meanMinutes(tallies.filter(({ what }) => what === 'resolved')),
        by_severity: countsByKey(SEVERITIES, tallies, ({ severity }) => severity),
        by_event_type: countsByKey(
          kinds.all().flatMap(({ name, isRoutine }) => (isRoutine ? [] : name)),
          tallies,
          ({ kind }) => kind,
        ),
        by_day: [...dates].map(([date, hours]) => ({
          date,
          ...describeCounts(hours.flatMap(({ own }) => own)),
        })),
        noisiest_assets: await noisiestAssets(trx, span),
        noisiest_rules: await noisiestRules(trx, span),
      },
    }
  })
}

/** The first moments of the last 24 hours, including this one, and of the next. */
function lastHours(zone: string): DateTime[] {
  const first = DateTime.now()
    .setZone(zone)
    .startOf('hour')
    .minus({ hours: HOURS_PER_DAY - 1 })
  return Array.from({ length: HOURS_PER_DAY + 1 }, (_, hour) => first.plus({ hours: hour }))
}

function describeCounts(tallies: readonly TrendCount[]) {
  return {
    ...sumByOutcome(tallies),
    opened_by_severity: openedByKey(SEVERITIES, tallies, ({ severity }) => severity),
  }
}

async function countByPlace(trx: Transaction, span: TrendPeriod): Promise<TrendCount[]> {
  const place = (column: string) => `width_bucket(${column}, cast(:starts as timestamptz[]))`
  return rows<TrendCount>(
    trx,
    `select place, what, severity, kind, count(*)::int as count, sum(minutes)::float as minutes
       from (
         select ${place('a.created_at')} as place, 'opened' as what, a.severity, a.kind, null as minutes
           from alerts a where ${OPENED}
         union all
         select ${place('a.resolved_at')}, a.status, a.severity, a.kind, extract(epoch from a.resolved_at - a.created_at) / 60
           from alerts a where ${COUNTED} and a.resolved_at >= :since and a.resolved_at < :until) moved
      group by place, what, severity, kind`,
    { ...span },
  )
}

/** The mean over the alerts that were first acknowledged within the period. */
async function minutesToAcknowledge(trx: Transaction, span: TrendPeriod): Promise<number | null> {
  const [found] = await rows<{ minutes: number | null }>(
    trx,
    `select avg(extract(epoch from m.at - a.created_at) / 60)::float as minutes
       from alert_history m
       join alerts a on a.id = m.alert_id and ${COUNTED}
      where m.company_id = :companyId and m.to_status = 'acknowledged' and m.at >= :since and m.at < :until
        and not exists (
          select 1 from alert_history earlier
           where earlier.company_id = :companyId and earlier.alert_id = m.alert_id and earlier.id < m.id
             and earlier.to_status = 'acknowledged')`,
    { ...span },
  )
  return roundToTenths(found?.minutes)
}

/** The assets with the most opened alerts, named as in the newest alert of each. */
async function noisiestAssets(trx: Transaction, span: TrendPeriod) {
  const found = await rows<{ asset: Record<string, unknown>; alerts: number; occurrences: number }>(
    trx,
    `select event -> 'asset' as asset, noisy.alerts, noisy.occurrences
       from (
         select a.asset_id, count(*)::int as alerts, sum(a.occurrences)::int as occurrences, max(a.created_at) as last_at
           from alerts a where ${OPENED} and a.asset_id is not null
          group by a.asset_id order by alerts desc, occurrences desc, a.asset_id limit :most) noisy
      cross join lateral (
        select a.event from alerts a
         where a.company_id = :companyId and a.asset_id = noisy.asset_id and a.created_at = noisy.last_at limit 1) newest
      order by noisy.alerts desc, noisy.occurrences desc, noisy.asset_id`,
    { ...span, most: MAX_NOISIEST },
  )
  return found.map(({ asset, ...counted }) => {
    const { id, qualified_name, asset_type } = asset
    return { id, qualified_name, asset_type, ...counted }
  })
}

/** The rules, metrics and schedules with the most opened alerts. */
async function noisiestRules(trx: Transaction, span: TrendPeriod) {
  const found = await rows<{ kind: string; ruleName: string; alerts: number; occurrences: number }>(
    trx,
    `select a.kind, (array_agg(a.rule_name order by a.created_at desc))[1] as rule_name,
            count(*)::int as alerts, sum(a.occurrences)::int as occurrences
       from alerts a where ${OPENED}
      group by a.kind, a.cause order by alerts desc, occurrences desc, a.kind, a.cause limit :most`,
    { ...span, most: MAX_NOISIEST },
  )
  return found.map(({ kind, ruleName, ...counted }) => ({
    rule_name: ruleName,
    event_type: kind,
    ...counted,
  }))
}

function sumByOutcome(tallies: readonly TrendCount[]): Record<TrendCount['what'], number> {
  const sum = (outcome: TrendCount['what']) => sumCounts(tallies.filter(({ what }) => what === outcome))
  return { opened: sum('opened'), resolved: sum('resolved'), dismissed: sum('dismissed') }
}

function countsByKey(
  keys: readonly string[],
  tallies: readonly TrendCount[],
  keyOf: (tally: TrendCount) => string,
) {
  return Object.fromEntries(keys.map(key => [key, sumByOutcome(tallies.filter(each => keyOf(each) === key))]))
}

function openedByKey(
  keys: readonly string[],
  tallies: readonly TrendCount[],
  keyOf: (tally: TrendCount) => string,
) {
  const opened = tallies.filter(({ what }) => what === 'opened')
  return Object.fromEntries(keys.map(key => [key, sumCounts(opened.filter(each => keyOf(each) === key))]))
}

function sumCounts(tallies: readonly TrendCount[]): number {
  return tallies.reduce((sum, { count }) => sum + count, 0)
}

function meanMinutes(tallies: readonly TrendCount[]): number | null {
  const minutes = tallies.reduce((sum, each) => sum + (each.minutes ?? 0), 0)
  return tallies.length === 0 ? null : roundToTenths(minutes / sumCounts(tallies))
}

function roundToTenths(minutes: number | null | undefined): number | null {
  return minutes == null ? null : Math.round(minutes * 10) / 10
}
