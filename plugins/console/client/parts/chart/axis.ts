import { listThresholds, type ChartPoint, type Threshold } from './points.ts'

/** Where the axis of values begins and ends. */
export interface Axis {
  min: number
  max: number
}

/** A part of the time in which the expected range goes on beyond the axis. */
export interface ClippedSpan {
  side: 'above' | 'below'
  /** From the first such value to the last, in milliseconds since 1970. */
  from: number
  to: number
  /** The farthest end of the expected range there. */
  reach: number
}

/** The share of the values, the newest ones, whose expected range is shown as a whole. */
const RECENT_SHARE = 1 / 3
const MARGIN_SHARE = 0.08

/**
 * An axis that shows all values, what is expected of the newest third, the thresholds, and of each anomaly the end of the
 * expected range that it is beyond. An older range may be much wider: while a check learns, it would flatten the line.
 * @param points those that are in view
 * @param options `isFromZero`: the axis includes zero, as bars need; `beside` are values that are drawn beside them
 */
export function fitAxis(
  points: readonly ChartPoint[],
  {
    threshold = null,
    isFromZero = false,
    beside = [],
  }: { threshold?: Threshold; isFromZero?: boolean; beside?: readonly (number | null | undefined)[] } = {},
): Axis {
  let [least, most] = [Infinity, -Infinity]
  const include = (value: number | null | undefined) => {
    if (value == null || !Number.isFinite(value)) return
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  const recent = Math.floor(points.length * (1 - RECENT_SHARE))
  for (const [n, { value, low, high, isAnomaly }] of points.entries()) {
    include(value)
    if (n >= recent) [low, high].forEach(include)
    else if (isAnomaly && value !== null)
      include(high != null && value > high ? high : low != null && value < low ? low : null)
  }
  listThresholds(threshold).forEach(include)
  beside.forEach(include)
  if (isFromZero) include(0)
  if (least > most) return { min: 0, max: 1 }
  const margin = (most - least || Math.abs(most) || 1) * MARGIN_SHARE
  return { min: least >= 0 && least - margin < 0 ? 0 : least - margin, max: most + margin }
}

/** Where the expected range of the points goes on beyond an axis. */
export function findClipped(points: readonly ChartPoint[], { min, max }: Axis): ClippedSpan[] {
  return (['above', 'below'] as const).flatMap(side => {
    const spans: ClippedSpan[] = []
    let open: ClippedSpan | undefined
    for (const { at, low, high } of points) {
      const end = side === 'above' ? high : low
      const isBeyond = end != null && (side === 'above' ? end > max : end < min)
      if (!isBeyond) open = undefined
      else if (open) {
        open.to = at
        open.reach = side === 'above' ? Math.max(open.reach, end) : Math.min(open.reach, end)
      } else spans.push((open = { side, from: at, to: at, reach: end }))
    }
    return spans
  })
}
