/** One predictor's opinion of a value: what it expected, and how improbable the value is given its past errors. */
import type { Band, Basis } from './band.ts'
import { closerStep, type BankState } from './bank.ts'
import type { Slots } from './calendar.ts'
import type { Candidate } from './candidates.ts'
import type { Bank } from './designs.ts'
import { clampScore } from './distributions.ts'
import { floorAt, hasBothSigns, limitsOf, typicalSize, unitOf } from './facts.ts'
import { predict, type Design, type Predictor } from './predictor.ts'
import type { Observation } from './observation.ts'
import type { Scale } from './scales.ts'
import { sightingsOf } from './season.ts'
import { fitTail, type Tail } from './tail.ts'

/** Prior relative sd of a metric. */
const PRIOR_VARIATION = 0.06

/** Sd of the next error above and below the mean, in units of the noise. */
interface Stretch {
  high: number
  low: number
}

/** A view of one value; `mean`, `stretch` and `tail` on the working scale, `expected` and `from` in raw units. */
export interface PredictorOpinion {
  design: Design
  mean: number
  stretch: Stretch
  /** The value a step is measured from. */
  from: number
  expected: number
  tail: Tail
  zScore: number
  basis: Basis
}

/** The opinion of a predictor that has seen at least one point. */
export function opinionOf(
  bank: Bank,
  state: BankState,
  { design, predictor }: Candidate,
  question: Observation,
): PredictorOpinion {
  const { scale } = design
  const { slots, value, elapsed } = question
  const { x, from } = closerStep(bank, state, predictor, design, question, value, question.from, elapsed)
  const prediction = predict(predictor, design, question)
  const amount = scale.back(prediction.mean)
  const tail = tailOf(bank, state, predictor, design, slots, amount)
  const stretch = stretched(prediction.stretch, state, scale, tail, question)
  return {
    design,
    mean: prediction.mean,
    stretch,
    from,
    expected: scale.ofStep ? from + elapsed * amount : amount,
    tail,
    zScore: scoreOf(x - prediction.mean, tail, stretch),
    basis: basisOf(state, predictor, design, slots),
  }
}

function scoreOf(error: number, tail: Tail, { high, low }: Stretch): number {
  return clampScore(tail.score(error / (error > 0 ? high : low)))
}

/** The stretch for a slot never seen: wider by a factor, plus the possible effect of the slot. */
function stretched(
  usual: number,
  { facts }: BankState,
  scale: Scale,
  tail: Tail,
  { unseen: { widening, rise, fall } }: Observation,
): Stretch {
  const wide = usual * widening
  const isKnown = rise === 0 && fall === 0
  const sd = isKnown || scale.ofStep ? 0 : tail.reach(1)
  if (sd === 0) return { high: wide, low: wide }
  const size = typicalSize(facts)
  const spread = (size * scale.slope(size)) / sd
  return { high: Math.hypot(wide, rise * spread), low: Math.hypot(wide, fall * spread) }
}

function basisOf(state: BankState, { season, points }: Predictor, design: Design, slots: Slots): Basis {
  const { scale, season: cycle, weight } = design
  const flat = weight > 0 ? 'recent' : 'level'
  if (!season || !cycle)
    return { kind: scale.ofStep ? 'step' : flat, cycle: null, slot: null, sightings: points }
  const slot = slots[cycle]
  const sightings = state.seen[cycle]?.[slot] ?? sightingsOf(season, slot)
  return { kind: scale.ofStep ? 'step' : 'slot', cycle, slot, sightings }
}

function tailOf(
  bank: Bank,
  state: BankState,
  predictor: Predictor,
  design: Design,
  slots: Slots,
  amount: number,
): Tail {
  const { scale } = design
  const { facts } = state
  const { season } = predictor
  const sightings = season && design.season ? sightingsOf(season, slots[design.season]) : Infinity
  return fitTail(predictor.tail, predictor.variance, {
    floor: floorAt(bank.domain, facts, scale, amount),
    unit: unitOf(bank.domain, facts) * scale.slope(Math.abs(amount)),
    prior: scale.ofStep || hasBothSigns(facts) ? 0 : priorSd(scale, Math.abs(amount)),
    maxFreedom: 1 + 1.5 * sightings,
  })
}

/** The prior relative sd, on the scale. */
function priorSd(scale: Scale, size: number): number {
  return PRIOR_VARIATION * (scale.name === 'log' ? 1 : size * scale.slope(size))
}

/** The score that an opinion gives another value. */
export function scoreAt(opinion: PredictorOpinion, value: number, elapsed: number): number {
  const { design, mean, from, tail, stretch } = opinion
  const x = design.scale.forward(design.scale.ofStep ? (value - from) / elapsed : value)
  return scoreOf(x - mean, tail, stretch)
}

/** The same opinion around another expected value. */
export function withExpected(
  opinion: PredictorOpinion,
  expected: number,
  { value, elapsed }: Observation,
): PredictorOpinion {
  const { scale } = opinion.design
  const from = scale.ofStep ? opinion.from + expected - opinion.expected : opinion.from
  const mean = scale.ofStep ? opinion.mean : scale.forward(expected)
  const moved = { ...opinion, from, mean, expected }
  return { ...moved, zScore: scoreAt(moved, value, elapsed) }
}

/** A band extends at most this many typical magnitudes from zero, since exponentials soon overflow. */
const MAX_BAND_SIZES = 1e6

/** The values that lie within the sensitivity, mapped back from the working scale, within the domain. */
export function bandOf(
  bank: Bank,
  state: BankState,
  opinion: PredictorOpinion,
  question: Observation,
  sensitivity: number,
): Band {
  const { mean, stretch, from, expected, tail, zScore, basis } = opinion
  const { scale } = opinion.design
  const { domain } = bank
  const reach = tail.reach(sensitivity)
  const back = (x: number) => (scale.ofStep ? from + question.elapsed * scale.back(x) : scale.back(x))
  const limit = MAX_BAND_SIZES * (unitOf(domain, state.facts) + typicalSize(state.facts)) + Math.abs(expected)
  const [least, most] = limitsOf(domain, state.facts)
  const within = (v: number) => Math.max(least, -limit, Math.min(most, limit, v))
  return {
    expected: within(expected),
    low: within(back(mean - reach * stretch.low)),
    high: within(back(mean + reach * stretch.high)),
    zScore,
    basis,
  }
}
