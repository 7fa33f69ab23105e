import { IS_OF_ASSET } from '../../server/database/asset-rows.ts'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { Page } from '../../server/http/page.ts'
import { percentOf } from '../../server/percent.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { Asset } from '../catalog/api.ts'
import type { CheckChange, CheckTotals } from '../checks/api.ts'
import type { MetricDeps } from './deps.ts'
import { metricFields, type MetricPatch } from './fields.ts'
import type { Metric } from './models.ts'
import { hasThreshold, requireSensibleThresholds } from './thresholds.ts'

/**
 * What a patch changes. Another interval makes the baseline be read from the results again.
 * @throws 400 `VALIDATION_ERROR` for thresholds that make no sense together
 */
export function changeOf(
  { types }: Pick<MetricDeps, 'types'>,
  metric: Metric,
  patch: MetricPatch,
): CheckChange<Metric> {
  const columns = columnsOf<Metric>(metricFields, patch)
  const type = types.has(metric.type) ? types.get(metric.type) : undefined
  const left = { ...metric, ...columns }
  // What is only about thresholds goes with the last of them.
  if (patch.change_against === undefined && left.maxChangePercent === null) columns.changeAgainst = null
  if (patch.detection === undefined && !hasThreshold(left)) columns.detection = null
  requireSensibleThresholds(type, { ...left, ...columns })
  return { columns, isRelearned: patch.capture_interval !== undefined }
}

export type MetricFilter = Page & { metric_type?: string }

/** How the active metrics of an asset did last, and how many snapshots there are of its metrics. */
export async function presentSummary(totals: CheckTotals, trx: Transaction, { source, table }: Asset) {
  const { total, active, pass, warning, fail, error } = totals
  const [counted] = await rows<{ snapshots: number }>(
    trx,
    `select count(*)::int as snapshots from check_results r where r.company_id = :companyId
       and r.check_id in (select id from checks where kind = 'metric' and ${IS_OF_ASSET})`,
    { companyId: companyOf(trx), sourceId: source.id, tableId: table?.id ?? null },
  )
  const judged = pass + warning + fail + error
  return {
    total_metrics: total,
    active_metrics: active,
    total_checks: counted!.snapshots,
    passing: pass,
    failing: fail,
    warning,
    error,
    health_percentage: judged === 0 ? 100 : percentOf(pass, judged),
  }
}
