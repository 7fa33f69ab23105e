/**
 * How improbable an error is: the predictive distribution of a predictor's standardised errors, learned one error
 * at a time. An error is either no move, less than half a unit, or one drawn from Student's t. Candidate
 * distributions run side by side, and the one with the highest likelihood is used.
 */
import { logStudent, normalFromTail, normalTail, normalToStudent, studentToNormal } from './distributions.ts'

/** The learned state, as plain JSON. */
export interface TailState {
  /** Errors seen. */
  errors: number
  /** Discounted counts of all errors, and of those that were moves. */
  weight: number
  moves: number
  /** Squared scale of the moves and discounted log likelihood, by candidate. */
  variance: number[]
  likelihood: number[]
  /** Mean square of recent scores: 1 for usual noise, more in a volatile spell. */
  unrest: number
  /** Consecutive surprising moves, and the square of the smallest. */
  run: number
  leastSquare: number
  /** The squared scales before a run raised them, for as long as they can be restored. */
  kept: number[]
  /** Calm errors since then; below 0, the errors until scales are kept again. */
  calm: number
}

/** A symmetric distribution around zero, by its normal-equivalent scores. */
export interface Tail {
  /** The normal-equivalent score of a standardised error. */
  score(error: number): number
  /** The error whose score is `sensitivity`: half the width of the band. */
  reach(sensitivity: number): number
}

/** Information about the noise that does not come from the errors. */
export interface NoiseLimits {
  /** The smallest standard deviation the resolution of the values allows. */
  floor: number
  /** The smallest change the values can show, on the working scale. */
  unit: number
  /** The prior standard deviation; 0 for none. */
  prior: number
  /** Maximum degrees of freedom, however calm the errors look. */
  maxFreedom: number
}

/** Degrees of freedom of the candidates, from heavy tails, as real series have them, to nearly normal. */
const CANDIDATES = [3, 4, 8, 20]
/** Weight of the newest move in the scale: slow, so that a calm spell does not narrow the band. */
const SCALE_WEIGHT = 1 / 80
/** Bound on one move's weight in the scale, in variances, so that the scale describes typical moves (Huber 1964). */
const MAX_MOVE_VARIANCES = 4
/** Weight of the newest score in the volatility, and the bound on one squared score. */
const UNREST_WEIGHT = 0.3
const UNREST_LIMIT = 9
/** Beyond this score a value is an incident and carries no information about the noise. */
const INCIDENT_SCORE = 5
/** Factor by which earlier errors are discounted with each new one. */
const MEMORY = 0.985
/** The same for their likelihoods: a shape takes more errors to know than a scale. */
const SHAPE_MEMORY = 0.99
/** Beyond 15 sd (squared) a move is an incident that says nothing about the shape. */
const INCIDENT_VARIANCES = 225
/** Errors before the candidates diverge. */
const YOUNG_ERRORS = 8
/** Moves beyond 3.5 sd (squared) are surprising; this many in a row set a new scale. */
const SURPRISE_VARIANCES = 12.25
const NEW_SCALE_MOVES = 3
/** Weight of the prior on the scale, in errors. */
const PRIOR_WEIGHT = 2
/** Degrees of freedom for a series that has rarely moved. */
const STILL_FREEDOM = 5

export function startTail(): TailState {
  const none = CANDIDATES.map(() => 0)
  const start = { errors: 0, weight: 0, moves: 0, unrest: 1, run: 0, leastSquare: 0, calm: 0 }
  return { ...start, variance: none, likelihood: [...none], kept: [] }
}

/** Learns a standardised error; `variance` is the predictor's own estimate, from which young candidates start. */
export function learnTail(tail: TailState, error: number, variance: number, floor: number): void {
  const moved = Math.abs(error) > floor / FLOOR_OF_HALF
  if (tail.errors >= YOUNG_ERRORS) learnUnrest(tail, error, floor)
  tail.errors++
  tail.weight = tail.weight * MEMORY + 1
  tail.moves = tail.moves * MEMORY + (moved ? 1 : 0)
  if (tail.errors <= YOUNG_ERRORS) tail.variance.fill((variance * tail.weight) / Math.max(1, tail.moves))
  else if (moved) {
    learnMove(tail, error * error, floor * floor)
    learnCalm(tail, error * error)
  }
}

/** Volatility clusters (Engle 1982): the ratio of recent errors to what the steady scale predicts. */
function learnUnrest(tail: TailState, error: number, floor: number): void {
  const i = likeliest(tail)
  const sd = Math.max(Math.sqrt(tail.variance[i]!), floor)
  const score = sd > 0 ? studentToNormal(error / sd, CANDIDATES[i]!) : 0
  if (Math.abs(score) > INCIDENT_SCORE) return
  tail.unrest += UNREST_WEIGHT * (Math.min(UNREST_LIMIT, score * score) - tail.unrest)
}

/** The floor is 0.3 of a unit: the share of half a unit. */
const FLOOR_OF_HALF = 0.6

/**
 * Each candidate's scale by the recursive form of the EM step for Student's t (Lange, Little & Taylor 1989):
 * σ² follows (df + 1)/(df + r²) u². A surprise has bounded weight; a run of them raises the scale at once.
 */
function learnMove(tail: TailState, square: number, least: number): void {
  const lifted = scaleOfRun(tail, square)
  if (lifted > 0 && tail.kept.length === 0 && tail.calm === 0) tail.kept = [...tail.variance]
  // What is that far off says nothing about the tails, and would make them heavy for weeks.
  const isIncident = square > INCIDENT_VARIANCES * Math.max(tail.variance[0]!, lifted, least)
  for (let i = 0; i < CANDIDATES.length; i++) {
    const df = CANDIDATES[i]!
    const known = Math.max(tail.variance[i]!, lifted)
    const variance = Math.max(known, least)
    const squared = square / variance
    if (!isIncident) {
      const density = logStudent(Math.sqrt(Math.min(25, squared)), df) - 0.5 * Math.log(variance)
      tail.likelihood[i] = tail.likelihood[i]! * SHAPE_MEMORY + density
    }
    const step = Math.max(SCALE_WEIGHT, 1 / (tail.errors + 1))
    const counted = Math.min(((df + 1) / (df + squared)) * square, MAX_MOVE_VARIANCES * variance)
    tail.variance[i] = known + step * (counted - known)
  }
}

/** An error within 2 sd (squared) of the scale before a run is calm; this many in a row restore that scale. */
const CALM_VARIANCES = 4
const OLD_SCALE_ERRORS = 20
/** Errors after that within which another run makes the new scale permanent, as for noise that comes in spells. */
const BELIEVED_ERRORS = 60

/** Restores the scale after a run that was an incident rather than a new scale. */
function learnCalm(tail: TailState, square: number): void {
  if (tail.kept.length === 0) {
    if (tail.calm < 0) tail.calm++
    return
  }
  tail.calm = square < CALM_VARIANCES * tail.kept[0]! ? tail.calm + 1 : 0
  if (tail.calm < OLD_SCALE_ERRORS) return
  tail.variance = tail.kept
  tail.kept = []
  tail.calm = -BELIEVED_ERRORS
}

/** The squared scale implied by a run of surprises: that of its smallest; 0 without a run. */
function scaleOfRun(tail: TailState, square: number): number {
  if (square < SURPRISE_VARIANCES * tail.variance[0]!) {
    tail.run = 0
    return 0
  }
  tail.leastSquare = tail.run === 0 ? square : Math.min(tail.leastSquare, square)
  tail.run++
  return tail.run >= NEW_SCALE_MOVES ? tail.leastSquare : 0
}

/** The distribution of the next error; `variance` is the predictor's own estimate. */
export function fitTail(tail: TailState, variance: number, grain: NoiseLimits): Tail {
  const half = grain.unit / 2
  const share = (tail.moves + 0.5) / (tail.weight + 0.5)
  if (hardlyMoves(tail)) return movingTail(share, grain.unit, STILL_FREEDOM, half)
  const young = tail.errors < YOUNG_ERRORS
  const i = likeliest(tail)
  const sd = Math.sqrt(
    pooled(tail.errors, young ? variance : tail.variance[i]! * Math.max(1, tail.unrest), grain),
  )
  const evidence = Math.max(1, tail.errors - 1 + (grain.prior > 0 ? PRIOR_WEIGHT : 0))
  const df = Math.max(1, Math.min(young ? 10 : CANDIDATES[i]!, evidence, grain.maxFreedom))
  return share > 0.98 || young ? studentTail(sd, df) : movingTail(share, sd, df, half)
}

/** Whether there are too few moves to estimate their size: at most two, or 3 % of the errors. */
function hardlyMoves({ errors, moves, weight }: TailState): boolean {
  return errors >= 3 && moves <= 0.5 * weight && moves <= Math.max(2, 0.03 * weight)
}

function likeliest(tail: TailState): number {
  let best = 0
  for (let i = 1; i < CANDIDATES.length; i++) if (tail.likelihood[i]! >= tail.likelihood[best]!) best = i
  return best
}

/** The weighted mean of a variance and its prior, not below the floor. */
function pooled(errors: number, variance: number, { floor, prior }: NoiseLimits): number {
  const weight = prior > 0 ? PRIOR_WEIGHT : 0
  const n = Math.min(errors, 40)
  return Math.max((weight * prior * prior + n * variance) / (weight + n), floor * floor)
}

function studentTail(sd: number, df: number): Tail {
  return {
    score: error => studentToNormal(error / sd, df),
    reach: sensitivity => sd * normalToStudent(sensitivity, df),
  }
}

/** P(|U| > x) = P(it moves) × P(|t| > x / sd); less than half a unit is never a surprise. */
function movingTail(share: number, sd: number, df: number, half: number): Tail {
  return {
    score(error) {
      if (Math.abs(error) <= half) return 0
      const tail = share * normalTail(studentToNormal(Math.abs(error) / sd, df))
      return Math.sign(error) * Math.max(0, normalFromTail(Math.max(1e-300, tail)))
    },
    reach(sensitivity) {
      const tail = normalTail(sensitivity) / share
      return tail >= 0.5 ? half : Math.max(half, sd * normalToStudent(normalFromTail(tail), df))
    },
  }
}
