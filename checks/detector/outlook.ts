/**
 * Scores a count of hits by a binomial tail on an effective number of trials, so that 1 bad row of 5 is no anomaly
 * and 0.2 % of a million is.
 */
import { binomialScore, clampScore, normalToStudent, studentToNormal } from './distributions.ts'
import { findZero } from './roots.ts'

/** The distribution of the next result's hits. */
export interface Outlook {
  probability: number
  rows: number
  /** Effective trials behind the expected rate. */
  trials: number
  /** Number of independent rows as informative as the result and its baseline. */
  effective: number
  freedom: number
}

/** Score of a count of hits: the tail "that many or more" above the expected rate, "or fewer" below. */
export function scoreHits(view: Outlook, hits: number): number {
  const scale = view.effective / view.rows
  const above = hits / view.rows >= view.probability
  const boundary = hits * scale + (above ? -0.5 : 0.5) * scale
  const score = binomialScore(boundary, view.effective, view.probability)
  const onItsSide = above ? Math.max(0, score) : Math.min(0, score)
  return clampScore(studentToNormal(onItsSide, view.freedom))
}

/** The hits at which the score reaches `score`, within a millionth. */
export function hitsAt(view: Outlook, score: number): number {
  const { probability, effective, rows, freedom } = view
  const target = normalToStudent(score, freedom)
  const scale = effective / rows
  const half = (score < 0 ? 0.5 : -0.5) * scale
  const beyond = (hits: number) => binomialScore(hits * scale + half, effective, probability) - target
  const sd = rows * Math.sqrt((probability * (1 - probability)) / effective)
  const [side, limit] = score < 0 ? [-1, 0] : [1, rows]
  if (side * beyond(limit) <= 0) return limit
  let near = probability * rows
  if (score >= 0 && near < 1) {
    if (beyond(1) > 0) return findZero(beyond, near, 1, RELATIVE_TOLERANCE)
    near = 1
  }
  for (let steps = Math.abs(target) + 1; ; steps *= 2) {
    const far = near + side * steps * sd
    // Written so that the loop also ends when one of them is NaN.
    if (!(side * (limit - far) > 0)) return findZero(beyond, near, limit, RELATIVE_TOLERANCE)
    if (side * beyond(far) > 0) return findZero(beyond, near, far, RELATIVE_TOLERANCE)
    near = far
  }
}

const RELATIVE_TOLERANCE = 1e-6
