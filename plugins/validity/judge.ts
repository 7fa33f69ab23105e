import type { Outcome } from '../../checks/check.ts'
import { advance, start, verdict } from '../../checks/detector.ts'
import type { DetectorState, Point, Schedule } from '../../checks/detector.ts'
import type { ValidityRule } from './models.ts'

/** What is judged of a rule's outcome; the fields are those of a stored result. */
export interface Judged {
  status: 'pass' | 'fail' | 'error'
  totalRows: number | null
  invalidCount: number | null
  /** 100 × invalid / total, 0 of an empty table. */
  invalidPercent: number | null
  expectedValue: number | null
  expectedRangeLow: number | null
  expectedRangeHigh: number | null
  zScore: number | null
  isLearning: boolean
  errorMessage: string | null
}

const NO_BAND = {
  expectedValue: null,
  expectedRangeLow: null,
  expectedRangeHigh: null,
  zScore: null,
  isLearning: false,
}

/**
 * The state of a rule that has learned nothing; null of a manual one, which never does.
 * @param schedule the hours of a rule in mode `schedule`
 */
export function startState(
  rule: Pick<ValidityRule, 'detectionMode' | 'checkInterval' | 'operatingPeriodMode'>,
  schedule?: Schedule,
): DetectorState | null {
  if (rule.detectionMode === 'manual') return null
  const operating = { mode: rule.operatingPeriodMode, ...(schedule && { schedule }) }
  return start({ series: 'invalid_percent', interval: rule.checkInterval, direction: 'high', operating })
}

/**
 * Judges a rule's outcome. Manual mode fails above the threshold; auto mode fails above the learned band,
 * and only with 7 results behind it. A failed measure is an error, never a pass, and is not learned.
 * @param state null in manual mode, which learns nothing: a rule that becomes automatic reads its results again
 * @returns the judgement, and the state that has learned the point
 */
export function judgeRule(
  rule: Pick<ValidityRule, 'alertThresholdPercent' | 'sensitivity'>,
  outcome: Outcome,
  at: Date,
  state: DetectorState | null,
): { judged: Judged; state: DetectorState | null } {
  if (outcome.status !== 'counted') {
    const errorMessage = outcome.status === 'error' ? outcome.message : 'The rule gave no count'
    const judged: Judged = {
      status: 'error',
      totalRows: null,
      invalidCount: null,
      invalidPercent: null,
      ...NO_BAND,
      errorMessage,
    }
    return { judged, state }
  }
  const { total, invalid } = outcome
  // A SELECT of invalid rows may give more rows than the table has.
  const invalidPercent = total === 0 ? 0 : Math.min(100, (100 * invalid) / total)
  const counts = { totalRows: total, invalidCount: invalid, invalidPercent, errorMessage: null }
  if (!state) {
    const status = invalidPercent > (rule.alertThresholdPercent ?? 0) ? 'fail' : 'pass'
    return { judged: { status, ...counts, ...NO_BAND }, state }
  }
  const point: Point = { at: at.getTime() / 1_000, value: invalidPercent, total }
  const said = verdict(state, point, rule.sensitivity)
  const judged: Judged = {
    status: said.isAnomaly && !said.learning ? 'fail' : 'pass',
    ...counts,
    expectedValue: said.expected,
    expectedRangeLow: said.low,
    expectedRangeHigh: said.high,
    zScore: said.zScore,
    isLearning: said.learning,
  }
  return { judged, state: advance(state, point) }
}
