/**
 * Values that users confirmed as expected. For a while, the expectation is then not one value but the range from it to
 * the confirmed one: the same value again is no anomaly, a more extreme one still is.
 */
import type { Band } from './band.ts'
import type { Domain } from './scales.ts'

/** A confirmed value that had been an anomaly, as plain JSON. */
export interface Confirmed {
  value: number
  /** Remaining points for which it counts. */
  left: number
}

/** Points for which a confirmed value counts: two months of daily values; a recurring one is learned by then. */
const LIFE = 60
/** Maximum number of confirmed values kept. */
const MOST = 8

/** Ages the confirmed values by one point, and adds the point if it was confirmed. */
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
 * Judges a value, taking confirmed ones into account. Between the expected and the confirmed value the score is 0;
 * beyond the confirmed one it is that of a value as far beyond the expected one: by factor where sizes are
 * proportional (counts), else by difference.
 * @param judge the band for a value, without regard to confirmed ones
 * @param usual the result of `judge` for `value`
 */
export function judgeConfirmed(
  confirmed: readonly Confirmed[],
  judge: (value: number) => Band,
  usual: Band,
  value: number,
  domain: Domain,
): Band {
  const { expected } = usual
  const values = confirmed.map(({ value: known }) => known)
  const [least, most] = [Math.min(expected, ...values), Math.max(expected, ...values)]
  const carried = domain === 'rows' || domain === 'count' ? carriedByFactor : carriedByDifference
  const [floor, ceiling] = rangeOf(domain, usual)
  const low = Math.max(floor, carried(usual.low, expected, least))
  const high = Math.min(ceiling, carried(usual.high, expected, most))
  const edge = value > expected ? most : least
  const isBetween = least <= value && value <= most
  const zScore = isBetween ? 0 : judge(carried(value, edge, expected)).zScore
  return { ...usual, low, high, zScore: between(0, zScore, usual.zScore) }
}

/** Clamps a value to the range: a confirmed value must not make another value more surprising. */
function between(one: number, value: number, other: number): number {
  return Math.max(Math.min(one, other), Math.min(Math.max(one, other), value))
}

/** Shifts `value` by the difference between `from` and `to`. */
function carriedByDifference(value: number, from: number, to: number): number {
  return from === to ? value : value + (to - from)
}

/** Scales `value` by the ratio of `to` to `from`; zero stays zero. */
function carriedByFactor(value: number, from: number, to: number): number {
  const hasFactor = value >= 0 && from > 0 && to > 0
  return hasFactor && from !== to ? value * (to / from) : carriedByDifference(value, from, to)
}

/** Limits of a band: a count is not negative unless it was before, and a percentage is between 0 and 100. */
function rangeOf(domain: Domain, usual: Band): [number, number] {
  if (domain === 'continuous') return [-Infinity, Infinity]
  return [Math.min(0, usual.low), domain === 'percent' ? 100 : Infinity]
}
