import { formatName } from '../../connectors/catalog.ts'
import type { NamedMetric, Snapshot } from './models.ts'

/** The record of a metric. */
export function presentMetric(metric: NamedMetric): object {
  return {
    id: `m_${metric.id}`,
    internal_id: Number(metric.internalId),
    asset_id: Number(metric.assetNumber),
    table_path: formatName([metric.catalogName, metric.schemaName, metric.ofTable]),
    column_name: metric.columnName,
    metric_type: metric.metricType,
    ...metric.config,
    group_by_columns: metric.groupByColumns,
    capture_interval: metric.checkInterval,
    sensitivity: metric.sensitivity,
    is_active: metric.isActive,
    last_status: metric.lastStatus,
    created_at: metric.createdAt,
  }
}

/** The record of a snapshot; groups only where the metric has them. */
export function presentSnapshot(snapshot: Snapshot): object {
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
    learning: snapshot.isLearning,
    is_backfilled: snapshot.isBackfilled ?? false,
    is_confirmed: snapshot.isConfirmed ?? false,
    error_message: snapshot.errorMessage,
  }
}
