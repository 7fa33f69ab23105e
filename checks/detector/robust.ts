/** Centres that a single wild value cannot move. */

/** The median; 0 of nothing. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The `share` quantile, interpolated between neighbours (Hyndman & Fan 1996, type 7); 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  const position = (sorted.length - 1) * share
  const below = Math.floor(position)
  const lower = sorted[below]!
  return lower + ((sorted[below + 1] ?? lower) - lower) * (position - below)
}

/** The mean without the `cut` highest and the `cut` lowest values. */
export function trimmedMean(values: readonly number[], cut: number): number {
  const sorted = sort(values)
  let sum = 0
  for (let i = cut; i < values.length - cut; i++) sum += sorted[i]!
  return sum / (values.length - 2 * cut)
}

/** Insertion into a buffer that is used again: short arrays, very many times. */
function sort(values: readonly number[]): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    let j = i
    for (; j > 0 && scratch[j - 1]! > value; j--) scratch[j] = scratch[j - 1]!
    scratch[j] = value
  }
  return scratch
}
const scratch = new Float64Array(64)
