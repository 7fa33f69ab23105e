import { isActive, type Schedule, type SeriesPoint } from '../../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { INTERVAL_SECONDS } from '../../../server/database/due.ts'
import type { CheckRow, SeriesValues } from '../models.ts'

/** Days that are looked back at least for what a baseline is rebuilt from: results may be rarer than planned. */
const MIN_LOOKBACK_DAYS = 100

/** Results of a series that a baseline is rebuilt from. */
export const MAX_BASELINE_RESULTS = 400

/** Series that are read, judged or written at once: the state of one takes tens of KB or more. */
const CHUNK_SERIES = 50

/** One series of a check, with the hours of now of the schedule that the check is judged by. */
export interface SeriesOf<Row extends Pick<CheckRow, 'id'> = CheckRow> {
  row: Row
  series: SeriesValues
  hours?: Schedule | undefined
}

/** Cuts a list into pieces of at most so many. */
export function* inChunks<Item>(all: readonly Item[], size = CHUNK_SERIES): Generator<Item[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}

/** Epoch seconds. */
export function secondsOf(at: Date): number {
  return at.getTime() / 1_000
}

/** Whether a schedule calls a moment active; null without a schedule. */
export function activeAt(hours: Schedule | undefined, at: Date): boolean | null {
  return hours ? isActive(hours, secondsOf(at)) : null
}

/** The series as a statement takes them, by their place in the list. */
export function seriesJson(all: readonly SeriesOf<Pick<CheckRow, 'id'>>[]): string {
  return JSON.stringify(all.map(({ row, series }, place) => ({ place, check_id: row.id, series })))
}

interface PastResult {
  place: number
  at: Date
  value: number
  totalRows: string | null
  isConfirmed: boolean
  wasActive: boolean | null
}

/**
 * By lists: joined to each series, the results of all groups would be gone through for every one of them as long as nothing
 * is known of how the table is filled. What is looked back is twice as far as so many results take, from the newest: the
 * months before are left alone.
 */
const LAST_RESULTS = `
  select g.place, past.* from (
    select r.check_id, r.series, r.value, r.total_rows, r.at, r.is_confirmed, r.id,
      cast(r.details ->> 'wasActive' as boolean) as was_active,
      row_number() over (partition by r.check_id, r.series order by r.at desc, r.id desc) as age
    from checks c join check_results r on r.company_id = c.company_id and r.check_id = c.id and r.id > c.baseline_after
    where c.company_id = :companyId and c.id = any(cast(:checks as bigint[]))
      and r.company_id = :companyId and r.check_id = any(cast(:checks as bigint[]))
      and r.series = any(cast(:groups as jsonb[])) and r.status <> 'error' and r.value is not null
      and r.at >= (
        select min(newest.at - greatest(make_interval(days => ${MIN_LOOKBACK_DAYS}), make_interval(secs =>
            2.0 * :most * cast(cast(:intervals as jsonb) ->> c.check_interval as float8))))
        from checks c cross join lateral (
          select n.at from check_results n
          where n.company_id = c.company_id and n.check_id = c.id
          order by n.at desc limit 1
        ) newest
        where c.company_id = :companyId and c.id = any(cast(:checks as bigint[])))
  ) past
  join jsonb_to_recordset(cast(:series as jsonb)) as g(place integer, check_id bigint, series jsonb)
    on g.check_id = past.check_id and g.series = past.series
  where past.age <= :most
  order by past.at, past.id`

/**
 * The last results with a value of each series that its baseline rests on, oldest first, in the order of the series. They
 * are active or dormant as they were stored; those without a word on it, taken in another mode, by the hours of now. One
 * statement.
 * @param most of each series
 */
export async function loadPoints(
  trx: Transaction,
  all: readonly SeriesOf<Pick<CheckRow, 'id'>>[],
  most = MAX_BASELINE_RESULTS,
): Promise<SeriesPoint[][]> {
  if (all.length === 0) return []
  const past = await rows<PastResult>(trx, LAST_RESULTS, {
    checks: [...new Set(all.map(({ row }) => row.id))],
    groups: [...new Set(all.map(({ series }) => JSON.stringify(series)))],
    series: seriesJson(all),
    intervals: JSON.stringify(INTERVAL_SECONDS),
    companyId: companyOf(trx),
    most,
  })
  const points = all.map((): SeriesPoint[] => [])
  for (const result of past) points[result.place]?.push(pointOf(result, all[result.place]?.hours))
  return points
}

function pointOf({ at, value, totalRows, isConfirmed, wasActive }: PastResult, hours: Schedule | undefined) {
  return {
    at: secondsOf(at),
    value,
    total: totalRows === null ? null : Number(totalRows),
    confirmed: isConfirmed,
    active: hours ? (wasActive ?? activeAt(hours, at)) : null,
  }
}
