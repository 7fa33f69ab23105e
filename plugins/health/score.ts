import { companyOf, rows, type Transaction } from '../../server/database/database.ts'

/** A table that was watched within the days that are scored. */
export interface ScoredTable {
  id: string
  sourceId: string
  tags: string[]
  /** The first day on which it was watched, counted from 1. */
  firstDay: number
  /** The days on which a critical or warning alert about it was open. */
  badDays: number[]
}

/** How good a group of tables was: the share of days of watched tables without an open alert, in percent. */
export interface Score {
  watchedTables: number
  /** Over all days; null if no table was watched. */
  score: number | null
  days: { score: number | null; watched: number; affected: number }[]
}

/**
 * The watched tables of active sources, with the days on which something was wrong with them. A table is watched from when
 * one of its active checks first ran; pasts that were computed later do not count, as no alert came of them. Alerts that
 * were dismissed do not count: a person found that nothing was wrong. One statement.
 * @param scope.starts the first moment of each day, and that after the last
 * @param scope.assetId a source or a table; null for the company
 */
export function readScoredTables(
  trx: Transaction,
  { starts, assetId }: { starts: readonly Date[]; assetId: string | null },
): Promise<ScoredTable[]> {
  return rows<ScoredTable>(
    trx,
    `with watched as (
       select k.table_id, min(case when k.created_at <= :since then cast(:since as timestamptz) else first.at end) as at
         from checks k
         left join lateral (
           select r.at from check_results r
            where r.company_id = :companyId and r.check_id = k.id and r.at >= :since and not r.is_backfilled
            order by r.at limit 1) first on k.created_at > :since
        where k.company_id = :companyId and k.is_active
          and (cast(:assetId as uuid) is null or k.table_id = :assetId or k.source_id = :assetId)
        group by 1),
     bad as (
       select a.asset_id as table_id, array_agg(distinct day) as days
         from alerts a
         cross join lateral generate_series(
           greatest(1, width_bucket(a.created_at, cast(:starts as timestamptz[]))),
           least(:days, width_bucket(coalesce(a.resolved_at, now()), cast(:starts as timestamptz[])))) day
        where a.company_id = :companyId and a.severity in ('critical', 'warning') and a.status <> 'dismissed'
          and a.created_at < :until and (a.resolved_at is null or a.resolved_at >= :since)
          and (cast(:assetId as uuid) is null or a.asset_id = :assetId or a.source_id = :assetId)
        group by 1)
     select t.id, t.source_id, t.tags || s.tags as tags, coalesce(bad.days, '{}') as bad_days,
            greatest(1, width_bucket(w.at, cast(:starts as timestamptz[]))) as first_day
       from watched w
       join tables t on t.company_id = :companyId and t.id = w.table_id and t.is_active
       join sources s on s.company_id = :companyId and s.id = t.source_id and s.is_active
       left join bad on bad.table_id = w.table_id
      where w.at is not null`,
    {
      companyId: companyOf(trx),
      assetId,
      starts: [...starts],
      days: starts.length - 1,
      since: starts[0],
      until: starts.at(-1),
    },
  )
}

/** @param days how many days are scored */
export function scoreOf(tables: readonly ScoredTable[], days: number): Score {
  const watched = Array.from({ length: days }, () => 0)
  const affected = Array.from({ length: days }, () => 0)
  for (const { firstDay, badDays } of tables) {
    for (let day = firstDay; day <= days; day++) watched[day - 1]! += 1
    for (const day of badDays) if (day >= firstDay) affected[day - 1]! += 1
  }
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  return {
    watchedTables: tables.length,
    score: shareOf(sum(watched), sum(affected)),
    days: watched.map((count, n) => ({
      score: shareOf(count, affected[n]!),
      watched: count,
      affected: affected[n]!,
    })),
  }
}

/** In percent to one decimal place. What is not whole is never shown as 100 %. */
function shareOf(watched: number, affected: number): number | null {
  if (watched === 0) return null
  return Math.floor((1_000 * (watched - affected)) / watched) / 10
}
