import type { CostEstimate } from './connector.ts'

/** Adds estimates up; what is unknown of one is unknown of all. */
export function sumEstimates(estimates: readonly CostEstimate[]): CostEstimate {
  const sum = (numbers: (number | null)[]) =>
    numbers.reduce((total, number) => (total === null || number === null ? null : total + number), 0)
  const rounded = (number: number | null) => (number === null ? null : Math.round(number))
  return {
    rows: rounded(sum(estimates.map(({ rows }) => rows))),
    bytes: rounded(sum(estimates.map(({ bytes }) => bytes))),
  }
}
