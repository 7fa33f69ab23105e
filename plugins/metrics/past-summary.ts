import { percentOf } from '../../server/percent.ts'
import type { NewMetric } from './fields.ts'
import { countAnomalies, isAlertingAt, type ScoredPoint } from './replay.ts'
import { detectionOf, type MetricSettings } from './thresholds.ts'

/** Values that a dry run shows of those that would have alerted. */
const MAX_SAMPLES = 10

/** A share of alerting values above which a higher sensitivity is proposed. */
const MAX_QUIET_PERCENT = 5

/** Sensitivities that are proposed. */
const PROPOSED = [1, 2, 3, 4]

/** The past of a metric that a dry run replayed. */
interface ReplayedPast {
  /** The id of the metric whose snapshots were replayed, if they were. */
  metricId?: string
  /** Oldest first within a group. */
  replayed: readonly ScoredPoint[]
  /** Why there is none. */
  unknownReason?: string
}

/**
 * The past of a dry run as the client of the API family reads it: how many values there were, how many of them would
 * have alerted, and a sentence that says what to do.
 */
export function summarizePast(
  body: NewMetric & { lookback_days: number },
  settings: MetricSettings,
  { metricId, replayed, unknownReason }: ReplayedPast,
) {
  const { sensitivity, lookback_days: days } = body
  const alerting = replayed.filter(point => isAlertingAt(point, sensitivity, settings))
  const judgedBy = describeThreshold(settings)
  const values = replayed.map(({ value }) => value)
  const isKnown = values.length > 0
  return {
    metric_id: metricId ?? 'new',
    metric_type: body.metric_type,
    ...judgedBy,
    lookback_days: days,
    total_snapshots: values.length,
    would_alert_count: alerting.length,
    alert_rate_percent: percentOf(alerting.length, values.length),
    avg_value: isKnown ? values.reduce((a, b) => a + b) / values.length : null,
    min_value: isKnown ? values.reduce((a, b) => Math.min(a, b)) : null,
    max_value: isKnown ? values.reduce((a, b) => Math.max(a, b)) : null,
    sample_alerts: alerting
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MAX_SAMPLES)
      .map(({ at, value }) => ({
        captured_at: new Date(at * 1_000),
        value,
        ...judgedBy,
        would_alert: true,
      })),
    recommendation: recommend(body, settings, replayed, unknownReason),
  }
}

/** What values are judged by, as the client of the API family reads it: one threshold, the score where anomalies count. */
function describeThreshold(settings: MetricSettings) {
  const { sensitivity, min, max, maxChangePercent } = settings
  const isByBand = detectionOf(settings) !== 'threshold'
  if (isByBand) return { threshold_type: 'z_score', threshold_value: sensitivity }
  if (max !== null) return { threshold_type: 'max', threshold_value: max }
  if (min !== null) return { threshold_type: 'min', threshold_value: min }
  return { threshold_type: 'max_change_percent', threshold_value: maxChangePercent }
}

function recommend(
  { sensitivity, lookback_days: days }: NewMetric & { lookback_days: number },
  settings: MetricSettings,
  replayed: readonly ScoredPoint[],
  unknownReason: string | undefined,
): string {
  if (unknownReason !== undefined) return `Its past is not known: ${unknownReason}`
  if (replayed.length === 0) return `There are no values in the last ${days} days: create it to collect them`
  if (replayed.every(({ isLearning }) => isLearning))
    return `Too few values to judge by: create it to collect more`
  const { alerts } = countAnomalies(replayed, sensitivity, settings)
  const rateAt = (each: number) =>
    percentOf(replayed.filter(point => isAlertingAt(point, each, settings)).length, replayed.length)
  const isByThreshold = detectionOf(settings) === 'threshold'
  const subject = isByThreshold ? 'These thresholds' : `Sensitivity ${sensitivity}`
  const found = `${subject} would have raised ${alerts} ${alerts === 1 ? 'alert' : 'alerts'} in the last ${days} days`
  if (isByThreshold) return found
  if (rateAt(sensitivity) <= MAX_QUIET_PERCENT) return found
  const quieter = PROPOSED.find(each => each > sensitivity && rateAt(each) <= MAX_QUIET_PERCENT)
  if (quieter === undefined) return found
  return `${found}; sensitivity ${quieter} would have raised ${countAnomalies(replayed, quieter, settings).alerts}`
}
