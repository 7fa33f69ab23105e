import { describeCounted } from '../../checks/check.ts'
import type { CheckOutcome } from '../../checks/check.ts'
import type { SeriesPoint } from '../../checks/detector.ts'
import { comparable, explanation } from '../../checks/explanation.ts'
import type { TableContext } from '../catalog/api.ts'
import type { AlertTexts, Capture, CheckSummary, JudgedSeries, CheckKind } from '../checks/api.ts'
import type { CheckDeps } from '../checks/kit.ts'
import { validityFailure } from './alert-kind.ts'
import { judgeRule, SERIES, startState } from './judge.ts'
import { consecutiveOf, detailsOf, ValidityRule } from './models.ts'
import {
  describeFilter,
  filterDetails,
  pathOfTable,
  seriesInterval,
  type CheckResult,
} from '../checks/kit.ts'

/** Rules that say which values are valid. @param types finds the words for what a rule counted */
export function makeValidityKind({ types }: Pick<CheckDeps, 'types'>): CheckKind<ValidityRule> {
  /** What a rule found that is about a number: `40 %, expected at most 10 %`. */
  const findingOf = ({ type, config }: ValidityRule, outcome: CheckOutcome) =>
    types.has(type) ? describeCounted(types.get(type), outcome, config) : null
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
      alertTexts({ capture, worst, finding: findingOf(capture.row, capture.outcome) }, table, past),
    describe: (rule, [result], outcome) => describeResult(rule, result!, findingOf(rule, outcome)),
  }
}

/** A rule that fails. */
interface FailingRule {
  capture: Capture<ValidityRule>
  worst: JudgedSeries
  finding: string | null
}

function alertTexts(failing: FailingRule, table: TableContext, past: readonly SeriesPoint[]): AlertTexts {
  const { capture, worst, finding } = failing
  const { row: rule } = capture
  const path = pathOfTable(table)
  return {
    severity: rule.severity,
    ruleName: rule.name,
    title: rule.errorMessage ?? `${rule.name} on ${path}: ${describeFailure(failing)}`,
    details: {
      rule_id: `v_${rule.uuid}`,
      rule_type: rule.type,
      table_path: path,
      column_name: rule.columnName,
      ...filterDetails(rule),
      invalid_count: detailsOf(worst.judged).invalidCount,
      invalid_percent: worst.judged.value,
      total_rows: worst.judged.totalRows,
      ...(finding !== null && { finding }),
      ...limitDetails(failing, past),
    },
  }
}

/** What was found, of a learned band with what is usual. */
function describeFailure({ capture: { row: rule }, worst: { judged, detection }, finding }: FailingRule) {
  if (finding !== null) return finding
  if (detection) return explanation(SERIES, detection.point, detection.verdict, seriesInterval(rule))
  return describeCounts(rule, detailsOf(judged).invalidCount, judged.totalRows, judged.value)
}

function describeCounts(
  rule: Pick<ValidityRule, 'filter'>,
  invalid: number | null,
  total: number | string | null,
  percent: number | null,
) {
  return `${invalid} of ${total} rows${describeFilter(rule)} are invalid (${Number((percent ?? 0).toPrecision(3))} %)`
}

/** What the rate was to stay below: the threshold, or the learned band with what it was learned from. */
function limitDetails(failing: FailingRule, past: readonly SeriesPoint[]) {
  const { detection, judged } = failing.worst
  if (!detection) return { threshold: failing.capture.row.alertThresholdPercent ?? 0 }
  const { point, verdict } = detection
  // Active results are compared with active ones only.
  const alike = past.filter(({ active }) => active === point.active)
  return {
    band: { expected: judged.expected, low: judged.low, high: judged.high },
    explanation: describeFailure(failing),
    history: comparable(alike, verdict.basis, point.at).map(({ at, value, total }) => ({
      checked_at: new Date(1_000 * at),
      value,
      total_rows: total,
    })),
  }
}

/** A result in words. */
function describeResult(
  rule: ValidityRule,
  result: CheckResult,
  finding: string | null,
): Omit<CheckSummary, 'id'> {
  const { name, severity } = rule
  const { status, totalRows, errorMessage, value } = result
  const counted = finding ?? describeCounts(rule, detailsOf(result).invalidCount, totalRows, value)
  const message = status === 'error' ? (errorMessage ?? 'The check could not run') : counted
  return { name, severity, status, message }
}
