/**
 * Values that somebody confirmed as expected. What is expected is then no longer one value but everything from it to
 * the confirmed one, for a while: the same again is no news, more of it still is.
 */
import { reconcile, type Band, type Direction } from './band.ts'

/** A confirmed value that was off, as plain JSON. */
export interface Confirmed {
  value: number
  /** Points for which it still counts. */
  left: number
}

/** Points for which a confirmed value counts: two months of days; what comes again is learned by then. */
const LIFE = 60
/** Confirmed values that are kept. */
const MOST = 8

/** Lets a point go by, and notes it when it is confirmed. */
export function noteConfirmed(
  confirmed: readonly Confirmed[],
  value: number,
  isConfirmed: boolean,
): Confirmed[] {
  const alive = confirmed.flatMap(({ value: known, left }) =>
    left > 1 ? [{ value: known, left: left - 1 }] : [],
  )
  return isConfirmed ? [...alive.slice(1 - MOST), { value, left: LIFE }] : alive
}

/**
 * Judges a value with regard to confirmed ones. Between the expected and the confirmed value the score is 0; beyond
 * the confirmed one it is that of a value as far beyond the expected one: by factor where sizes are proportional
 * (counts), else by difference.
 * @param judge the band for a value, without regard to confirmed ones
 */
export function judgeConfirmed(
  confirmed: readonly Confirmed[],
  judge: (value: number) => Band,
  isProportional: boolean,
  value: number,
  sensitivity: number,
  direction: Direction,
): Band {
  const usual = judge(value)
  const values = confirmed.map(({ value: known }) => known)
  const most = Math.max(usual.expected, ...values)
  const least = Math.min(usual.expected, ...values)
  const edge = value > usual.expected ? most : least
  const high = carried(usual.high, usual.expected, most, isProportional)
  const low = direction === 'high' ? usual.low : carried(usual.low, usual.expected, least, isProportional)
  if (edge === usual.expected) return reconcile({ ...usual, low, high }, value, sensitivity, direction)
  const isBetween = value > usual.expected ? value <= edge : value >= edge
  const zScore = isBetween ? 0 : judge(carried(value, edge, usual.expected, isProportional)).zScore
  return reconcile({ ...usual, low, high, zScore }, value, sensitivity, direction)
}

/** The value that lies from `to` as `value` lies from `from`. */
function carried(value: number, from: number, to: number, isProportional: boolean): number {
  if (from === to) return value
  return isProportional && from > 0 && to > 0 ? value * (to / from) : value + (to - from)
}
