/**
 * The verdict on a metric: the predictor that has predicted the series best so far, by discounted log predictive
 * density (prequential selection, Dawid 1984), says how far off a value is. A level shift needs no rule: the score
 * of the static predictors collapses and one that follows takes over within 2 to 4 points.
 */
import { reconcile, type Band, type Basis, type Direction } from './band.ts'
import { closerStep, intervalsSince, isSecondLook, SEEN_CYCLES, type BankState } from './bank.ts'
import { DAY, slotsAt, WEEK, type Cycle, type Slots } from './calendar.ts'
import type { Bank } from './designs.ts'
import { clampScore } from './distributions.ts'
import { floorAt, hasBothSigns, isGrowing, isHopeless, limitsOf, typicalSize, unitOf } from './facts.ts'
import { errorsOf, predict, type Design, type Predictor } from './predictor.ts'
import type { Scale } from './scales.ts'
import { sightingsOf } from './season.ts'
import { fitTail, type Tail } from './tail.ts'

/** Points before seasonal predictors may speak. */
const SEASONAL_FROM = 10
/** Predictors this close to the best, in nats, are as good as the best. */
const AS_GOOD = 1
/** Relative sd that a metric is expected to have before there is evidence. */
const PRIOR_VARIATION = 0.06

/** What a slot that was never seen does to the band. */
interface Unseen {
  /** Factor on the usual band. */
  widening: number
  /**
   * Sd of what may be special about the slot, upwards and downwards, relative to the size of the values: nobody knows
   * the course of a day or what a month begins with before having seen it. A month begins or ends with more than
   * usual; that less comes, or nothing, is news. The steps of a growing table are steadier.
   */
  rise: number
  fall: number
}

const UNSEEN: Record<Cycle, Unseen> = {
  hour: { widening: 4, rise: 0.5, fall: 0.5 },
  hourOfWeekend: { widening: 1, rise: 0, fall: 0 },
  weekday: { widening: 1.5, rise: 0, fall: 0 },
  weekend: { widening: 1, rise: 0, fall: 0 },
  monthEdge: { widening: 2, rise: 0.5, fall: 0 },
}

/** A score beyond this is a surprise, which is kept for so many points. */
const SURPRISE = 2.5
const SURPRISE_POINTS = 3

/** What the next verdict is asked about. */
interface Question {
  at: number
  value: number
  slots: Slots
  elapsed: number
  isSecond: boolean
  unseen: Unseen
}

/** Judges a value that has not been learned; null with fewer than 3 points. */
export function judgeByBank(
  bank: Bank,
  state: BankState,
  at: number,
  value: number,
  sensitivity: number,
  direction: Direction,
): Band | null {
  if (state.facts.count < 3) return null
  const question = questionOf(bank, state, at, value)
  const opinion = mildestOpinion(bank, state, question)
  return (
    opinion && reconcile(bandOf(bank, state, opinion, question, sensitivity), value, sensitivity, direction)
  )
}

/** Remembers what was expected instead of a surprising value; to be called before the value is learned. */
export function noteSurprise(bank: Bank, state: BankState, at: number, value: number): void {
  for (const surprise of state.surprises) surprise.age++
  if ((state.surprises[0]?.age ?? 0) > SURPRISE_POINTS) state.surprises.shift()
  if (state.facts.count < 3) return
  const said = mildestOpinion(bank, state, questionOf(bank, state, at, value), SURPRISE)
  if (said && Math.abs(said.zScore) > SURPRISE) state.surprises.push({ expected: said.expected, age: 1 })
}

function questionOf(bank: Bank, state: BankState, at: number, value: number): Question {
  const slots = slotsAt(at)
  return {
    at,
    value,
    slots,
    elapsed: intervalsSince(bank, state, at),
    isSecond: isSecondLook(bank, state, at),
    unseen: unseenOf(bank, state, slots),
  }
}

function unseenOf(bank: Bank, state: BankState, slots: Slots): Unseen {
  const unseen = { widening: 1, rise: 0, fall: 0 }
  for (const cycle of SEEN_CYCLES[bank.interval]) {
    if (state.seen[cycle]?.[slots[cycle]]) continue
    unseen.widening = Math.max(unseen.widening, UNSEEN[cycle].widening)
    unseen.rise = Math.max(unseen.rise, UNSEEN[cycle].rise)
    unseen.fall = Math.max(unseen.fall, UNSEEN[cycle].fall)
  }
  return unseen
}

/** Factors on the noise above and below the mean. */
interface Stretch {
  high: number
  low: number
}

/** One predictor's view of a value. */
interface Opinion {
  design: Design
  mean: number
  stretch: Stretch
  from: number
  expected: number
  tail: Tail
  zScore: number
  basis: Basis
}

/** A predictor that may speak, and how well it has done. */
interface Candidate {
  design: Design
  predictor: Predictor
  rank: number
}

function candidatesFor(bank: Bank, state: BankState, question: Question): Candidate[] {
  const candidates: Candidate[] = []
  bank.designs.forEach((design, i) => {
    const predictor = state.predictors[i]
    if (!predictor || errorsOf(predictor) < 2 || !suits(state, design, question)) return
    if (!hasSeen(predictor, design, question.slots)) return
    candidates.push({
      design,
      predictor,
      rank: predictor.score - design.handicap,
    })
  })
  return candidates
}

/** A seasonal predictor knows nothing of a slot that it has never seen. */
function hasSeen({ season }: Predictor, design: Design, slots: Slots): boolean {
  return !season || !design.season || sightingsOf(season, slots[design.season]) > 0
}

/** The best predictor's opinion, unless it is surprised (by `least`) and one as good finds the value less surprising. */
function mildestOpinion(bank: Bank, state: BankState, question: Question, least = 1): Opinion | null {
  const candidates = candidatesFor(bank, state, question)
  if (candidates.length === 0) return null
  const best = candidates.reduce((one, other) => (other.rank > one.rank ? other : one))
  const first = opinionOf(bank, state, best, question)
  if (Math.abs(first.zScore) < least) return first
  const age = question.at - state.firstAt
  let mildest = first
  for (const candidate of candidates) {
    if (candidate === best) continue
    const asGood = candidate.rank >= best.rank - AS_GOOD
    if (!asGood && !knowsSlot(candidate, question.slots, age)) continue
    const opinion = opinionOf(bank, state, candidate, question)
    if (!asGood && !isMuchCloser(opinion, first, question.value)) continue
    if (Math.abs(opinion.zScore) < Math.abs(mildest.zScore)) mildest = opinion
  }
  return milderAfterSurprise(state, mildest, question)
}

/** Going back to what was expected before a surprise is no news: that expectation may speak for the value, too. */
function milderAfterSurprise(state: BankState, opinion: Opinion, question: Question): Opinion {
  let mildest = opinion
  for (const { expected } of state.surprises) {
    const earlier = expecting(opinion, expected, question)
    if (Math.abs(earlier.zScore) < Math.abs(mildest.zScore)) mildest = earlier
  }
  return mildest
}

/** The same opinion around another expected value. */
function expecting(opinion: Opinion, expected: number, { value, elapsed }: Question): Opinion {
  const { scale } = opinion.design
  const from = scale.ofStep ? opinion.from + expected - opinion.expected : opinion.from
  const mean = scale.ofStep ? opinion.mean : scale.forward(expected)
  const x = scale.forward(scale.ofStep ? (value - from) / elapsed : value)
  const zScore = scoreOf(x - mean, opinion.tail, opinion.stretch)
  return { ...opinion, from, mean, expected, zScore }
}

/** In the first two turns of a cycle, a level that its slot has already shown is a second opinion, in seconds. */
const FIRST_TURNS: Record<Cycle, number> = {
  hour: 2 * DAY,
  hourOfWeekend: 2 * WEEK,
  weekday: 2 * WEEK,
  weekend: 2 * WEEK,
  monthEdge: 62 * DAY,
}

function knowsSlot({ design, predictor }: Candidate, slots: Slots, age: number): boolean {
  const cycle = design.season
  if (!predictor.season || !cycle || design.weight !== 0) return false
  if (design.scale.ofStep || (cycle === 'monthEdge' && slots.monthEdge === 0)) return false
  return age < FIRST_TURNS[cycle] && sightingsOf(predictor.season, slots[cycle]) > 0
}

function isMuchCloser(opinion: Opinion, than: Opinion, value: number): boolean {
  return Math.abs(value - opinion.expected) <= 0.6 * Math.abs(value - than.expected)
}

function opinionOf(
  bank: Bank,
  state: BankState,
  { design, predictor }: Candidate,
  question: Question,
): Opinion {
  const { scale } = design
  const { slots, value, elapsed } = question
  const { x, from } = closerStep(bank, state, predictor, design, slots, value, elapsed)
  const prediction = predict(predictor, design, slots)
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

/** The stretch with regard to a slot never seen: wider by a factor, and by what such a slot may be about. */
function stretched(
  usual: number,
  { facts }: BankState,
  scale: Scale,
  tail: Tail,
  { unseen: { widening, rise, fall } }: Question,
): Stretch {
  const wide = usual * widening
  const sd = tail.reach(1)
  if (sd === 0 || scale.ofStep) return { high: wide, low: wide }
  const size = typicalSize(facts)
  const spread = (size * scale.slope(size)) / sd
  return { high: Math.hypot(wide, rise * spread), low: Math.hypot(wide, fall * spread) }
}

function basisOf(state: BankState, { season, points }: Predictor, design: Design, slots: Slots): Basis {
  const kind = design.weight > 0 ? 'recent' : 'level'
  const cycle = design.season
  if (!season || !cycle)
    return {
      kind: design.scale.ofStep ? 'step' : kind,
      cycle: null,
      slot: null,
      sightings: points,
    }
  const slot = slots[cycle]
  const sightings = state.seen[cycle]?.[slot] ?? sightingsOf(season, slot)
  return {
    kind: design.scale.ofStep ? 'step' : 'slot',
    cycle,
    slot,
    sightings,
  }
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
  const level = Math.abs(amount)
  const slope = scale.slope(level)
  const sightings =
    predictor.season && design.season ? sightingsOf(predictor.season, slots[design.season]) : Infinity
  return fitTail(predictor.tail, predictor.variance, {
    floor: floorAt(bank.domain, state.facts, scale, amount),
    unit: unitOf(bank.domain, state.facts) * slope,
    prior:
      scale.ofStep || hasBothSigns(state.facts)
        ? 0
        : PRIOR_VARIATION * (scale.name === 'log' ? 1 : level * slope),
    maxFreedom: 2 + 3 * sightings,
  })
}

/** The values that lie within the sensitivity, mapped back from the working scale, within the domain. */
function bandOf(
  bank: Bank,
  state: BankState,
  opinion: Opinion,
  question: Question,
  sensitivity: number,
): Band {
  const { design, stretch } = opinion
  const { scale } = design
  const reach = opinion.tail.reach(sensitivity)
  const back = (x: number) => (scale.ofStep ? opinion.from + question.elapsed * scale.back(x) : scale.back(x))
  const limit =
    1e6 * (unitOf(bank.domain, state.facts) + typicalSize(state.facts)) + Math.abs(opinion.expected)
  const [least, most] = limitsOf(bank.domain, state.facts)
  const within = (v: number) => Math.max(least, Math.min(most, Math.max(-limit, Math.min(limit, v))))
  return {
    expected: within(opinion.expected),
    low: within(back(opinion.mean - reach * stretch.low)),
    high: within(back(opinion.mean + reach * stretch.high)),
    zScore: opinion.zScore,
    basis: opinion.basis,
  }
}

/** Whether the values so far suit a design. */
function suits({ facts }: BankState, design: Design, { isSecond }: Question): boolean {
  if (isSecond && design.scale.ofStep) return false
  if (design.season && facts.count < SEASONAL_FROM) return false
  const { name, needs } = design.scale
  if ((name === 'log' || name === 'logStep') && facts.fractions === 0 && typicalSize(facts) < 4) return false
  if (needs === 'growing' && !isGrowing(facts)) return false
  return !isHopeless(facts, design.scale)
}
