/** Series that are computed from the values of another: the change at each value, and the values of a week before. */
import type { ChartPoint } from './points.ts'

const WEEK_MS = 7 * 86_400_000
/** How far a value may lie from the same moment of the week before, as a share of the usual time between values. */
const MAX_DISTANCE_SHARE = 0.75

/** The change from the last value before to each value, with the expected change. The first value has none before it. */
export function changesOf(points: readonly ChartPoint[]): ChartPoint[] {
  const changes: ChartPoint[] = []
  let before: number | undefined
  for (const point of points) {
    const base = before
    if (point.value !== null) before = point.value
    if (base === undefined) continue
    const from = (value: number | null | undefined) => (value == null ? null : value - base)
    changes.push({ ...point, value: from(point.value), low: from(point.low), high: from(point.high) })
  }
  return changes
}

/** By point, the value of the same moment seven days before; null where there was none. */
export function valuesOfWeekBefore(points: readonly ChartPoint[]): (number | null)[] {
  const gaps = points.slice(1).map(({ at }, n) => at - points[n]!.at)
  const usualGap = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0
  const most = usualGap * MAX_DISTANCE_SHARE
  let nearest = 0
  return points.map(({ at }) => {
    const wanted = at - WEEK_MS
    const distance = (n: number) => Math.abs((points[n]?.at ?? Infinity) - wanted)
    while (distance(nearest + 1) <= distance(nearest)) nearest++
    return distance(nearest) <= most ? points[nearest]!.value : null
  })
}
