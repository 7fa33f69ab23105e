import { domainOf, type CheckOutcome, type GroupValue } from '../../checks/check.ts'
import { judgePoint, learnPoint, listBands, startDetector } from '../../checks/detector.ts'
import type { DetectorState, Domain } from '../../checks/detector.ts'
import { describeValue } from '../../checks/explanation.ts'
import type { CheckMoment, CheckSummary, JudgedSeries, Judgement, CheckKind } from '../checks/api.ts'
import {
  failedJudgement,
  NO_BAND,
  secondsOf,
  worstStatus,
  type CheckDeps,
  type CheckResult,
  type CheckStatus,
} from '../checks/kit.ts'
import { metricAnomaly } from './alert-kind.ts'
import { alertTexts, describeMetric, severityOf } from './alert-texts.ts'
import { clearAlertedGroups, collectGroupEvents } from './groups.ts'
import { Metric } from './models.ts'

/**
 * Numbers that are judged by what their own history leads one to expect.
 * @param types state what the values of a metric can be
 */
export const makeMetricKind = ({ types }: Pick<CheckDeps, 'types'>): CheckKind<Metric> => ({
  name: 'metric',
  feature: 'metrics',
  label: 'Metric',
  idPrefix: 'm_',
  model: Metric,
  alert: metricAnomaly,
  specs: metrics =>
    metrics.map(({ type, config, columnName, groupByColumns }) => ({
      type,
      config,
      ...(columnName !== null && { column: columnName }),
      ...(groupByColumns.length > 0 && { groupBy: groupByColumns }),
    })),
  // Any quantity where the extension of its type was removed.
  startState: metric =>
    startState(metric, domainOf(types.has(metric.type) ? types.get(metric.type) : undefined)),
  judge: judgeValue,
  overallStatus,
  alertTexts,
  moreAlerts: collectGroupEvents,
  endMoreAlerts: clearAlertedGroups,
  describe: describeResults,
})

/** The state of a metric's group that has learned nothing. @param domain as its type states it */
export function startState(
  { type, checkInterval }: Pick<Metric, 'type' | 'checkInterval'>,
  domain: Domain,
): DetectorState {
  return startDetector({ series: type, domain, interval: checkInterval, direction: 'both' })
}

/** The groups of an outcome; a metric without groups has the one group {}. None of a failed one. */
export function groupValuesOf(outcome: CheckOutcome): GroupValue[] {
  if (outcome.status === 'grouped') return outcome.groups
  return outcome.status === 'measured' ? [{ group: {}, value: outcome.value, total: outcome.total }] : []
}

/** A score while nothing is expected. */
const UNJUDGED = { ...NO_BAND, zScore: 0 }

/**
 * Judges one group's value against what its history led one to expect: an anomaly when |z| exceeds the
 * metric's sensitivity. A value that does not exist (the mean of no rows) is stored, passes, and is not learned.
 */
export function judgeValue(
  { sensitivity }: Pick<Metric, 'sensitivity'>,
  outcome: CheckOutcome,
  { at, hasBands = false }: Pick<CheckMoment, 'at' | 'hasBands'>,
  state: DetectorState | null,
): Judgement {
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
  const { expected, low, high, zScore, learning: isLearning, basis } = verdict
  const status = verdict.isAnomaly ? 'fail' : 'pass'
  // Learning changes the state in place.
  const bands = hasBands ? listBands(state, point, sensitivity) : []
  return {
    judged: { status, ...measured, expected, low, high, zScore, isLearning, details: { basis } },
    detection: { point, verdict },
    bands,
    state: learnPoint(state, point),
  }
}

/** Share of the band from which a value that still passes is near its edge. */
const NEAR_EDGE = 0.8

/** How a metric did as a whole: its worst group; a warning between 80 % and 100 % of the band. */
export function overallStatus(
  { sensitivity }: Pick<Metric, 'sensitivity'>,
  judged: readonly { judged: Pick<JudgedSeries['judged'], 'status' | 'zScore'> }[],
): CheckStatus {
  const worst = worstStatus(judged)
  const isNearEdge = judged.some(({ judged: { zScore } }) => Math.abs(zScore ?? 0) >= NEAR_EDGE * sensitivity)
  return worst === 'pass' && isNearEdge ? 'warning' : worst
}

/** The results of one capture in words: the worst of its groups, and how many are as bad. */
function describeResults(metric: Metric, results: readonly CheckResult[]): Omit<CheckSummary, 'id'> {
  const distance = ({ zScore }: CheckResult) => Math.abs(zScore ?? 0)
  const [worst] = results.toSorted((a, b) => distance(b) - distance(a))
  return {
    name: describeMetric(metric),
    status: overallStatus(
      metric,
      results.map(judged => ({ judged })),
    ),
    severity: severityOf(worst?.zScore ?? 0),
    message: worst ? `${describeResult(metric, worst)}${describeGroups(results)}` : 'There is no group',
  }
}

function describeResult({ type }: Metric, result: CheckResult): string {
  const { errorMessage, value, low, high } = result
  if (errorMessage !== null) return errorMessage
  if (value === null) return 'no value'
  if (result.isLearning || low === null || high === null)
    return `${describeValue(type, value, null)}; still learning`
  return describeValue(type, value, { low, high })
}

/** Of which group it is stays out: its values are a customer's. */
function describeGroups(results: readonly CheckResult[]): string {
  if (results.length < 2) return ''
  const anomalies = results.filter(({ status }) => status === 'fail').length
  return ` (the farthest of ${results.length} groups; anomalies: ${anomalies})`
}
