/** The statement that reads the list of the checks of all kinds. */
import type { Reading } from '../../../server/database/database.ts'
import type { CheckOwner } from '../../../server/http/check-owner.ts'
import { findCheckPage } from './check-list-page.ts'
import type { CheckListQuery, ListStatus } from './check-list-schemas.ts'
import type { CheckDeps } from '../deps.ts'
import type { TypeLabels } from './check-title.ts'
import { alertKindText, NAME_OF_METRIC_ON_TABLE, publicIdText, RESULTS_OF_CHECK } from './list-columns.ts'

/** The last results of a check, as the statement gives each: milliseconds, value, status, low, high. */
type PointRow = [
  at: number,
  value: number | null,
  status: ListStatus,
  low: number | null,
  high: number | null,
]

/** The list on all its pages; beside it the columns of a check, all null where the page has none. */
export type CheckPageRow = { total: number } & (CheckRow | { [K in keyof CheckRow]: null })

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
  lastCheckedAt: Date | null
  filter: string | null
  timeColumn: string | null
  windowSize: string | null
  windowDelay: string | null
  revisit: number | null
  managedBy: CheckOwner | null
  /** The oldest first; the last one also where no points are asked for. */
  results: PointRow[] | null
}

/**
 * The statement that reads one page of the checks of an asset, or of the company, and counts them.
 * @param assetId undefined for the company
 */
export function checkListReading(
  { kinds, labels }: Pick<CheckDeps, 'kinds'> & { labels: TypeLabels },
  companyId: string,
  assetId: string | undefined,
  query: CheckListQuery,
): Reading<CheckPageRow> {
  const typesNamed = query.search === undefined ? [] : labels.typesNamed(query.search)
  const scope = { kinds: [...kinds.keys()], companyId, assetId, typesNamed }
  const { name, text, order, bindings } = findCheckPage(scope, query)
  return {
    name: `checks ${name}`,
    text: `${text} ${rowsText(kinds, order)}`,
    bindings: { ...bindings, points: query.points },
  }
}

/**
 * Reads the rows of `page` in their order. Past the last page one row has the total; where nothing is found there is none. One
 * by one, however many rows a plan for any page reckons with: no page needs all checks, tables, alerts and results.
 */
function rowsText(kinds: CheckDeps['kinds'], order: readonly string[]): string {
  return `select whole.total, c.kind, c.public_id as id, c.table_id, t.qualified_name, t.catalog_name, t.schema_name,
      t.name as of_table, coalesce(c.name, ${NAME_OF_METRIC_ON_TABLE}) as name,
      c.column_name, c.type, c.config ->> 'percentile_value' as percentile, c.severity, c.is_active, c.check_interval, c.has_series,
      c.last_checked_at,
      c.filter, c.time_column, c.window_size, c.window_delay, c.revisit,
      ${statusOf('c.status', 'c.is_learning')} as status,
      (select a.id from alerts a where a.company_id = c.company_id and a.kind = c.alert_kind and a.cause = c.public_id
         and a.status in ('triggered', 'acknowledged', 'snoozed') limit 1) as open_alert_id,
      c.owner_ref as managed_by,
      (select json_agg(json_build_array(floor(extract(epoch from r.at) * 1000), r.value,
           ${statusOf('r.status', 'r.is_learning')}, r.low, r.high) order by r.at, r.id)
       from (${RESULTS_OF_CHECK}
         limit case when c.has_series then greatest(cast(:points as int), 1) else 1 end) r) as results
    from (select max(total) as total from counted having max(total) > 0) whole
    left join page p on true
    left join lateral (
      select *, ${publicIdText(kinds)} as public_id, ${alertKindText(kinds)} as alert_kind,
        group_by_columns = '{}' as has_series
      from checks where company_id = :company_id and id = p.id limit 1) c on true
    left join lateral (select qualified_name, catalog_name, schema_name, name from tables
      where company_id = c.company_id and id = c.table_id limit 1) t on true
    order by ${order.map(column => `p.${column}`).join(', ')}`
}

/** The status of the API in SQL. @param isLearning is evaluated for what passes only */
function statusOf(stored: string, isLearning: string): string {
  return `case ${stored} when 'pass' then case when ${isLearning} then 'learning' else 'passing' end
    when 'warning' then 'warning' when 'fail' then 'failing' when 'error' then 'error' else 'pending' end`
}
