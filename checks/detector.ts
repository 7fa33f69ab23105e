/**
 * Judges a series of measurements, one value at a time: how far is a value from what this very series led one to
 * expect? Every value is compared with the one-step-ahead prediction of the model that has predicted the series
 * best so far, and the score is the normal equivalent of its improbability. Nothing here does I/O, reads a clock or
 * draws a random number, and no verdict uses a later point.
 */
import { feedBank, startBank, type BankState } from './detector/bank.ts'
import { isAnomalous, reconcile, type Band, type Basis, type Direction } from './detector/band.ts'
import type { Interval } from './detector/calendar.ts'
import { bankFor } from './detector/designs.ts'
import { judgeConfirmed, noteConfirmed, type Confirmed } from './detector/feedback.ts'
import { judgeByBank, noteSurprise } from './detector/judgement.ts'
import { feedOperating, judgeOperating, startOperating } from './detector/operating.ts'
import type { Operating, OperatingState } from './detector/operating.ts'
import type { Domain } from './detector/scales.ts'

export type { Basis } from './detector/band.ts'
export { slotsAt } from './detector/calendar.ts'
export { DIRECTIONS, isAnomalous, type AlertDirection } from './detector/band.ts'
export type { Interval } from './detector/calendar.ts'
export type { Domain } from './detector/scales.ts'
export type { Operating } from './detector/operating.ts'
export type { Schedule, ScheduleRule } from './detector/schedule.ts'
export { isActive } from './detector/schedule.ts'

/** One measurement. A measurement that failed is not a point. */
export interface SeriesPoint {
  /** Epoch seconds. */
  at: number
  /** Finite; a percentage is 0 to 100. */
  value: number
  /** The rows behind a percentage, where they are known. */
  total?: number | null
  /** The value was confirmed as expected: it becomes part of the baseline, however far off it was. */
  confirmed?: boolean
  /** Whether the table was meant to operate then, by the schedule of that time; the schedule is asked when absent. */
  active?: boolean | null
}

export interface DetectorOptions {
  /** Metric type (`row_count`, `null_percent`, …), or `invalid_percent` for a validity rule in auto mode. */
  series: string
  /** What its values can be, as the metric type states it. */
  domain: Domain
  interval: Interval
  /** `high`: only values above the band are anomalies; `low`: only those below. */
  direction: Direction
  /** The score beyond which a value is an anomaly, in standard deviations of a normal distribution. */
  sensitivity: number
  /** When the table operates; regarded for percentages with their row counts only. Default: always. */
  operating?: Operating
}

export interface SeriesVerdict {
  /** Null, with `low` and `high`, while there is too little history for a band. */
  expected: number | null
  low: number | null
  high: number | null
  /** Normal-equivalent score, within ±99; 0 without a band. */
  zScore: number
  /** |zScore| > sensitivity, on the one side alone of a one-sided direction; exactly then outside the band. */
  isAnomaly: boolean
  /** Fewer than 7 earlier points (of the same operating period): too early to alert. */
  learning: boolean
  /** What the value was compared with; null without a band. */
  basis: Basis | null
}

/** What has been learned of a series, as plain JSON; made and read by this file only. */
export interface DetectorState {
  /** Changes with the meaning of the state: a state of another version has to be rebuilt from history. */
  version: number
  options: Omit<DetectorOptions, 'sensitivity'>
  count: number
  confirmed: Confirmed[]
  learned: { by: 'bank'; bank: BankState } | { by: 'rates'; rates: OperatingState } | null
}

/** The version of the states that this code reads. */
export const STATE_VERSION = 5
/** Earlier points below which a verdict is marked as learning. */
const LEARNING_POINTS = 7

/** The state before the first point. The sensitivity is no part of it: changing it needs no history. */
export function startDetector(options: Omit<DetectorOptions, 'sensitivity'>): DetectorState {
  const { series, domain, interval, direction, operating } = options
  return {
    version: STATE_VERSION,
    options: { series, domain, interval, direction, ...(operating && { operating }) },
    count: 0,
    confirmed: [],
    learned: null,
  }
}

/** Learns a point. The state given is used up: go on with the one returned. Throws on a state of another version. */
export function learnPoint(state: DetectorState, point: SeriesPoint): DetectorState {
  assertCurrent(state)
  const { domain, interval } = state.options
  const value = clampToRange(point.value)
  const learned = (state.learned ??= startLearning(state.options, point))
  if (learned.by === 'bank') {
    const bank = bankFor(domain, interval)
    noteSurprise(bank, learned.bank, point.at, value)
    feedBank(bank, learned.bank, point.at, value, point.confirmed)
  } else {
    const operating = operatingOf(state.options)
    const { at, total, active, confirmed } = point
    feedOperating(operating, interval, learned.rates, at, value, total, active, confirmed)
  }
  state.confirmed = noteConfirmed(state.confirmed, value, point.confirmed ?? false)
  state.count++
  return state
}

/** Judges a point that the state has not learned; the state stays as it is. */
export function judgePoint(state: DetectorState, point: SeriesPoint, sensitivity: number): SeriesVerdict {
  assertCurrent(state)
  const isValidity = state.options.series === 'invalid_percent'
  const learning = state.count < LEARNING_POINTS
  const band = isValidity && learning ? null : bandFor(state, point, sensitivity)
  if (!band)
    return { expected: null, low: null, high: null, zScore: 0, isAnomaly: false, learning: true, basis: null }
  const { direction } = state.options
  const said = reconcile(band, point.value, sensitivity, direction)
  return { ...said, isAnomaly: isAnomalous(said.zScore, sensitivity, direction), learning }
}

/** The sensitivities that a dry run compares. */
export const SENSITIVITIES = [1, 2, 3, 4] as const

/** The range in which a value is no anomaly at a sensitivity. */
export interface SensitivityBand {
  sensitivity: number
  low: number
  high: number
}

/**
 * The band around a point at each of the sensitivities that are compared, and at one more; none while nothing is
 * expected. A band is no multiple of a narrower one: its edges follow the tails of the series.
 */
export function listBands(state: DetectorState, point: SeriesPoint, chosen: number): SensitivityBand[] {
  return [...new Set([...SENSITIVITIES, chosen])]
    .sort((a, b) => a - b)
    .flatMap(sensitivity => {
      const { low, high } = judgePoint(state, point, sensitivity)
      return low === null || high === null ? [] : { sensitivity, low, high }
    })
}

/** Judges a point by the history before it, oldest first. */
export function judgeByHistory(
  history: readonly SeriesPoint[],
  point: SeriesPoint,
  options: DetectorOptions,
): SeriesVerdict {
  const state = history.reduce(learnPoint, startDetector(options))
  return judgePoint(state, point, options.sensitivity)
}

/** Judges every point of a series, oldest first, each by the points before it only. */
export function replaySeries(points: readonly SeriesPoint[], options: DetectorOptions): SeriesVerdict[] {
  let state = startDetector(options)
  return points.map(point => {
    const said = judgePoint(state, point, options.sensitivity)
    state = learnPoint(state, point)
    return said
  })
}

function assertCurrent(state: DetectorState): void {
  if (state.version !== STATE_VERSION)
    throw new Error(
      `Detector state of version ${state.version}: rebuild it from the history with start and advance.`,
    )
}

/** Beyond this size squares and logarithms overflow; below its inverse they vanish. */
const MAX_MAGNITUDE = 1e100

/** The value in the range that can be reckoned with: larger ones count as the largest, tinier ones as zero. */
function clampToRange(value: number): number {
  if (Math.abs(value) < 1 / MAX_MAGNITUDE) return 0
  return Math.max(-MAX_MAGNITUDE, Math.min(MAX_MAGNITUDE, value))
}

/** The first point decides how a series is judged: a percentage that comes with its rows, by counting. */
function startLearning(
  options: DetectorState['options'],
  point: SeriesPoint,
): NonNullable<DetectorState['learned']> {
  const { series, domain, interval } = options
  const counted = series === 'invalid_percent' || (series === 'null_percent' && point.total != null)
  if (counted) return { by: 'rates', rates: startOperating(operatingOf(options), interval) }
  return { by: 'bank', bank: startBank(bankFor(domain, interval)) }
}

function operatingOf(options: DetectorState['options']): Operating {
  return options.operating ?? { mode: 'off' }
}

/** Points before there is any band. */
const MIN_BAND_POINTS = 3

function bandFor(state: DetectorState, point: SeriesPoint, sensitivity: number): Band | null {
  const value = clampToRange(point.value)
  const usual = usualBandFor(state, point, value, sensitivity)
  const { confirmed, options } = state
  if (!usual || confirmed.length === 0) return usual
  const judge = (other: number) => usualBandFor(state, point, other, sensitivity) ?? usual
  return judgeConfirmed(confirmed, judge, usual, value, options.domain)
}

/** The band at the time of a point for a value there, without regard to confirmed ones. */
function usualBandFor(
  state: DetectorState,
  point: SeriesPoint,
  value: number,
  sensitivity: number,
): Band | null {
  const { domain, interval } = state.options
  if (!state.learned || state.count < MIN_BAND_POINTS) return null
  const { at, total, active } = point
  if (state.learned.by === 'bank')
    return judgeByBank(bankFor(domain, interval), state.learned.bank, at, value, sensitivity)
  const operating = operatingOf(state.options)
  return judgeOperating(operating, interval, state.learned.rates, at, value, total, sensitivity, active)
}
