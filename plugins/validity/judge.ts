import type { CheckOutcome } from '../../checks/check.ts'
import { learnPoint, listBands, isActive, startDetector, judgePoint } from '../../checks/detector.ts'
import type {
  DetectorState,
  SeriesPoint,
  Schedule,
  SensitivityBand,
  SeriesVerdict,
} from '../../checks/detector.ts'
import type { ValidityRule } from './models.ts'

/** What a rule's values are called among the series of the detector. */
export const SERIES = 'invalid_percent'

/** What is judged of a rule's outcome; the fields are those of a stored result. */
export interface JudgedResult {
  status: 'pass' | 'fail' | 'error'
  totalRows: number | null
  invalidCount: number | null
  /** 100 × invalid / total, at most 100; 0 where nothing is invalid, as in an empty table. */
  invalidPercent: number | null
  expectedValue: number | null
  expectedRangeLow: number | null
  expectedRangeHigh: number | null
  zScore: number | null
  isLearning: boolean
  errorMessage: string | null
}

/** When an outcome was taken, and what is known of that moment besides. */
export interface CheckMoment {
  at: Date
  /** Whether the operating schedule called it active; null of rules without one. */
  wasActive: boolean | null
  /** A user dismissed it as expected. */
  isConfirmed?: boolean
  /** Whether the bands of other sensitivities are wanted, for a chart. */
  hasBands?: boolean
}

/** An outcome of a rule, judged. */
export interface Judgement {
  judged: JudgedResult
  /** With the point learned; null in manual mode. */
  state: DetectorState | null
  /** What the detector said, of which point; null in manual mode and of an error. */
  detection: { point: SeriesPoint; verdict: SeriesVerdict; bands: SensitivityBand[] } | null
}

const NO_BAND = {
  expectedValue: null,
  expectedRangeLow: null,
  expectedRangeHigh: null,
  zScore: null,
  isLearning: false,
}

/** Whether a schedule calls a moment active; null without a schedule. */
export function activeAt(schedule: Schedule | undefined, at: Date): boolean | null {
  return schedule ? isActive(schedule, secondsOf(at)) : null
}

/** Epoch seconds. */
export function secondsOf(at: Date): number {
  return at.getTime() / 1_000
}

/**
 * The state of a rule that has learned nothing; null of a manual one, which never does. It holds no schedule: every
 * point says whether it was active, so that no state can go by hours that have changed since.
 */
export function startState(
  rule: Pick<ValidityRule, 'detectionMode' | 'checkInterval' | 'operatingPeriodMode'>,
): DetectorState | null {
  if (rule.detectionMode === 'manual') return null
  const operating = { mode: rule.operatingPeriodMode }
  return startDetector({
    series: SERIES,
    domain: 'percent',
    interval: rule.checkInterval,
    direction: 'high',
    operating,
  })
}

/**
 * Judges a rule's outcome. Manual mode fails above the threshold; auto mode fails above the learned band,
 * and only with 7 results behind it. A failed measure is an error, never a pass, and is not learned.
 * @param state null in manual mode, which learns nothing: a rule that becomes automatic reads its results again
 */
export function judgeRule(
  rule: Pick<ValidityRule, 'alertThresholdPercent' | 'sensitivity'>,
  outcome: CheckOutcome,
  { at, wasActive, isConfirmed = false, hasBands = false }: CheckMoment,
  state: DetectorState | null,
): Judgement {
  if (outcome.status !== 'counted') {
    const errorMessage = outcome.status === 'error' ? outcome.message : 'The rule gave no count'
    const judged: JudgedResult = {
      status: 'error',
      totalRows: null,
      invalidCount: null,
      invalidPercent: null,
      ...NO_BAND,
      errorMessage,
    }
    return { judged, state, detection: null }
  }
  const { total, invalid } = outcome
  // A SELECT of invalid rows may give more rows than the table has.
  // A SELECT may find invalid rows though its table has none: that is not the empty table that passes.
  const invalidPercent = invalid === 0 ? 0 : Math.min(100, (100 * invalid) / total)
  const counts = { totalRows: total, invalidCount: invalid, invalidPercent, errorMessage: null }
  if (!state) {
    const status = invalidPercent > (rule.alertThresholdPercent ?? 0) ? 'fail' : 'pass'
    return { judged: { status, ...counts, ...NO_BAND }, state, detection: null }
  }
  const point: SeriesPoint = {
    at: secondsOf(at),
    value: invalidPercent,
    total,
    active: wasActive,
    confirmed: isConfirmed,
  }
  const said = judgePoint(state, point, rule.sensitivity)
  const judged: JudgedResult = {
    status: said.isAnomaly && !said.learning ? 'fail' : 'pass',
    ...counts,
    expectedValue: said.expected,
    expectedRangeLow: said.low,
    expectedRangeHigh: said.high,
    zScore: said.zScore,
    isLearning: said.learning,
  }
  // Learning changes the state in place.
  const bands = hasBands ? listBands(state, point, rule.sensitivity) : []
  return { judged, state: learnPoint(state, point), detection: { point, verdict: said, bands } }
}
