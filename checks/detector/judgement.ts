/**
 * The verdict on a metric: the predictors that have predicted the series well so far, by discounted log predictive
 * density (prequential, Dawid 1984), score a value together. A level shift needs no rule of its own: the weight of the
 * static predictors collapses and those that follow take over within 2 to 4 points.
 */
import { isMuchCloser, type Band } from './band.ts'
import type { BankState } from './bank.ts'
import { bestOf, candidatesFor, knowsSlot, type Candidate } from './candidates.ts'
import type { Bank } from './designs.ts'
import { withExpected, opinionOf } from './opinion.ts'
import { observe, type Observation } from './observation.ts'
import { aloneIn, poolOf, pooledBand, type Pool } from './pool.ts'

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
  const candidates = candidatesFor(bank, state, question)
  if (candidates.length === 0) return null
  return pooledBand(bank, state, mildestPool(bank, state, candidates, question), question, sensitivity)
}

/** Remembers the value expected in place of a surprising one. Call it before the value is learned. */
export function noteSurprise(bank: Bank, state: BankState, at: number, value: number): void {
  for (const surprise of state.surprises) surprise.age++
  if ((state.surprises[0]?.age ?? 0) > SURPRISE_POINTS) state.surprises.shift()
  const question = observe(bank, state, at, value)
  const candidates = candidatesFor(bank, state, question)
  // What does not surprise the best predictor is none, and needs no other.
  if (candidates.length === 0 || !surprises(opinionOf(bank, state, bestOf(candidates), question))) return
  const said = mildestPool(bank, state, candidates, question)
  if (surprises(said)) state.surprises.push({ expected: said.expected, age: 1 })
}

const surprises = ({ zScore }: { zScore: number }) => Math.abs(zScore) > SURPRISE

/**
 * The common opinion, unless it is news and one predictor finds the value less surprising that knows the slot already
 * and expected a value much closer to it.
 */
function mildestPool(
  bank: Bank,
  state: BankState,
  candidates: readonly Candidate[],
  question: Observation,
): Pool {
  const pool = poolOf(bank, state, candidates, question)
  if (Math.abs(pool.zScore) < NO_NEWS) return pool
  const age = question.at - state.firstAt
  let mildest = pool
  for (const candidate of candidates) {
    if (!knowsSlot(candidate, question.slots, age)) continue
    const opinion = opinionOf(bank, state, candidate, question)
    if (!isMuchCloser(question.value, opinion.expected, pool.expected)) continue
    if (Math.abs(opinion.zScore) < Math.abs(mildest.zScore)) mildest = aloneIn(opinion)
  }
  return milderAfterSurprise(state, mildest, question)
}

/** A return to what was expected before a surprise is no anomaly, so that expectation is a second opinion too. */
function milderAfterSurprise(state: BankState, pool: Pool, question: Observation): Pool {
  let mildest = pool
  for (const { expected } of state.surprises) {
    const earlier = withExpected(pool.best, expected, question)
    if (Math.abs(earlier.zScore) < Math.abs(mildest.zScore)) mildest = aloneIn(earlier)
  }
  return mildest
}
