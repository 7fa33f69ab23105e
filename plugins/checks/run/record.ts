/** Judges what a scan measured, and stores the results, what was learned, and the alerts. */
import type { Bucket, CheckOutcome } from '../../../checks/check.ts'
import type { DetectorState, SeriesPoint } from '../../../checks/detector.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import type { TableContext } from '../../catalog/api.ts'
import { updateAlerts } from '../alerts.ts'
import type { CheckDeps } from '../deps.ts'
import { countFailingRuns, failingRunDetails } from '../failing-runs.ts'
import { worstStatus, type Capture, type CheckKind, type JudgedSeries } from '../kind.ts'
import { CheckResult, type CheckRow, type SeriesValues } from '../models.ts'
import { activeAt, inChunks, loadPoints, type SeriesOf } from '../past/points.ts'
import { keepBands } from './frozen-bands.ts'
import { SLOW_DETAILS } from './suspects.ts'
import { loadStates, saveStates, type SeriesState } from '../past/states.ts'

/** What a result was before its bucket was measured again. */
export type EarlierResult = Pick<
  CheckResult,
  'id' | 'status' | 'value' | 'alertId' | 'isConfirmed' | 'revisions' | 'revisedAt' | 'firstValue'
> & {
  /** The numbers are the same as before. */
  isEqual: boolean
}

/** By the keys of their series. */
export type EarlierResults = ReadonlyMap<string, EarlierResult>

/** The bucket that a row is recorded for. */
export interface RecordedBucket {
  bucket: Bucket
  /** By the keys of its series. */
  earlier: EarlierResults
  /** A bucket before it has just failed otherwise than before, so that its own alert is raised or resolved again. */
  followsAlert: boolean
}

/** A row, locked, with what the scan says of it. */
export interface MeasuredRow<Row extends CheckRow = CheckRow> {
  row: Row
  outcome: CheckOutcome
  /** The due time it was taken for; null of one that was asked for by hand and was not due. */
  slot: Date | null
  /** The bucket that it is recorded for, of a check with a window. */
  recorded?: RecordedBucket
}

/**
 * Judges checks of one kind and stores what was learned, alerts, and results, which name the alerts that they counted on. The
 * rows are locked, so that two scans of one row learn one after the other.
 * @returns the results of each, one a series, in the same order
 */
export async function recordChecks<Row extends CheckRow>(
  deps: CheckDeps,
  trx: Transaction,
  kind: CheckKind<Row>,
  {
    table,
    measured,
    at,
    takenAt,
  }: { table: TableContext; measured: readonly MeasuredRow<Row>[]; at: Date; takenAt: Date },
): Promise<CheckResult[][]> {
  const captures = await judgeCaptures(deps, trx, kind, measured, at)
  const { subject = kind.name, type: typeName } = kind.telemetry ?? {}
  for (const { row, judged } of captures)
    for (const { judged: result } of judged)
      deps.telemetry.verdict(subject, typeName ?? row.type, result.isLearning ? 'learning' : result.status)
  const buckets = new Map(captures.map((capture, place) => [capture, measured[place]!.recorded]))
  // A bucket that is judged again as it was has said so before.
  const news = captures.filter(capture => !repeatsItself(capture, buckets.get(capture)))
  const alerts = await updateAlerts(deps, trx, kind, { table, captures, news, at })
  await keepBands(trx, captures, alerts)
  const storing = insertAll(
    captures.flatMap(capture =>
      capture.judged.map(item => ({
        checkId: capture.row.id,
        series: item.series,
        ...item.judged,
        details: {
          ...item.judged.details,
          ...failingRunDetails(kind, capture, item),
          ...(capture.outcome.isSlow && SLOW_DETAILS),
        },
        ...bucketColumns(item, buckets.get(capture), takenAt),
        ...(alerts.has(item) && { alertId: alerts.get(item) }),
        durationMs: Math.round(capture.outcome.durationMs),
        scheduledFor: capture.slot,
        at,
      })),
    ),
    chunk => CheckResult.query(trx).insert(chunk),
  )
  const [stored] = await Promise.all([storing, saveStatuses(trx, kind, captures, takenAt)])
  const byCheck = Map.groupBy(stored, ({ checkId }) => checkId)
  return captures.map(({ row }) => byCheck.get(row.id) ?? [])
}

/** Equal for the values of one group, in whatever order their columns stand: jsonb has an order of its own. */
export function seriesKey(series: SeriesValues): string {
  return JSON.stringify(Object.entries(series).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether a result says the same as the one before it of its bucket. */
export function isRepeated(
  { series, status }: { series: SeriesValues; status: CheckResult['status'] },
  earlier: EarlierResults,
): boolean {
  const before = earlier.get(seriesKey(series))
  return before?.isEqual === true && before.status === status
}

/** Whether the alert of a bucket stays as it is. */
function repeatsItself(
  { row, judged }: Pick<Capture, 'row' | 'judged'>,
  recorded: RecordedBucket | undefined,
): boolean {
  // One that passes has an alert to resolve where the check failed before it.
  if (!recorded || recorded.followsAlert || judged.length === 0 || row.status === 'error') return false
  return judged.every(({ series, judged: { status } }) => isRepeated({ series, status }, recorded.earlier))
}

/** What a result keeps of its bucket, and of what it was before. */
function bucketColumns(
  item: JudgedSeries,
  recorded: RecordedBucket | undefined,
  takenAt: Date,
): Partial<CheckResult> {
  if (!recorded) return {}
  const { bucket } = recorded
  const earlier = recorded.earlier.get(seriesKey(item.series))
  const ofBucket = { bucketStart: bucket.start, bucketEnd: bucket.end }
  if (!earlier) return ofBucket
  const { alertId, isConfirmed, revisions, isEqual } = earlier
  const isRevised = !isEqual
  return {
    ...ofBucket,
    revisions: revisions + (isRevised ? 1 : 0),
    revisedAt: isRevised ? takenAt : earlier.revisedAt,
    firstValue: revisions === 0 ? (isRevised ? earlier.value : null) : earlier.firstValue,
    ...(isEqual && { isConfirmed }),
    ...(isEqual && earlier.status === item.judged.status && { alertId }),
  }
}

/** An outcome of one series: a check by groups has one a group. */
interface SeriesOutcome<Row extends CheckRow> extends SeriesOf<Row> {
  outcome: CheckOutcome
  capture: Capture<Row>
}

/** Cuts the outcome of a check by groups into those of its groups. */
export function seriesOutcomes(outcome: CheckOutcome): { series: SeriesValues; outcome: CheckOutcome }[] {
  if (outcome.status !== 'grouped') return [{ series: {}, outcome }]
  const { id, durationMs, groups } = outcome
  return groups.map(({ group, value, total }) => ({
    series: group,
    outcome: { id, durationMs, status: 'measured', value, total },
  }))
}

/** Judges every series by what is known of it, and stores what was learned, some series at a time. */
async function judgeCaptures<Row extends CheckRow>(
  { catalog, operatingSchedules }: Pick<CheckDeps, 'catalog' | 'operatingSchedules'>,
  trx: Transaction,
  kind: CheckKind<Row>,
  measured: readonly MeasuredRow<Row>[],
  at: Date,
): Promise<Capture<Row>[]> {
  const scheduleIds = measured.map(({ row }) => kind.scheduleIdOf?.(row) ?? null)
  const hours = await operatingSchedules.loadHours(
    trx,
    scheduleIds.filter(id => id !== null),
  )
  const otherIds = new Set(measured.flatMap(({ row }) => row.otherTableId ?? []))
  const others = otherIds.size === 0 ? [] : await catalog.loadTables(trx, [...otherIds])
  const otherById = new Map(others.map(table => [table.id, table]))
  const captures = measured.map((item, place): Capture<Row> => ({
    ...item,
    other: otherById.get(item.row.otherTableId ?? ''),
    hours: hours.get(scheduleIds[place] ?? ''),
    bucket: item.recorded?.bucket,
    judged: [],
    sightings: item.outcome.status === 'grouped' ? [] : null,
  }))
  const outcomes = captures.flatMap((capture): SeriesOutcome<Row>[] =>
    seriesOutcomes(capture.outcome).map(each => ({
      ...each,
      row: capture.row,
      hours: capture.hours,
      capture,
    })),
  )
  for (const chunk of inChunks(outcomes)) {
    const states = await loadStates(trx, kind, chunk.filter(hasRun))
    const byItem = new Map(chunk.filter(hasRun).map((item, place) => [item, states[place]!]))
    const pasts = await loadCompared(trx, kind, chunk.filter(hasRun))
    const learned: (SeriesOf<Row> & { state: DetectorState })[] = []
    for (const item of chunk) {
      const { row, series, outcome, capture } = item
      const { state: before, ...sighting } = byItem.get(item) ?? NEVER_SEEN
      const moment = { at, wasActive: activeAt(item.hours, at), past: pasts.get(item) ?? [] }
      const { judged, detection, state } = kind.judge(row, outcome, moment, before)
      if (state) learned.push({ row, series, state })
      capture.judged.push({ series, judged, detection })
      capture.sightings?.push({ series, ...sighting, isLearning: judged.isLearning })
    }
    await saveStates(trx, learned, at)
  }
  return captures
}

/** The earlier values that those of some series are compared with, by one statement where there are any. */
async function loadCompared<Row extends CheckRow, Item extends SeriesOf<Row>>(
  trx: Transaction,
  kind: CheckKind<Row>,
  items: readonly Item[],
): Promise<Map<Item, SeriesPoint[]>> {
  const counts = new Map(items.map(item => [item, kind.countCompared?.(item.row) ?? 0]))
  const compared = items.filter(item => counts.get(item)! > 0)
  const points = await loadPoints(trx, compared, Math.max(0, ...counts.values()))
  return new Map(compared.map((item, place) => [item, points[place]!]))
}

const NEVER_SEEN: SeriesState = { state: null, run: 0, lastSeenAt: null, isNew: false }

/** What could not run is not learned. */
const hasRun = ({ outcome }: { outcome: CheckOutcome }) => outcome.status !== 'error'

/** Stores how checks did, in one statement. */
async function saveStatuses<Row extends CheckRow>(
  trx: Transaction,
  kind: CheckKind<Row>,
  captures: readonly Capture<Row>[],
  at: Date,
): Promise<void> {
  const statuses = captures.map(({ row, judged }) => ({
    id: row.id,
    status: kind.overallStatus?.(row, judged) ?? worstStatus(judged),
    is_learning: judged.every(({ judged: { isLearning } }) => isLearning),
    failing_runs: countFailingRuns({ row, judged }),
  }))
  // The next bucket is judged by what this one came to.
  for (const [place, { row }] of captures.entries()) {
    const { status, is_learning: isLearning, failing_runs: failingRuns } = statuses[place]!
    Object.assign(row, { status, isLearning, failingRuns })
  }
  await rows(
    trx,
    `update checks c set status = s.status, is_learning = s.is_learning, failing_runs = s.failing_runs,
       last_checked_at = :at
     from jsonb_to_recordset(cast(:statuses as jsonb))
       as s(id bigint, status text, is_learning boolean, failing_runs integer)
     where c.company_id = :companyId and c.id = s.id`,
    { at, statuses: JSON.stringify(statuses), companyId: companyOf(trx) },
  )
}
