/** The scales on which a number is predicted: each makes the errors symmetric around the prediction. */

/**
 * The kind of numbers in a series, which decides the useful scales and the possible values: rows of a table, which may
 * only grow; a number of things; 0 to 100; any quantity.
 */
export type Domain = 'rows' | 'count' | 'percent' | 'continuous'

export interface Scale {
  name: 'raw' | 'root' | 'log' | 'step' | 'logStep'
  /** Works on the change since the previous value, per elapsed interval, instead of on the value. */
  ofStep: boolean
  /** Values the scale can represent: any sign, non-negative, positive, or a table that (almost) only grows. */
  needs: 'any' | 'nonNegative' | 'positive' | 'growing'
  /** Penalty on the log score, so that a more complex scale must predict better to be chosen. */
  handicap: number
  forward(value: number): number
  back(value: number): number
  /** d forward / d value at about `value`, smoothed near zero: carries a resolution in raw units to the scale. */
  slope(value: number): number
  /** ln of the exact derivative at `value`: makes predictive densities of different scales comparable. */
  logJacobian(value: number): number
}

const raw: Scale = {
  name: 'raw',
  ofStep: false,
  needs: 'any',
  handicap: 0,
  forward: y => y,
  back: x => x,
  slope: () => 1,
  logJacobian: () => 0,
}

/** Variance-stabilising root of a Poisson count (Anscombe 1948): 2 sqrt(y + 3/8) has variance close to 1. */
const root: Scale = {
  name: 'root',
  ofStep: false,
  needs: 'nonNegative',
  handicap: 0.3,
  forward: y => 2 * Math.sqrt(Math.max(0, y) + 0.375),
  back: x => Math.max(0, (Math.sign(x) * x * x) / 4 - 0.375),
  slope: y => 1 / Math.sqrt(Math.abs(y) + 0.375),
  logJacobian: y => -0.5 * Math.log(Math.max(0, y) + 0.375),
}

/** ln(y + ½) of a count: multiplicative noise becomes additive, and zero stays finite. */
const logCount: Scale = {
  name: 'log',
  ofStep: false,
  needs: 'nonNegative',
  handicap: 0.3,
  forward: y => Math.log(Math.max(0, y) + 0.5),
  back: x => Math.exp(x) - 0.5,
  slope: y => 1 / (Math.abs(y) + 0.5),
  logJacobian: y => -Math.log(Math.max(0, y) + 0.5),
}

/** ln(y) of a positive quantity, whatever its unit. */
const log: Scale = {
  name: 'log',
  ofStep: false,
  needs: 'positive',
  handicap: 0.3,
  forward: y => Math.log(Math.max(Number.MIN_VALUE, y)),
  back: x => Math.exp(x),
  slope: y => 1 / Math.abs(y),
  logJacobian: y => (y > 0 ? -Math.log(y) : 0),
}

const step: Scale = { ...raw, name: 'step', ofStep: true, handicap: 1.8 }

/** ln of the daily load of a cumulative table; a decrease is continued on the other side, as visible as an increase. */
const logStep: Scale = {
  name: 'logStep',
  ofStep: true,
  needs: 'growing',
  handicap: 1.8,
  forward: d => (d >= 0 ? Math.log(d + 0.5) : 2 * LOG_HALF - Math.log(0.5 - d)),
  back: x => (x >= LOG_HALF ? Math.exp(x) - 0.5 : 0.5 - Math.exp(2 * LOG_HALF - x)),
  slope: d => 1 / (Math.abs(d) + 0.5),
  logJacobian: d => -Math.log(Math.abs(d) + 0.5),
}
const LOG_HALF = Math.log(0.5)

/** The scales tried in a domain. */
export const SCALES: Record<Domain, readonly Scale[]> = {
  rows: [raw, root, logCount, step, logStep],
  count: [raw, root, logCount, step],
  percent: [raw, root, step],
  continuous: [raw, log, step],
}
