/** Runs of series: how many results in a row had each, which ended, and which an alert reports. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { SeriesValues } from '../models.ts'

/** `run` of a series that is missing and that an open alert may name. */
export const ALERTED_RUN = -1

/** A series that the last result had and this one lacks. */
export interface MissingSeries {
  checkId: string
  series: SeriesValues
  /** Results in a row that had it. */
  run: number
  lastSeenAt: Date
}

/** When the series that an alert names were last seen. */
export interface AlertedSeries {
  checkId: string
  lastSeenAt: Date
}

/** Ends the runs of the series of checks that a result lacks. @param at the time of the result */
export async function endRuns(
  trx: Transaction,
  checkIds: readonly string[],
  at: Date,
): Promise<MissingSeries[]> {
  return rows(
    trx,
    `with missing as (
       select check_id, series, run from check_states
       where company_id = :companyId and check_id = any(cast(:checkIds as bigint[])) and run > 0
         and last_seen_at is distinct from :at
     ), ended as (
       update check_states s set run = 0 from missing
       where s.company_id = :companyId and s.check_id = missing.check_id and s.series = missing.series
       returning s.check_id, s.series, missing.run, s.last_seen_at
     )
     select * from ended order by check_id, series`,
    { companyId: companyOf(trx), checkIds, at },
  )
}

/** Marks missing series as alerted. */
export async function markAlerted(
  trx: Transaction,
  missing: readonly Pick<MissingSeries, 'checkId' | 'series'>[],
): Promise<void> {
  if (missing.length === 0) return
  await rows(
    trx,
    `update check_states s set run = ${ALERTED_RUN}
     from jsonb_to_recordset(cast(:missing as jsonb)) as m(check_id bigint, series jsonb)
     where s.company_id = :companyId and s.check_id = m.check_id and s.series = m.series`,
    {
      companyId: companyOf(trx),
      missing: JSON.stringify(missing.map(({ checkId, series }) => ({ check_id: checkId, series }))),
    },
  )
}

/** Those of some alerted series all of which are back. */
export async function findReturned(
  trx: Transaction,
  alerted: readonly AlertedSeries[],
): Promise<AlertedSeries[]> {
  if (alerted.length === 0) return []
  return rows(
    trx,
    `select distinct check_id, last_seen_at
     from jsonb_to_recordset(cast(:alerted as jsonb)) as r(check_id bigint, last_seen_at timestamptz)
     where not exists (
       select from check_states s
       where s.company_id = :companyId and s.check_id = r.check_id and s.run = ${ALERTED_RUN}
         and s.last_seen_at = r.last_seen_at)`,
    {
      companyId: companyOf(trx),
      alerted: JSON.stringify(
        alerted.map(({ checkId, lastSeenAt }) => ({ check_id: checkId, last_seen_at: lastSeenAt })),
      ),
    },
  )
}

/**
 * Removes what was learned of missing series that were last seen before a time.
 * @returns those that were alerted: their alerts are over
 */
export async function forgetSeries(
  trx: Transaction,
  remembered: readonly { checkId: string; since: Date }[],
): Promise<AlertedSeries[]> {
  const forgotten = await rows<AlertedSeries & { run: number }>(
    trx,
    `delete from check_states s
     using jsonb_to_recordset(cast(:remembered as jsonb)) as m(check_id bigint, since timestamptz)
     where s.company_id = :companyId and s.check_id = m.check_id and s.run <= 0
       and coalesce(s.last_seen_at, '-infinity') < m.since
     returning s.check_id, s.run, s.last_seen_at`,
    {
      companyId: companyOf(trx),
      remembered: JSON.stringify(remembered.map(({ checkId, since }) => ({ check_id: checkId, since }))),
    },
  )
  return forgotten.filter(({ run }) => run === ALERTED_RUN)
}

/** Clears the alerted series of a check that is switched off or removed. */
export async function clearAlerted(trx: Transaction, checkId: string): Promise<AlertedSeries[]> {
  return rows(
    trx,
    `update check_states set run = 0
     where company_id = :companyId and check_id = :checkId and run = ${ALERTED_RUN} and last_seen_at is not null
     returning check_id, last_seen_at`,
    { companyId: companyOf(trx), checkId },
  )
}

/**
 * Makes the runs of series of checks with a window be those before results of them were taken back. A series without an earlier
 * result stays known, so that it is no new one when its bucket is judged again.
 * @param since results before are left alone: the runs that they began are cut
 */
export async function rewindRuns(trx: Transaction, checkIds: readonly string[], since: Date): Promise<void> {
  if (checkIds.length === 0) return
  await rows(
    trx,
    `with earlier as (
       select check_id, series, at, dense_rank() over (partition by check_id order by at desc) as nth_of_check,
         row_number() over (partition by check_id, series order by at desc) as nth
       from check_results
       where company_id = :companyId and check_id = any(cast(:checkIds as bigint[])) and at >= :since
         and bucket_start is not null and status <> 'error'
     ), seen as (
       select check_id, series, count(*) filter (where nth = nth_of_check)::int as run, max(at) as last_seen_at
       from earlier group by check_id, series
     ), rewound as (
       select known.check_id, known.series, coalesce(seen.last_seen_at, known.last_seen_at) as last_seen_at,
         case when seen.run = 0 and known.run = ${ALERTED_RUN} and known.last_seen_at = seen.last_seen_at
           then ${ALERTED_RUN} else coalesce(seen.run, 0) end as run
       from check_states known left join seen on seen.check_id = known.check_id and seen.series = known.series
       where known.company_id = :companyId and known.check_id = any(cast(:checkIds as bigint[]))
     )
     update check_states s set run = rewound.run, last_seen_at = rewound.last_seen_at from rewound
     where s.company_id = :companyId and s.check_id = rewound.check_id and s.series = rewound.series`,
    { companyId: companyOf(trx), checkIds, since },
  )
}
