/** Runs of a check that fail in a row: an alert may wait for several. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
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

/**
 * How many runs in a row had failed before a time, by the ids of checks with a window; checks of which none had are missing.
 */
export async function loadFailingRuns(
  trx: Transaction,
  asked: readonly { checkId: string; before: Date }[],
): Promise<Map<string, number>> {
  const found = await rows<{ checkId: string; runs: number }>(
    trx,
    `with earlier as (
       select r.check_id, r.at, bool_or(r.status = 'fail' and not r.is_learning) as is_failing,
         bool_or(r.status = 'error') as is_error
       from jsonb_to_recordset(cast(:asked as jsonb)) as a(check_id bigint, before timestamptz)
       join check_results r on r.company_id = :companyId and r.check_id = a.check_id and r.at < a.before
       where r.bucket_start is not null
       group by r.check_id, r.at
     )
     select check_id, count(*) filter (where is_failing)::int as runs from earlier
     where not exists (
       select from earlier p where p.check_id = earlier.check_id and p.at >= earlier.at and not p.is_failing and not p.is_error)
     group by check_id`,
    {
      companyId: companyOf(trx),
      asked: JSON.stringify(asked.map(({ checkId, before }) => ({ check_id: checkId, before }))),
    },
  )
  return new Map(found.map(({ checkId, runs }) => [checkId, runs]))
}
