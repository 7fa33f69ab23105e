import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import { pagination, type Page, type Pagination } from '../../server/page.ts'
import { shownThreshold } from './judge.ts'
import { monitoredTables, Schedule, type MonitoredTable } from './models.ts'
import { READINESS, READINESS_SQL, type Readiness } from './present.ts'

/** Which monitored tables are asked for. */
export interface Filters {
  status?: string[]
  schema?: string[]
  tag?: string[]
  search?: string
}

/** A source, or one of its tables, whose schedules are asked for; all of the company without one. */
export interface Scope {
  sourceId?: string
  tableId?: string
}

/** One page of monitored tables, newest schedule first. */
export async function listTables(
  trx: Transaction,
  scope: Scope,
  filters: Filters,
  page: Page,
): Promise<{ tables: MonitoredTable[]; pagination: Pagination }> {
  const query = filtered(monitoredTables(trx), scope, filters)
  if (filters.status) void query.whereRaw(`(${READINESS_SQL}) = any(?)`, [filters.status])
  const { results, total } = await newestFirst(query, page)
  return { tables: results, pagination: pagination(total, page) }
}

/** One page of schedules, newest first. */
export async function listSchedules(
  trx: Transaction,
  scope: Scope,
  { isActive, ...page }: Page & { isActive?: boolean },
): Promise<{ tables: MonitoredTable[]; pagination: Pagination }> {
  const query = filtered(monitoredTables(trx), scope, {})
  if (isActive !== undefined) void query.where('freshness_schedules.isActive', isActive)
  const { results, total } = await newestFirst(query, page)
  return { tables: results, pagination: pagination(total, page) }
}

/** How many monitored tables are in each state, whatever state is asked for. */
export async function countReadiness(
  trx: Transaction,
  scope: Scope,
  filters: Filters,
): Promise<Record<Readiness, number>> {
  const counted = await filtered(
    Schedule.query(trx).join('tables as t', 't.id', 'freshness_schedules.tableId'),
    scope,
    filters,
  )
    .select(trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count`))
    .groupByRaw('1')
    .castTo<{ readiness: Readiness; count: number }[]>()
  const counts = noneReady()
  for (const { readiness, count } of counted) counts[readiness] = count
  return counts
}

function noneReady(): Record<Readiness, number> {
  return Object.fromEntries(READINESS.map(readiness => [readiness, 0])) as Record<Readiness, number>
}

/** Counts over all monitored tables, for `GET /sdk/freshness/summary`. */
export async function summarize(trx: Transaction, scope: Scope): Promise<object> {
  const { ready, not_ready, unknown, error } = await countReadiness(trx, scope, {})
  const [more] = await filtered(Schedule.query(trx), scope, {})
    .select(
      trx.raw(`count(*) filter (where sla_status = 'warning')::int as warning,
        count(*) filter (where sla_status = 'violated')::int as violated, max(last_check_at) as last_check_at`),
    )
    .castTo<{ warning: number; violated: number; lastCheckAt: Date | null }[]>()
  return {
    total_tables: ready + not_ready + unknown + error,
    fresh: ready,
    stale: not_ready,
    unknown,
    error,
    warning: more?.warning ?? 0,
    violated: more?.violated ?? 0,
    last_check_at: more?.lastCheckAt ?? null,
  }
}

function ofSource({ ready, not_ready: stale, unknown, error }: Record<Readiness, number>): object {
  const total = ready + stale + unknown + error
  const message =
    stale > 0
      ? `${stale} of ${total} monitored tables are stale`
      : ready > 0
        ? `${ready} of ${total} monitored tables are fresh, none is stale`
        : 'Nothing is known of the monitored tables yet'
  return {
    freshness_status: stale > 0 ? 'stale' : ready > 0 ? 'fresh' : 'unknown',
    freshness_message: message,
    freshness_summary: `${ready} ready, ${stale} not ready, ${unknown} unknown, ${error} error`,
  }
}

/** What the records of assets say of freshness. */
export const assetFacts: Parameters<Server['plugins']['catalog']['describeAssets']>[0] = {
  async sources(trx, sources) {
    const ids = sources.map(({ id }) => id)
    const counted = await Schedule.query(trx)
      .whereIn('freshness_schedules.sourceId', ids)
      .select(
        'freshness_schedules.sourceId as id',
        trx.raw(`${READINESS_SQL} as readiness, count(*)::int as count`),
      )
      .groupByRaw('1, 2')
      .castTo<{ id: string; readiness: Readiness; count: number }[]>()
    const counts = new Map<string, Record<Readiness, number>>()
    for (const { id, readiness, count } of counted) {
      const known = counts.get(id) ?? noneReady()
      counts.set(id, { ...known, [readiness]: count })
    }
    return new Map([...counts].map(([id, known]) => [id, ofSource(known)]))
  },
  async tables(trx, tableIds) {
    const schedules = await Schedule.query(trx).whereIn('tableId', [...tableIds])
    return new Map(
      schedules.map(schedule => [
        schedule.tableId,
        {
          freshness: {
            status: schedule.status,
            last_updated: schedule.lastUpdated,
            sla_threshold: shownThreshold(schedule),
            checked_at: schedule.lastCheckAt,
          },
        },
      ]),
    )
  },
}

/** The part of a query builder that conditions need. */
interface Conditions {
  where(column: string, value: string): unknown
  whereIn(column: string, values: string[]): unknown
  whereRaw(condition: string, bindings: readonly unknown[]): unknown
}

/** A tag of the table itself, of any of its columns, or of its source, as in the lists of assets. */
const HAS_TAG = `exists (select from tags g where g.company_id = freshness_schedules.company_id
  and g.source_id = freshness_schedules.source_id and (g.table_id is null or g.table_id = t.id)
  and g.name = any(cast(? as text[])) and not g.is_refused)`

function filtered<Query extends Conditions>(
  query: Query,
  { sourceId, tableId }: Scope,
  filters: Filters,
): Query {
  if (sourceId !== undefined) query.where('freshness_schedules.sourceId', sourceId)
  if (tableId !== undefined) query.where('freshness_schedules.tableId', tableId)
  if (filters.schema) query.whereIn('t.schemaName', filters.schema)
  if (filters.tag) query.whereRaw(HAS_TAG, [filters.tag])
  if (filters.search !== undefined)
    query.whereRaw('position(lower(?) in lower(t.name)) > 0', [filters.search])
  return query
}

function newestFirst(query: ReturnType<typeof monitoredTables>, { limit, offset }: Page) {
  return query
    .orderBy([
      { column: 'freshness_schedules.createdAt', order: 'desc' },
      { column: 'freshness_schedules.id', order: 'desc' },
    ])
    .range(offset, offset + limit - 1)
    .castTo<{ results: MonitoredTable[]; total: number }>()
}
