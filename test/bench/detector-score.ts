/**
 * Scores detectors on labelled series. Every value is judged by those before it only; a flag on a normal value is a
 * false alarm, and an event is hit when one of its values is flagged. F1 is taken a family and then averaged, so
 * that no family outweighs another.
 */
import { answerRequest } from '../../plugins/metrics/detect/detect-requests.ts'
import type { Row, Series } from './detector-series.ts'

/** The sensitivity that the detectors are asked with. */
export const SENSITIVITY = 3
/** Earlier values that a detector is given at most. */
const HISTORY = 400

/** What a detector says of a value; `expected` is null, or `status` cold_start, while it does not know enough. */
export interface DetectorScore {
  expected: number | null
  low: number | null
  high: number | null
  z: number
  is_anomaly: boolean
  status?: string
  /** Epoch seconds; of updates only. */
  deadline?: number
}

/** A question in point form; see checks/protocol.ts. */
export interface Question {
  id: string
  kind: 'metric' | 'validity_auto' | 'freshness'
  metric_type: string
  interval: string
  direction: Series['direction']
  sensitivity: number
  operating_period_mode?: Series['operating_period_mode']
  schedule?: Series['schedule']
  history: Row[]
  point: Row
}

/** Judges the values of a series from `eval_from` on. */
export type Detector = (series: Series) => (DetectorScore | undefined)[]

export function questionOf(series: Series, index: number): Question {
  const { suite, metric_type, interval, direction, operating_period_mode, schedule, points } = series
  const isRule = metric_type === 'invalid_percent'
  return {
    id: `${series.id}#${index}`,
    kind: suite === 'freshness' ? 'freshness' : isRule ? 'validity_auto' : 'metric',
    metric_type,
    interval,
    direction,
    sensitivity: SENSITIVITY,
    ...(operating_period_mode && { operating_period_mode }),
    ...(schedule && { schedule }),
    history: points.slice(Math.max(0, index - HISTORY), index),
    point: points[index]!,
  }
}

/** The indexes that are judged. */
export function judgedOf({ eval_from, points }: Series): number[] {
  return points.map((_, i) => i).slice(eval_from)
}

/** Ours, over the whole series at once. */
export const ours: Detector = series => {
  const { history: _history, point: _point, ...head } = questionOf(series, series.eval_from)
  const asked = { ...head, mode: 'series', points: series.points, indexes: judgedOf(series) }
  return (answerRequest(asked) as { verdicts: DetectorScore[] }).verdicts
}

/** A detector that answers one question at a time. */
export function pointwise(
  ask: (question: Question, series: Series, index: number) => DetectorScore | undefined,
): Detector {
  return series => judgedOf(series).map(i => ask(questionOf(series, i), series, i))
}

/** Mean and standard deviation of all values before; of updates, of the gaps between them. */
export const plainZ: Detector = pointwise(({ kind, history, point, direction }) => {
  const [at, value] = point
  const last = history[history.length - 1]![0]
  const isUpdate = kind === 'freshness'
  const values = isUpdate ? gapsOf(history) : history.map(row => row[1])
  const mean = meanOf(values)
  const sd = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / Math.max(1, values.length - 1))
  const off = (isUpdate ? at - last : value) - mean
  const z = sd > 0 ? off / sd : 99 * Math.sign(off)
  const is_anomaly = (direction === 'high' ? z : Math.abs(z)) > SENSITIVITY
  const [low, high] = [mean - SENSITIVITY * sd, mean + SENSITIVITY * sd]
  return { expected: mean, low, high, z, is_anomaly, ...(isUpdate && { deadline: last + high }) }
})

function gapsOf(history: readonly Row[]): number[] {
  return history.slice(1).map((row, i) => row[0] - history[i]![0])
}

/** What was found in a family. */
interface Tally {
  normal: number
  falseAlarms: number
  events: number
  hits: number
}

/** Averages over families. */
export interface Score {
  f1: number
  recall: number
  /** False alarms per 100 normal values. */
  far: number
}

/** A detector's verdicts on each series, in the order of the series. */
export type Verdicts = ReadonlyMap<Series, (DetectorScore | undefined)[]>

export function judgeAll(detector: Detector, all: readonly Series[]): Verdicts {
  return new Map(all.map(series => [series, detector(series)]))
}

/** Scores of one suite, with a value flagged where its score is beyond the threshold; NaN without series. */
export function scoreOf(verdicts: Verdicts, suite: string, threshold: number): Score {
  const families = new Map<string, Tally>()
  for (const [series, said] of verdicts) {
    if (series.suite !== suite) continue
    const tally = families.get(series.family) ?? { normal: 0, falseAlarms: 0, events: 0, hits: 0 }
    families.set(series.family, tally)
    count(tally, series, said, threshold)
  }
  const scores = [...families.values()].map(({ normal, falseAlarms, events, hits }) => ({
    f1: hits === 0 ? 0 : (2 * hits) / (hits + falseAlarms + events),
    recall: hits / events,
    far: (100 * falseAlarms) / normal,
  }))
  const over = (key: keyof Score) => meanOf(scores.map(score => score[key]).filter(Number.isFinite))
  return { f1: over('f1'), recall: over('recall'), far: over('far') }
}

function count(
  tally: Tally,
  series: Series,
  said: readonly (DetectorScore | undefined)[],
  threshold: number,
): void {
  const { eval_from, labels, events } = series
  const isFlagged = (i: number) => i >= eval_from && flags(series, i, said[i - eval_from], threshold)
  for (const i of judgedOf(series)) {
    if (labels[i] !== 0) continue
    tally.normal++
    if (isFlagged(i)) tally.falseAlarms++
  }
  for (const { start, end } of events) {
    tally.events++
    if (Array.from({ length: end - start + 1 }, (_, k) => start + k).some(isFlagged)) tally.hits++
  }
}

function flags(
  { suite, points, direction }: Series,
  i: number,
  said: DetectorScore | undefined,
  threshold: number,
): boolean {
  if (!said) return false
  if (suite === 'freshness') return points[i]![0] > (said.deadline ?? Infinity)
  return (direction === 'high' ? said.z : Math.abs(said.z)) > threshold
}

/**
 * Verdicts that contradict themselves: a number that is not finite, a band that does not hold what is expected, a
 * flag that does not follow from the score, or a value outside the band that is not flagged, or the reverse.
 */
export function contradictions(verdicts: Verdicts): number {
  let found = 0
  for (const [series, said] of verdicts) {
    judgedOf(series).forEach((i, k) => {
      if (contradicts(series, series.points[i]![1], said[k])) found++
    })
  }
  return found
}

function contradicts({ suite, direction }: Series, value: number, said: DetectorScore | undefined): boolean {
  if (!said) return true
  const { expected, low, high, z, is_anomaly: isAnomaly, status } = said
  if (status === 'cold_start') return isAnomaly
  if (expected === null || low === null || high === null) return true
  if (suite === 'freshness') return !Number.isFinite(high)
  if (![expected, low, high, z].every(Number.isFinite)) return true
  const slack = 1e-6 * (1 + Math.abs(value))
  if (low > expected + slack || expected > high + slack) return true
  const isHigh = direction === 'high'
  if (isAnomaly !== (isHigh ? z : Math.abs(z)) > SENSITIVITY) return true
  const isOutside = value > high + slack || (!isHigh && value < low - slack)
  const isInside = value < high - slack && (isHigh || value > low + slack)
  return isAnomaly ? isInside : isOutside
}

/** Asks ours again about some values, without any later one: how many answers differ? */
export function lookAhead(verdicts: Verdicts, most: number): number {
  const judged = [...verdicts].flatMap(([series, said]) => said.map((was, k) => ({ series, k, was })))
  // A stride that shares no small factor with the lengths of series goes through all of them.
  const stride = Math.max(1, Math.floor(judged.length / most) | 1)
  return judged.filter(({ series, k, was }, n) => {
    if (n % stride !== 0) return false
    const i = series.eval_from + k
    const now = answerRequest({
      ...questionOf(series, i),
      history: series.points.slice(0, i),
    }) as DetectorScore
    const moved = Math.abs((was?.z ?? 0) - now.z) > 1e-6
    const due = Math.abs((was?.deadline ?? 0) - (now.deadline ?? 0)) > 1
    return moved || due || was?.is_anomaly !== now.is_anomaly
  }).length
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? NaN : values.reduce((sum, x) => sum + x, 0) / values.length
}
