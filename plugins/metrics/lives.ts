/** How long the groups of a metric have been there, and how long the set of them has stayed the same. */
import { companyOf, rows, type Transaction } from '../../server/database.ts'
import { INTERVAL_SECONDS } from '../../server/due.ts'
import type { Group } from './capture.ts'
import type { Metric } from './models.ts'

type Interval = Metric['checkInterval']

/**
 * Captures in a row after which something counts as settled: seven, and a whole week of hours, since groups of
 * working hours come and go every day, and those of working days every week.
 */
export const STABLE: Record<Interval, number> = { hourly: 168, daily: 7, weekly: 7 }

const DAY_SECONDS = 86_400

/** How far back it is known which groups were there: 90 captures, and four weeks at least. */
export function rememberedSince(interval: Interval, at: Date): Date {
  const seconds = Math.max(90 * INTERVAL_SECONDS[interval], 28 * DAY_SECONDS)
  return new Date(at.getTime() - seconds * 1_000)
}

/** What the remembered captures say of a metric's groups. */
export interface Life {
  /** Captures that were remembered. */
  captures: number
  /** Captures, other than the first one, with a group that none before had. */
  arrivals: number
  /** Captures since the last arrival; all of them, where there was none. */
  sinceArrival: number
  /** Of each group asked for: captures since its first one that lacked it. */
  missed: number[]
}

/**
 * Reads the life of a metric's groups from its snapshots, those of the capture at hand not included. One statement.
 * @param groups those whose gaps are wanted
 */
export async function lifeOf(
  trx: Transaction,
  metric: Metric,
  at: Date,
  groups: readonly Group[],
): Promise<Life> {
  const found = await rows<{
    captures: number
    arrivals: number
    lastArrival: number
    place: number | null
    missed: number
  }>(
    trx,
    `with recent as (
       select captured_at, group_values from metric_snapshots
       where company_id = :companyId and metric_id = :metricId and status <> 'ERROR' and captured_at >= :since
     ), captures as (
       select captured_at, row_number() over (order by captured_at) as n from recent group by captured_at
     ), lives as (
       select group_values, min(n) as first, count(*) as times from recent join captures using (captured_at)
       group by group_values
     ), whole as (
       select (select count(*) from captures)::int as captures,
         count(distinct first) filter (where first > 1)::int as arrivals,
         coalesce(max(first) filter (where first > 1), 0)::int as last_arrival
       from lives
     )
     select whole.*, (asked.place - 1)::int as place, (captures - first + 1 - times)::int as missed
     from whole
     left join jsonb_array_elements(cast(:groups as jsonb)) with ordinality as asked(group_values, place) on true
     left join lives on lives.group_values = asked.group_values`,
    {
      companyId: companyOf(trx),
      metricId: metric.internalId,
      since: rememberedSince(metric.checkInterval, at),
      groups: JSON.stringify(groups),
    },
  )
  const { captures = 0, arrivals = 0, lastArrival = 0 } = found[0] ?? {}
  const missed = groups.map((_, place) => found.find(row => row.place === place)?.missed ?? 0)
  return { captures, arrivals, sinceArrival: captures - lastArrival, missed }
}

/**
 * Whether a calm is long enough to believe in: `STABLE` captures, and twice as many more for every time that it has
 * been broken in the remembered captures. What keeps coming and going is not expected to stay.
 * @param calm captures in a row without a change
 */
export function isSettled(interval: Interval, calm: number, breaks: number): boolean {
  return calm >= STABLE[interval] * (1 + 2 * breaks)
}
