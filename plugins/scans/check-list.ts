import type { Request, Server, ServerRoute } from '@hapi/hapi'
import { validate as isUuid } from 'uuid'
import { formatName } from '../../connectors/catalog.ts'
import { access, caller, routesOf } from '../../server/http/access.ts'
import type { Readings } from '../../server/database/database.ts'
import { param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import type { CheckFeature } from './api.ts'
import { checkListParams, checkListQuery, checkListReply, type ListStatus } from './check-list-schemas.ts'
import type { ListedChecks } from './listed-checks.ts'

interface CheckListQuery extends Page {
  points: number
  kind?: string
  status?: ListStatus[]
  is_active?: boolean
  search?: string
}

/** The last results of a check, as the statement gives each: milliseconds, value, status, low, high. */
type PointRow = [
  at: number,
  value: number | null,
  status: ListStatus,
  low: number | null,
  high: number | null,
]

interface CheckRow {
  kind: string
  id: string
  tableId: string
  qualifiedName: string
  catalogName: string
  schemaName: string
  ofTable: string
  name: string
  columnName: string | null
  type: string
  severity: string | null
  isActive: boolean
  checkInterval: string
  status: ListStatus
  hasSeries: boolean
  openAlertId: string | null
  /** The oldest first; the last one also where no points are asked for. */
  results: PointRow[] | null
}

/** The route that lists the checks of all features. */
export function checkListRoute(server: Server, features: readonly CheckFeature[]): ServerRoute {
  const parts = () => features.flatMap(({ list }) => list ?? [])
  const kinds = () => parts().map(({ kind }) => kind)
  return routesOf('checks')('GET', '/api/v1/sdk/checks/{asset_id}', access.read, {
    id: 'listChecks',
    description: 'List the checks of an asset with their last results',
    notes:
      'Lists the validity rules, metrics and referential checks of a table, or of all tables of a source: active and inactive ones, the newest first. Use it for an overview with small charts; the endpoints of each kind have the configuration.',
    validate: { params: checkListParams, query: checkListQuery(kinds) },
    response: checkListReply,
    app: {
      readings: ({ params: { asset_id: id = '' }, query }, companyId) =>
        isUuid(id) && parts().length > 0
          ? checkListReadings(parts(), companyId, id.toLowerCase(), query as CheckListQuery)
          : undefined,
    },
    handler: request => listChecks(server, parts(), request),
  })
}

async function listChecks(server: Server, parts: readonly ListedChecks[], request: Request) {
  const { companyId } = caller(request)
  const query = queryOf<CheckListQuery>(request)
  if (parts.length === 0) return { data: { items: [] }, pagination: pagination(0, query) }
  const [found, [counted]] = await server.plugins.catalog.readByAsset(
    request,
    param(request, 'asset_id'),
    id => checkListReadings(parts, companyId, id, query),
  )
  const items = found.map(row => presentCheck(row, query.points))
  return { data: { items }, pagination: pagination(counted?.total ?? 0, query) }
}

/** The statements that read one page of the checks of an asset, newest first, and count them. */
function checkListReadings(
  parts: readonly ListedChecks[],
  companyId: string,
  assetId: string,
  query: CheckListQuery,
): Readings<[CheckRow, { total: number }]> {
  const shown = parts.filter(({ kind }) => query.kind === undefined || kind === query.kind)
  const filters = filtersOf(query)
  const name = [...shown.map(({ kind }) => kind), ...filters].join(' ')
  // An asset is a table or a source, and of the other there is nothing.
  const arms = shown.flatMap(part => ['table_id', 'source_id'].map(level => checksOf(part, level, filters)))
  const page = arms.map(
    arm => `(select c.* from (${arm}) c order by c.created_at desc, c.id desc
      limit cast(:limit as bigint) + cast(:offset as bigint))`,
  )
  const results = shown.map(
    part => `when '${part.kind}' then (
      select json_agg(json_build_array(floor(extract(epoch from r.at) * 1000), r.value, ${statusOf('r.status', 'r.is_learning')},
          r.low, r.high) order by r.at, r.id)
      from (${part.results} limit case when c.has_series then greatest(cast(:points as int), 1) else 1 end) r)`,
  )
  const { kind: _kind, ...given } = query
  const bindings = { company_id: companyId, asset: assetId, ...given }
  return [
    {
      name: `checks ${name}`,
      // One by one, however many rows a plan for any page reckons with: no page needs all tables, alerts and results.
      text: `select c.kind, c.id, c.table_id, t.qualified_name, t.catalog_name, t.schema_name, t.name as of_table,
          coalesce(c.name, concat_ws(' of ', c.type, c.column_name) || ' on ' || t.name) as name,
          c.column_name, c.type, c.severity, c.is_active, c.check_interval, c.status, c.has_series,
          (select a.id from alerts a where a.company_id = c.company_id and a.kind = c.alert_kind and a.cause = c.id
             and a.status in ('triggered', 'acknowledged', 'snoozed') limit 1) as open_alert_id,
          case c.kind ${results.join(' ')} end as results
        from (select c.* from (${page.join(' union all ')}) c order by c.created_at desc, c.id desc limit :limit offset :offset) c
        cross join lateral (select qualified_name, catalog_name, schema_name, name from tables
          where company_id = c.company_id and id = c.table_id limit 1) t
        order by c.created_at desc, c.id desc`,
      bindings,
    },
    {
      name: `checks counted ${name}`,
      text: `select cast(n as int) as total from (
          select ${arms.map(arm => `(select count(*) from (${arm}) c)`).join(' + ')} as n) counted where n > 0`,
      bindings,
    },
  ]
}

/** The conditions that a query asks for, by name. */
function filtersOf({ is_active: isActive, search, status }: CheckListQuery): FilterName[] {
  const both = status && status.includes('passing') === status.includes('learning')
  return [
    ...(isActive === undefined ? [] : (['is_active'] as const)),
    ...(search === undefined ? [] : (['search'] as const)),
    ...(status === undefined ? [] : ([both ? 'stored_status' : 'status'] as const)),
  ]
}

type FilterName = 'is_active' | 'search' | 'status' | 'stored_status'

/** A SELECT of the checks of one kind on one level of assets that the filters admit, with their status. */
function checksOf({ kind, alertKind, checks, results }: ListedChecks, level: string, filters: FilterName[]) {
  const isLearning = `(select r.is_learning from (${results} limit 1) r)`
  const conditions: Record<FilterName, string> = {
    is_active: 'c.is_active = :is_active',
    search: `strpos(lower(concat_ws(' ', c.name, c.type, c.column_name, (select t.qualified_name from tables t
      where t.company_id = c.company_id and t.id = c.table_id))), lower(:search)) > 0`,
    status: `${statusOf('c.last_status', isLearning)} = any(cast(:status as text[]))`,
    // Where passing and learning are both asked for, or neither, the results need not be read.
    stored_status: `${statusOf('c.last_status', 'false')} = any(cast(:status as text[]))`,
  }
  const and = filters.map(name => ` and ${conditions[name]}`).join('')
  return `select c.*, '${kind}' as kind, '${alertKind}' as alert_kind, ${statusOf('c.last_status', isLearning)} as status
    from (${checks}) c where c.company_id = :company_id and c.${level} = :asset${and}`
}

/** The status of the API in SQL. @param isLearning is evaluated for what passes only */
function statusOf(stored: string, isLearning: string): string {
  return `case lower(${stored}) when 'pass' then case when ${isLearning} then 'learning' else 'passing' end
    when 'warning' then 'warning' when 'fail' then 'failing' when 'error' then 'error' else 'pending' end`
}

function presentCheck(row: CheckRow, points: number): object {
  const results = (row.results ?? []).map(([at, value, status, low, high]) => ({
    at: new Date(at),
    value,
    status,
    low,
    high,
  }))
  return {
    kind: row.kind,
    id: row.id,
    asset_id: row.tableId,
    qualified_name: row.qualifiedName,
    table_path: formatName([row.catalogName, row.schemaName, row.ofTable]),
    name: row.name,
    column_name: row.columnName,
    type: row.type,
    severity: row.severity,
    is_active: row.isActive,
    interval: row.checkInterval,
    status: row.status,
    // What was computed of the past is no check that ran.
    last_checked_at: row.status === 'pending' ? null : (results.at(-1)?.at ?? null),
    open_alert_id: row.openAlertId,
    points: row.hasSeries && points > 0 ? results : [],
  }
}
