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

/** Which monitored tables are asked for. */
export interface Filters {
  status?: Readiness[]
  schema?: string[]
  tag?: string[]
  search?: string
}

/** A source, or one of its tables, whose schedules are asked for; all of the company without one. */
export interface Scope {
  sourceId?: string
  tableId?: string
}

/** The scope that an asset stands for. @throws 404 */
export async function scopeOf(server: Server, trx: Transaction, assetId: string | undefined): Promise<Scope> {
  if (assetId === undefined) return {}
  const { source, table } = await server.plugins.catalog.findAsset(trx, assetId)
  return table ? { tableId: table.id } : { sourceId: source.id }
}

/** How many tables are in each state. */
export type Counts = Record<Readiness, number>

/**
 * One page of monitored tables, newest schedule first, and how many are in each state, whatever state is asked for.
 * At most two statements.
 */
export async function listTables(
  trx: Transaction,
  scope: Scope,
  filters: Filters,
  page: Page,
): Promise<{ tables: JudgedTable[]; counts: Counts; pagination: Pagination }> {
  const counts = await countReadiness(trx, scope, filters)
  const total = (filters.status ?? READINESS).reduce((sum, readiness) => sum + counts[readiness], 0)
  const query = matching(Schedule.query(trx), companyOf(trx), scope, filters)
  if (filters.status) query.whereRaw(`(${READINESS_SQL}) = any(?)`, [filters.status])
  const tables = page.offset < total ? await pageOf(trx, query, page) : []
  return { tables, counts, pagination: pagination(total, page) }
}

/** One page of schedules, newest first. */
export async function listSchedules(
  trx: Transaction,
  scope: Scope,
  { isActive, ...page }: Page & { isActive?: boolean },
): Promise<{ tables: JudgedTable[]; pagination: Pagination }> {
  const query = matching(Schedule.query(trx), companyOf(trx), scope, {})
  if (isActive !== undefined) void query.where('freshness_schedules.isActive', isActive)
  const total = await query.clone().resultSize()
  return { tables: await pageOf(trx, query, page), pagination: pagination(total, page) }
}

const NEWEST_FIRST = newestFirst('freshness_schedules.createdAt', 'freshness_schedules.id')

/** The page is chosen before its tables are joined, so that those of all other pages stay unread. */
async function pageOf(
  trx: Transaction,
  query: ReturnType<typeof Schedule.query>,
  { limit, offset }: Page,
): Promise<JudgedTable[]> {
  const ids = query.select('freshness_schedules.id').orderBy(NEWEST_FIRST).limit(limit).offset(offset)
  return judgedTables(trx).whereIn('freshness_schedules.id', ids).orderBy(NEWEST_FIRST)
}

/** How many monitored tables are in each state, whatever state is asked for. */
export async function countReadiness(trx: Transaction, scope: Scope, filters: Filters): Promise<Counts> {
  const counts = noneCounted()
  for (const { readiness, count } of await tally(trx, scope, filters)) counts[readiness] = count
  return counts
}

/** No table in any state. */
export function noneCounted(): Counts {
  return Object.fromEntries(READINESS.map(readiness => [readiness, 0])) as Counts
}

/** Counts over all monitored tables, for `GET /sdk/freshness/summary`. */
export async function summarize(trx: Transaction, scope: Scope): Promise<object> {
  const states = await tally(trx, scope, {})
  const count = (of: (state: Tally) => number) => states.reduce((sum, state) => sum + of(state), 0)
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

/** What is counted of the tables in one state. */
interface Tally {
  readiness: Readiness
  count: number
  warning: number
  violated: number
  paused: number
  lastCheckAt: Date | null
}

async function tally(trx: Transaction, scope: Scope, filters: Filters): Promise<Tally[]> {
  const slaStatus = (status: string) =>
    `count(*) filter (where sla_status = '${status}' and not ${IS_LAPSED})::int as ${status}`
  return matching(Schedule.query(trx), companyOf(trx), scope, filters)
    .select(
      trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count, ${slaStatus('warning')},
        ${slaStatus('violated')}, count(*) filter (where not ${IS_WATCHED})::int as paused,
        max(last_check_at) as last_check_at`),
    )
    .groupByRaw('1')
    .castTo<Tally[]>()
}

/** The part of a query builder that conditions need. */
interface Conditions {
  where(column: string, value: string): unknown
  whereRaw(condition: string, bindings: readonly unknown[] | Record<string, unknown>): unknown
}

/** A condition on the table of a schedule, of tables in use and others: each has an index that spares reading the rows. */
const ofTable = (condition: string) => `freshness_schedules.table_id in (
  select t.id from tables t where t.company_id = :companyId and t.is_active and ${condition} union all
  select t.id from tables t where t.company_id = :companyId and not t.is_active and ${condition})`

const TAGGED = 'from tags g where g.company_id = ? and g.name = any(cast(? as text[])) and not g.is_refused'

/** A tag of the table itself, of any of its columns, or of its source, as in the lists of assets. */
const HAS_TAG = `(freshness_schedules.table_id in (select g.table_id ${TAGGED} and g.table_id is not null)
  or freshness_schedules.source_id in (select g.source_id ${TAGGED} and g.table_id is null))`

function matching<Query extends Conditions>(
  query: Query,
  companyId: string,
  { sourceId, tableId }: Scope,
  { schema, tag, search }: Filters,
): Query {
  if (sourceId !== undefined) query.where('freshness_schedules.sourceId', sourceId)
  if (tableId !== undefined) query.where('freshness_schedules.tableId', tableId)
  if (schema) query.whereRaw(ofTable('t.schema_name = any(cast(:schema as text[]))'), { companyId, schema })
  if (tag) query.whereRaw(HAS_TAG, [companyId, tag, companyId, tag])
  if (search !== undefined)
    query.whereRaw(ofTable('position(lower(:search) in t.lower_name) > 0'), { companyId, search })
  return query
}
