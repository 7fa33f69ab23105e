/** Replays what a metric gave in the past, and counts what it would have alerted of at a sensitivity. */
import { learnPoint, judgePoint, listBands } from '../../checks/detector.ts'
import type { DetectorState, SensitivityBand, SeriesPoint } from '../../checks/detector.ts'
import { MAX_PAST_POINTS } from '../../server/http/check-schemas.ts'

/** How far one value of one group was from what was expected. */
export interface ScoredPoint {
  /** Epoch seconds; equal for the groups of one capture. */
  at: number
  value: number
  /** It does not depend on the sensitivity. */
  zScore: number
  isLearning: boolean
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
  /** Values beyond it. */
  anomalies: number
  /** Alerts opened: an anomaly that is not learning opens one, and the first capture without any closes it. */
  alerts: number
}

/** Any sensitivity would do: a score does not depend on it. */
const ANY_SENSITIVITY = 1

/**
 * Judges the points of one group, oldest first, each by the state that has learned those before it.
 * @param options.from epoch seconds; earlier points are only learned
 * @param options.chosen a sensitivity, if the newest points come with their bands
 * @returns the state that has learned all of them
 */
export function replayPoints(
  start: DetectorState,
  points: readonly SeriesPoint[],
  { from = -Infinity, chosen }: { from?: number; chosen?: number | undefined } = {},
) {
  let state = start
  const replayed: ReplayedPoint[] = []
  for (const [index, point] of points.entries()) {
    if (point.at >= from) {
      const { zScore, learning, expected } = judgePoint(state, point, ANY_SENSITIVITY)
      const hasBands = chosen !== undefined && index >= points.length - MAX_PAST_POINTS
      const bands = hasBands ? listBands(state, point, chosen) : []
      replayed.push({ at: point.at, value: point.value, expected, bands, zScore, isLearning: learning })
    }
    state = learnPoint(state, point)
  }
  return { state, replayed }
}

/** Whether a value is beyond a sensitivity and enough is known to say so: it opens an alert, or counts on one. */
export function isAlertingAt({ zScore, isLearning }: ScoredPoint, sensitivity: number): boolean {
  return Math.abs(zScore) > sensitivity && !isLearning
}

/** Counts anomalies, |z| > sensitivity, and the alerts that the groups of a metric share. */
export function countAnomalies(replayed: readonly ScoredPoint[], sensitivity: number): SensitivityCounts {
  let anomalies = 0
  let alerts = 0
  let isOpen = false
  const captures = Map.groupBy(replayed, ({ at }) => at)
  for (const at of [...captures.keys()].sort((a, b) => a - b)) {
    const beyond = captures.get(at)!.filter(({ zScore }) => Math.abs(zScore) > sensitivity)
    const isAlerting = beyond.some(point => isAlertingAt(point, sensitivity))
    anomalies += beyond.length
    if (isAlerting && !isOpen) alerts += 1
    isOpen = isAlerting || (isOpen && beyond.length > 0)
  }
  return { sensitivity, anomalies, alerts }
}
