import type { CheckOutcome, GroupValue } from '../../checks/check.ts'
import {
  DIRECTIONS,
  isAnomalous,
  judgePoint,
  learnPoint,
  listBands,
  startDetector,
} from '../../checks/detector.ts'
import type { DetectorState, Domain } from '../../checks/detector.ts'
import type { CheckMoment, JudgedSeries, Judgement } from '../checks/api.ts'
import {
  failedJudgement,
  NO_BAND,
  secondsOf,
  seriesInterval,
  worstStatus,
  type CheckStatus,
} from '../checks/kit.ts'
import type { Metric, SnapshotDetails } from './models.ts'
import { detectionOf, findBreach, type MetricSettings } from './thresholds.ts'

/** The state of a metric's group that has learned nothing. @param domain as its type states it */
export function startState(
  metric: Pick<Metric, 'type' | 'checkInterval'> & Partial<Pick<Metric, 'windowSize'>>,
  domain: Domain,
): DetectorState {
  return startDetector({
    series: metric.type,
    domain,
    interval: seriesInterval(metric),
    direction: 'both',
  })
}

/** The groups of an outcome; a metric without groups has the one group {}. None of a failed one. */
export function groupValuesOf(outcome: CheckOutcome): GroupValue[] {
  if (outcome.status === 'grouped') return outcome.groups
  return outcome.status === 'measured' ? [{ group: {}, value: outcome.value, total: outcome.total }] : []
}

/** A score while nothing is expected. */
const UNJUDGED = { ...NO_BAND, zScore: 0 }

/**
 * Judges one group's value by its thresholds, and against what its history led one to expect: an anomaly when |z| exceeds
 * the metric's sensitivity. By thresholds alone nothing is waited for; what is learned all the same is there when
 * anomalies are to count. A value that does not exist (the mean of no rows) is stored, passes, and is not learned.
 */
export function judgeValue(
  settings: MetricSettings,
  outcome: CheckOutcome,
  { at, hasBands = false, past = [] }: Pick<CheckMoment, 'at' | 'hasBands' | 'past'>,
  state: DetectorState | null,
): Judgement {
  const { sensitivity } = settings
  if (outcome.status !== 'measured' || !state)
    return failedJudgement(outcome, 'The metric gave no value', state)
  const { value, total: totalRows } = outcome
  const measured = { value, totalRows, errorMessage: null }
  if (value === null) {
    const judged = { status: 'pass' as const, ...measured, ...UNJUDGED, details: {} }
    return { judged, detection: null, bands: [], state }
  }
  const point = { at: secondsOf(at), value, total: totalRows }
  const verdict = judgePoint(state, point, sensitivity)
  const { expected, low, high, zScore, isAnomaly, basis } = verdict
  const breach = findBreach(settings, point, past)
  const status = breach || isUnusual(settings, zScore) ? 'fail' : 'pass'
  const isLearning = verdict.learning && !breach && detectionOf(settings) !== 'threshold'
  const details: SnapshotDetails = { basis, isAnomaly, breach }
  // Learning changes the state in place.
  const bands = hasBands ? listBands(state, point, sensitivity) : []
  return {
    judged: { status, ...measured, expected, low, high, zScore, isLearning, details: { ...details } },
    detection: { point, verdict },
    bands,
    state: learnPoint(state, point),
  }
}

/** Whether a score makes a value fail: where anomalies count, and in their direction. */
export function isUnusual(
  settings: MetricSettings,
  zScore: number,
  sensitivity = settings.sensitivity,
): boolean {
  return (
    detectionOf(settings) !== 'threshold' &&
    isAnomalous(zScore, sensitivity, DIRECTIONS[settings.direction ?? 'both'])
  )
}

/** Share of the band from which a value that still passes is near its edge. */
const NEAR_EDGE = 0.8

/** How a metric did as a whole: its worst group; a warning between 80 % and 100 % of the band. */
export function overallStatus(
  settings: MetricSettings,
  judged: readonly { judged: Pick<JudgedSeries['judged'], 'status' | 'zScore'> }[],
): CheckStatus {
  const worst = worstStatus(judged)
  const edge = NEAR_EDGE * settings.sensitivity
  const isNearEdge = judged.some(({ judged: { zScore } }) => isUnusual(settings, zScore ?? 0, edge))
  return worst === 'pass' && isNearEdge ? 'warning' : worst
}
