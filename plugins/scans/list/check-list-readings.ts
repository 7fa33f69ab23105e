/** The statements that read the list of the checks of all features. */
import type { Readings } from '../../../server/database/database.ts'
import type { Page } from '../../../server/http/page.ts'
import type { CheckOrder, CheckSort, ListStatus } from './check-list-schemas.ts'
import type { ListedChecks } from './listed-checks.ts'

export interface CheckListQuery extends Page {
  points: number
  kind?: string
  status?: ListStatus[]
  is_active?: boolean
  search?: string
  sort: CheckSort
  order: CheckOrder
}

/** The last results of a check, as the statement gives each: milliseconds, value, status, low, high. */
type PointRow = [
  at: number,
  value: number | null,
  status: ListStatus,
  low: number | null,
  high: number | null,
]

export interface CheckRow {
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

/**
 * The statements that read one page of the checks of an asset, or of the company, and count them. The page is chosen by
 * what indexes hold; only its own rows are read.
 * @param assetId undefined for the company
 */
export function checkListReadings(
  parts: readonly ListedChecks[],
  companyId: string,
  assetId: string | undefined,
  query: CheckListQuery,
): Readings<[CheckRow, { total: number }]> {
  const shown = parts.filter(({ kind }) => query.kind === undefined || kind === query.kind)
  const words = query.search?.split('.') ?? []
  const filters = conditionsOf(query, words)
  const scope = assetId === undefined ? 'company' : 'asset'
  // PostgreSQL takes 63 characters.
  const name = [scope, query.kind ?? 'all', ...filters.names].join(' ')
  // An asset is a table or a source, and of the other there is nothing.
  const levels = assetId === undefined ? [''] : [' and c.table_id = :asset', ' and c.source_id = :asset']
  const arms = shown.flatMap(part => levels.map(level => ({ ...part, where: level + filters.text })))
  const order = orderOf(query)
  const { kind: _kind, sort: _sort, order: _order, ...given } = query
  const bindings = { company_id: companyId, asset: assetId, ...given, end: words.slice(-2).join('.') }
  return [
    {
      name: `checks ${order.name} ${name}`,
      text: namedBy(words) + pageText(shown, arms, order.columns),
      bindings,
    },
    {
      name: `checks counted ${name}`,
      text: `${namedBy(words)}select cast(n as int) as total from (select ${arms
        .map(({ checks, where }) => `(select count(*) from (${checks}) c where ${OF_COMPANY}${where})`)
        .join(' + ')} as n) counted where n > 0`,
      bindings,
    },
  ]
}

const OF_COMPANY = 'c.company_id = :company_id'

/** A check's part of the statement, with the conditions that choose from it. */
interface ListArm extends ListedChecks {
  where: string
}

function pageText(shown: readonly ListedChecks[], arms: readonly ListArm[], order: string): string {
  const chosen = arms.map(
    ({ kind, checks, where }) => `(select '${kind}' as kind, c.created_at, c.number, ${RANK} as rank
      from (${checks}) c where ${OF_COMPANY}${where} order by ${order} limit cast(:limit as bigint) + cast(:offset as bigint))`,
  )
  const rows = shown.map(
    ({
      kind,
      alertKind,
      checks,
    }) => `select c.*, '${kind}' as kind, '${alertKind}' as alert_kind, ${STATUS} as status
      from (${checks}) c where p.kind = '${kind}' and ${OF_COMPANY} and c.number = p.number`,
  )
  const results = shown.map(
    part => `when '${part.kind}' then (
      select json_agg(json_build_array(floor(extract(epoch from r.at) * 1000), r.value, ${statusOf('r.status', 'r.is_learning')},
          r.low, r.high) order by r.at, r.id)
      from (${part.results} limit case when c.has_series then greatest(cast(:points as int), 1) else 1 end) r)`,
  )
  // One by one, however many rows a plan for any page reckons with: no page needs all checks, tables, alerts and results.
  return `select c.kind, c.id, c.table_id, t.qualified_name, t.catalog_name, t.schema_name, t.name as of_table,
      coalesce(c.name, concat_ws(' of ', c.type, c.column_name) || ' on ' || t.name) as name,
      c.column_name, c.type, c.severity, c.is_active, c.check_interval, c.status, c.has_series,
      (select a.id from alerts a where a.company_id = c.company_id and a.kind = c.alert_kind and a.cause = c.id
         and a.status in ('triggered', 'acknowledged', 'snoozed') limit 1) as open_alert_id,
      case c.kind ${results.join(' ')} end as results
    from (select c.* from (${chosen.join(' union all ')}) c order by ${order}, kind limit :limit offset :offset) p
    cross join lateral (select * from (${rows.join(' union all ')}) c limit 1) c
    cross join lateral (select qualified_name, catalog_name, schema_name, name from tables
      where company_id = c.company_id and id = c.table_id limit 1) t
    order by ${order.replaceAll('c.', 'p.')}, p.kind`
}

/** The status of the API in SQL. @param isLearning is evaluated for what passes only */
function statusOf(stored: string, isLearning: string): string {
  return `case when ${stored} in ('pass', 'PASS') then case when ${isLearning} then 'learning' else 'passing' end
    when ${stored} in ('warning', 'WARNING') then 'warning' when ${stored} in ('fail', 'FAIL') then 'failing'
    when ${stored} in ('error', 'ERROR') then 'error' else 'pending' end`
}

const STATUS = statusOf('c.last_status', 'c.is_learning')

/** Statuses in the order in which they need attention. */
const RANK = `case when c.last_status in ('fail', 'FAIL') then 1 when c.last_status in ('error', 'ERROR') then 2
  when c.last_status in ('warning', 'WARNING') then 3 when c.last_status is null then 5 when c.is_learning then 4 else 6 end`

/** Where the statuses are equal, the newest come first. */
function orderOf({ sort, order }: CheckListQuery): { name: string; columns: string } {
  const newest = (direction: CheckOrder) => `c.created_at ${direction}, c.number ${direction}`
  if (sort === 'created_at') return { name: order, columns: newest(order) }
  const direction = order === 'desc' ? 'asc' : 'desc'
  return { name: `status ${order}`, columns: `rank ${direction}, ${newest('desc')}` }
}

/** The conditions that a query asks for, and their names. */
function conditionsOf(query: CheckListQuery, words: readonly string[]): { names: string[]; text: string } {
  const conditions = {
    ...(query.is_active !== undefined && { active: 'c.is_active = :is_active' }),
    ...(query.status && { status: `${STATUS} = any(cast(:status as text[]))` }),
    ...(query.search !== undefined && { [`search ${Math.min(words.length, 3)}`]: SEARCH_CONDITION }),
  }
  const text = Object.values(conditions).map(condition => ` and ${condition}`)
  return { names: Object.keys(conditions), text: text.join('') }
}

const TERM = '(select lower(cast(:search as text)))'

/** A term is in the name, the type or the column, or it names tables or sources, as in the search for names. */
const SEARCH_CONDITION = `(strpos(c.search_text, ${TERM}) > 0 or c.table_id in (select id from named_tables)
  or c.source_id in (select id from named_sources))`

/** The tables and sources that a term names, found once for all kinds of checks; nothing without a term. */
function namedBy(words: readonly string[]): string {
  if (words.length === 0) return ''
  const name =
    words.length === 1
      ? `strpos(t.lower_name, ${TERM}) > 0`
      : `strpos(lower(t.schema_name) || '.' || t.lower_name, (select lower(cast(:end as text)))) > 0`
  // Each has an index of its own; those that are gone are few.
  const matching = ['t.is_active', 'not t.is_active']
    .map(isActive => `select t.id from tables t where t.company_id = :company_id and ${isActive} and ${name}`)
    .join(' union all ')
  const tables =
    words.length < 3
      ? matching
      : `select t.id from tables t where t.company_id = :company_id and t.id in (${matching})
          and strpos(lower(t.qualified_name), ${TERM}) > 0`
  return `with named_tables as materialized (${tables}), named_sources as materialized (
    select s.id from sources s where s.company_id = :company_id and strpos(lower(s.name), ${TERM}) > 0) `
}
