import { explanation, formatFinding } from '../../checks/explanation.ts'
import { formatName } from '../../connectors/catalog.ts'
import { presentFields } from '../../server/http/fields.ts'
import { presentBucket } from '../../server/http/check-schemas.ts'
import { failingRunOf, secondsOf, seriesInterval, type CheckResult } from '../checks/kit.ts'
import { metricFields } from './fields.ts'
import { findingOf } from './finding.ts'
import { detailsOf, type Breach, type Metric, type NamedMetric } from './models.ts'
import { changeAgainstOf, describeAllowed, describeExcess, detectionOf } from './thresholds.ts'

/** The record of a metric. */
export function presentMetric(metric: NamedMetric) {
  return {
    id: `m_${metric.uuid}`,
    internal_id: Number(metric.id),
    asset_id: Number(metric.sourceNumber),
    asset_public_id: metric.sourceId,
    table_path: formatName([metric.catalogName, metric.schemaName, metric.ofTable]),
    column_name: metric.columnName,
    metric_type: metric.type,
    ...metric.config,
    ...presentFields(metricFields, metric),
    change_against: changeAgainstOf(metric),
    detection: detectionOf(metric),
    direction: metric.direction ?? 'both',
    consecutive: metric.consecutive ?? 1,
    failing_runs: metric.failingRuns,
    last_status: metric.status?.toUpperCase() ?? null,
    created_at: metric.createdAt,
  }
}

/** The record of a snapshot; groups only where the metric has them. */
export function presentSnapshot(result: CheckResult, metric: Metric) {
  const { basis, isAnomaly, breach } = detailsOf(result)
  return {
    id: Number(result.id),
    metric_definition_id: Number(result.checkId),
    ...(Object.keys(result.series).length > 0 && { group_values: result.series }),
    value: result.value,
    captured_at: result.at,
    ...presentBucket(result),
    is_anomaly: isAnomaly,
    z_score: result.zScore ?? 0,
    status: result.status.toUpperCase(),
    expected_value: result.expected,
    expected_range_low: result.low,
    expected_range_high: result.high,
    judged_by: basis && (basis.kind === 'step' ? ('change' as const) : ('value' as const)),
    breach: breach && presentBreach(metric.type, breach),
    failing_run: failingRunOf(result),
    explanation: explainSnapshot(metric, result),
    learning: result.isLearning,
    is_backfilled: result.isBackfilled ?? false,
    is_confirmed: result.isConfirmed ?? false,
    error_message: result.errorMessage,
  }
}

/** The sentence that an alert of this value has or would have; null without a value. */
function explainSnapshot(metric: Metric, result: CheckResult): string | null {
  const { type } = metric
  const { value, at, low, high } = result
  if (value === null) return null
  const { basis, breach } = detailsOf(result)
  if (breach || (basis === null && low !== null && high !== null))
    return formatFinding(findingOf(metric, result))
  return explanation(type, { at: secondsOf(at), value }, { basis, low, high }, seriesInterval(metric))
}

/** A broken threshold, in numbers and in words. */
export function presentBreach(type: string, breach: Breach) {
  const { threshold, limit, excess, before = null } = breach
  return {
    threshold,
    limit,
    excess,
    before,
    allowed: describeAllowed(type, breach),
    beyond: describeExcess(type, breach),
  }
}
