/**
 * One robust one-step-ahead predictor: a level (exponential smoothing, Gardner 2006), on some of them the effect
 * of a slot, and the scale of its own errors. The state after a point depends on the points up to it only.
 */
import type { Cycle, Slots } from './calendar.ts'
import { roundDigits, roundAll } from './rounding.ts'
import { logStudent } from './distributions.ts'
import { deviationSd, echoAt, learnEcho, startEcho, type Echo } from './echo.ts'
import { median } from './robust.ts'
import type { Scale } from './scales.ts'
import { learnTail, startTail, type TailState } from './tail.ts'
import {
  effectVariance,
  learnEffect,
  learnOverlay,
  overlayVariance,
  sightingsOf,
  startOverlay,
  startSeason,
  type Overlay,
  type Season,
} from './season.ts'

/** What distinguishes one predictor from another; not part of its state. */
export interface Design {
  scale: Scale
  /** Weight of the newest value in the level: 0 is the running mean, 1 the last value. */
  weight: 0 | 0.3 | 1
  season: Cycle | null
  /** Effects of a second cycle, added to those of the first. */
  overlay: Cycle | null
  /** Whether the noise is allowed to differ by hour. */
  hourlyNoise: boolean
  /** Whether a share of each deviation is expected to come back. */
  echoes: boolean
  /** Penalty on the log score. */
  handicap: number
}

/** Everything a predictor has learned, as plain JSON, with short numbers where the size of the number allows it. */
export interface Predictor {
  level: number
  /** Points that went into the level; 0 before the first. */
  points: number
  /** Variance of the standardised errors. */
  variance: number
  /** Discounted sum of log predictive densities: how well this predictor has done on this very series. */
  score: number
  tail: TailState
  season?: Season
  overlay?: Overlay
  noise?: HourlyNoise
  echo?: Echo
  /** Absolute values of the first standardised errors, while there are few. */
  firstErrors?: number[]
  /** The last value before a gross step outlier and how long it is kept. */
  anchor?: { value: number; age: number }
}

/** When a value comes. */
export interface Moment {
  slots: Slots
  /** Intervals since the last value; 0 when it comes so soon that both belong to one. */
  lag: number
}

/** Discounted sums of absolute errors, by hour and of all. */
interface HourlyNoise {
  sum: number[]
  /** Errors seen, by hour. */
  errors: number[]
  total: number
}

export interface Prediction {
  mean: number
  /** Standard deviation of the next error in units of the noise: estimation error and the noise of the hour. */
  stretch: number
}

/** Errors are clipped at this many sd. */
const CLIP_SD = 3.5
/** Beyond this many sd a value does not move the level at all. */
const INCIDENT_SD = 6
/** E[min(x², CLIP²)] of the normal is just under 1; heavier tails lose more. Makes up for the clipping. */
const CLIP_CORRECTION = 1.12
/** Weight of the newest squared error in the variance. */
const SCALE_WEIGHT = 0.025
/** Factor by which a predictor's past score is discounted with each point. */
const SCORE_MEMORY = 0.985
/** A score decides by differences, so that it keeps more digits than an estimate. */
const SCORE_DIGITS = 10
/** Floor of one point's log density, so that a single point cannot ruin a predictor's score. */
const WORST_LOG_DENSITY = -20
/** Floor of the first value after only zeros, which has nothing else to be compared with. */
const OWN_FLOOR = 0.3
/** Errors needed before a predictor's scale counts as known. */
const YOUNG_ERRORS = 12

/** Discount of past errors by hour with each error of the hour, and of the overall ones with each error. */
const HOUR_MEMORY = 0.97
const NOISE_MEMORY = 0.99
/** Total weight of n errors, each discounting those before it: 1 + m + m² + … */
const weights = (memory: number) =>
  Array.from({ length: 2000 }, (_, errors) => (1 - memory ** errors) / (1 - memory))
const HOUR_WEIGHTS = weights(HOUR_MEMORY)
const NOISE_WEIGHTS = weights(NOISE_MEMORY)

export function startPredictor(design: Design): Predictor {
  return {
    level: 0,
    points: 0,
    variance: 0,
    score: 0,
    tail: startTail(),
    season: design.season ? startSeason(design.season) : undefined,
    overlay: design.overlay ? startOverlay(design.overlay) : undefined,
    noise: design.hourlyNoise ? startNoise() : undefined,
    echo: design.echoes ? startEcho() : undefined,
    firstErrors: [],
    anchor: undefined,
  }
}

function startNoise(): HourlyNoise {
  const none = Array<number>(24).fill(0)
  return { sum: none, errors: [...none], total: 0 }
}

/** One-step errors seen: every value but the first makes one. */
export function errorsOf(p: Predictor): number {
  return Math.max(0, p.points - 1)
}

/** Predicts the next value on the working scale; only once the predictor has seen a point. */
export function predict(p: Predictor, design: Design, { slots, lag }: Moment): Prediction {
  const mean = usualAt(p, design, slots) + (p.echo ? echoAt(p.echo, lag) : 0)
  let uncertainty = levelUncertainty(p, design)
  if (p.season && design.season) {
    uncertainty += effectVariance(p.season, slots[design.season], p.variance)
  }
  if (p.overlay && design.overlay) {
    uncertainty += overlayVariance(p.overlay, slots[design.overlay])
  }
  return { mean, stretch: Math.sqrt(1 + uncertainty) * relativeNoise(p, slots.hour) }
}

/** Level and season. */
function usualAt(p: Predictor, design: Design, slots: Slots): number {
  let usual = p.level
  if (p.season && design.season) usual += p.season.effect[slots[design.season]]!
  if (p.overlay && design.overlay) usual += p.overlay.effect[slots[design.overlay]]!
  return usual
}

/** Variance of the level in units of the noise: 1/n of a mean; (2 − w)/w points make a smoothed one. */
function levelUncertainty(p: Predictor, design: Design): number {
  if (design.weight === 1) return 0
  const reach = design.weight > 0 ? (2 - design.weight) / design.weight : Infinity
  return 1 / Math.max(1, Math.min(p.points, reach))
}

/** Noise of an hour relative to the whole, shrunk towards 1 by 8 pseudo-errors, within 0.2 and 5. */
function relativeNoise(p: Predictor, hour: number): number {
  const { noise } = p
  if (!noise) return 1
  const weight = weightOf(errorsOf(p), NOISE_WEIGHTS)
  if (weight < 24 || !(noise.total > 0)) return 1
  const overall = noise.total / weight
  const own = (noise.sum[hour]! + 8 * overall) / (weightOf(noise.errors[hour]!, HOUR_WEIGHTS) + 8)
  return Math.max(0.2, Math.min(5, own / overall))
}

function weightOf(errors: number, weights: readonly number[]): number {
  return weights[Math.min(errors, weights.length - 1)]!
}

/**
 * Learns a value on the working scale. @returns the size of its prediction error, in sd
 * @param confirmed whether the level follows the whole error, without clipping
 */
export function learnValue(
  p: Predictor,
  design: Design,
  moment: Moment,
  x: number,
  floor: number,
  logJacobian: number,
  scored: boolean,
  confirmed: boolean,
): number {
  const { slots, lag } = moment
  if (p.points === 0) {
    learnFirst(p, design, slots, x)
    return 0
  }
  const { mean, stretch } = predict(p, design, moment)
  const error = x - mean
  const u = error / stretch
  const sd = Math.sqrt(Math.max(p.variance, floor * floor))
  if (scored && sd > 0) learnScore(p, u / sd, sd * stretch, logJacobian)
  learnNoise(p, slots.hour, u, sd)
  p.points++
  learnVariance(p, u, sd)
  learnTail(p.tail, u, p.variance, floor > 0 ? floor : OWN_FLOOR * Math.abs(u))
  shortenTail(p.tail)
  const deviation = p.echo ? x - usualAt(p, design, slots) : error
  const wide = Math.max(sd * stretch, p.echo ? deviationSd(p.echo) : 0)
  learnLevel(p, design, deviation, confirmed ? Infinity : wide)
  learnSeasons(p, design, slots, x, confirmed ? Infinity : CLIP_SD * wide)
  if (p.echo) learnEcho(p.echo, lag, deviation, x - usualAt(p, design, slots))
  return u / sd
}

function learnFirst(p: Predictor, design: Design, slots: Slots, x: number): void {
  p.level = x
  p.points = 1
  if (p.season && design.season) learnEffect(p.season, slots[design.season], 0)
}

/** Log of the t density of the error, floored, on the raw scale by the Jacobian; the past is discounted. */
function learnScore(p: Predictor, r: number, sd: number, logJacobian: number): void {
  const df = Math.max(1, Math.min(5, errorsOf(p) - 1))
  const density = Math.max(WORST_LOG_DENSITY, logStudent(r, df)) - Math.log(sd) + logJacobian
  p.score = roundDigits(p.score * SCORE_MEMORY + density, SCORE_DIGITS)
}

function learnNoise(p: Predictor, hour: number, u: number, sd: number): void {
  const noise = p.noise
  if (!noise) return
  const own = relativeNoise(p, hour)
  const size = Math.min(Math.abs(u) * own, CLIP_SD * sd * Math.max(1, own))
  noise.sum[hour] = roundDigits(noise.sum[hour]! * HOUR_MEMORY + size)
  noise.errors[hour]!++
  noise.total = roundDigits(noise.total * NOISE_MEMORY + size)
}

/** The first errors by robust statistics of all of them, later ones as an exponentially weighted clipped square. */
function learnVariance(p: Predictor, u: number, sd: number): void {
  if (p.firstErrors) {
    p.firstErrors.push(Math.abs(u))
    p.variance = youngVariance(p.firstErrors)
    if (p.firstErrors.length === YOUNG_ERRORS) p.firstErrors = undefined
    return
  }
  const clipped = Math.min(Math.abs(u), CLIP_SD * sd)
  const weight = Math.max(SCALE_WEIGHT, 1 / (errorsOf(p) + 1))
  p.variance = roundDigits(p.variance + weight * (CLIP_CORRECTION * clipped * clipped - p.variance))
}

/**
 * Up to three errors: their mean square. Then the median absolute error, at first averaged with the mean square of all
 * but the largest.
 */
function youngVariance(errors: readonly number[]): number {
  const n = errors.length
  const squares = errors.reduce((sum, error) => sum + error * error, 0)
  if (n <= 3) return squares / n
  const robust = (1.4826 * median(errors)) ** 2
  if (n === YOUNG_ERRORS) return robust
  const largest = Math.max(...errors)
  return 0.5 * robust + 0.5 * 1.25 * ((squares - largest * largest) / (n - 1))
}

/** The level follows the clipped error, and not at all an error beyond 6 sd; an infinite sd clips nothing. */
function learnLevel(p: Predictor, design: Design, error: number, sd: number): void {
  const weight = Math.max(design.weight, 1 / p.points)
  p.level += weight * clippedError(error, sd, errorsOf(p) < 6)
}

function clippedError(error: number, sd: number, young: boolean): number {
  if (young) return error
  if (Math.abs(error) > INCIDENT_SD * sd) return 0
  return Math.max(-CLIP_SD * sd, Math.min(CLIP_SD * sd, error))
}

function learnSeasons(p: Predictor, design: Design, slots: Slots, x: number, most: number): void {
  if (!p.season || !design.season) return
  const slot = slots[design.season]
  if (!p.overlay || !design.overlay) {
    learnEffect(p.season, slot, x - p.level)
    return
  }
  const overlaySlot = slots[design.overlay]
  const before = p.overlay.effect[overlaySlot]!
  if (sightingsOf(p.season, slot) > 0)
    learnOverlay(p.overlay, overlaySlot, x - p.level - p.season.effect[slot]!, most)
  learnEffect(p.season, slot, x - p.level - before)
}

function shortenTail(tail: TailState): void {
  tail.weight = roundDigits(tail.weight)
  tail.moves = roundDigits(tail.moves)
  tail.unrest = roundDigits(tail.unrest)
  tail.leastSquare = roundDigits(tail.leastSquare)
  roundAll(tail.variance)
  roundAll(tail.kept)
  roundAll(tail.likelihood)
}
