import type { Server } from '@hapi/hapi'
import { failedCapture, groupsOf, judgeValue, overall, startState } from './capture.ts'
import { configureMetric, type NewMetric } from './create.ts'
import type { Metric } from './models.ts'

/** The body of a dry run, validated; what is not named here belongs to the metric type. */
export interface DryRun extends NewMetric {
  asset_id: string
  lookback_days: number
}

/** Takes the value that a metric of this body would, judges it as that metric would, and stores nothing. */
export async function dryRun(server: Server, companyId: string, body: DryRun): Promise<object> {
  const { asset_id: assetId, lookback_days: days, ...metricBody } = body
  const configured = await configureMetric(server, companyId, assetId, metricBody as NewMetric)
  const { statements, outcome, at, past } = await server.plugins.scans.tryOut(configured, {
    days,
    interval: body.capture_interval,
  })
  const metric: Pick<Metric, 'sensitivity' | 'metricType' | 'checkInterval'> = {
    sensitivity: body.sensitivity,
    metricType: configured.check.type.name,
    checkInterval: body.capture_interval,
  }
  let state = startState(metric)
  let anomalies = 0
  const points = 'points' in past ? past.points : []
  for (const point of points) {
    for (const group of groupsOf(point.outcome)) {
      const said = judgeValue(metric, group, point.at, state)
      state = said.state
      if (said.captured.isAnomaly) anomalies += 1
    }
  }
  const isGrouped = outcome.status === 'grouped'
  const captured =
    outcome.status === 'measured' || isGrouped
      ? // Each group is a series of its own, whose past is not known.
        groupsOf(outcome).map(
          group => judgeValue(metric, group, at, isGrouped ? startState(metric) : state).captured,
        )
      : [failedCapture(outcome)]
  // Of groups there is no one value to tell.
  const [only] = isGrouped ? [] : captured
  const status = overall(metric, captured)
  return {
    sql: statements,
    status: status === 'WARNING' ? 'PASS' : status,
    value: only?.value ?? null,
    ...(isGrouped && {
      groups: captured.map(({ groupValues, value, totalRows }) => ({
        group_values: groupValues,
        value,
        total_rows: totalRows,
      })),
    }),
    total_rows: only?.totalRows ?? null,
    is_anomaly: captured.some(({ isAnomaly }) => isAnomaly),
    z_score: only?.zScore ?? 0,
    expected_value: only?.expectedValue ?? null,
    expected_range_low: only?.expectedRangeLow ?? null,
    expected_range_high: only?.expectedRangeHigh ?? null,
    learning: captured.every(({ isLearning }) => isLearning),
    error_message: only?.errorMessage ?? null,
    history: {
      lookback_days: days,
      timestamp_column: 'column' in past ? past.column : null,
      points: points.length,
      anomalies,
      message:
        'message' in past
          ? `Its past is not known: ${past.message}`
          : `Of ${points.length} ${body.capture_interval} values in the last ${days} days, ${anomalies} would have been anomalies at sensitivity ${body.sensitivity}`,
    },
  }
}
