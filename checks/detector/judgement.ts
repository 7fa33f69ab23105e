/**
 * The verdict on a metric: the predictor that has predicted the series best so far, by discounted log predictive
 * density (prequential selection, Dawid 1984), scores a value. A level shift needs no rule of its own: the score
 * of the static predictors collapses and one that follows takes over within 2 to 4 points.
 */
import { isMuchCloser, type Band } from './band.ts'
import type { BankState } from './bank.ts'
import { candidatesFor, knowsSlot } from './candidates.ts'
import type { Bank } from './designs.ts'
import { bandOf, withExpected, opinionOf, type PredictorOpinion } from './opinion.ts'
import { observe, type Observation } from './observation.ts'

/** Predictors within this many nats of the best count as equally good. */
const AS_GOOD = 1
/** Below this score, no second opinion is needed. */
const NO_NEWS = 1
/** Beyond this score a value is a surprise, and is remembered for this many points. */
const SURPRISE = 2.5
const SURPRISE_POINTS = 3

/** Judges a value that has not been learned; null while no predictor is eligible. */
export function judgeByBank(
  bank: Bank,
  state: BankState,
  at: number,
  value: number,
  sensitivity: number,
): Band | null {
  const question = observe(bank, state, at, value)
  const opinion = mildestOpinion(bank, state, question, NO_NEWS)
  return opinion && bandOf(bank, state, opinion, question, sensitivity)
}

/** Remembers the value expected in place of a surprising one. Call it before the value is learned. */
export function noteSurprise(bank: Bank, state: BankState, at: number, value: number): void {
  for (const surprise of state.surprises) surprise.age++
  if ((state.surprises[0]?.age ?? 0) > SURPRISE_POINTS) state.surprises.shift()
  const said = mildestOpinion(bank, state, observe(bank, state, at, value), SURPRISE)
  if (said && Math.abs(said.zScore) > SURPRISE) state.surprises.push({ expected: said.expected, age: 1 })
}

/**
 * The best predictor's opinion, unless its score is `least` or more and one as good finds the value less surprising,
 * or one that knows the slot already expected a value much closer to it.
 */
function mildestOpinion(
  bank: Bank,
  state: BankState,
  question: Observation,
  least: number,
): PredictorOpinion | null {
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
    if (!asGood && !isMuchCloser(question.value, opinion.expected, first.expected)) continue
    if (Math.abs(opinion.zScore) < Math.abs(mildest.zScore)) mildest = opinion
  }
  return milderAfterSurprise(state, mildest, question)
}

/** A return to what was expected before a surprise is no anomaly, so that expectation is a second opinion too. */
function milderAfterSurprise(
  state: BankState,
  opinion: PredictorOpinion,
  question: Observation,
): PredictorOpinion {
  let mildest = opinion
  for (const { expected } of state.surprises) {
    const earlier = withExpected(opinion, expected, question)
    if (Math.abs(earlier.zScore) < Math.abs(mildest.zScore)) mildest = earlier
  }
  return mildest
}
