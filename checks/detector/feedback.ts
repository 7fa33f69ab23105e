/**
 * Values that users confirmed as expected. What is expected is then no longer one value but everything from it to
 * the confirmed one, for a while: the same again is no news, more of it still is.
 */
import type { Band } from './band.ts'
import type { Domain } from './scales.ts'

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
 * @param usual what it says of `value`
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

/** The value, or the nearer of the two ends: a confirmed value makes no other value more surprising. */
function between(one: number, value: number, other: number): number {
  return Math.max(Math.min(one, other), Math.min(Math.max(one, other), value))
}

/** The value that lies from `to` as `value` lies from `from`. */
function carriedByDifference(value: number, from: number, to: number): number {
  return from === to ? value : value + (to - from)
}

/** The same in proportion, where there is one: nothing stays nothing. */
function carriedByFactor(value: number, from: number, to: number): number {
  const hasFactor = value >= 0 && from > 0 && to > 0
  return hasFactor && from !== to ? value * (to / from) : carriedByDifference(value, from, to)
}

/** Where a band may reach: a count is not below zero, unless it was before, and a percentage between 0 and 100. */
function rangeOf(domain: Domain, usual: Band): [number, number] {
  if (domain === 'continuous') return [-Infinity, Infinity]
  return [Math.min(0, usual.low), domain === 'percent' ? 100 : Infinity]
}
