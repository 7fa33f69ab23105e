/**
 * The common opinion of the predictors that predict a series well. In real series none is the true one, and an
 * average of forecasts beats the choice of one (Bates & Granger 1969; Clemen 1989): what surprises only the winner
 * is seldom wrong. Scores are averaged on the normal scale, a linear pool of probits (Satopää et al. 2014), each with
 * its tempered posterior weight, which errs less than the full one where all models are wrong (Grünwald 2012).
 */
import type { Band } from './band.ts'
import type { BankState } from './bank.ts'
import { bestOf, type Candidate } from './candidates.ts'
import type { Bank } from './designs.ts'
import { bandOf, opinionOf, scoreAt, type PredictorOpinion } from './opinion.ts'
import type { Observation } from './observation.ts'
import { findZero } from './roots.ts'

interface Member {
  opinion: PredictorOpinion
  /** The weights of a pool sum to 1. */
  weight: number
}

export interface Pool {
  members: Member[]
  /** The opinion with the largest weight. */
  best: PredictorOpinion
  expected: number
  zScore: number
}

/** Nats behind the best at which a weight is 1/e: more for a longer series, whose scores differ by more. */
const MIN_NATS = 3
const MAX_NATS = 8
const MEMORY = 0.985
/** Weights below this share of the largest are left out. */
const LEAST_WEIGHT = 0.05
/** Bound on the score of one member that is not the best: it shall not decide alone. */
const MAX_SCORE = 12

/** The pool of at least one candidate. */
export function poolOf(
  bank: Bank,
  state: BankState,
  candidates: readonly Candidate[],
  question: Observation,
): Pool {
  const best = bestOf(candidates)
  const nats = Math.max(MIN_NATS, MAX_NATS * (1 - MEMORY ** state.facts.count))
  // Whoever does not know month edges has no say there, once knowing them has proved better.
  const isEdge = best.design.season === 'monthEdge' && question.slots.monthEdge !== 0
  const members: Member[] = []
  let total = 0
  for (const candidate of candidates) {
    if (isEdge && candidate.design.season !== 'monthEdge') continue
    const weight = Math.exp((candidate.rank - best.rank) / nats)
    if (weight < LEAST_WEIGHT) continue
    members.push({ opinion: opinionOf(bank, state, candidate, question), weight })
    total += weight
  }
  let expected = 0
  for (const member of members) {
    member.weight /= total
    expected += member.weight * member.opinion.expected
  }
  const first = members.find(({ opinion }) => opinion.design === best.design)!.opinion
  const pool = { members, best: first, expected, zScore: 0 }
  const zScore = pooledScore(pool, question.value, question.elapsed)
  // Between the expectations a mean of scores may point the other way: such a value surprises no one much.
  return { ...pool, zScore: zScore * (question.value - expected) < 0 ? 0 : zScore }
}

/** The pool of a single opinion. */
export function aloneIn(opinion: PredictorOpinion): Pool {
  const { expected, zScore } = opinion
  return { members: [{ opinion, weight: 1 }], best: opinion, expected, zScore }
}

function pooledScore({ members, best }: Pool, value: number, elapsed: number): number {
  const most = Math.max(MAX_SCORE, Math.abs(best.zScore))
  let sum = 0
  for (const { opinion, weight } of members)
    sum += weight * Math.max(-most, Math.min(most, scoreAt(opinion, value, elapsed)))
  return sum
}

/** Steps of the search for an edge, as shares of the distance between the closest and the farthest edge. */
const EDGE_TOLERANCE = 5e-3

/** The values that lie within the sensitivity by the common score: between the members' own edges. */
export function pooledBand(
  bank: Bank,
  state: BankState,
  pool: Pool,
  question: Observation,
  sensitivity: number,
): Band {
  const { members, best, expected, zScore } = pool
  if (members.length === 1) return bandOf(bank, state, best, question, sensitivity)
  const bands = members.map(({ opinion }) => bandOf(bank, state, opinion, question, sensitivity))
  const edge = (side: 'low' | 'high') => {
    const edges = bands.map(band => band[side])
    const [least, most] = [Math.min(...edges), Math.max(...edges)]
    const target = side === 'low' ? -sensitivity : sensitivity
    const beyond = (value: number) => pooledScore(pool, value, question.elapsed) - target
    const [from, to] = side === 'low' ? [least, most] : [most, least]
    return findZero(beyond, from, to, 0, EDGE_TOLERANCE * (most - least))
  }
  return { expected, low: edge('low'), high: edge('high'), zScore, basis: best.basis }
}
