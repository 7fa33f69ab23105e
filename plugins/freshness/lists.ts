import { companyOf, type Transaction } from '../../server/database/database.ts'
import { newestFirst, type Page, pagination, type Pagination } from '../../server/http/page.ts'
import { percentOf } from '../../server/percent.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { Schedule, type FreshnessStatus } from './models.ts'
import {
  hasReadiness,
  IS_LAPSED,
  IS_WATCHED,
  judgedTables,
  LAST_UPDATED,
  READINESS,
  READINESS_SQL,
  schedulesWithSources,
  statesOf,
  type JudgedTable,
  type Readiness,
  type StatusFilter,
} from './readiness.ts'

export interface FreshnessFilters {
  status?: StatusFilter[]
  schema?: string[]
  tag?: string[]
  search?: string
}

/** A source or a table; the whole company if empty. */
export interface FreshnessScope {
  sourceId?: string
  tableId?: string
}

/** The scope of an asset. @throws 404 */
export async function scopeOf(
  catalog: CatalogApi,
  trx: Transaction,
  assetId: string | undefined,
): Promise<FreshnessScope> {
  if (assetId === undefined) return {}
  const { source, table } = await catalog.findAsset(trx, assetId)
  return table ? { tableId: table.id } : { sourceId: source.id }
}

/** Number of tables in each state. */
export type ReadinessCounts = Record<Readiness, number>

/**
 * One page of monitored tables, newest schedule first, and the number in each state regardless of the filter on
 * `status`. At most two statements.
 * @param page `isRolledUp` adds to the states what `rollUp` takes
 */
export async function listTables(
  trx: Transaction,
  scope: FreshnessScope,
  filters: FreshnessFilters,
  { isRolledUp = false, ...page }: Page & { isRolledUp?: boolean },
): Promise<{ tables: JudgedTable[]; states: StateCounts[]; pagination: Pagination }> {
  const states = await countByState(trx, scope, filters, isRolledUp)
  const wanted = statesOf(filters.status ?? READINESS)
  const total = states.reduce((sum, { readiness, count, paused }) => {
    if (wanted.states.includes(readiness)) return sum + count
    return wanted.isPausedIncluded ? sum + paused : sum
  }, 0)
  const query = filterSchedules(schedulesWithSources(trx), companyOf(trx), scope, filters)
  if (filters.status)
    void query.whereRaw(
      wanted.isPausedIncluded
        ? `(${hasReadiness(wanted.states)} or not ${IS_WATCHED})`
        : hasReadiness(wanted.states),
    )
  const tables = page.offset < total ? await readPage(trx, query, page) : []
  return { tables, states, pagination: pagination(total, page) }
}

/** One page of schedules, newest first. */
export async function listSchedules(
  trx: Transaction,
  scope: FreshnessScope,
  { isActive, ...page }: Page & { isActive?: boolean },
): Promise<{ tables: JudgedTable[]; pagination: Pagination }> {
  const query = filterSchedules(Schedule.query(trx), companyOf(trx), scope, {})
  if (isActive !== undefined) void query.where('checks.isActive', isActive)
  const total = await query.clone().resultSize()
  return { tables: await readPage(trx, query, page), pagination: pagination(total, page) }
}

const NEWEST_FIRST = newestFirst('checks.createdAt', 'checks.id')

/** Chooses the page before the join, so that tables of other pages are not read. */
async function readPage(trx: Transaction, query: ReturnType<typeof Schedule.query>, { limit, offset }: Page) {
  const ids = query.select('checks.id').orderBy(NEWEST_FIRST).limit(limit).offset(offset)
  return judgedTables(trx).whereIn('checks.id', ids).orderBy(NEWEST_FIRST)
}

/** Number of tables in each state. */
export function countReadiness(states: readonly StateCounts[]): ReadinessCounts {
  const counts = zeroCounts()
  for (const { readiness, count } of states) counts[readiness] = count
  return counts
}

export function zeroCounts(): ReadinessCounts {
  return Object.fromEntries(READINESS.map(readiness => [readiness, 0])) as ReadinessCounts
}

/** Counts of all monitored tables, for `GET /sdk/freshness/summary`. */
export async function summarize(trx: Transaction, scope: FreshnessScope) {
  const states = await countByState(trx, scope, {})
  const { ready: fresh, not_ready: stale, unknown, error } = countReadiness(states)
  const count = (field: 'count' | 'warning' | 'violated' | 'paused', some = states) =>
    some.reduce((sum, state) => sum + state[field], 0)
  const total = count('count')
  // Without a valid verdict a table is disabled if it is paused, else unknown: in these counts it occurs once.
  const unjudged = states.filter(({ readiness }) => readiness === 'unknown' || readiness === 'error')
  const disabled = count('paused', unjudged)
  const enabled = total - disabled
  return {
    total_tables: total,
    fresh,
    stale,
    unknown,
    error,
    warning: count('warning'),
    violated: count('violated'),
    paused: count('paused'),
    last_check_at: extreme('max', states, 'lastCheckedAt'),
    total_assets: total,
    fresh_count: fresh,
    stale_count: stale,
    unknown_count: enabled - fresh - stale,
    disabled_count: disabled,
    freshness_rate: percentOf(fresh, enabled, 1),
  }
}

/** The extreme of a column over states; null if no state has it. */
function extreme<Field extends 'lastCheckedAt' | 'lastChangeAt' | 'oldestData'>(
  which: 'min' | 'max',
  states: readonly StateCounts[],
  field: Field,
): Date | null {
  const times = states.flatMap(state => state[field]?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math[which](...times))
}

/** What the tables of a source, or some of them, make together. */
export interface FreshnessRollup {
  /** Stale if any table is, and not fresh while any table cannot be read. */
  status: FreshnessStatus
  /** The oldest newest data among tables with a verdict. */
  lastUpdated: Date | null
  /** Its age by now. */
  ageSeconds: number | null
  /** The largest threshold among tables with a verdict. */
  thresholdSeconds: number | null
  /** The last check of any table; before the first, when a schedule was last changed. */
  checkedAt: Date | null
}

/** @param states with what is asked for by `isRolledUp` */
export function rollUp(states: readonly StateCounts[]): FreshnessRollup {
  const judged = states.filter(({ readiness }) => readiness === 'ready' || readiness === 'not_ready')
  const largest = (values: (number | null | undefined)[]) => {
    const numbers = values.flatMap(value => value ?? [])
    return numbers.length === 0 ? null : Math.max(...numbers)
  }
  return {
    status: statusOfCounts(countReadiness(states)),
    lastUpdated: extreme('min', judged, 'oldestData'),
    ageSeconds: largest(judged.map(state => state.ageSeconds)),
    thresholdSeconds: largest(judged.map(state => state.thresholdSeconds)),
    checkedAt: extreme('max', states, 'lastCheckedAt') ?? extreme('max', states, 'lastChangeAt'),
  }
}

/** A source is stale if any table is, and not fresh while any table cannot be read. */
export function statusOfCounts({ ready, not_ready: stale, error }: ReadinessCounts): FreshnessStatus {
  if (stale > 0) return 'stale'
  return error === 0 && ready > 0 ? 'fresh' : 'unknown'
}

/** Sums over the tables in one state. */
export interface StateCounts {
  readiness: Readiness
  count: number
  warning: number
  violated: number
  paused: number
  lastCheckedAt: Date | null
  /** Like all below, only there where it is asked for. */
  lastChangeAt?: Date | null
  oldestData?: Date | null
  /** The age of `oldestData`. */
  ageSeconds?: number | null
  /** The largest threshold. */
  thresholdSeconds?: number | null
}

/** Reading settings of all rows takes most of the time of a count, so they are read only where they are shown. */
const ROLLUP_COLUMNS = `, max(checks.updated_at) as last_change_at, min(${LAST_UPDATED}) as oldest_data,
  cast(extract(epoch from now() - min(${LAST_UPDATED})) as float8) as age_seconds,
  cast(max(case when checks.settings ->> 'monitoringMode' = 'auto_learn'
    then cast(checks.settings ->> 'learnedSlaSeconds' as float8)
    else extract(epoch from cast(checks.settings ->> 'slaThreshold' as interval)) end) as float8) as threshold_seconds`

async function countByState(
  trx: Transaction,
  scope: FreshnessScope,
  filters: FreshnessFilters,
  isRolledUp = false,
) {
  const judged = (status: string, name: string) =>
    `count(*) filter (where checks.status = '${status}' and not ${IS_LAPSED})::int as ${name}`
  return filterSchedules(schedulesWithSources(trx), companyOf(trx), scope, filters)
    .select(
      trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count, ${judged('warning', 'warning')},
        ${judged('fail', 'violated')}, count(*) filter (where not ${IS_WATCHED})::int as paused,
        max(checks.last_checked_at) as last_checked_at ${isRolledUp ? ROLLUP_COLUMNS : ''}`),
    )
    .groupByRaw('1')
    .castTo<StateCounts[]>()
}

/** The part of a query builder that conditions need. */
interface ConditionBuilder {
  where(column: string, value: string): unknown
  whereRaw(condition: string, bindings: readonly unknown[] | Record<string, unknown>): unknown
}

/** A condition on the table of a schedule. Active and inactive tables are separate, because each has a covering index. */
const tableCondition = (condition: string) => `checks.table_id in (
  select t.id from tables t where t.company_id = :companyId and t.is_active and ${condition} union all
  select t.id from tables t where t.company_id = :companyId and not t.is_active and ${condition})`

const TAGGED_SQL =
  'from tags g where g.company_id = ? and g.name = any(cast(? as text[])) and not g.is_refused'

/** A tag on the table, on any of its columns, or on its source, as in asset lists. */
const HAS_TAG_SQL = `(checks.table_id in (select g.table_id ${TAGGED_SQL} and g.table_id is not null)
  or checks.source_id in (select g.source_id ${TAGGED_SQL} and g.table_id is null))`

function filterSchedules<Query extends ConditionBuilder>(
  query: Query,
  companyId: string,
  { sourceId, tableId }: FreshnessScope,
  { schema, tag, search }: FreshnessFilters,
): Query {
  if (sourceId !== undefined) query.where('checks.sourceId', sourceId)
  if (tableId !== undefined) query.where('checks.tableId', tableId)
  if (schema)
    query.whereRaw(tableCondition('t.schema_name = any(cast(:schema as text[]))'), { companyId, schema })
  if (tag) query.whereRaw(HAS_TAG_SQL, [companyId, tag, companyId, tag])
  if (search !== undefined)
    query.whereRaw(tableCondition('position(lower(:search) in t.lower_name) > 0'), { companyId, search })
  return query
}
