/**
 * One baseline rate of counted rows: it predicts a share of hits, scores a result, and learns from it.
 * A result is judged by a binomial tail on an effective number of trials, so that 1 bad row of 5 is no anomaly and
 * 0.2 % of a million is.
 */
import { CYCLE_SLOTS, slotsAt, type Cycle, type Slots } from './calendar.ts'
import { roundDigits } from './rounding.ts'
import { logStudent } from './distributions.ts'
import { hitsAt, scoreHits, type Outlook } from './outlook.ts'

/** Rows with a property, of all rows. */
export interface HitCount {
  hits: number
  rows: number
}

/** One baseline: the overall rate, or the rate of a slot of a cycle. */
export interface RateDesign {
  cycle: Cycle | null
  /** The discount factor of the past per result. */
  memory: number
  handicap: number
}

/** The learned state of a baseline, as plain JSON. */
export interface RateState {
  /** Discounted effective hits and trials, and the number of results they came from. */
  hits: number
  trials: number
  results: number
  /** The last results of each slot as hits and rows in turn, in effective trials. */
  recent: number[][]
  sightings: number[]
  /** Overdispersion: the correlation of rows within one result. */
  rho: number
  /** Mean of 1/rows: the variance that counting alone explains. */
  countingVariance: number
  /** The last squared deviations over p(1 − p), each followed by the variance that counting explains. */
  deviations: number[]
  judged: number
  score: number
  /** Consecutive outliers on the same side, which may become a new level. */
  outliers: { hits: number; rows: number; at: number }[]
  side: number
}

/** Prior counts of hits and misses. */
const PSEUDO_COUNT = 0.3
/** A slot's rate is shrunk to the overall one by this share of a typical result of the slot. */
const SHRINKAGE = 0.2
/** Prior relative sd of the rate, and the number of results that the prior is worth. */
const PRIOR_VARIATION = 0.08
const PRIOR_RESULTS = 4
/** Deviations kept to estimate the overdispersion, and results kept for each slot. */
const MAX_DEVIATIONS = 40
const MAX_SLOT_RESULTS = 5
/** Significant digits stored of a slot's results and of deviations, of which a state has many. */
const DIGITS = 4
const DEVIATION_DIGITS = 3
/** A result beyond this score is kept out of the baseline; one beyond the lower score is clipped to it. */
const OUTLIER_SCORE = 4
const CLIP_SCORE = 3
const SCORE_MEMORY = 0.98
const WORST_LOG_DENSITY = -20
const MAX_FREEDOM = 20
/** Results needed before a baseline recognises outliers. */
const MIN_JUDGED_RESULTS = 5

export function startRate(design: RateDesign): RateState {
  const slots = design.cycle ? CYCLE_SLOTS[design.cycle] : 0
  return {
    hits: 0,
    trials: 0,
    results: 0,
    recent: Array.from({ length: slots }, () => []),
    sightings: Array<number>(slots).fill(0),
    rho: 0,
    countingVariance: 0,
    deviations: [],
    judged: 0,
    score: 0,
    outliers: [],
    side: 0,
  }
}

/** A result to learn. */
export interface RateResult extends HitCount {
  at: number
  slots: Slots
  /** Whether a user confirmed it as expected; it then counts in full, however far off it is. */
  confirmed: boolean
}

/** The rate expected in a slot, and the effective trials behind it. */
function baseline(
  rate: RateState,
  design: RateDesign,
  slots: Slots,
): { probability: number; trials: number } {
  const overall = (rate.hits + PSEUDO_COUNT) / (rate.trials + 2 * PSEUDO_COUNT)
  if (!design.cycle) return { probability: overall, trials: rate.trials }
  const recent = rate.recent[slots[design.cycle]]!
  if (recent.length === 0)
    return { probability: overall, trials: rate.results ? rate.trials / rate.results : 1 }
  const { hits, rows, results } = trimmedPool(recent)
  const shrinkage = (SHRINKAGE * rows) / results
  return { probability: (hits + shrinkage * overall) / (rows + shrinkage), trials: rows + shrinkage / 2 }
}

/** A slot's results combined, without the highest share of three, or the highest and lowest of more. */
function trimmedPool(recent: readonly number[]): PooledHits {
  const pool = { hits: 0, rows: 0, results: recent.length / 2 }
  let highest = 0
  let lowest = 0
  for (let i = 0; i < recent.length; i += 2) {
    pool.hits += recent[i]!
    pool.rows += recent[i + 1]!
    const share = recent[i]! / recent[i + 1]!
    if (share > recent[highest]! / recent[highest + 1]!) highest = i
    if (share <= recent[lowest]! / recent[lowest + 1]!) lowest = i
  }
  if (recent.length >= 2 * 3) removeResult(pool, recent, highest)
  if (recent.length >= 2 * 4) removeResult(pool, recent, lowest)
  return pool
}

interface PooledHits extends HitCount {
  results: number
}

function removeResult(pool: PooledHits, recent: readonly number[], i: number): void {
  pool.hits -= recent[i]!
  pool.rows -= recent[i + 1]!
  pool.results--
}

/**
 * Variance of a beta-binomial fraction, (1 + (n − 1) ρ) p(1 − p) / n (Skellam 1948), and of its baseline, expressed
 * as the trials of a plain binomial with the same variance.
 */
export function forecast(rate: RateState, design: RateDesign, slots: Slots, rows: number): Outlook {
  const { probability, trials } = baseline(rate, design, slots)
  const p = Math.min(1 - 1e-9, Math.max(1e-12, probability))
  const rho = dispersion(rate, p)
  const effective = 1 / ((1 + (rows - 1) * rho) / rows + 1 / Math.max(trials, 1e-9))
  return {
    probability: p,
    rows,
    trials,
    effective,
    freedom: Math.min(MAX_FREEDOM, rate.judged + PRIOR_RESULTS),
  }
}

/** The learned overdispersion, drawn geometrically to the one that a relative sd of 8 % would give. */
function dispersion(rate: RateState, p: number): number {
  const prior = Math.min(0.05, (PRIOR_VARIATION ** 2 * p) / (1 - p))
  if (rate.judged === 0) return prior
  const n = Math.min(rate.judged, 40)
  const counting = rate.countingVariance
  const mixed = n * Math.log(rate.rho + counting) + PRIOR_RESULTS * Math.log(prior + counting)
  return Math.exp(mixed / (n + PRIOR_RESULTS)) - counting
}

export function learnRate(
  rate: RateState,
  design: RateDesign,
  patience: number,
  result: RateResult,
  scored: boolean,
): void {
  if (rate.results === 0) {
    addToBaseline(rate, design, result, result.hits)
    return
  }
  const view = forecast(rate, design, result.slots, result.rows)
  if (scored) learnScore(rate, view, result)
  const young = rate.judged < MIN_JUDGED_RESULTS
  const score = scoreHits(view, result.hits)
  const mayBeOff = !young && !result.confirmed
  if (mayBeOff && Math.abs(score) > OUTLIER_SCORE) {
    learnOutlier(rate, design, patience, result, Math.sign(score))
    return
  }
  rate.outliers = []
  learnDispersion(rate, view, result)
  const counted =
    mayBeOff && score > CLIP_SCORE ? Math.min(result.hits, hitsAt(view, CLIP_SCORE)) : result.hits
  addToBaseline(rate, design, result, counted)
}

/** Log of the t5 density of the fraction; 0.08/n² is the variance of rounding to whole rows. */
function learnScore(rate: RateState, view: Outlook, result: RateResult): void {
  const p = view.probability
  const sd = Math.sqrt((p * (1 - p)) / view.effective + 0.08 / result.rows ** 2)
  const r = (result.hits / result.rows - p) / sd
  rate.score = rate.score * SCORE_MEMORY + Math.max(WORST_LOG_DENSITY, logStudent(r, 5) - Math.log(sd))
}

/** Adds a result to the overall rate with `hits` (clipped), and to its slot as it is. */
function addToBaseline(rate: RateState, design: RateDesign, result: RateResult, hits: number): void {
  const share = effectiveRows(rate, design, result) / result.rows
  discount(rate, hits * share, result.rows * share, design.memory)
  addToSlot(rate, design, result, share)
}

function effectiveRows(
  rate: RateState,
  design: RateDesign,
  result: Pick<RateResult, 'hits' | 'rows' | 'slots'>,
): number {
  const p = rate.results ? baseline(rate, design, result.slots).probability : result.hits / result.rows
  const rho = rate.judged ? dispersion(rate, Math.min(0.999, Math.max(1e-9, p))) : 0
  return result.rows / (1 + (result.rows - 1) * rho)
}

function discount(rate: RateState, hits: number, trials: number, memory: number): void {
  rate.hits = rate.hits * memory + hits
  rate.trials = rate.trials * memory + trials
  rate.results = rate.results * memory + 1
}

function addToSlot(rate: RateState, design: RateDesign, result: RateResult, share: number): void {
  if (!design.cycle) return
  const slot = result.slots[design.cycle]
  const recent = rate.recent[slot]!
  recent.push(roundDigits(result.hits * share, DIGITS), roundDigits(result.rows * share, DIGITS))
  if (recent.length > 2 * MAX_SLOT_RESULTS) recent.splice(0, 2)
  rate.sightings[slot]!++
}

/** An outlier is kept out of the overall rate until enough consecutive ones on one side establish a new level. */
function learnOutlier(
  rate: RateState,
  design: RateDesign,
  patience: number,
  result: RateResult,
  side: number,
): void {
  if (side !== rate.side) rate.outliers = []
  rate.side = side
  rate.outliers.push({ hits: result.hits, rows: result.rows, at: result.at })
  if (rate.outliers.length >= patience) acceptLevel(rate, design)
  addToSlot(rate, design, result, 1)
}

/** Scales everything learned by the ratio of the outliers to their expected share, with the weight of four results. */
function acceptLevel(rate: RateState, design: RateDesign): void {
  let hits = 0
  let rows = 0
  let expected = 0
  for (const outlier of rate.outliers) {
    hits += outlier.hits
    rows += outlier.rows
    expected += baseline(rate, design, slotsAt(outlier.at)).probability * outlier.rows
  }
  const ratio = hits / Math.max(1e-12 * rows, expected)
  const keep = Math.min(1, 4 / rate.results)
  rate.hits = Math.min(rate.hits * ratio, rate.trials * 0.999) * keep
  rate.trials *= keep
  rate.results *= keep
  for (const recent of rate.recent)
    for (let i = 0; i < recent.length; i += 2)
      recent[i] = roundDigits(Math.min(recent[i]! * ratio, recent[i + 1]! * 0.999), DIGITS)
  for (const outlier of rate.outliers) {
    const slots = slotsAt(outlier.at)
    const share = effectiveRows(rate, design, { ...outlier, slots }) / outlier.rows
    discount(rate, outlier.hits * share, outlier.rows * share, design.memory)
  }
  rate.outliers = []
}

function learnDispersion(rate: RateState, view: Outlook, result: RateResult): void {
  const p = view.probability
  const deviation = (result.hits / result.rows - p) ** 2 / (p * (1 - p))
  const i = 2 * (rate.judged % MAX_DEVIATIONS)
  rate.deviations[i] = roundDigits(deviation, DEVIATION_DIGITS)
  rate.deviations[i + 1] = roundDigits(1 / result.rows + 1 / Math.max(view.trials, 1), DEVIATION_DIGITS)
  rate.judged++
  if (rate.judged < 12 || rate.judged % 4 === 0) fitDispersion(rate)
}

/**
 * The overdispersion at which the mean squared standardised deviation is what it is for the normal, each square
 * counted up to a bound (proposal 2 of Huber 1964): E[min(x², 2.706)] = 0.8313. By bisection.
 */
function fitDispersion(rate: RateState): void {
  let counting = 0
  for (let i = 1; i < rate.deviations.length; i += 2) counting += rate.deviations[i]!
  rate.countingVariance = (2 * counting) / rate.deviations.length
  if (excessDispersion(rate.deviations, 0) <= 0) {
    rate.rho = 0
    return
  }
  let low = 0
  let high = 0.5
  for (let i = 0; i < FIT_STEPS; i++) {
    const middle = (low + high) / 2
    if (excessDispersion(rate.deviations, middle) > 0) low = middle
    else high = middle
  }
  rate.rho = high
}
const FIT_STEPS = 14
const LARGEST_SQUARE = 2.706
const EXPECTED_SQUARE = 0.8313

function excessDispersion(deviations: RateState['deviations'], rho: number): number {
  let sum = 0
  for (let i = 0; i < deviations.length; i += 2)
    sum += Math.min(LARGEST_SQUARE, deviations[i]! / (deviations[i + 1]! + rho))
  return (2 * sum) / deviations.length - EXPECTED_SQUARE
}
