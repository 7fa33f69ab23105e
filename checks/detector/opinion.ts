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
import { floorAt, hasBothSigns, isHopeless, limitsOf, typicalSize, unitOf } from './facts.ts'
import { predict, type Design, type Predictor } from './predictor.ts'
import { fitTail, type Tail } from './tail.ts'

/** Points before seasonal predictors may speak. */
const SEASONAL_FROM = 10
/** Predictors this close to the best, in nats, are as good as the best. */
const AS_GOOD = 1
/** Relative sd that a metric is expected to have before there is evidence. */
const PRIOR_VARIATION = 0.06
/** Band of a slot that was never seen, relative to the usual one. */
const UNSEEN: Record<Cycle, number> = { hour: 4, hourOfWeekend: 1, weekday: 1.5, weekend: 1, monthEdge: 2 }

/** What the next verdict is asked about. */
interface Question {
  at: number
  value: number
  sensitivity: number
  direction: Direction
  slots: Slots
  elapsed: number
  isSecond: boolean
  /** Widening for a time of day or week that was never seen. */
  unseen: number
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
  const slots = slotsAt(at)
  const question: Question = {
    at,
    value,
    sensitivity,
    direction,
    slots,
    elapsed: intervalsSince(bank, state, at),
    isSecond: isSecondLook(bank, state, at),
    unseen: wideningFor(bank, state, slots),
  }
  const opinion = mildestOpinion(bank, state, question)
  return opinion && reconcile(bandOf(bank, state, opinion, question), value, sensitivity, direction)
}

function wideningFor(bank: Bank, state: BankState, slots: Slots): number {
  let widening = 1
  for (const cycle of SEEN_CYCLES[bank.interval])
    if (!state.seen[cycle]?.[slots[cycle]]) widening = Math.max(widening, UNSEEN[cycle])
  return widening
}

/** One predictor's view of a value. */
interface Opinion {
  design: Design
  mean: number
  stretch: number
  from: number
  expected: number
  tail: Tail
  zScore: number
  basis: Basis
}

/** The best predictor's opinion, unless one that is as good finds the value less surprising. */
function mildestOpinion(bank: Bank, state: BankState, question: Question): Opinion | null {
  const best = bestPredictor(bank, state, question)
  if (best === null) return null
  const first = opinionOf(bank, state, best, question)
  if (Math.abs(first.zScore) < 1) return first
  const bestScore = rank(bank, state, best)
  const age = question.at - state.firstAt
  let mildest = first
  bank.designs.forEach((design, i) => {
    if (i === best || !suits(state, design, question) || state.predictors[i]!.errors < 2) return
    const asGood = rank(bank, state, i) >= bestScore - AS_GOOD
    if (!asGood && !knowsSlot(state.predictors[i]!, design, question.slots, age)) return
    const opinion = opinionOf(bank, state, i, question)
    if (!asGood && !isMuchCloser(opinion, first, question.value)) return
    if (Math.abs(opinion.zScore) < Math.abs(mildest.zScore)) mildest = opinion
  })
  return mildest
}

/** In the first two turns of a cycle, a level that its slot has already shown is a second opinion, in seconds. */
const FIRST_TURNS: Record<Cycle, number> = {
  hour: 2 * DAY,
  hourOfWeekend: 2 * WEEK,
  weekday: 2 * WEEK,
  weekend: 2 * WEEK,
  monthEdge: 62 * DAY,
}

function knowsSlot(predictor: Predictor, design: Design, slots: Slots, age: number): boolean {
  if (!predictor.season || !design.season || design.weight !== 0) return false
  const { cycle } = design.season
  if (design.scale.ofStep || (cycle === 'monthEdge' && slots.monthEdge === 0)) return false
  return age < FIRST_TURNS[cycle] && predictor.season.sightings[slots[cycle]]! > 0
}

function isMuchCloser(opinion: Opinion, than: Opinion, value: number): boolean {
  return Math.abs(value - opinion.expected) <= 0.6 * Math.abs(value - than.expected)
}

function bestPredictor(bank: Bank, state: BankState, question: Question): number | null {
  let best: number | null = null
  let bestScore = -Infinity
  bank.designs.forEach((design, i) => {
    if (state.predictors[i]!.errors < 2 || !suits(state, design, question)) return
    const score = rank(bank, state, i)
    if (best !== null && score <= bestScore) return
    best = i
    bestScore = score
  })
  return best
}

function rank(bank: Bank, state: BankState, i: number): number {
  return state.predictors[i]!.score - bank.designs[i]!.handicap
}

function opinionOf(bank: Bank, state: BankState, i: number, question: Question): Opinion {
  const design = bank.designs[i]!
  const predictor = state.predictors[i]!
  const { scale } = design
  const { x, from } = closerStep(
    bank,
    state,
    predictor,
    design,
    question.slots,
    question.value,
    question.elapsed,
  )
  const prediction = predict(predictor, design, question.slots)
  const stretch = prediction.stretch * question.unseen
  const amount = scale.back(prediction.mean)
  const tail = tailOf(bank, state, predictor, design, question.slots, amount)
  return {
    design,
    mean: prediction.mean,
    stretch,
    from,
    expected: scale.ofStep ? from + question.elapsed * amount : amount,
    tail,
    zScore: clampScore(tail.score((x - prediction.mean) / stretch)),
    basis: basisOf(predictor, design, question.slots),
  }
}

function basisOf({ season, points }: Predictor, design: Design, slots: Slots): Basis {
  const kind = design.weight > 0 ? 'recent' : 'level'
  if (!season || !design.season)
    return { kind: design.scale.ofStep ? 'step' : kind, cycle: null, slot: null, sightings: points }
  const { cycle } = design.season
  const slot = slots[cycle]
  return { kind: design.scale.ofStep ? 'step' : 'slot', cycle, slot, sightings: season.sightings[slot]! }
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
    predictor.season && design.season ? predictor.season.sightings[slots[design.season.cycle]]! : Infinity
  return fitTail(predictor.tail, predictor.variance, {
    floor: floorAt(bank.domain, state.facts, scale, amount),
    unit: unitOf(bank.domain, state.facts) * slope,
    prior:
      scale.ofStep || hasBothSigns(state.facts)
        ? 0
        : PRIOR_VARIATION * (scale.name === 'log' ? 1 : level * slope),
    maxFreedom: 1 + 1.5 * sightings,
  })
}

/** The values that lie within the sensitivity, mapped back from the working scale, within the domain. */
function bandOf(bank: Bank, state: BankState, opinion: Opinion, question: Question): Band {
  const { scale } = opinion.design
  const reach = opinion.tail.reach(question.sensitivity) * opinion.stretch
  const back = (x: number) => (scale.ofStep ? opinion.from + question.elapsed * scale.back(x) : scale.back(x))
  const limit =
    1e6 * (unitOf(bank.domain, state.facts) + typicalSize(state.facts)) + Math.abs(opinion.expected)
  const [least, most] = limitsOf(bank.domain, state.facts)
  const within = (v: number) => Math.max(least, Math.min(most, Math.max(-limit, Math.min(limit, v))))
  return {
    expected: within(opinion.expected),
    low: within(back(opinion.mean - reach)),
    high: within(back(opinion.mean + reach)),
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
  if (needs === 'growing' && facts.decreases > 0.05 * facts.count) return false
  return !isHopeless(facts, design.scale)
}
