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
  text: string
}

/** Limits that values are to keep: one, or the lowest and the highest. */
export type Threshold = number | readonly number[] | null

export function listThresholds(threshold: Threshold | undefined): number[] {
  return [threshold ?? []].flat()
}
