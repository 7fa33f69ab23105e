import type { CheckOutcome } from '../../checks/check.ts'
import { DIRECTIONS, judgePoint, learnPoint, listBands, startDetector } from '../../checks/detector.ts'
import type { DetectorState, SeriesPoint } from '../../checks/detector.ts'
import { directionOf, type RuleDetails, type ValidityRule } from './models.ts'
import { failedJudgement, NO_BAND, secondsOf, seriesInterval } from '../checks/kit.ts'
import type { CheckMoment, Judgement } from '../checks/api.ts'

/** What a rule's values are called among the series of the detector. */
export const SERIES = 'invalid_percent'

/** What judging goes by, of a rule that need not exist. */
export type RuleSettings = Pick<
  ValidityRule,
  'detectionMode' | 'checkInterval' | 'operatingPeriodMode' | 'alertThresholdPercent' | 'sensitivity'
> &
  Partial<Pick<ValidityRule, 'direction' | 'consecutive' | 'windowSize'>>

/**
 * The state of a rule that has learned nothing; null of a manual one, which never does. It holds no schedule: every
 * point says whether it was active, so that no state can go by hours that have changed since.
 */
export function startState(
  rule: Pick<
    RuleSettings,
    'detectionMode' | 'checkInterval' | 'operatingPeriodMode' | 'direction' | 'windowSize'
  >,
): DetectorState | null {
  const direction = directionOf(rule)
  if (direction === null) return null
  const operating = { mode: rule.operatingPeriodMode }
  return startDetector({
    series: SERIES,
    domain: 'percent',
    interval: seriesInterval(rule),
    direction: DIRECTIONS[direction],
    operating,
  })
}

/**
 * Judges a rule's outcome. Manual mode fails above the threshold; auto mode fails above the learned band,
 * and only with 7 results behind it. A failed measure is an error, never a pass, and is not learned.
 * @param state null in manual mode, which learns nothing: a rule that becomes automatic reads its results again
 */
export function judgeRule(
  rule: Pick<RuleSettings, 'alertThresholdPercent' | 'sensitivity'>,
  outcome: CheckOutcome,
  { at, wasActive, isConfirmed = false, hasBands = false }: CheckMoment,
  state: DetectorState | null,
): Judgement {
  if (outcome.status !== 'counted') return failedJudgement(outcome, 'The rule gave no count', state)
  const { total, invalid } = outcome
  // A SELECT of invalid rows may give more rows than the table has.
  // A SELECT may find invalid rows though its table has none: that is not the empty table that passes.
  const value = invalid === 0 ? 0 : Math.min(100, (100 * invalid) / total)
  const details: RuleDetails = { invalidCount: invalid, wasActive }
  const counts = { value, totalRows: total, errorMessage: null, details: { ...details } }
  if (!state) {
    const status = value > (rule.alertThresholdPercent ?? 0) ? 'fail' : 'pass'
    return { judged: { status, ...counts, ...NO_BAND }, state, detection: null, bands: [] }
  }
  const point: SeriesPoint = { at: secondsOf(at), value, total, active: wasActive, confirmed: isConfirmed }
  const verdict = judgePoint(state, point, rule.sensitivity)
  const { expected, low, high, zScore, learning: isLearning } = verdict
  const status = verdict.isAnomaly && !isLearning ? 'fail' : 'pass'
  // Learning changes the state in place.
  const bands = hasBands ? listBands(state, point, rule.sensitivity) : []
  return {
    judged: { status, ...counts, expected, low, high, zScore, isLearning },
    state: learnPoint(state, point),
    detection: { point, verdict },
    bands,
  }
}
