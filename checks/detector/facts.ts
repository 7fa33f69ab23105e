/** Properties of the values of a series: kind, magnitude and resolution. */
import type { Domain, Scale } from './scales.ts'

/** Counts over all values, as plain JSON. */
export interface Facts {
  count: number
  /** The last value. */
  last: number
  /** Sum of the absolute values, and of the absolute steps between them. */
  sizes: number
  movement: number
  negatives: number
  zeros: number
  positives: number
  increases: number
  decreases: number
  fractions: number
}

/** The resolution's sd: a third of a unit. */
const RESOLUTION = 0.3

export function startFacts(): Facts {
  return {
    count: 0,
    last: 0,
    sizes: 0,
    movement: 0,
    negatives: 0,
    zeros: 0,
    positives: 0,
    increases: 0,
    decreases: 0,
    fractions: 0,
  }
}

/** Records the kind of a value before its size, since a scale must not receive a value it cannot represent. */
export function noteKind(facts: Facts, value: number): void {
  if (value < 0) facts.negatives++
  else if (value > 0) facts.positives++
  else facts.zeros++
  if (facts.count > 0 && value > facts.last) facts.increases++
  if (facts.count > 0 && value < facts.last) facts.decreases++
  if (!Number.isInteger(value)) facts.fractions++
}

/** Records the magnitude of a value after it was learned. */
export function noteSize(facts: Facts, value: number): void {
  facts.sizes += Math.abs(value)
  if (facts.count > 0) facts.movement += Math.abs(value - facts.last)
  facts.count++
  facts.last = value
}

/** The resolution of a series: the smallest difference its values can show, in raw units. */
export function unitOf(domain: Domain, facts: Facts): number {
  if (domain === 'percent') return 0.05
  if (facts.fractions === 0) return 1
  return Math.max(Number.MIN_VALUE, 0.002 * typicalSize(facts))
}

/** The mean absolute value; for values of both signs, whose zero is arbitrary, the mean absolute step. */
export function typicalSize(facts: Facts): number {
  if (facts.count < 2) return facts.sizes
  return hasBothSigns(facts) ? facts.movement / (facts.count - 1) : facts.sizes / facts.count
}

/** Values of both signs have an arbitrary zero, so their level is unrelated to their noise. */
export function hasBothSigns(facts: Facts): boolean {
  return facts.negatives > 0 && facts.positives > 0
}

/** The least sd on a scale: what a third of a unit is worth there; of large numbers, a small share of them. */
export function floorAt(domain: Domain, facts: Facts, scale: Scale, amount: number): number {
  const resolution = RESOLUTION * unitOf(domain, facts)
  return Math.max(SMALLEST_SHARE[scale.name], resolution * scale.slope(Math.abs(amount) + resolution))
}
const SMALLEST_SHARE: Record<Scale['name'], number> = { raw: 0, root: 0, log: 1e-4, step: 0, logStep: 1e-3 }

/** Whether the values seen so far rule out a scale, so that its predictors can stop learning. */
export function isHopeless(facts: Facts, { needs }: Scale): boolean {
  if (needs === 'nonNegative') return facts.negatives > 0
  if (needs === 'positive') return facts.negatives + facts.zeros > 0
  return needs === 'growing' && facts.count >= 20 && facts.decreases > 0.2 * facts.count
}

/**
 * Whether a table (almost) only grows, and usually does. In a table that stays the same, a change is a different kind
 * of event.
 */
export function isGrowing({ count, increases, decreases }: Facts): boolean {
  return decreases <= 0.05 * count && increases >= 0.5 * count
}

/** The values a domain allows. */
export function limitsOf(domain: Domain, facts: Facts): [number, number] {
  if (domain === 'percent') return [0, 100]
  const counts = domain === 'rows' || domain === 'count'
  return [counts && facts.negatives === 0 ? 0 : -Infinity, Infinity]
}
