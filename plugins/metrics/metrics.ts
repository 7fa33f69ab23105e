import type { Server } from '@hapi/hapi'
import type { QueryBuilder } from 'objection'
import { countByStatus, findByPublicId, IS_OF_ASSET, whereAsset } from '../../server/database/asset-rows.ts'
import type { Transaction } from '../../server/database/database.ts'
import { rescheduled } from '../../server/database/due.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { joinedPageOf, newestFirst, type Page } from '../../server/http/page.ts'
import { percentOf } from '../../server/percent.ts'
import type { Asset } from '../catalog/api.ts'
import type { ListedChecks } from '../scans/api.ts'
import { causeOf } from './alert.ts'
import { metricFields, type MetricPatch } from './fields.ts'
import { clearAlertedGroups } from './groups.ts'
import { Metric, NamedMetric } from './models.ts'
import { relearn } from './states.ts'
import { lockMetric } from './locks.ts'

/** What a metric wants measured of its table. */
export function checkSpecOf(metric: Metric) {
  return {
    type: metric.metricType,
    config: metric.config,
    ...(metric.columnName !== null && { column: metric.columnName }),
    ...(metric.groupByColumns.length > 0 && { groupBy: metric.groupByColumns }),
  }
}

/**
 * Changes what is given. Another interval makes the baseline be read from history again. A metric that is switched
 * off closes its alert, and what is being measured for it is not recorded.
 */
export async function patchMetric(server: Server, trx: Transaction, metric: Metric, patch: MetricPatch) {
  // Once it is locked, a scan of it has been recorded, or will be by what is changed here.
  if (!(await lockMetric(trx, { internalId: metric.internalId }))) return undefined
  await Metric.query(trx)
    .findById(metric.internalId)
    .patch(rescheduled(columnsOf<Metric>(metricFields, patch)))
  if (patch.capture_interval !== undefined) await relearn(trx, metric)
  if (patch.is_active === false) await resolveAlerts(server, trx, metric)
  return metricsWithNames(trx).findById(metric.internalId).throwIfNotFound()
}

/** Removes a metric with all that was captured of it, and closes its alerts. */
export async function removeMetric(server: Server, trx: Transaction, metric: Metric): Promise<void> {
  // Locks its row before its alerts, as recording captures does.
  await lockMetric(trx, { internalId: metric.internalId })
  await resolveAlerts(server, trx, metric)
  await Metric.query(trx).deleteById(metric.internalId)
}

async function resolveAlerts(server: Server, trx: Transaction, metric: Metric): Promise<void> {
  const causes = [causeOf(metric), ...(await clearAlertedGroups(trx, metric))]
  await server.plugins.alerts.resolveOrphaned(trx, { type: 'metric_anomaly', causes })
}

/** A metric of an asset by `m_<uuid>` or integer id. */
export function findMetric(trx: Transaction, asset: Asset, metricId: string) {
  const columns = { prefix: 'm_', uuid: 'metrics.id', number: 'metrics.internalId' }
  return findByPublicId(whereAsset(metricsWithNames(trx), Metric, asset), columns, metricId)
}

export type MetricFilter = Page & { metric_type?: string; is_active?: boolean }

/** One page of an asset's metrics, newest first, and how many there are. */
export async function listMetrics(trx: Transaction, asset: Asset, filter: MetricFilter) {
  const query = whereAsset(Metric.query(trx), Metric, asset).orderBy(NEWEST_FIRST)
  if (filter.metric_type !== undefined) void query.where('metrics.metricType', filter.metric_type)
  if (filter.is_active !== undefined) void query.where('metrics.isActive', filter.is_active)
  return joinedPageOf(query, filter, page => metricsWithNames(trx, page).orderBy(NEWEST_FIRST))
}

const NEWEST_FIRST = newestFirst('metrics.createdAt', 'metrics.internalId')

/** How the active metrics of an asset did last. */
export async function summarize(trx: Transaction, asset: Asset): Promise<object> {
  const snapshots = `(select count(*)::int from metric_snapshots s where s.company_id = :companyId
    and s.metric_id in (select internal_id from metrics where ${IS_OF_ASSET})) as snapshots`
  const counted = await countByStatus<{ snapshots: number }>(trx, Metric, 'last_status', asset, [snapshots])
  const { total, active, pass, warning, fail, error } = counted
  const judged = pass + warning + fail + error
  return {
    total_metrics: total,
    active_metrics: active,
    total_checks: counted.snapshots,
    passing: pass,
    failing: fail,
    warning,
    error,
    health_percentage: judged === 0 ? 100 : percentOf(pass, judged),
  }
}

/** Metrics with the names of their tables. @param some these metrics only */
export function metricsWithNames(trx: Transaction, some?: QueryBuilder<Metric>) {
  const query = NamedMetric.query(trx)
  return (some ? query.from(some.as('metrics')) : query)
    .innerJoin('tables', 'tables.id', 'metrics.tableId')
    .innerJoin('sources', 'sources.id', 'metrics.sourceId')
    .select(
      'metrics.*',
      'tables.catalogName',
      'tables.schemaName',
      'tables.name as ofTable',
      'sources.internalId as assetNumber',
    )
}

/**
 * Metrics in the list of all checks. One by groups has a series for each group, hence none of its own; it is learning
 * while all groups of its last capture are.
 */
export const listedMetrics: ListedChecks = {
  kind: 'metric',
  alertKind: 'metric_anomaly',
  checks: `select company_id, source_id, table_id, created_at, internal_id as number, 'm_' || id as id,
      cast(null as text) as name, column_name, metric_type as type, cast(null as text) as severity, is_active, check_interval,
      last_status, is_learning, status_rank, search_text, table_path, group_by_columns = '{}' as has_series
    from metrics`,
  results: `select r.id, r.captured_at as at, r.value, r.status, r.expected_range_low as low, r.expected_range_high as high,
      r.is_learning and (c.has_series or not exists (
        select from metric_snapshots o where o.company_id = r.company_id and o.metric_id = r.metric_id
          and o.captured_at = r.captured_at and not o.is_learning)) as is_learning
    from metric_snapshots r where r.company_id = c.company_id and r.metric_id = c.number
    order by r.captured_at desc, r.id desc`,
}
