/** What of tables their checks watch: freshness, volume and keys, each with how it did last. */
import type { Reading } from '../../server/database/database.ts'
import type { SourceHealth, WatchedParts, WatchedState } from '../catalog/api.ts'
import type { CheckDeps } from './deps.ts'
import { isOfKinds } from './list/list-columns.ts'
import type { CheckStatus } from './models.ts'
import type { StatusCounts } from './types.ts'

/** The part of a table that a check watches, in SQL. A row count of some rows says nothing of the others. */
export const TABLE_PART = `case when kind = 'freshness' then 'freshness'
  when kind = 'metric' and type = 'row_count' and filter is null then 'volume'
  when kind = 'validity' and type = 'UNIQUE' and filter is null then 'unique' else 'other' end`

type WatchedPart = 'freshness' | 'volume' | 'unique' | 'other'

/** Active checks of one table or source, counted by how they did last. */
export interface PartCount {
  owner: string
  part: WatchedPart
  /** Set for the part `unique` of a table. */
  columnName: string | null
  status: CheckStatus | null
  /** Whether its last value passed because nothing was learned yet. */
  isLearning: boolean
  count: number
  /** Tables with such a check. */
  tables: number
}

/** What counts the active checks of tables by what they watch and how they did last. */
export function tablePartReading(
  kinds: CheckDeps['kinds'],
  companyId: string,
  tableIds: readonly string[],
): Reading<PartCount> {
  return {
    name: 'watched parts of tables',
    text: `select table_id as owner, ${TABLE_PART} as part, case when type = 'UNIQUE' then column_name end as column_name,
        status, is_learning, cast(count(*) as int) as count, 1 as tables
      from checks where company_id = :company_id and is_active and (${isOfKinds(kinds)} or kind = 'freshness')
        and table_id = any(cast(:ids as uuid[]))
      group by 1, 2, 3, 4, 5`,
    bindings: { company_id: companyId, ids: [...tableIds] },
  }
}

/** The same of sources. */
export function sourcePartReading(
  kinds: CheckDeps['kinds'],
  companyId: string,
  sourceIds: readonly string[],
): Reading<PartCount> {
  return {
    name: 'watched parts of sources',
    text: `select source_id as owner, ${TABLE_PART} as part, null as column_name, status, is_learning,
        cast(count(*) as int) as count,
        cast(count(distinct case when kind = 'metric' then table_id end) as int) as tables
      from checks where company_id = :company_id and is_active and (${isOfKinds(kinds)} or kind = 'freshness')
        and source_id = any(cast(:ids as uuid[]))
      group by 1, 2, 4, 5`,
    bindings: { company_id: companyId, ids: [...sourceIds] },
  }
}

/** From best to worst: the worst of several checks counts. */
const STATES: readonly WatchedState[] = ['passing', 'learning', 'pending', 'error', 'failing']

/** How checks did last that are counted together. */
export function stateOf({ status, isLearning }: PartCount): WatchedState {
  if (status === 'error') return 'error'
  if (status === null) return 'pending'
  return status === 'fail' ? 'failing' : isLearning ? 'learning' : 'passing'
}

function worst(counts: readonly PartCount[]): WatchedState | null {
  const places = counts.map(count => STATES.indexOf(stateOf(count)))
  return places.length === 0 ? null : STATES[Math.max(...places)]!
}

/** The parts of one table. */
export function watchedParts(counts: readonly PartCount[]): WatchedParts {
  const of = (part: WatchedPart) => counts.filter(count => count.part === part)
  const uniques = Map.groupBy(of('unique'), ({ columnName }) => columnName ?? '')
  return {
    freshness: worst(of('freshness')),
    volume: worst(of('volume')),
    uniques: Object.fromEntries([...uniques].map(([column, some]) => [column, worst(some)!])),
  }
}

/** Counts of checks in words: what is wrong first, and nothing of what there is none. */
export function describeCounts({ passing, learning, failing, error, pending }: StatusCounts): string {
  const words = [
    failing > 0 && `${failing} fail`,
    error > 0 && `${error} could not run`,
    passing > 0 && `${passing} ${passing === 1 ? 'check passes' : 'checks pass'}`,
    learning > 0 && `${learning} learning`,
    pending > 0 && `${pending} not yet run`,
  ]
  return words.filter(Boolean).join(', ') || 'no check watches it'
}

/** Whether all tables of a source are known to be fine. */
export function judgeSourceHealth(
  counts: readonly PartCount[],
  tally: StatusCounts,
  tables: number,
): SourceHealth {
  const freshness = counts.filter(({ part }) => part === 'freshness')
  const scheduled = freshness.reduce((sum, { count }) => sum + count, 0)
  const volume = counts.filter(({ part }) => part === 'volume')
  const counted = volume.reduce((sum, each) => sum + each.tables, 0)
  const watched = { tables, freshness: Math.min(tables, scheduled), volume: Math.min(tables, counted) }
  const having = (state: WatchedState) =>
    freshness.reduce((sum, each) => sum + (stateOf(each) === state ? each.count : 0), 0)
  const stale = having('failing')
  const unread = having('error')
  const unknown = having('pending')
  const missing = (['freshness', 'volume'] as const).filter(part => watched[part] < tables)
  const isFailing = tally.failing + tally.error + stale + unread > 0
  const isKnown = tables > 0 && tally.pending + tally.learning + unknown === 0 && missing.length === 0
  const headline = [
    describeCounts(tally),
    stale > 0 && `${stale} of ${tables} tables are stale`,
    unread > 0 && `the freshness of ${unread} could not be checked`,
    unknown > 0 && `the freshness of ${unknown} is not known yet`,
    ...missing.map(part => `${part} is not watched in ${tables - watched[part]} of ${tables} tables`),
  ]
  return {
    status: isFailing ? 'failing' : isKnown ? 'fine' : 'unknown',
    headline: headline.filter(Boolean).join('; '),
    watched,
  }
}
