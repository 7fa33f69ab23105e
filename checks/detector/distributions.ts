/** Tail probabilities in closed form: the normal, Student's t and the binomial distribution. */

/** The largest score of a verdict; values beyond it are equally implausible. */
const LARGEST_SCORE = 99

/** Keeps a score finite and within ±99. */
export function clampScore(z: number): number {
  if (Number.isNaN(z)) return 0
  return Math.max(-LARGEST_SCORE, Math.min(LARGEST_SCORE, z))
}

/** P(Z > z) of the standard normal, relative error below 1.2e-7 (Numerical Recipes, `erfcc`). */
export function normalTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2
  const t = 1 / (1 + 0.5 * x)
  const series = ERFC.reduce((sum, coefficient) => coefficient + t * sum, 0)
  const tail = 0.5 * t * Math.exp(-x * x + series)
  return z >= 0 ? tail : 1 - tail
}

const ERFC = [
  0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196,
  1.00002368, -1.26551223,
]

/** The z with P(Z > z) = p, relative error below 1.2e-9 (Acklam's rational approximation). */
export function normalFromTail(p: number): number {
  if (!(p > 0)) return Infinity
  if (p >= 1) return -Infinity
  if (p > 0.5) return -normalFromTail(1 - p)
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p))
    return -horner(ACKLAM_TAIL, q) / horner(ACKLAM_TAIL_BELOW, q)
  }
  const q = 0.5 - p
  return (q * horner(ACKLAM_CENTRE, q * q)) / horner(ACKLAM_CENTRE_BELOW, q * q)
}

const ACKLAM_TAIL = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const ACKLAM_TAIL_BELOW = [
  7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1,
]
const ACKLAM_CENTRE = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
]
const ACKLAM_CENTRE_BELOW = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1,
  1,
]

function horner(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}

/**
 * The normal score as improbable as Student's t at `t` with `df` degrees of freedom (Wallace 1959):
 * z = sign(t) (8df+1)/(8df+3) sqrt(df ln(1 + t²/df)), within 0.05 sd for df ≥ 2.
 */
export function studentToNormal(t: number, df: number): number {
  return Math.sign(t) * wallace(df) * Math.sqrt(df * Math.log1p((t * t) / df))
}

/** The inverse of `studentToNormal`: the t that is as improbable as the normal score `z`. */
export function normalToStudent(z: number, df: number): number {
  return Math.sign(z) * Math.sqrt(df * Math.expm1((z / wallace(df)) ** 2 / df))
}

function wallace(df: number): number {
  return (8 * df + 1) / (8 * df + 3)
}

/** ln of the density of Student's t at `t`, for whole degrees of freedom up to 20. */
export function logStudent(t: number, df: number): number {
  return LOG_STUDENT_PEAK[df]! - 0.5 * (df + 1) * Math.log(1 + (t * t) / df)
}

/** ln Γ((df+1)/2) − ln Γ(df/2) − ½ ln(df π), by the recurrence Γ(x+1) = x Γ(x). */
const LOG_STUDENT_PEAK = Array.from({ length: 21 }, (_, df) => logStudentPeak(df))

function logStudentPeak(df: number): number {
  if (df === 0) return -Infinity
  if (df === 1) return -Math.log(Math.PI)
  if (df === 2) return -1.5 * Math.LN2
  return logStudentPeak(df - 2) + Math.log((df - 1) / (df - 2)) - 0.5 * Math.log(df / (df - 2))
}

/**
 * The normal score of a binomial tail (Peizer & Pratt 1968, JASA 63:1416): `boundary` is the count on the edge
 * of the tail (k − ½ for "k or more", k + ½ for "k or fewer"), `trials` need not be whole. Positive means more
 * than expected. Within 0.01 of the exact score even for 2 of 10.
 */
export function binomialScore(boundary: number, trials: number, probability: number): number {
  const q = 1 - probability
  if (trials <= 0 || probability <= 0) return boundary > 0 ? LARGEST_SCORE : 0
  if (boundary <= 0) return -Math.sqrt(-2 * trials * Math.log1p(-probability))
  const rest = trials - boundary
  if (rest <= 0) return Math.sqrt(-2 * trials * Math.log(probability))
  const distance =
    boundary +
    1 / 6 -
    (trials + 1 / 3) * probability +
    0.02 * (q / (boundary + 0.5) - probability / (rest + 0.5) + (q - 0.5) / (trials + 1))
  const spread =
    1 + q * peizerPrattG(boundary / (trials * probability)) + probability * peizerPrattG(rest / (trials * q))
  return distance * Math.sqrt(Math.max(0, spread) / ((trials + 1 / 6) * probability * q))
}

/** g(x) = (1 − x² + 2x ln x) / (1 − x)², with its limit near 1. */
function peizerPrattG(x: number): number {
  if (x <= 1e-12) return 1
  const d = 1 - x
  if (Math.abs(d) < 1e-4) return (-d / 3) * (1 + d / 2)
  return (1 - x * x + 2 * x * Math.log(x)) / (d * d)
}
