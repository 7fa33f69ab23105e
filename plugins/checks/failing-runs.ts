/** Runs of a check that fail in a row: an alert may wait for several. */
import type { Capture, CheckKind, JudgedSeries } from './kind.ts'
import type { CheckResult, CheckRow } from './models.ts'

/** Whether a series counts on an alert. What still learns is no failure. */
export function isFailing({ judged }: Pick<JudgedSeries, 'judged'>): boolean {
  return judged.status === 'fail' && !judged.isLearning
}

/**
 * How many runs of a check have failed in a row with this one. One that could not run neither counts nor ends them, and
 * neither does one of a check that is switched off.
 */
export function countFailingRuns({ row, judged }: Pick<Capture, 'row' | 'judged'>): number {
  if (!row.isActive) return row.failingRuns
  if (judged.some(isFailing)) return row.failingRuns + 1
  return judged.some(({ judged: { status } }) => status === 'error') ? row.failingRuns : 0
}

/** Whether as many runs have failed in a row as the check has its alert wait for. */
export function isAlertDue<Row extends CheckRow>(kind: CheckKind<Row>, capture: Capture<Row>): boolean {
  return countFailingRuns(capture) >= (kind.consecutiveOf?.(capture.row) ?? 1)
}

/** What a failing result keeps of its place in a row, where alerts wait. */
export function failingRunDetails<Row extends CheckRow>(
  kind: CheckKind<Row>,
  capture: Capture<Row>,
  series: JudgedSeries,
): { failingRun?: number } {
  const isWaitedFor = (kind.consecutiveOf?.(capture.row) ?? 1) > 1
  return isWaitedFor && isFailing(series) ? { failingRun: countFailingRuns(capture) } : {}
}

/** Which failing run in a row a result is, where alerts wait; null elsewhere. */
export function failingRunOf({ details }: Pick<CheckResult, 'details'>): number | null {
  return (details as { failingRun?: number }).failingRun ?? null
}
