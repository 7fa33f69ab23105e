/** Estimates of location that a single outlier cannot move. */

/** The median; 0 for an empty array. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  const last = sorted.length - 1
  const [lower, upper] = [sorted[Math.floor(last / 2)]!, sorted[Math.ceil(last / 2)]!]
  return lower + (upper - lower) / 2
}

/** The mean without the `cut` highest and the `cut` lowest values. */
export function trimmedMean(values: readonly number[], cut: number): number {
  const sorted = sortIntoScratch(values)
  let sum = 0
  for (let i = cut; i < values.length - cut; i++) sum += sorted[i]!
  return sum / (values.length - 2 * cut)
}

/** Insertion sort into a reused buffer: the arrays are short, and it runs very often. */
function sortIntoScratch(values: readonly number[]): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    let j = i
    for (; j > 0 && scratch[j - 1]! > value; j--) scratch[j] = scratch[j - 1]!
    scratch[j] = value
  }
  return scratch
}
const scratch = new Float64Array(64)
