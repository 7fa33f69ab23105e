/** Series that are computed from the values of another: the change at each value, and the values of a week before. */
import type { ChartPoint } from './points.ts'

const WEEK_MS = 7 * 86_400_000
/** How far a value may lie from the same moment of the week before, as a share of the usual time between values. */
const MAX_DISTANCE_SHARE = 0.75
/** Values closer than this share of the usual time are of the same day, or whatever the interval is. */
const REPEAT_SHARE = 0.5

/**
 * The change from the last value before to each value, with the expected change: of counts in whole numbers. The first value has none before it.
 * Values much closer than usual, as of a check that was run again, are one: the anomaly among them, else the last.
 */
export function changesOf(points: readonly ChartPoint[]): ChartPoint[] {
  const changes: ChartPoint[] = []
  let base: number | undefined
  for (const { value, low, high, explanation, ...point } of mergeRepeats(points)) {
    const before = base
    if (value !== null) base = value
    if (before === undefined) continue
    const from = (end: number | null | undefined) => (end == null ? null : end - before)
    const [least, most] = [from(low), from(high)]
    const isCounted = Number.isInteger(value) && Number.isInteger(before) && least !== null && most !== null
    const isWhole = isCounted && Math.ceil(least) <= Math.floor(most)
    changes.push({
      ...point,
      value: from(value),
      low: isWhole ? Math.ceil(least) : least,
      high: isWhole ? Math.floor(most) : most,
      // That of a value is about the total: it would stand beside what is expected of the change.
      ...(value === null && { explanation: explanation ?? null }),
    })
  }
  return changes
}

function mergeRepeats(points: readonly ChartPoint[]): ChartPoint[] {
  const least = usualGap(points) * REPEAT_SHARE
  const merged: ChartPoint[] = []
  for (const point of points) {
    const last = merged.at(-1)
    if (!last || point.at - last.at >= least) merged.push(point)
    else if (point.value !== null && (point.isAnomaly || !last.isAnomaly)) merged[merged.length - 1] = point
  }
  return merged
}

/** The median time between values. */
function usualGap(points: readonly ChartPoint[]): number {
  const gaps = points.slice(1).map(({ at }, n) => at - points[n]!.at)
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0
}

/** By point, the value of the same moment seven days before; null where there was none. */
export function valuesOfWeekBefore(points: readonly ChartPoint[]): (number | null)[] {
  const most = usualGap(points) * MAX_DISTANCE_SHARE
  let nearest = 0
  return points.map(({ at }) => {
    const wanted = at - WEEK_MS
    const distance = (n: number) => Math.abs((points[n]?.at ?? Infinity) - wanted)
    while (distance(nearest + 1) <= distance(nearest)) nearest++
    return distance(nearest) <= most ? points[nearest]!.value : null
  })
}
