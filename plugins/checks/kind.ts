/** What a kind of check is: how its rows are measured, judged, shown and alerted of. */
import type { Bucket, Check, CheckOutcome, CheckType, CheckWindow } from '../../checks/check.ts'
import type {
  DetectorState,
  Schedule,
  SensitivityBand,
  SeriesPoint,
  SeriesVerdict,
} from '../../checks/detector.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { AlertEvent, AlertKind } from '../alerts/api.ts'
import type { Table, TableContext } from '../catalog/api.ts'
import type { CheckResult, CheckRow, CheckStatus, SeriesValues, CheckModel } from './models.ts'

/** What a row wants measured; a type given by name is looked up, so that a missing extension becomes an error outcome. */
export type CheckSpec = Omit<Check, 'id' | 'type'> & { type: CheckType | string }

/** A check that no statement of others measures: it opens the sessions that it needs, of whichever sources. */
export interface OwnMeasurement {
  /** Measures it now; whatever keeps it from running is an outcome, too. @throws 503 `UNAVAILABLE` while a source has no session free */
  measure(options: OwnMeasurementOptions): Promise<OwnOutcome>
}

export interface OwnMeasurementOptions {
  signal?: AbortSignal | undefined
  /** Whether it runs without a caller waiting. */
  isScheduled: boolean
  /** Rows to show of what is wrong. */
  sampleLimit: number
  slotWaitMs?: number | undefined
  /** The buckets of time that it is measured of, of a check with a window. */
  window?: CheckWindow | undefined
}

/** Its outcome, and the statements that were sent for it. */
export interface OwnOutcome {
  outcome: OutcomeWithoutId
  statements: number
}

type WithoutId<Outcome> = Outcome extends unknown ? Omit<Outcome, 'id'> : never
/** An outcome of whichever status, less the id of its check. */
export type OutcomeWithoutId = WithoutId<CheckOutcome>

/** Why a row cannot be measured, found without asking its source. */
export interface MeasureRefusal {
  kind: string
  message: string
}

/** What a row wants measured, how it measures itself, or why it cannot be measured. */
export type WantedMeasure = CheckSpec | OwnMeasurement | MeasureRefusal

/** When an outcome was taken, and what is known of that moment besides. */
export interface CheckMoment {
  at: Date
  /** Whether the operating schedule called it active; null of checks without one. */
  wasActive: boolean | null
  /** A user dismissed it as expected. */
  isConfirmed?: boolean
  /** Whether the bands of other sensitivities are wanted, for a chart. */
  hasBands?: boolean
  /** The latest earlier values of the series, oldest first, as many as its kind compares with. */
  past?: readonly SeriesPoint[]
}

/** What is judged of one series; the fields are those of a stored result. */
export type JudgedValue = Pick<
  CheckResult,
  'status' | 'value' | 'expected' | 'low' | 'high' | 'zScore' | 'isLearning' | 'errorMessage' | 'details'
> & { totalRows: number | null }

/** What the detector said, of which point. */
export interface Detection {
  point: SeriesPoint
  verdict: SeriesVerdict
}

/** An outcome of one series, judged. */
export interface Judgement {
  judged: JudgedValue
  /** With the point learned; null of a check that learns nothing. */
  state: DetectorState | null
  /** Null where no band was asked for, and of an error and of no value. */
  detection: Detection | null
  /** At each sensitivity, where they were asked for. */
  bands: SensitivityBand[]
}

/** A series of a capture, judged. */
export interface JudgedSeries extends Pick<Judgement, 'judged' | 'detection'> {
  series: SeriesValues
}

/** A series that a capture had, with what was known of it before. */
export interface SeriesSighting {
  series: SeriesValues
  /** As in `CheckState`. */
  run: number
  lastSeenAt: Date | null
  /** No result has had it before. */
  isNew: boolean
  /** It has too little history to be judged. */
  isLearning: boolean
}

/** All that one scan made of a check. */
export interface Capture<Row extends CheckRow = CheckRow> {
  /** As it was before. */
  row: Row
  outcome: CheckOutcome
  /** The due time that it is recorded for; null of one that was asked for by hand and was not due. */
  slot: Date | null
  /** One a series; the one error of a check that could not run. */
  judged: JudgedSeries[]
  /** The groups that were there; null of a check without groups, and of one that could not run. */
  sightings: SeriesSighting[] | null
  /** The second table of a check of two, as the catalog has it now. */
  other?: Table
  /** The hours of now of the schedule that it is judged by. */
  hours?: Schedule
  /** The bucket of time that the outcome is about, of a check with a window. */
  bucket?: Bucket
}

/** What an alert says of a failing check; the engine adds whose alert it is. */
export interface AlertTexts {
  severity: AlertEvent['severity']
  ruleName: string
  title: AlertEvent['title']
  details: Record<string, unknown>
}

/** What alerts of one check carry alike. */
export type AlertSubject = Pick<AlertEvent, 'type' | 'sourceId' | 'asset'>

/** Alerts beyond the one about a check that fails. */
export interface MoreAlerts {
  /** The causes of alerts that are over. */
  over?: readonly string[]
  /** The causes of alerts whose subject is gone. */
  orphaned?: readonly string[]
  events?: readonly AlertEvent[]
}

/** What the alerts of a scan go by. */
export interface AlertContext<Row extends CheckRow> {
  table: TableContext
  captures: readonly Capture<Row>[]
  at: Date
  subjectOf(row: Row): AlertSubject
}

/** What a check found, in words. */
export interface CheckSummary {
  /** The check, as the paths of its feature take it. */
  id: string
  name: string
  /** A warning is no failure. */
  status: CheckStatus
  severity: 'info' | 'warning' | 'critical'
  message: string
}

/** What every kind of check states. */
export interface StoredKind<Row extends CheckRow = CheckRow> {
  /** As lists call it: `validity`. */
  name: string
  /** What comes before the UUID of a check in its public id: `v_`. */
  idPrefix: string
  /** Names the kind and its settings. */
  model: CheckModel<Row>
  alert: AlertKind
  /** The causes of alerts beyond the one of its id that are open, of a check that is removed or switched off; they count as over. */
  endMoreAlerts?(trx: Transaction, row: Row): Promise<string[]>
}

/** The range of due times that a sweep claimed for one job. */
export interface SlotRange {
  from: string
  to: string
}

/** Checks of one source that a sweep claimed for one job. */
export interface ClaimedSource {
  companyId: string
  sourceId: string
  /** Those whose `running_slot` is within it and that have no result yet. */
  claimed: SlotRange
  /** Cancels statements at the source and rejects. */
  signal: AbortSignal
}

/**
 * A kind whose checks are measured for many tables of a source at once. The engine stores them, claims what is due and gives
 * each source a job; the kind measures and judges, and stores what it found with `storeFindings`. What the API lists,
 * counts and runs of all checks together are those of `CheckKind`.
 */
export interface SourceKind<Row extends CheckRow = CheckRow> extends StoredKind<Row> {
  /**
   * Checks what was claimed, in as few statements as can be.
   * @returns counts, for the log of jobs
   * @throws 503 `UNAVAILABLE` while all sessions of the source are in use, 409 `CONFLICT` if it is switched off: what was claimed is due again
   */
  checkSource(claim: ClaimedSource): Promise<Record<string, number>>
}

/** A kind of check, on schedule and on demand. The engine measures, stores, lists and alerts; a kind says what differs. */
export interface CheckKind<Row extends CheckRow = CheckRow> extends StoredKind<Row> {
  /** The part of the API that it belongs to: `metrics`. */
  feature: string
  /** What people call one of them, in lists of kinds. */
  label: string
  /** What rows of a table want measured of it, in their order. */
  specs(
    rows: readonly Row[],
    table: TableContext,
    trx: Transaction,
  ): WantedMeasure[] | Promise<WantedMeasure[]>
  /** The operating schedule that a check is judged by; without it, checks of the kind have none. */
  scheduleIdOf?(row: Row): string | null
  /** What a series starts to learn from; null of a check that learns nothing, as are all of a kind without it. */
  startState?(row: Row): DetectorState | null
  /**
   * Judges one series. A failed measure is an error, never a pass, and is not learned.
   * @param outcome of a check by groups: of one group
   */
  judge(row: Row, outcome: CheckOutcome, moment: CheckMoment, state: DetectorState | null): Judgement
  /** How many earlier values of its series a value is compared with, besides what is learned; defaults to none. */
  countCompared?(row: Row): number
  /** How many runs in a row must fail before there is an alert; defaults to one. */
  consecutiveOf?(row: Row): number
  /** How a check did as a whole; defaults to the worst of its series. */
  overallStatus?(row: Row, judged: readonly Pick<JudgedSeries, 'judged'>[]): CheckStatus
  /**
   * What the alert of a check that fails says.
   * @param past the results before, of a check that was judged by a learned band
   */
  alertTexts(
    capture: Capture<Row>,
    worst: JudgedSeries,
    table: TableContext,
    past: readonly SeriesPoint[],
  ): AlertTexts
  moreAlerts?(trx: Transaction, context: AlertContext<Row>): Promise<MoreAlerts>
  /** The results of one scan in words. */
  describe(row: Row, results: readonly CheckResult[], outcome: CheckOutcome): Omit<CheckSummary, 'id'>
  /** What telemetry counts its verdicts by; defaults to the name of the kind and the type of the check. */
  telemetry?: { subject: string; type?: string }
}

/** The public id of a check: what paths take and alerts name as their cause. */
export function publicIdOf(
  { idPrefix }: Pick<CheckKind, 'idPrefix'>,
  { uuid }: Pick<CheckRow, 'uuid'>,
): string {
  return `${idPrefix}${uuid}`
}

/** Values of a result that was judged without a band. */
export const NO_BAND = { expected: null, low: null, high: null, zScore: null, isLearning: false }

/** The judgement of a check that could not run, which learns nothing. @param otherwise what is wrong with an outcome of another kind */
export function failedJudgement(
  outcome: CheckOutcome,
  otherwise: string,
  state: DetectorState | null,
): Judgement {
  const judged: JudgedValue = {
    status: 'error',
    value: null,
    totalRows: null,
    ...NO_BAND,
    errorMessage: outcome.status === 'error' ? outcome.message : otherwise,
    details: {},
  }
  return { judged, state, detection: null, bands: [] }
}

const WORST_FIRST = ['error', 'fail', 'pass'] as const

/** How a check did as a whole: the worst of its series. */
export function worstStatus(judged: readonly { judged: Pick<JudgedValue, 'status'> }[]): CheckStatus {
  return WORST_FIRST.find(status => judged.some(each => each.judged.status === status)) ?? 'pass'
}
