/** A value of a chart, with what was expected and what was found of it. */
export interface ChartPoint {
  /** Milliseconds since 1970. */
  at: number
  value: number | null
  low?: number | null
  high?: number | null
  isAnomaly?: boolean
  /** How far it is from what was expected, in standard deviations. */
  zScore?: number | null
  /** A sentence that says why. */
  explanation?: string | null
  /** More of it, in a few words each. */
  lines?: readonly string[]
}

/** Something that happened to the table, drawn on the time axis. */
export interface ChartMark {
  at: number
  kind: 'change' | 'run' | 'incident' | 'alert'
  text: string
}

/** How far after the newest value a mark stands beside it, in milliseconds: the axis ends there. */
const LATE_MS = 12 * 3_600_000

/** Where a mark stands: at the newest value if it came shortly after it. */
export function placeMark({ at }: ChartMark, points: readonly ChartPoint[]): number {
  const last = points.at(-1)?.at ?? at
  return at > last && at - last < LATE_MS ? last : at
}

/** The letters that stand at marks which are lines, and in the legend. */
export const MARK_LETTERS = { change: 'S', incident: 'I', alert: 'A' } as const

/** Limits that values are to keep: one, or the lowest and the highest. */
export type Threshold = number | readonly number[] | null

export function listThresholds(threshold: Threshold | undefined): number[] {
  return [threshold ?? []].flat()
}
