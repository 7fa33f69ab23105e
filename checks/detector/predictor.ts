/**
 * One robust one-step-ahead predictor: a level (exponential smoothing, Gardner 2006), on some of them the effect
 * of a slot, and the scale of its own errors. The state after a point depends on the points up to it only.
 */
import type { Slots } from './calendar.ts'
import { logStudent } from './distributions.ts'
import { median } from './robust.ts'
import type { Scale } from './scales.ts'
import { learnTail, startTail, type TailState } from './tail.ts'
import { effectSpread, learnEffect, startSeason, type Season, type SeasonHabit } from './season.ts'

/** What distinguishes one predictor from another; not part of its state. */
export interface Design {
  scale: Scale
  /** Weight of the newest value in the level: 0 is the running mean, 1 the last value. */
  weight: 0 | 0.3 | 1
  season: SeasonHabit | null
  /** Effects of a second cycle, added to those of the first. */
  overlay: SeasonHabit | null
  /** Whether the noise is allowed to differ by hour. */
  hourlyNoise: boolean
  /** Penalty on the log score. */
  handicap: number
}

/** Everything a predictor has learned, as plain JSON. */
export interface Predictor {
  level: number
  /** Points that went into the level; 0 before the first. */
  points: number
  season: Season | null
  overlay: Season | null
  noise: HourlyNoise | null
  /** One-step errors seen. */
  errors: number
  /** Variance of the standardised errors. */
  variance: number
  /** The absolute values of the first standardised errors. */
  firstErrors: number[]
  tail: TailState
  /** Discounted sum of log predictive densities: how well this predictor has done on this very series. */
  score: number
  /** The last value before a gross step outlier and how long it is kept; null when there was none. */
  anchor: { value: number; age: number } | null
}

/** Mean absolute error by hour, discounted. */
interface HourlyNoise {
  sum: number[]
  weight: number[]
  totalSum: number
  totalWeight: number
}

export interface Prediction {
  mean: number
  /** Standard deviation of the coming error in units of the noise: estimation error and the hour's own noise. */
  stretch: number
}

/** Errors that are beyond this many sd count as this many. */
const CLIP = 3.5
/** Beyond this many sd a value does not move the level at all. */
const INCIDENT = 6
/** E[min(x², CLIP²)] of the normal is just under 1; heavier tails lose more. Makes up for the clipping. */
const CLIP_CORRECTION = 1.12
/** Weight of the newest squared error in the variance. */
const SCALE_WEIGHT = 0.025
/** A predictor's past counts less by this factor with each point. */
const SCORE_MEMORY = 0.985
/** No single point can ruin a predictor's score. */
const WORST_LOG_DENSITY = -20
/** Errors before a predictor's scale is taken for known. */
const YOUNG = 12

export function startPredictor(design: Design): Predictor {
  return {
    level: 0,
    points: 0,
    season: design.season && startSeason(design.season),
    overlay: design.overlay && startSeason(design.overlay),
    noise: design.hourlyNoise
      ? { sum: Array<number>(24).fill(0), weight: Array<number>(24).fill(0), totalSum: 0, totalWeight: 0 }
      : null,
    errors: 0,
    variance: 0,
    firstErrors: [],
    tail: startTail(),
    score: 0,
    anchor: null,
  }
}

/** Predicts the next value on the working scale; only once the predictor has seen a point. */
export function predict(p: Predictor, design: Design, slots: Slots): Prediction {
  let mean = p.level
  let uncertainty = levelUncertainty(p, design)
  if (p.season && design.season) {
    const slot = slots[design.season.cycle]
    mean += p.season.effect[slot]!
    uncertainty += seasonUncertainty(p, p.season, slot)
  }
  if (p.overlay && design.overlay) {
    const slot = slots[design.overlay.cycle]
    const sightings = p.overlay.sightings[slot]!
    mean += p.overlay.effect[slot]!
    uncertainty += sightings ? 1 / (Math.min(sightings, design.overlay.memory) + SIGHTING_OFFSET) : 0.5
  }
  return { mean, stretch: Math.sqrt(1 + uncertainty) * relativeNoise(p, slots.hour) }
}

const SIGHTING_OFFSET = 0.7

/** Variance of the level in units of the noise: 1/n of a mean; (2 − w)/w points make a smoothed one. */
function levelUncertainty(p: Predictor, design: Design): number {
  if (design.weight === 1) return 0
  const reach = design.weight > 0 ? (2 - design.weight) / design.weight : Infinity
  return 1 / Math.max(1, Math.min(p.points, reach))
}

/** Variance of a slot's effect in units of the noise; of a slot never seen, the spread of the other slots. */
function seasonUncertainty(p: Predictor, season: Season, slot: number): number {
  const sightings = season.sightings[slot]!
  if (sightings > 0) return 1 / (Math.min(sightings, SEASON_MEMORY) + SIGHTING_OFFSET)
  const spread = effectSpread(season)
  return spread === null ? 1 : Math.max(1, Math.min(50, spread / (p.variance || 1e-12)))
}
export const SEASON_MEMORY = 10

/** Noise of an hour relative to the whole, shrunk towards 1 by 8 pseudo-errors, within 0.2 and 5. */
export function relativeNoise(p: Predictor, hour: number): number {
  const noise = p.noise
  if (!noise || noise.totalWeight < 24) return 1
  const overall = noise.totalSum / noise.totalWeight
  if (!(overall > 0)) return 1
  const own = (noise.sum[hour]! + 8 * overall) / (noise.weight[hour]! + 8)
  return Math.max(0.2, Math.min(5, own / overall))
}

/**
 * Learns a value of the working scale and answers the size of the error it makes, in sd.
 * @param confirmed the level follows the whole error
 */
export function learn(
  p: Predictor,
  design: Design,
  slots: Slots,
  x: number,
  floor: number,
  logJacobian: number,
  scored: boolean,
  confirmed: boolean,
): number {
  if (p.points === 0) {
    learnFirst(p, design, slots, x)
    return 0
  }
  const { mean, stretch } = predict(p, design, slots)
  const error = x - mean
  const u = error / stretch
  const sd = Math.sqrt(Math.max(p.variance, floor * floor))
  if (scored) learnScore(p, u / sd, sd * stretch, logJacobian)
  learnNoise(p, slots.hour, u, sd)
  learnVariance(p, u, sd)
  learnTail(p.tail, u, p.variance, floor)
  learnLevel(p, design, error, confirmed ? Infinity : sd * stretch)
  learnSeasons(p, design, slots, x)
  return u / sd
}

function learnFirst(p: Predictor, design: Design, slots: Slots, x: number): void {
  p.level = x
  p.points = 1
  if (p.season && design.season) learnEffect(p.season, design.season, slots[design.season.cycle], 0)
}

/** Log of the t density of the error, floored, on the raw scale by the Jacobian; the past is discounted. */
function learnScore(p: Predictor, r: number, sd: number, logJacobian: number): void {
  const df = Math.max(1, Math.min(5, p.errors - 1))
  const density = Math.max(WORST_LOG_DENSITY, logStudent(r, df)) - Math.log(sd) + logJacobian
  p.score = p.score * SCORE_MEMORY + density
}

function learnNoise(p: Predictor, hour: number, u: number, sd: number): void {
  const noise = p.noise
  if (!noise) return
  const own = relativeNoise(p, hour)
  const size = Math.min(Math.abs(u) * own, CLIP * sd * Math.max(1, own))
  noise.sum[hour] = noise.sum[hour]! * 0.97 + size
  noise.weight[hour] = noise.weight[hour]! * 0.97 + 1
  noise.totalSum = noise.totalSum * 0.99 + size
  noise.totalWeight = noise.totalWeight * 0.99 + 1
}

/** The first errors by robust statistics of all of them, later ones as an exponentially weighted clipped square. */
function learnVariance(p: Predictor, u: number, sd: number): void {
  p.errors++
  if (p.firstErrors.length < YOUNG) {
    p.firstErrors.push(Math.abs(u))
    p.variance = youngVariance(p.firstErrors)
    return
  }
  const clipped = Math.min(Math.abs(u), CLIP * sd)
  const weight = Math.max(SCALE_WEIGHT, 1 / (p.errors + 1))
  p.variance += weight * (CLIP_CORRECTION * clipped * clipped - p.variance)
}

/** Up to three errors: their mean square. Then the median absolute error, at first halved with the mean square of all but the largest. */
function youngVariance(errors: readonly number[]): number {
  const n = errors.length
  const squares = errors.reduce((sum, error) => sum + error * error, 0)
  if (n <= 3) return squares / n
  const robust = (1.4826 * median(errors)) ** 2
  if (n === YOUNG) return robust
  const largest = Math.max(...errors)
  return 0.5 * robust + 0.5 * 1.25 * ((squares - largest * largest) / (n - 1))
}

/** The level follows the clipped error, and not at all an error beyond 6 sd; an infinite sd clips nothing. */
function learnLevel(p: Predictor, design: Design, error: number, sd: number): void {
  p.points++
  const weight = Math.max(design.weight, 1 / p.points)
  p.level += weight * tamed(error, sd, p.errors < 6)
}

function tamed(error: number, sd: number, young: boolean): number {
  if (young) return error
  if (Math.abs(error) > INCIDENT * sd) return 0
  return Math.max(-CLIP * sd, Math.min(CLIP * sd, error))
}

function learnSeasons(p: Predictor, design: Design, slots: Slots, x: number): void {
  if (!p.season || !design.season) return
  const slot = slots[design.season.cycle]
  if (!p.overlay || !design.overlay) {
    learnEffect(p.season, design.season, slot, x - p.level)
    return
  }
  const overlaySlot = slots[design.overlay.cycle]
  const before = p.overlay.effect[overlaySlot]!
  if (p.season.sightings[slot]! > 0) {
    learnEffect(p.overlay, design.overlay, overlaySlot, x - p.level - p.season.effect[slot]!)
  }
  learnEffect(p.season, design.season, slot, x - p.level - before)
}
