/** Records what was measured of each bucket of checks with a window, as if each had been measured when it was over. */
import type { Bucket, BucketOutcome, CheckOutcome } from '../../../checks/check.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { CheckDeps } from '../deps.ts'
import type { CheckKind } from '../kind.ts'
import { loadFailingRuns } from '../failing-runs.ts'
import { CheckResult, type CheckRow } from '../models.ts'
import { rewindRuns } from '../past/runs.ts'
import { relearn } from '../past/states.ts'
import {
  isRepeated,
  recordChecks,
  seriesKey,
  seriesOutcomes,
  type EarlierResult,
  type MeasuredRow,
} from '../run/record.ts'

/** A check with the outcomes of its buckets, the oldest first. */
interface MeasuredBuckets<Row extends CheckRow> extends MeasuredRow<Row> {
  outcome: Extract<CheckOutcome, { status: 'windowed' }>
}

/** Whether a row has an outcome of buckets. */
export function hasBuckets<Row extends CheckRow>(row: MeasuredRow<Row>): row is MeasuredBuckets<Row> {
  return row.outcome.status === 'windowed'
}

/**
 * Records the buckets of checks of one kind, the oldest first. A bucket that has a result with the same numbers is left
 * alone. From the first one on that is new or has other numbers, the results are taken back and judged again, by what was
 * known before that bucket.
 * @returns the results and the outcome of the newest bucket of each, in the same order
 */
export async function recordBuckets<Row extends CheckRow>(
  deps: CheckDeps,
  trx: Transaction,
  kind: CheckKind<Row>,
  {
    table,
    measured,
    takenAt,
  }: { table: TableContext; measured: readonly MeasuredBuckets<Row>[]; takenAt: Date },
): Promise<{ results: CheckResult[]; outcome: CheckOutcome }[]> {
  const stored = await loadBuckets(trx, measured)
  const left = measured.map(item => ({ item, ...changedFrom(kind, item, stored.get(item.row.id) ?? []) }))
  const statuses = new Map(measured.map(({ row }) => [row.id, row.status]))
  await rewind(
    trx,
    left.filter(({ taken }) => taken.length > 0),
  )
  const newest = new Map<MeasuredBuckets<Row>, CheckResult[]>()
  const alerted = new Set<MeasuredBuckets<Row>>()
  const starts = [
    ...new Set(left.flatMap(({ buckets }) => buckets.map(({ bucket }) => bucket.start.getTime()))),
  ]
  for (const start of starts.sort((a, b) => a - b)) {
    const ofStart = left.flatMap(({ item, buckets, taken }) => {
      const found = buckets.find(({ bucket }) => bucket.start.getTime() === start)
      return found ? [{ item, found, earlier: earlierOf(taken, found.bucket) }] : []
    })
    for (const { item, found } of ofStart)
      if (isNewest(item, found)) restoreStatus(item.row, statuses.get(item.row.id) ?? null)
    const rowsOfStart = ofStart.map(({ item, found, earlier }) => ({
      row: item.row,
      outcome: found.outcome,
      slot: isNewest(item, found) ? item.slot : null,
      recorded: { bucket: found.bucket, earlier, followsAlert: alerted.has(item) },
    }))
    const at = new Date(start)
    const results = await recordChecks(deps, trx, kind, { table, measured: rowsOfStart, at, takenAt })
    const confirmed: Row[] = []
    for (const [place, { item, found, earlier }] of ofStart.entries()) {
      const own = results[place]!
      if (isNewest(item, found)) newest.set(item, own)
      if (own.some(({ isConfirmed }) => isConfirmed)) confirmed.push(item.row)
      if (own.some(result => result.status === 'fail' && !isRepeated(result, earlier))) alerted.add(item)
    }
    // What a result was confirmed as is learned where it is read again.
    if (confirmed.length > 0) await relearn(trx, confirmed)
  }
  await saveProgress(trx, measured, takenAt)
  return measured.map(item => {
    const { bucket, outcome } = item.outcome.buckets.at(-1)!
    const results = newest.get(item) ?? resultsAt(stored.get(item.row.id) ?? [], bucket)
    return { results, outcome }
  })
}

/** Days before a bucket whose results say how long its groups had been there. */
const REWOUND_DAYS = 100

/**
 * Makes checks be as they were before the first of the results that are taken back. Their open alerts are of the newest
 * bucket, and are dealt with when that is judged.
 */
async function rewind<Row extends CheckRow>(
  trx: Transaction,
  revised: readonly { item: MeasuredBuckets<Row>; taken: readonly TakenResult[] }[],
): Promise<void> {
  if (revised.length === 0) return
  await takeBack(
    trx,
    revised.flatMap(({ taken }) => taken),
  )
  const checks = revised.map(({ item }) => item.row)
  await relearn(trx, checks)
  const times = revised.flatMap(({ taken }) => taken.map(({ result }) => result.at.getTime()))
  await rewindRuns(
    trx,
    checks.filter(({ groupByColumns }) => groupByColumns.length > 0).map(({ id }) => id),
    new Date(Math.min(...times) - REWOUND_DAYS * 86_400_000),
  )
  const failingRuns = await loadFailingRuns(
    trx,
    revised.map(({ item: { row }, taken }) => ({
      checkId: row.id,
      before: new Date(Math.min(...taken.map(({ result }) => result.at.getTime()))),
    })),
  )
  for (const row of checks) Object.assign(row, { status: 'pass', failingRuns: failingRuns.get(row.id) ?? 0 })
}

/** The alert of a check that failed before is over if the newest bucket passes, whatever became of those before. */
function restoreStatus(row: CheckRow, before: CheckRow['status']): void {
  const isOpen = before === 'fail' || before === 'error'
  if (isOpen && row.status !== 'fail') Object.assign(row, { status: before })
}

function isNewest<Row extends CheckRow>({ outcome }: MeasuredBuckets<Row>, found: BucketOutcome): boolean {
  return outcome.buckets.at(-1) === found
}

function resultsAt(stored: readonly CheckResult[], { start }: Bucket): CheckResult[] {
  return stored.filter(({ bucketStart }) => bucketStart?.getTime() === start.getTime())
}

async function loadBuckets(
  trx: Transaction,
  measured: readonly MeasuredBuckets<CheckRow>[],
): Promise<Map<string, CheckResult[]>> {
  const starts = measured.flatMap(({ outcome }) =>
    outcome.buckets.map(({ bucket }) => bucket.start.getTime()),
  )
  const found = await CheckResult.query(trx)
    .whereIn(
      'checkId',
      measured.map(({ row }) => row.id),
    )
    .whereNotNull('bucketStart')
    .whereBetween('at', [new Date(Math.min(...starts)), new Date(Math.max(...starts))])
    .orderBy(['at', 'id'])
  return Map.groupBy(found, ({ checkId }) => checkId)
}

/** A result that is taken back, and whether its bucket has the same numbers now. */
interface TakenResult {
  result: CheckResult
  isEqual: boolean
}

/** The buckets of a check from the first one on that is new or has other numbers, and the results that they take back. */
function changedFrom<Row extends CheckRow>(
  kind: CheckKind<Row>,
  { row, outcome: { buckets } }: MeasuredBuckets<Row>,
  stored: readonly CheckResult[],
): { buckets: readonly BucketOutcome[]; taken: TakenResult[] } {
  // Another run began later and has been recorded: this one knows nothing newer.
  if (row.lastBucketEnd !== null && buckets.at(-1)!.bucket.end < row.lastBucketEnd)
    return { buckets: [], taken: [] }
  const compared = buckets.map(({ bucket, outcome }) => {
    const before = resultsAt(stored, bucket)
    const now = seriesOutcomes(outcome).map(each => ({
      key: seriesKey(each.series),
      numbers: numbersOf(kind, row, each.outcome, bucket.start),
    }))
    const taken = before.map(result => {
      const same = now.find(({ key }) => key === seriesKey(result.series))
      return { result, isEqual: same !== undefined && isSame(same.numbers, result) }
    })
    // One without groups has no results: nothing but the progress of the check says that it was measured.
    const isKnown = before.length > 0 || (row.lastBucketEnd !== null && bucket.end <= row.lastBucketEnd)
    const isUnchanged = isKnown && before.length === now.length && taken.every(({ isEqual }) => isEqual)
    return { taken, isUnchanged }
  })
  const changed = compared.findIndex(({ isUnchanged }) => !isUnchanged)
  // One that could not run last time is as its newest bucket is again.
  const hasRecovered = row.status === 'error' && buckets.at(-1)!.outcome.status !== 'error'
  const first = changed < 0 && hasRecovered ? buckets.length - 1 : changed
  if (first < 0) return { buckets: [], taken: [] }
  return { buckets: buckets.slice(first), taken: compared.slice(first).flatMap(({ taken }) => taken) }
}

type Numbers = Pick<CheckResult, 'status' | 'value' | 'totalRows'>

/** The numbers of an outcome as a result of it would have them. */
function numbersOf<Row extends CheckRow>(
  kind: CheckKind<Row>,
  row: Row,
  outcome: CheckOutcome,
  at: Date,
): Numbers {
  const { judged } = kind.judge(row, outcome, { at, wasActive: null }, kind.startState?.(row) ?? null)
  return judged
}

/** Doubles are added in the order in which rows are read, which changes. */
const ROUNDING_ERROR = 1e-9

function isSame(now: Numbers, before: CheckResult): boolean {
  if (now.status === 'error' || before.status === 'error') return now.status === before.status
  if (Number(now.totalRows) !== Number(before.totalRows)) return false
  if (now.value === null || before.value === null) return now.value === before.value
  return (
    Math.abs(now.value - before.value) <=
    ROUNDING_ERROR * Math.max(Math.abs(now.value), Math.abs(before.value))
  )
}

async function takeBack(trx: Transaction, taken: readonly TakenResult[]): Promise<void> {
  if (taken.length === 0) return
  await rows(
    trx,
    `delete from check_results where company_id = :companyId and id = any(cast(:ids as bigint[]))
       and at >= :first and at <= :last`,
    {
      companyId: companyOf(trx),
      ids: taken.map(({ result }) => result.id),
      first: new Date(Math.min(...taken.map(({ result }) => result.at.getTime()))),
      last: new Date(Math.max(...taken.map(({ result }) => result.at.getTime()))),
    },
  )
}

function earlierOf(taken: readonly TakenResult[], { start }: Bucket): Map<string, EarlierResult> {
  const own = taken.filter(({ result }) => result.at.getTime() === start.getTime())
  return new Map(own.map(({ result, isEqual }) => [seriesKey(result.series), { ...result, isEqual }]))
}

/** Notes up to which bucket checks were measured, and that they were, also where nothing changed. */
async function saveProgress(
  trx: Transaction,
  measured: readonly MeasuredBuckets<CheckRow>[],
  takenAt: Date,
): Promise<void> {
  const ends = measured.map(({ row, outcome }) => ({ id: row.id, end: outcome.buckets.at(-1)!.bucket.end }))
  await rows(
    trx,
    `update checks c set last_bucket_end = greatest(c.last_bucket_end, e."end"), last_checked_at = :takenAt
     from jsonb_to_recordset(cast(:ends as jsonb)) as e(id bigint, "end" timestamptz)
     where c.company_id = :companyId and c.id = e.id`,
    { companyId: companyOf(trx), ends: JSON.stringify(ends), takenAt },
  )
}
