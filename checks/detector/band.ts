/** The verdict on one value, and the invariants that every verdict satisfies. */
import type { Cycle } from './calendar.ts'

/** The expected value, its band, and how far the actual value deviates. */
export interface Band {
  expected: number
  low: number
  high: number
  /** Normal-equivalent score, finite, within ±99. */
  zScore: number
  basis: Basis
}

/** The baseline a value was compared with, used to explain the verdict in words. */
export interface Basis {
  /**
   * `level`: all values so far; `recent`: the last ones; `slot`: those of the same slot of a cycle; `step`: the
   * changes from value to value; `dormant`: close to zero, as for a table outside its operating period.
   */
  kind: 'level' | 'recent' | 'slot' | 'step' | 'dormant'
  /** For a slot: its cycle and its number there, as `slotsAt` counts; a step may have one too. */
  cycle: Cycle | null
  slot: number | null
  /** Earlier values that were compared: of the slot, or all. */
  sightings: number
}

export type Direction = 'both' | 'high' | 'low'

/** Whether a score is an anomaly: |z| > sensitivity; one-sided, z > sensitivity or -z > sensitivity. */
export function isAnomalous(zScore: number, sensitivity: number, direction: Direction): boolean {
  if (direction === 'both') return Math.abs(zScore) > sensitivity
  return (direction === 'high' ? zScore : -zScore) > sensitivity
}

/** In which direction an anomaly counts, as the API names it. */
export type AlertDirection = 'both' | 'rise' | 'drop'

export const DIRECTIONS = { both: 'both', rise: 'high', drop: 'low' } as const satisfies Record<
  AlertDirection,
  Direction
>

/**
 * Makes band and score consistent in spite of rounding and of the limits of a domain: the value is outside the
 * band exactly when it is anomalous (on that side of it, when one-sided), and low ≤ expected ≤ high.
 */
export function reconcile(band: Band, value: number, sensitivity: number, direction: Direction): Band {
  const { expected } = band
  const zScore = value === expected ? 0 : band.zScore
  let low = Math.min(band.low, expected)
  let high = Math.max(band.high, expected)
  const anomalous = isAnomalous(zScore, sensitivity, direction)
  if (!anomalous) {
    if (direction !== 'low') high = Math.max(high, value)
    if (direction !== 'high') low = Math.min(low, value)
  } else if (zScore > 0 && high >= value) {
    high = Math.max(expected, justInside(value, expected))
  } else if (zScore < 0 && low <= value) {
    low = Math.min(expected, justInside(value, expected))
  }
  return { ...band, low, high, zScore }
}

/** Whether a value lies much closer to one expected value than to another, so that a second opinion is considered. */
export function isMuchCloser(value: number, expected: number, other: number): boolean {
  return Math.abs(value - expected) <= 0.6 * Math.abs(value - other)
}

/** The nearest floating-point number to `value` in the direction of `target`. */
function justInside(value: number, target: number): number {
  const step = Math.max(Math.abs(value) * 2 * Number.EPSILON, Number.MIN_VALUE)
  return target < value ? value - step : value + step
}
