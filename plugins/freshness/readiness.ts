import type { QueryBuilder } from 'objection'
import type { Transaction } from '../../server/database/database.ts'
import { monitoredTables, Schedule, type MonitoredTable } from './models.ts'

/** Whether a table is usable downstream: fresh is ready, stale is not; after a failed check it is an error. */
export type Readiness = 'ready' | 'not_ready' | 'unknown' | 'error'

export const READINESS: readonly Readiness[] = ['ready', 'not_ready', 'unknown', 'error']

/** What the filter on `status` accepts beside readiness: the `status` of records, and tables that are not watched. */
const STATUS_ALIASES = { fresh: 'ready', stale: 'not_ready' } as const

/** A value of the filter on `status`. */
export type StatusFilter = Readiness | keyof typeof STATUS_ALIASES | 'disabled'

export const STATUS_FILTERS: readonly StatusFilter[] = [...READINESS, 'fresh', 'stale', 'disabled']

/** The states that a filter on `status` selects, and whether it selects paused tables in any state. */
export function statesOf(status: readonly StatusFilter[]): {
  states: Readiness[]
  isPausedIncluded: boolean
} {
  const states = status.flatMap(value => {
    if (value === 'disabled') return []
    return value === 'fresh' || value === 'stale' ? STATUS_ALIASES[value] : value
  })
  return { states: [...new Set(states)], isPausedIncluded: status.includes('disabled') }
}

/** The time of the newest data in SQL. */
export const LAST_UPDATED = `cast(checks.settings ->> 'lastUpdated' as timestamptz)`

/** Joins the sources that the conditions below read. A subquery in each of them would be most of the time of a count. */
export const WITH_SOURCES =
  'join sources on sources.company_id = checks.company_id and sources.id = checks.source_id'

/** Whether a table is checked automatically: neither its schedule nor its source is paused. */
export const IS_WATCHED = '(checks.is_active and sources.is_active)'

/** The intervals of other kinds of checks are names, which are no durations in SQL. */
const INTERVAL = `case when checks.kind = 'freshness' then cast(checks.check_interval as interval) end`

/**
 * Whether the last verdict has lapsed because the table is no longer checked. A verdict from before a pause lapses when
 * the pause starts; the result of a refresh during a pause lapses after one `check_interval`.
 */
export const IS_LAPSED = `coalesce(not ${IS_WATCHED} and
  (not checks.is_active and checks.last_checked_at <= checks.updated_at
    or checks.last_checked_at < now() - ${INTERVAL}), false)`

/** The readiness of a schedule's table. */
export const READINESS_SQL = `case when ${IS_LAPSED} then 'unknown'
  else case checks.status when 'error' then 'error' when 'fail' then 'not_ready'
    when 'pass' then 'ready' when 'warning' then 'ready' else 'unknown' end end`

/** What has each readiness, by `status_rank`, unless its verdict has lapsed. */
const RANKS = { not_ready: [1], error: [2], ready: [3, 4, 6] }

/** The condition in SQL that the readiness of a schedule's table is one of some. An index finds the few that are stale or failed. */
export function hasReadiness(states: readonly Readiness[]): string {
  if (states.length === 0) return 'false'
  const isAmong = `${READINESS_SQL} in (${states.map(state => `'${state}'`).join(', ')})`
  const ranks = states.flatMap(state => (state === 'unknown' ? [] : RANKS[state]))
  return states.includes('unknown') ? isAmong : `(checks.status_rank in (${ranks.join(', ')}) and ${isAmong})`
}

/** A monitored table with its readiness, and whether its last verdict is still valid. */
export interface JudgedTable extends MonitoredTable {
  readiness: Readiness
  /** False while its schedule or its source is paused. */
  isWatched: boolean
  /** The last verdict is outdated: too old, or from before a pause. */
  isLapsed: boolean
  /** Age of the newest data by now; negative if its time is in the future. */
  ageSeconds: number | null
}

/** Schedules with their sources, as the conditions need them. */
export function schedulesWithSources(trx: Transaction): QueryBuilder<Schedule, Schedule[]> {
  return Schedule.query(trx).joinRaw(WITH_SOURCES)
}

/** Schedules with their tables and readiness. */
export function judgedTables(trx: Transaction): QueryBuilder<MonitoredTable, JudgedTable[]> {
  return monitoredTables(trx)
    .select(
      trx.raw(`${READINESS_SQL} as readiness, ${IS_WATCHED} as is_watched, ${IS_LAPSED} as is_lapsed,
        cast(extract(epoch from now() - ${LAST_UPDATED}) as float8) as age_seconds`),
    )
    .castTo<JudgedTable[]>()
}
