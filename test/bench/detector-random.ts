/** Random numbers that are the same on every machine: a seed in, one stream of draws out. */

export interface Random {
  /** Evenly from low (default 0) to high (default 1), the high end excluded. */
  uniform(low?: number, high?: number): number
  /** Evenly on the logarithmic scale. */
  logUniform(low: number, high: number): number
  /** A whole number, both ends included. */
  integer(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  normal(): number
  /** Student's t with so many degrees of freedom. */
  student(freedom: number): number
  /** With scale 1: mean and variance are the shape. */
  gamma(shape: number): number
  poisson(mean: number): number
  binomial(trials: number, probability: number): number
  /** A rate around a mean, with a standard deviation relative to it. */
  rateAround(mean: number, relativeSd: number): number
}

/** Means above which a normal distribution stands in for a Poisson or binomial one. */
const MANY = 60

export function randomOf(seed: string): Random {
  const next = streamOf(seed)
  const uniform = (low = 0, high = 1) => low + (high - low) * next()
  const integer = (low: number, high: number) => Math.floor(uniform(low, high + 1))
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

  // Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
  function gamma(shape: number): number {
    if (shape < 1) return gamma(shape + 1) * (1 - next()) ** (1 / shape)
    const d = shape - 1 / 3
    for (;;) {
      const x = normal()
      const v = (1 + x / Math.sqrt(9 * d)) ** 3
      if (v > 0 && Math.log(1 - next()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v
    }
  }

  function poisson(mean: number): number {
    if (mean > MANY) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
    let count = 0
    for (let left = next(); left > Math.exp(-mean); left *= next()) count++
    return count
  }

  function binomial(trials: number, probability: number): number {
    if (probability > 0.5) return trials - binomial(trials, 1 - probability)
    const mean = trials * probability
    if (mean > MANY / 2) {
      const count = Math.round(mean + Math.sqrt(mean * (1 - probability)) * normal())
      return Math.min(trials, Math.max(0, count))
    }
    // Waiting times between successes are geometric.
    let count = 0
    let at = waiting(probability)
    for (; at <= trials; at += waiting(probability)) count++
    return count
  }

  function waiting(probability: number): number {
    return probability <= 0 ? Infinity : 1 + Math.floor(Math.log(1 - next()) / Math.log1p(-probability))
  }

  /** A beta distribution of that mean and spread. */
  function rateAround(mean: number, relativeSd: number): number {
    if (relativeSd <= 0 || mean <= 0 || mean >= 1) return mean
    const weight = Math.max(0.5, (1 - mean) / (mean * relativeSd ** 2) - 1)
    const hits = gamma(mean * weight)
    return hits / (hits + gamma((1 - mean) * weight) || 1)
  }

  return {
    uniform,
    logUniform: (low, high) => Math.exp(uniform(Math.log(low), Math.log(high))),
    integer,
    chance: probability => next() < probability,
    pick: items => items[integer(0, items.length - 1)]!,
    normal,
    student: freedom => normal() / Math.sqrt((2 * gamma(freedom / 2)) / freedom),
    gamma,
    poisson,
    binomial,
    rateAround,
  }
}

/** Numbers from 0 to 1: the seed hashed by FNV-1a, then mulberry32. */
function streamOf(seed: string): () => number {
  let state = 0x811c9dc5
  for (const letter of seed) state = Math.imul(state ^ letter.codePointAt(0)!, 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
