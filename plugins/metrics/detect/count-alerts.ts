import { SENSITIVITIES } from '../../../checks/detector.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { MetricAlerts, MetricAlertsRequest } from '../api.ts'
import { countAnomalies } from '../replay.ts'
import { detectionOf, NO_THRESHOLDS, type MetricSettings } from '../thresholds.ts'

interface ScoredMetric extends Pick<MetricAlerts, 'tablePath' | 'columnName' | 'metricType' | 'sensitivity'> {
  /** What its settings name. */
  settings: Partial<MetricSettings>
  /** Epoch seconds, z-score, whether it was learning, and whether it broke a threshold. */
  points: [number, number, boolean, boolean][]
}

/** Snapshots that are read of one metric: two months of hourly ones. */
const MAX_POINTS = 1_500
/** Metrics that are read of one source. */
const MAX_METRICS = 1_000

/** Counts the alerts of active metrics from their stored snapshots, at their own and at other sensitivities. */
export async function countAlerts(
  trx: Transaction,
  { sourceId, tableId, days }: MetricAlertsRequest,
): Promise<MetricAlerts[]> {
  const metrics = await rows<ScoredMetric>(
    trx,
    `select concat_ws('.', t.schema_name, t.name) as table_path, m.column_name, m.type as metric_type, m.sensitivity, m.settings, s.points
     from checks m join tables t on t.company_id = m.company_id and t.id = m.table_id and t.is_active
     cross join lateral (
       select jsonb_agg(jsonb_build_array(extract(epoch from at), coalesce(z_score, 0), is_learning, is_breach)) as points
       from (select at, z_score, is_learning, coalesce(details -> 'breach' <> 'null', false) as is_breach from check_results s
         where s.company_id = m.company_id and s.check_id = m.id and s.status <> 'error'
           and not s.is_backfilled and s.at > now() - make_interval(days => :days)
         order by at desc limit :maxPoints) newest) s
     where m.company_id = :companyId and m.kind = 'metric' and m.source_id = :sourceId and m.is_active
       and (cast(:tableId as uuid) is null or m.table_id = :tableId) and s.points is not null
     order by t.qualified_name, m.id limit :maxMetrics`,
    {
      companyId: companyOf(trx),
      sourceId,
      tableId: tableId ?? null,
      days,
      maxPoints: MAX_POINTS,
      maxMetrics: MAX_METRICS,
    },
  )
  return metrics.map(({ points, settings: own, ...metric }) => {
    const { metricType: type, sensitivity: chosen } = metric
    // The interval decides what a change is compared with, which the snapshots have been.
    const settings = { ...NO_THRESHOLDS, ...own, type, sensitivity: chosen, checkInterval: 'daily' as const }
    const scored = points.map(([at, zScore, isLearning, isBreach]) => ({
      ...{ at, zScore, isLearning, isBreach },
      value: 0,
    }))
    const alertsAt = (sensitivity: number) => ({
      sensitivity,
      alerts: countAnomalies(scored, sensitivity, settings).alerts,
    })
    return {
      ...metric,
      isByLimits: detectionOf(settings) === 'threshold',
      captures: points.length,
      alerts: alertsAt(metric.sensitivity).alerts,
      bySensitivity: SENSITIVITIES.map(alertsAt),
    }
  })
}
