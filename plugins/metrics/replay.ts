/** Replays what a metric gave in the past, and counts what it would have alerted of at a sensitivity. */
import { learnPoint, judgePoint, listBands } from '../../checks/detector.ts'
import type { DetectorState, SensitivityBand, SeriesPoint } from '../../checks/detector.ts'
import { MAX_PAST_POINTS } from '../../server/http/check-schemas.ts'
import { isUnusual } from './judge.ts'
import { countCompared, detectionOf, findBreach, type MetricSettings } from './thresholds.ts'

/** How far one value of one group was from what was expected. */
export interface ScoredPoint {
  /** Epoch seconds; equal for the groups of one capture. */
  at: number
  value: number
  /** It does not depend on the sensitivity. */
  zScore: number
  isLearning: boolean
  /** It breaks a threshold. */
  isBreach?: boolean
}

/** What would have been said of one value of one group. */
export interface ReplayedPoint extends ScoredPoint {
  expected: number | null
  /** At each sensitivity; empty while nothing is expected, and where no chart shows them. */
  bands: SensitivityBand[]
}

/** What a sensitivity would have made of the past. */
export interface SensitivityCounts {
  sensitivity: number
  /** Values that fail: beyond it, or beyond a threshold. */
  anomalies: number
  /**
   * Alerts opened: as many captures in a row as the metric waits for, each with a failure that is not learning, open one,
   * and the first capture without any closes it.
   */
  alerts: number
}

interface ReplayOptions {
  from?: number
  chosen?: number | undefined
  settings?: MetricSettings
}

/** Any sensitivity would do: a score does not depend on it. */
const ANY_SENSITIVITY = 1

/**
 * Judges the points of one group, oldest first, each by the state that has learned those before it.
 * @param options.from epoch seconds; earlier points are only learned
 * @param options.chosen a sensitivity, if the newest points come with their bands
 * @param options.settings have the thresholds that points may break
 * @returns the state that has learned all of them
 */
export function replayPoints(
  start: DetectorState,
  points: readonly SeriesPoint[],
  { from = -Infinity, chosen, settings }: ReplayOptions = {},
) {
  const most = settings ? countCompared(settings) : 0
  let state = start
  const replayed: ReplayedPoint[] = []
  for (const [index, point] of points.entries()) {
    if (point.at >= from) {
      const { zScore, learning, expected } = judgePoint(state, point, ANY_SENSITIVITY)
      const hasBands = chosen !== undefined && index >= points.length - MAX_PAST_POINTS
      const bands = hasBands ? listBands(state, point, chosen) : []
      const past = points.slice(Math.max(0, index - most), index)
      const isBreach = settings !== undefined && findBreach(settings, point, past) !== null
      const isWaiting = settings === undefined || detectionOf(settings) !== 'threshold'
      const isLearning = learning && !isBreach && isWaiting
      replayed.push({ at: point.at, value: point.value, expected, bands, zScore, isLearning, isBreach })
    }
    state = learnPoint(state, point)
  }
  return { state, replayed }
}

/** Whether a value fails at a sensitivity. */
function isFailingAt(
  { zScore, isBreach = false }: ScoredPoint,
  sensitivity: number,
  settings: MetricSettings,
) {
  return isBreach || isUnusual(settings, zScore, sensitivity)
}

/** Whether a value fails at a sensitivity and enough is known to say so: it opens an alert, or counts on one. */
export function isAlertingAt(point: ScoredPoint, sensitivity: number, settings: MetricSettings): boolean {
  return isFailingAt(point, sensitivity, settings) && !point.isLearning
}

/** Counts values that fail at a sensitivity, and the alerts that the groups of a metric share. */
export function countAnomalies(
  replayed: readonly ScoredPoint[],
  sensitivity: number,
  settings: MetricSettings,
): SensitivityCounts {
  let anomalies = 0
  let alerts = 0
  let run = 0
  let isOpen = false
  const captures = Map.groupBy(replayed, ({ at }) => at)
  for (const at of [...captures.keys()].sort((a, b) => a - b)) {
    const failing = captures.get(at)!.filter(point => isFailingAt(point, sensitivity, settings))
    const isAlerting = failing.some(point => isAlertingAt(point, sensitivity, settings))
    anomalies += failing.length
    run = isAlerting ? run + 1 : 0
    const isDue = run >= (settings.consecutive ?? 1)
    if (isAlerting && isDue && !isOpen) alerts += 1
    isOpen = (isAlerting && isDue) || (isOpen && failing.length > 0)
  }
  return { sensitivity, anomalies, alerts }
}
