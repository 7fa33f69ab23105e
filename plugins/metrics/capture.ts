import type { GroupValue, CheckOutcome } from '../../checks/check.ts'
import { judgePoint, learnPoint, listBands, startDetector } from '../../checks/detector.ts'
import type {
  Basis,
  DetectorState,
  Domain,
  SensitivityBand,
  SeriesPoint,
  SeriesVerdict,
} from '../../checks/detector.ts'
import type { Metric } from './models.ts'

/** The column values of a group, by column name; {} of a metric without groups. */
export type Group = Record<string, unknown>

/** A judged value of one group; the fields are those of a stored snapshot. */
export interface CapturedValue {
  groupValues: Group
  value: number | null
  totalRows: number | null
  status: 'PASS' | 'FAIL' | 'ERROR'
  isAnomaly: boolean
  isLearning: boolean
  zScore: number
  expectedValue: number | null
  expectedRangeLow: number | null
  expectedRangeHigh: number | null
  /** What the band was made of; null without a band. */
  basis: Basis | null
  errorMessage: string | null
}

/** What the detector said, of which point. */
export interface MetricDetection {
  point: SeriesPoint
  verdict: SeriesVerdict
}

/** A capture of one group, and what the detector said; null of an error and of no value. */
export interface JudgedValue {
  captured: CapturedValue
  detection: MetricDetection | null
  /** At each sensitivity, where they were asked for. */
  bands?: SensitivityBand[]
}

const UNJUDGED = {
  isAnomaly: false,
  isLearning: false,
  zScore: 0,
  expectedValue: null,
  expectedRangeLow: null,
  expectedRangeHigh: null,
  basis: null,
}

/** The state of a metric's group that has learned nothing. @param domain as its type states it */
export function startState(
  { metricType, checkInterval }: Pick<Metric, 'metricType' | 'checkInterval'>,
  domain: Domain,
): DetectorState {
  return startDetector({ series: metricType, domain, interval: checkInterval, direction: 'both' })
}

/** The groups of an outcome; a metric without groups has the one group {}. None of a failed one. */
export function groupValuesOf(outcome: CheckOutcome): GroupValue[] {
  if (outcome.status === 'grouped') return outcome.groups
  return outcome.status === 'measured' ? [{ group: {}, value: outcome.value, total: outcome.total }] : []
}

/** What is stored of a capture that could not run: an error, never a value. */
export function failedCapture(outcome: CheckOutcome): JudgedValue {
  const errorMessage = outcome.status === 'error' ? outcome.message : 'The metric gave no value'
  const captured: CapturedValue = {
    groupValues: {},
    value: null,
    totalRows: null,
    status: 'ERROR',
    ...UNJUDGED,
    errorMessage,
  }
  return { captured, detection: null }
}

/**
 * Judges one group's value against what its history led one to expect: an anomaly when |z| exceeds the
 * metric's sensitivity. A value that does not exist (the mean of no rows) is stored, passes, and is not learned.
 * @param options.hasBands whether the bands of other sensitivities are wanted, for a chart
 * @returns the judgement, and the state that has learned the value
 */
export function judgeValue(
  metric: Pick<Metric, 'sensitivity'>,
  measured: GroupValue,
  at: Date,
  state: DetectorState,
  { hasBands = false } = {},
): JudgedValue & { state: DetectorState } {
  const { group: groupValues, value, total: totalRows } = measured
  const taken = { groupValues, value, totalRows, errorMessage: null }
  if (value === null) return { captured: { ...taken, status: 'PASS', ...UNJUDGED }, detection: null, state }
  const point = { at: secondsOf(at), value, total: totalRows }
  const said = judgePoint(state, point, metric.sensitivity)
  const captured: CapturedValue = {
    ...taken,
    status: said.isAnomaly ? 'FAIL' : 'PASS',
    isAnomaly: said.isAnomaly,
    isLearning: said.learning,
    zScore: said.zScore,
    expectedValue: said.expected,
    expectedRangeLow: said.low,
    expectedRangeHigh: said.high,
    basis: said.basis,
  }
  // Learning changes the state in place.
  const bands = hasBands ? listBands(state, point, metric.sensitivity) : []
  return { captured, detection: { point, verdict: said }, bands, state: learnPoint(state, point) }
}

/** Epoch seconds. */
export function secondsOf(at: Date): number {
  return at.getTime() / 1_000
}

/** Share of the band from which a value that still passes is near its edge. */
const NEAR_EDGE = 0.8

/** How a metric did as a whole: its worst group; `WARNING` between 80 % and 100 % of the band. */
export function overallStatus(
  metric: Pick<Metric, 'sensitivity'>,
  judged: readonly { captured: Pick<CapturedValue, 'status' | 'zScore'> }[],
): NonNullable<Metric['lastStatus']> {
  if (judged.some(({ captured }) => captured.status === 'ERROR')) return 'ERROR'
  if (judged.some(({ captured }) => captured.status === 'FAIL')) return 'FAIL'
  return judged.some(({ captured }) => Math.abs(captured.zScore) >= NEAR_EDGE * metric.sensitivity)
    ? 'WARNING'
    : 'PASS'
}

/** Severity by how far out a value lies: info below 3 standard deviations, warning from 3, critical from 6. */
export function severityOf(zScore: number): 'info' | 'warning' | 'critical' {
  const distance = Math.abs(zScore)
  return distance >= 6 ? 'critical' : distance >= 3 ? 'warning' : 'info'
}
