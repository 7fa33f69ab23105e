/** How long the groups of a metric have been there, and how long the set of them has stayed the same. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../server/database/due.ts'
import { seriesInterval, type SeriesValues } from '../checks/kit.ts'
import type { Metric } from './models.ts'

type CaptureInterval = Metric['checkInterval']

/**
 * Captures in a row after which something counts as settled: seven, and a whole week of hours, since groups of
 * working hours come and go every day, and those of working days every week.
 */
export const STABLE_CAPTURES: Record<CaptureInterval, number> = { hourly: 168, daily: 7, weekly: 7 }

const DAY_SECONDS = 86_400

/** How far back it is known which groups were there: 90 captures, and four weeks at least. */
export function rememberedSince(interval: CaptureInterval, at: Date): Date {
  const seconds = Math.max(90 * INTERVAL_SECONDS[interval], 28 * DAY_SECONDS)
  return new Date(at.getTime() - seconds * 1_000)
}

/** What the remembered captures say of a metric's groups. */
export interface GroupLifetime {
  /** Captures that were remembered. */
  captures: number
  /** Captures, other than the first one, with a group that none before had. */
  arrivals: number
  /** Captures since the last arrival; all of them, where there was none. */
  sinceArrival: number
  /** Of each group asked for: captures since its first one that lacked it. */
  missed: number[]
}

/** A metric with the groups whose gaps are wanted. */
interface LifetimeQuery {
  metric: Metric
  groups: readonly SeriesValues[]
}

/**
 * Reads the lives of the groups of metrics from their snapshots, those of the capture at hand not included. One
 * statement.
 * @returns the life of each metric, in their order
 */
export async function loadGroupLifetimes(
  trx: Transaction,
  at: Date,
  asked: readonly LifetimeQuery[],
): Promise<GroupLifetime[]> {
  if (asked.length === 0) return []
  const since = asked.map(({ metric }) => rememberedSince(seriesInterval(metric), at))
  const found = await rows<{
    place: number
    captures: number
    arrivals: number
    lastArrival: number
    missed: (number | null)[] | null
  }>(
    trx,
    `with asked as materialized (
       select * from jsonb_to_recordset(cast(:asked as jsonb))
         as a(place integer, check_id bigint, since timestamptz, groups jsonb)
     ), recent as (
       select place, series, dense_rank() over (partition by place order by at) as n
       from asked join check_results s
         on s.company_id = :companyId and s.check_id = asked.check_id and s.at >= asked.since
           -- By which the months before are left alone.
           and s.at >= :oldest
           and s.status <> 'error'
     ), lives as materialized (
       select place, series, min(n) as first, max(n) as last, count(*) as times from recent
       group by place, series
     ), whole as (
       select place, max(last)::int as captures, count(distinct first) filter (where first > 1)::int as arrivals,
         coalesce(max(first) filter (where first > 1), 0)::int as last_arrival
       from lives group by place
     ), gaps as (
       select place, array_agg((captures - first + 1 - times)::int order by nth) as missed
       from asked cross join jsonb_array_elements(asked.groups) with ordinality as g(series, nth)
       join whole using (place) left join lives using (place, series)
       group by place
     )
     select * from whole left join gaps using (place)`,
    {
      companyId: companyOf(trx),
      oldest: new Date(Math.min(...since.map(Number))),
      asked: JSON.stringify(
        asked.map(({ metric, groups }, place) => ({
          place,
          check_id: metric.id,
          since: since[place],
          groups,
        })),
      ),
    },
  )
  const byPlace = new Map(found.map(row => [row.place, row]))
  return asked.map(({ groups }, index) => {
    const { captures = 0, arrivals = 0, lastArrival = 0, missed } = byPlace.get(index) ?? {}
    return {
      captures,
      arrivals,
      sinceArrival: captures - lastArrival,
      missed: groups.map((_, place) => missed?.[place] ?? 0),
    }
  })
}

/**
 * Whether a calm is long enough to believe in: `STABLE` captures, and twice as many more for every time that it has
 * been broken in the remembered captures. What keeps coming and going is not expected to stay.
 * @param calm captures in a row without a change
 */
export function isSettled(interval: CaptureInterval, calm: number, breaks: number): boolean {
  return calm >= STABLE_CAPTURES[interval] * (1 + 2 * breaks)
}
