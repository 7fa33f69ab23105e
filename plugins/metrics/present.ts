import { describeValue, explanation } from '../../checks/explanation.ts'
import { formatName } from '../../connectors/catalog.ts'
import { presentFields } from '../../server/http/fields.ts'
import { metricFields } from './fields.ts'
import { overallStatus, secondsOf, severityOf } from './capture.ts'
import type { Metric, NamedMetric, Snapshot } from './models.ts'

/** The record of a metric. */
export function presentMetric(metric: NamedMetric): object {
  return {
    id: `m_${metric.id}`,
    internal_id: Number(metric.internalId),
    asset_id: Number(metric.assetNumber),
    asset_public_id: metric.sourceId,
    table_path: formatName([metric.catalogName, metric.schemaName, metric.ofTable]),
    column_name: metric.columnName,
    metric_type: metric.metricType,
    ...metric.config,
    ...presentFields(metricFields, metric),
    last_status: metric.lastStatus,
    created_at: metric.createdAt,
  }
}

/** The record of a snapshot; groups only where the metric has them. */
export function presentSnapshot(snapshot: Snapshot, metric: Metric): object {
  return {
    id: Number(snapshot.id),
    metric_definition_id: Number(snapshot.metricId),
    ...(Object.keys(snapshot.groupValues).length > 0 && { group_values: snapshot.groupValues }),
    value: snapshot.value,
    captured_at: snapshot.capturedAt,
    is_anomaly: snapshot.isAnomaly,
    z_score: snapshot.zScore,
    status: snapshot.status,
    expected_value: snapshot.expectedValue,
    expected_range_low: snapshot.expectedRangeLow,
    expected_range_high: snapshot.expectedRangeHigh,
    explanation: explainSnapshot(metric, snapshot),
    learning: snapshot.isLearning,
    is_backfilled: snapshot.isBackfilled ?? false,
    is_confirmed: snapshot.isConfirmed ?? false,
    error_message: snapshot.errorMessage,
  }
}

/** The sentence that an alert of this value has or would have; null without a value. */
function explainSnapshot({ metricType, checkInterval }: Metric, snapshot: Snapshot): string | null {
  const { value, capturedAt, expectedRangeLow: low, expectedRangeHigh: high, basis = null } = snapshot
  if (value === null) return null
  // Earlier versions stored the band without what it was made of.
  if (basis === null && low !== null && high !== null) return describeValue(metricType, value, { low, high })
  return explanation(metricType, { at: secondsOf(capturedAt), value }, { basis, low, high }, checkInterval)
}

/** The snapshots of one capture in words: the worst of its groups, and how many are as bad. */
export function describeSnapshots(metric: Metric, snapshots: readonly Snapshot[]) {
  const status = overallStatus(
    metric,
    snapshots.map(captured => ({ captured })),
  )
  const [worst] = snapshots.toSorted((a, b) => Math.abs(b.zScore) - Math.abs(a.zScore))
  return {
    id: `m_${metric.id}`,
    name: [metric.metricType, metric.columnName].filter(Boolean).join(' of '),
    status: status.toLowerCase() as Lowercase<typeof status>,
    severity: severityOf(worst?.zScore ?? 0),
    message: worst ? `${describeSnapshot(metric, worst)}${describeGroups(snapshots)}` : 'There is no group',
  }
}

function describeSnapshot({ metricType }: Metric, snapshot: Snapshot): string {
  const { errorMessage, value, expectedRangeLow: low, expectedRangeHigh: high } = snapshot
  if (errorMessage !== null) return errorMessage
  if (value === null) return 'no value'
  if (snapshot.isLearning || low === null || high === null)
    return `${describeValue(metricType, value, null)}; still learning`
  return describeValue(metricType, value, { low, high })
}

/** Of which group it is stays out: its values are a customer's. */
function describeGroups(snapshots: readonly Snapshot[]): string {
  if (snapshots.length < 2) return ''
  const anomalies = snapshots.filter(({ isAnomaly }) => isAnomaly).length
  return ` (the farthest of ${snapshots.length} groups; anomalies: ${anomalies})`
}
