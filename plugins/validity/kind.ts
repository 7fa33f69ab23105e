import { describeCounted } from '../../checks/check.ts'
import type { CheckOutcome } from '../../checks/check.ts'
import type { SeriesPoint } from '../../checks/detector.ts'
import { trimEnd } from '../../connectors/trim-end.ts'
import {
  comparable,
  describeFinding,
  describeLimit,
  explainBasis,
  countOf,
  formatFinding,
  roundShare,
  type Finding,
} from '../../checks/explanation.ts'
import type { TableContext } from '../catalog/api.ts'
import type { AlertTexts, Capture, CheckSummary, JudgedSeries, CheckKind } from '../checks/api.ts'
import type { CheckDeps } from '../checks/kit.ts'
import { validityFailure } from './alert-kind.ts'
import { judgeRule, startState } from './judge.ts'
import { consecutiveOf, detailsOf, ValidityRule } from './models.ts'
import {
  filterDetails,
  pathOfTable,
  seriesInterval,
  subjectOfCheck,
  type CheckResult,
} from '../checks/kit.ts'

/** Rules that say which values are valid. @param types finds the words for what a rule counted */
export function makeValidityKind({ types }: Pick<CheckDeps, 'types'>): CheckKind<ValidityRule> {
  /** What a rule found that is about a number: `40 %, expected at most 10 %`. */
  const numberOf = ({ type, config }: ValidityRule, outcome: CheckOutcome) =>
    types.has(type) ? describeCounted(types.get(type), outcome, config) : null
  const failureOf = ({ type: name }: ValidityRule) => {
    const type = types.has(name) ? types.get(name) : undefined
    return type?.family === 'rule' ? (type.failure ?? null) : null
  }
  return {
    name: 'validity',
    feature: 'validity',
    label: 'Rule',
    idPrefix: 'v_',
    model: ValidityRule,
    alert: validityFailure,
    telemetry: { subject: 'rule' },
    specs: rules =>
      rules.map(({ type, config, treatNullAsValid, columnName }) => ({
        type,
        config,
        nullIsValid: treatNullAsValid,
        ...(columnName !== null && { column: columnName }),
      })),
    scheduleIdOf: rule => (rule.operatingPeriodMode === 'schedule' ? rule.operatingScheduleId : null),
    startState,
    judge: judgeRule,
    consecutiveOf: rule => consecutiveOf(rule),
    alertTexts: (capture, worst, table, past) =>
      alertTexts(
        {
          capture,
          worst,
          number: numberOf(capture.row, capture.outcome),
          failure: failureOf(capture.row),
        },
        table,
        past,
      ),
    describe: (rule, [result], outcome) =>
      describeResult(rule, result!, { number: numberOf(rule, outcome), failure: failureOf(rule) }),
  }
}

/** What was found of a rule, in the words of its type. */
interface RuleWords {
  /** The number that it is about; null of one that counts rows. */
  number: string | null
  /** What comes after the number of invalid rows; null where its type has no words for it. */
  failure: string | null
}

/** A rule that fails. */
interface FailingRule extends RuleWords {
  capture: Capture<ValidityRule>
  worst: JudgedSeries
}

function alertTexts(failing: FailingRule, table: TableContext, past: readonly SeriesPoint[]): AlertTexts {
  const { capture, worst, number } = failing
  const { row: rule } = capture
  return {
    severity: rule.severity,
    ruleName: rule.name,
    title: { ...subjectOfCheck(rule), ...describeFailure(failing) },
    details: {
      rule_id: `v_${rule.uuid}`,
      rule_type: rule.type,
      table_path: pathOfTable(table),
      column_name: rule.columnName,
      ...filterDetails(rule),
      invalid_count: detailsOf(worst.judged).invalidCount,
      invalid_percent: worst.judged.value,
      total_rows: worst.judged.totalRows,
      ...(number !== null && { finding: number }),
      ...limitDetails(failing, past),
    },
  }
}

/** The sentence that its user wrote, or what was found and what was expected. */
function describeFailure({ capture: { row: rule }, worst: { judged }, ...words }: FailingRule): Finding {
  if (rule.errorMessage !== null) return { found: trimEnd(rule.errorMessage, '. \n') }
  return findingOf(rule, judged, words)
}

/** `5 rows with unknown values (0.3 %)`, expected `at most 0.1 %`. */
function findingOf(
  rule: ValidityRule,
  { value, low, high, details }: Pick<CheckResult, 'value' | 'low' | 'high' | 'details'>,
  { number, failure }: RuleWords,
): Finding {
  if (number !== null) return { found: `${rule.name}: ${number}` }
  const rows = describeRows(rule, detailsOf({ details }).invalidCount ?? 0, failure)
  const share = value ?? 0
  const found = (limit: number) => `${rows} (${describeLimit('percent', roundShare(share, limit))})`
  if (rule.detectionMode === 'manual') {
    const limit = rule.alertThresholdPercent ?? 0
    return {
      found: found(limit),
      expected: limit === 0 ? null : `at most ${describeLimit('percent', limit)}`,
    }
  }
  const band = low === null || high === null ? null : { low, high }
  const { expected } = describeFinding('percent', { value: share }, band)
  return { found: found(band && share < band.low ? band.low : (band?.high ?? 0)), expected: expected ?? null }
}

/** `5 rows with unknown values`. */
function describeRows({ type, name }: ValidityRule, count: number, failure: string | null): string {
  if (type === 'CUSTOM_SQL') return `${countOf(count, 'row')} ${count === 1 ? 'breaks' : 'break'} “${name}”`
  return failure === null ? countOf(count, 'invalid row') : `${countOf(count, 'row')} ${failure}`
}

/** What the rate was to stay below: the threshold, or the learned band with what it was learned from. */
function limitDetails({ capture: { row: rule }, worst }: FailingRule, past: readonly SeriesPoint[]) {
  const { detection, judged } = worst
  if (!detection) return { threshold: rule.alertThresholdPercent ?? 0 }
  const { point, verdict } = detection
  // Active results are compared with active ones only.
  const alike = past.filter(({ active }) => active === point.active)
  return {
    band: { expected: judged.expected, low: judged.low, high: judged.high },
    explanation: explainBasis(verdict.basis, judged.zScore, seriesInterval(rule)),
    history: comparable(alike, verdict.basis, point.at).map(({ at, value, total }) => ({
      checked_at: new Date(1_000 * at),
      value,
      total_rows: total,
    })),
  }
}

/** A result in words. */
function describeResult(rule: ValidityRule, result: CheckResult, words: RuleWords): Omit<CheckSummary, 'id'> {
  const { name, severity } = rule
  const { status, errorMessage } = result
  const counted = words.number ?? formatFinding(findingOf(rule, result, words))
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counted
  return { name, severity, status, message }
}
