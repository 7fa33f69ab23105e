/** Selects the predictors that may judge a value, with the score of each. */
import type { BankState } from './bank.ts'
import { DAY, WEEK, type Cycle, type Slots } from './calendar.ts'
import type { Bank } from './designs.ts'
import { isGrowing, isHopeless, typicalSize } from './facts.ts'
import { errorsOf, type Design, type Predictor } from './predictor.ts'
import type { Observation } from './observation.ts'
import { sightingsOf } from './season.ts'

/** A predictor that may judge a value. */
export interface Candidate {
  design: Design
  predictor: Predictor
  /** Its log score in nats, minus the penalty of its design. */
  rank: number
}

/** Errors a predictor must have seen before it is a candidate, and points before seasonal ones are. */
const MIN_ERRORS = 2
const MIN_SEASONAL_POINTS = 10

/** The candidates in the order of the bank's designs. */
export function candidatesFor(bank: Bank, state: BankState, question: Observation): Candidate[] {
  const candidates: Candidate[] = []
  bank.designs.forEach((design, i) => {
    const predictor = state.predictors[i]
    if (!predictor || errorsOf(predictor) < MIN_ERRORS) return
    if (!suitsSeries(state, design, question) || !hasSeenSlot(predictor, design, question.slots)) return
    candidates.push({ design, predictor, rank: predictor.score - design.handicap })
  })
  return candidates
}

/** The candidate with the best score, of at least one. */
export function bestOf(candidates: readonly Candidate[]): Candidate {
  return candidates.reduce((one, other) => (other.rank > one.rank ? other : one))
}

/** Whether a design fits the values seen so far. */
function suitsSeries({ facts, before }: BankState, design: Design, { isSecond }: Observation): boolean {
  // The last value is from the same interval, so being close to it is no evidence.
  if (isSecond && (design.weight === 1 || (design.scale.ofStep && !before))) return false
  if (design.season && facts.count < MIN_SEASONAL_POINTS) return false
  const { name, needs } = design.scale
  if ((name === 'log' || name === 'logStep') && facts.fractions === 0 && typicalSize(facts) < 4) return false
  if (needs === 'growing' && !isGrowing(facts)) return false
  return !isHopeless(facts, design.scale)
}

/** A seasonal predictor cannot judge a slot that it has never seen. */
function hasSeenSlot({ season }: Predictor, design: Design, slots: Slots): boolean {
  return !season || !design.season || sightingsOf(season, slots[design.season]) > 0
}

/** In the first two turns of a cycle, a level that its slot has already shown is a second opinion, in seconds. */
const FIRST_TURNS_SECONDS: Record<Cycle, number> = {
  hour: 2 * DAY,
  hourOfWeekend: 2 * WEEK,
  weekday: 2 * WEEK,
  weekend: 2 * WEEK,
  monthEdge: 62 * DAY,
}

/** @param age seconds since the first point */
export function knowsSlot({ design, predictor }: Candidate, slots: Slots, age: number): boolean {
  const cycle = design.season
  if (!predictor.season || !cycle || design.weight !== 0) return false
  if (design.scale.ofStep || (cycle === 'monthEdge' && slots.monthEdge === 0)) return false
  return age < FIRST_TURNS_SECONDS[cycle] && sightingsOf(predictor.season, slots[cycle]) > 0
}
