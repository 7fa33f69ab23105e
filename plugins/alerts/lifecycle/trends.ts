import type { Request } from '@hapi/hapi'
import { DateTime } from 'luxon'
import { inCompany } from '../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { queryOf } from '../../../server/http/input.ts'
import { SEVERITIES, type Severity } from '../api.ts'
import { NOT_DEMO } from '../demo.ts'

interface TrendsQuery {
  /** The number of days, including today. */
  days: number
  /** The IANA zone whose midnights separate the days. */
  timezone?: string
  asset_id?: string
}

/** The values that all statements are bound to. */
interface TrendPeriod {
  companyId: string
  assetId: string | null
  /** Names of kinds that do not count. */
  routineKinds: string[]
  /** The first moment of each day, and that of the day after the last. */
  midnights: Date[]
  since: Date
  until: Date
}

/** The number of alerts that were opened, resolved or dismissed on a day. */
interface TrendCount {
  /** Counted from 1. */
  day: number
  what: 'opened' | 'resolved' | 'dismissed'
  severity: Severity
  kind: string
  count: number
  /** The sum of the times for which they were open. */
  minutes: number | null
}

const MAX_NOISIEST = 10

/** A condition in SQL: neither an alert of a routine kind nor a demo alert. */
const COUNTED = `a.company_id = :companyId and a.kind <> all(cast(:routineKinds as text[])) and ${NOT_DEMO}
  and (cast(:assetId as uuid) is null or a.asset_id = :assetId or a.source_id = :assetId)`
const OPENED = `${COUNTED} and a.created_at >= :since and a.created_at < :until`

/** Counts alerts by day, severity and kind, with mean times and the noisiest assets and rules: in four statements. */
export async function showTrends(request: Request) {
  const { days, timezone, asset_id: asset } = queryOf<TrendsQuery>(request)
  const zone = timezone ?? request.server.config.timezone
  const { kinds, resolveAssetId } = request.server.plugins.alerts
  const first = DateTime.now()
    .setZone(zone)
    .minus({ days: days - 1 })
  // Each by itself: where clocks change at midnight, a day begins at 01:00.
  const dates = Array.from({ length: days + 1 }, (_, day) => first.plus({ days: day }).startOf('day'))
  const midnights = dates.map(date => date.toJSDate())
  return inCompany(request, async trx => {
    const span: TrendPeriod = {
      companyId: companyOf(trx),
      assetId: asset ? await resolveAssetId(trx, asset) : null,
      routineKinds: kinds.all().flatMap(({ name, isRoutine }) => (isRoutine ? name : [])),
      midnights,
      since: midnights[0]!,
      until: midnights.at(-1)!,
    }
    const tallies = await countByDay(trx, span)
    return {
      data: {
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
        by_day: dates.slice(0, -1).map((date, place) => {
          const own = tallies.filter(({ day }) => day === place + 1)
          return {
            date: date.toISODate(),
            ...sumByOutcome(own),
            opened_by_severity: openedByKey(SEVERITIES, own, ({ severity }) => severity),
          }
        }),
        noisiest_assets: await noisiestAssets(trx, span),
        noisiest_rules: await noisiestRules(trx, span),
      },
    }
  })
}

async function countByDay(trx: Transaction, span: TrendPeriod): Promise<TrendCount[]> {
  const day = (column: string) => `width_bucket(${column}, cast(:midnights as timestamptz[]))`
  return rows<TrendCount>(
    trx,
    `select day, what, severity, kind, count(*)::int as count, sum(minutes)::float as minutes
       from (
         select ${day('a.created_at')} as day, 'opened' as what, a.severity, a.kind, null as minutes
           from alerts a where ${OPENED}
         union all
         select ${day('a.resolved_at')}, a.status, a.severity, a.kind, extract(epoch from a.resolved_at - a.created_at) / 60
           from alerts a where ${COUNTED} and a.resolved_at >= :since and a.resolved_at < :until) moved
      group by day, what, severity, kind`,
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
async function noisiestAssets(trx: Transaction, span: TrendPeriod): Promise<object[]> {
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
async function noisiestRules(trx: Transaction, span: TrendPeriod): Promise<object[]> {
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
): object {
  return Object.fromEntries(keys.map(key => [key, sumByOutcome(tallies.filter(each => keyOf(each) === key))]))
}

function openedByKey(
  keys: readonly string[],
  tallies: readonly TrendCount[],
  keyOf: (tally: TrendCount) => string,
): object {
  const those = tallies.filter(({ what }) => what === 'opened')
  return Object.fromEntries(keys.map(key => [key, sumCounts(those.filter(each => keyOf(each) === key))]))
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
