import type { GroupValue, Outcome } from '../../checks/check.ts'
import { advance, start, verdict, type DetectorState } from '../../checks/detector.ts'
import type { Metric } from './models.ts'

/** A judged value of one group; the fields are those of a stored snapshot. */
export interface Captured {
  groupValues: Record<string, unknown>
  value: number | null
  totalRows: number | null
  status: 'PASS' | 'FAIL' | 'ERROR'
  isAnomaly: boolean
  isLearning: boolean
  zScore: number
  expectedValue: number | null
  expectedRangeLow: number | null
  expectedRangeHigh: number | null
  errorMessage: string | null
}

const UNJUDGED = {
  isAnomaly: false,
  isLearning: false,
  zScore: 0,
  expectedValue: null,
  expectedRangeLow: null,
  expectedRangeHigh: null,
}

/** The state of a metric's group that has learned nothing. */
export function startState(metric: Pick<Metric, 'metricType' | 'checkInterval'>): DetectorState {
  return start({ series: metric.metricType, interval: metric.checkInterval, direction: 'both' })
}

/** The groups of an outcome; a metric without groups has the one group {}. None of a failed one. */
export function groupsOf(outcome: Outcome): GroupValue[] {
  if (outcome.status === 'grouped') return outcome.groups
  return outcome.status === 'measured' ? [{ group: {}, value: outcome.value, total: outcome.total }] : []
}

/** What is stored of a capture that could not run: an error, never a value. */
export function failedCapture(outcome: Outcome): Captured {
  const errorMessage = outcome.status === 'error' ? outcome.message : 'The metric gave no value'
  return { groupValues: {}, value: null, totalRows: null, status: 'ERROR', ...UNJUDGED, errorMessage }
}

/**
 * Judges one group's value against what its history led one to expect: an anomaly when |z| exceeds the
 * metric's sensitivity. A value that does not exist (the mean of no rows) is stored, passes, and is not learned.
 */
export function judgeValue(
  metric: Pick<Metric, 'sensitivity'>,
  measured: GroupValue,
  at: Date,
  state: DetectorState,
): { captured: Captured; state: DetectorState } {
  const { group: groupValues, value, total } = measured
  if (value === null) {
    const captured: Captured = {
      groupValues,
      value,
      totalRows: total,
      status: 'PASS',
      ...UNJUDGED,
      errorMessage: null,
    }
    return { captured, state }
  }
  const point = { at: at.getTime() / 1_000, value, total }
  const said = verdict(state, point, metric.sensitivity)
  const captured: Captured = {
    groupValues,
    value,
    totalRows: total,
    status: said.isAnomaly ? 'FAIL' : 'PASS',
    isAnomaly: said.isAnomaly,
    isLearning: said.learning,
    zScore: said.zScore,
    expectedValue: said.expected,
    expectedRangeLow: said.low,
    expectedRangeHigh: said.high,
    errorMessage: null,
  }
  return { captured, state: advance(state, point) }
}

/** Share of the band from which a value that still passes is near its edge. */
const NEAR_EDGE = 0.8

/** How a metric did as a whole: its worst group; `WARNING` between 80 % and 100 % of the band. */
export function overall(
  metric: Pick<Metric, 'sensitivity'>,
  captured: readonly Captured[],
): NonNullable<Metric['lastStatus']> {
  if (captured.some(({ status }) => status === 'ERROR')) return 'ERROR'
  if (captured.some(({ status }) => status === 'FAIL')) return 'FAIL'
  return captured.some(({ zScore }) => Math.abs(zScore) >= NEAR_EDGE * metric.sensitivity)
    ? 'WARNING'
    : 'PASS'
}

/** Severity by how far out a value lies: info below 3 standard deviations, warning from 3, critical from 6. */
export function severityOf(zScore: number): 'info' | 'warning' | 'critical' {
  const distance = Math.abs(zScore)
  return distance >= 6 ? 'critical' : distance >= 3 ? 'warning' : 'info'
}
