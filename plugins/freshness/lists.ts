import type { Server } from '@hapi/hapi'
import { companyOf, type Transaction } from '../../server/database/database.ts'
import { newestFirst, type Page, pagination, type Pagination } from '../../server/http/page.ts'
import { Schedule } from './models.ts'
import {
  IS_LAPSED,
  IS_WATCHED,
  judgedTables,
  READINESS,
  READINESS_SQL,
  type JudgedTable,
  type Readiness,
} from './readiness.ts'

export interface FreshnessFilters {
  status?: Readiness[]
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
  server: Server,
  trx: Transaction,
  assetId: string | undefined,
): Promise<FreshnessScope> {
  if (assetId === undefined) return {}
  const { source, table } = await server.plugins.catalog.findAsset(trx, assetId)
  return table ? { tableId: table.id } : { sourceId: source.id }
}

/** Number of tables in each state. */
export type ReadinessCounts = Record<Readiness, number>

/**
 * One page of monitored tables, newest schedule first, and the number in each state regardless of the filter on
 * `status`. At most two statements.
 */
export async function listTables(
  trx: Transaction,
  scope: FreshnessScope,
  filters: FreshnessFilters,
  page: Page,
): Promise<{ tables: JudgedTable[]; counts: ReadinessCounts; pagination: Pagination }> {
  const counts = await countReadiness(trx, scope, filters)
  const total = (filters.status ?? READINESS).reduce((sum, readiness) => sum + counts[readiness], 0)
  const query = filterSchedules(Schedule.query(trx), companyOf(trx), scope, filters)
  if (filters.status) query.whereRaw(`(${READINESS_SQL}) = any(?)`, [filters.status])
  const tables = page.offset < total ? await readPage(trx, query, page) : []
  return { tables, counts, pagination: pagination(total, page) }
}

/** One page of schedules, newest first. */
export async function listSchedules(
  trx: Transaction,
  scope: FreshnessScope,
  { isActive, ...page }: Page & { isActive?: boolean },
): Promise<{ tables: JudgedTable[]; pagination: Pagination }> {
  const query = filterSchedules(Schedule.query(trx), companyOf(trx), scope, {})
  if (isActive !== undefined) void query.where('freshness_schedules.isActive', isActive)
  const total = await query.clone().resultSize()
  return { tables: await readPage(trx, query, page), pagination: pagination(total, page) }
}

const NEWEST_FIRST = newestFirst('freshness_schedules.createdAt', 'freshness_schedules.id')

/** Chooses the page before the join, so that tables of other pages are not read. */
async function readPage(
  trx: Transaction,
  query: ReturnType<typeof Schedule.query>,
  { limit, offset }: Page,
): Promise<JudgedTable[]> {
  const ids = query.select('freshness_schedules.id').orderBy(NEWEST_FIRST).limit(limit).offset(offset)
  return judgedTables(trx).whereIn('freshness_schedules.id', ids).orderBy(NEWEST_FIRST)
}

/** Number of monitored tables in each state, regardless of the filter on `status`. */
export async function countReadiness(
  trx: Transaction,
  scope: FreshnessScope,
  filters: FreshnessFilters,
): Promise<ReadinessCounts> {
  const counts = zeroCounts()
  for (const { readiness, count } of await countByState(trx, scope, filters)) counts[readiness] = count
  return counts
}

export function zeroCounts(): ReadinessCounts {
  return Object.fromEntries(READINESS.map(readiness => [readiness, 0])) as ReadinessCounts
}

/** Counts of all monitored tables, for `GET /sdk/freshness/summary`. */
export async function summarize(trx: Transaction, scope: FreshnessScope): Promise<object> {
  const states = await countByState(trx, scope, {})
  const count = (of: (state: StateCounts) => number) => states.reduce((sum, state) => sum + of(state), 0)
  const inState = (readiness: Readiness) => count(state => (state.readiness === readiness ? state.count : 0))
  const checks = states.flatMap(({ lastCheckAt }) => lastCheckAt ?? [])
  return {
    total_tables: count(state => state.count),
    fresh: inState('ready'),
    stale: inState('not_ready'),
    unknown: inState('unknown'),
    error: inState('error'),
    warning: count(state => state.warning),
    violated: count(state => state.violated),
    paused: count(state => state.paused),
    last_check_at: checks.sort((a, b) => b.getTime() - a.getTime())[0] ?? null,
  }
}

interface StateCounts {
  readiness: Readiness
  count: number
  warning: number
  violated: number
  paused: number
  lastCheckAt: Date | null
}

async function countByState(
  trx: Transaction,
  scope: FreshnessScope,
  filters: FreshnessFilters,
): Promise<StateCounts[]> {
  const slaStatus = (status: string) =>
    `count(*) filter (where sla_status = '${status}' and not ${IS_LAPSED})::int as ${status}`
  return filterSchedules(Schedule.query(trx), companyOf(trx), scope, filters)
    .select(
      trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count, ${slaStatus('warning')},
        ${slaStatus('violated')}, count(*) filter (where not ${IS_WATCHED})::int as paused,
        max(last_check_at) as last_check_at`),
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
const tableCondition = (condition: string) => `freshness_schedules.table_id in (
  select t.id from tables t where t.company_id = :companyId and t.is_active and ${condition} union all
  select t.id from tables t where t.company_id = :companyId and not t.is_active and ${condition})`

const TAGGED_SQL =
  'from tags g where g.company_id = ? and g.name = any(cast(? as text[])) and not g.is_refused'

/** A tag on the table, on any of its columns, or on its source, as in asset lists. */
const HAS_TAG_SQL = `(freshness_schedules.table_id in (select g.table_id ${TAGGED_SQL} and g.table_id is not null)
  or freshness_schedules.source_id in (select g.source_id ${TAGGED_SQL} and g.table_id is null))`

function filterSchedules<Query extends ConditionBuilder>(
  query: Query,
  companyId: string,
  { sourceId, tableId }: FreshnessScope,
  { schema, tag, search }: FreshnessFilters,
): Query {
  if (sourceId !== undefined) query.where('freshness_schedules.sourceId', sourceId)
  if (tableId !== undefined) query.where('freshness_schedules.tableId', tableId)
  if (schema)
    query.whereRaw(tableCondition('t.schema_name = any(cast(:schema as text[]))'), { companyId, schema })
  if (tag) query.whereRaw(HAS_TAG_SQL, [companyId, tag, companyId, tag])
  if (search !== undefined)
    query.whereRaw(tableCondition('position(lower(:search) in t.lower_name) > 0'), { companyId, search })
  return query
}
