import type { SeriesPoint } from '../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../server/database/due.ts'
import { secondsOf, type Group } from './capture.ts'
import type { Metric, Snapshot } from './models.ts'

/** Days that are looked back at least for what a baseline is rebuilt from: captures may be rarer than planned. */
const MIN_LOOKBACK_DAYS = 100

/** Snapshots of a group that a baseline is rebuilt from. */
export const MAX_BASELINE_SNAPSHOTS = 400

/** Series that are read, judged or written at once: the state of one takes tens of KB or more. */
export const CHUNK_SERIES = 50

/** One group of a metric; a metric without groups has the one group {}. */
export interface MetricSeries<M extends Pick<Metric, 'internalId'> = Metric> {
  metric: M
  group: Group
}

/** Cuts a list into pieces of at most so many. */
export function* inChunks<Item>(all: readonly Item[], size = CHUNK_SERIES): Generator<Item[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}

/** The series as a statement takes them, by their place in the list. */
export function seriesJson(series: readonly MetricSeries<Pick<Metric, 'internalId'>>[]): string {
  return JSON.stringify(
    series.map(({ metric, group }, place) => ({ place, metric_id: metric.internalId, group_values: group })),
  )
}

type PastSnapshot = Pick<Snapshot, 'totalRows' | 'capturedAt' | 'isConfirmed'> & {
  place: number
  value: number
}

/**
 * The last snapshots with a value of each series, oldest first, in the order of the series. One statement.
 * @param most of each series
 */
export async function loadPoints(
  trx: Transaction,
  series: readonly MetricSeries<Pick<Metric, 'internalId'>>[],
  most = MAX_BASELINE_SNAPSHOTS,
): Promise<SeriesPoint[][]> {
  if (series.length === 0) return []
  const found = await rows<PastSnapshot>(
    trx,
    // By lists: joined to each series, the snapshots of all groups would be gone through for every one of them
    // as long as nothing is known of how the table is filled.
    `select g.place, past.* from (
       select s.metric_id, s.group_values, s.value, s.total_rows, s.captured_at, s.is_confirmed, s.id,
         row_number() over (partition by s.metric_id, s.group_values order by s.captured_at desc, s.id desc) as age
       from metric_snapshots s
       where s.company_id = :companyId and s.metric_id = any(cast(:metrics as bigint[]))
         and s.group_values = any(cast(:groups as jsonb[])) and s.value is not null
         -- Twice as far back as so many captures take, from the newest: the months before are left alone.
         and s.captured_at >= (
           select min(newest.captured_at - greatest(make_interval(days => ${MIN_LOOKBACK_DAYS}), make_interval(secs =>
               2.0 * :most * cast(cast(:intervals as jsonb) ->> m.check_interval as float8))))
           from metrics m cross join lateral (
             select n.captured_at from metric_snapshots n
             where n.company_id = m.company_id and n.metric_id = m.internal_id
             order by n.captured_at desc limit 1
           ) newest
           where m.company_id = :companyId and m.internal_id = any(cast(:metrics as bigint[])))
     ) past
     join jsonb_to_recordset(cast(:series as jsonb)) as g(place integer, metric_id bigint, group_values jsonb)
       on g.metric_id = past.metric_id and g.group_values = past.group_values
     where past.age <= :most
     order by past.captured_at, past.id`,
    {
      metrics: [...new Set(series.map(({ metric }) => metric.internalId))],
      groups: [...new Set(series.map(({ group }) => JSON.stringify(group)))],
      series: seriesJson(series),
      intervals: JSON.stringify(INTERVAL_SECONDS),
      companyId: companyOf(trx),
      most,
    },
  )
  const points = series.map((): SeriesPoint[] => [])
  for (const past of found) points[past.place]?.push(pointOf(past))
  return points
}

function pointOf({ capturedAt, value, totalRows, isConfirmed }: PastSnapshot): SeriesPoint {
  const total = totalRows === null ? null : Number(totalRows)
  return { at: secondsOf(capturedAt), value, total, confirmed: isConfirmed }
}
