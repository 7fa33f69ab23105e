import { chartTexts } from './texts.ts'

/** A value of a chart, with what was expected and what was found of it. */
export interface ChartPoint {
  /** Milliseconds since 1970. */
  at: number
  value: number | null
  low?: number | null
  high?: number | null
  isAnomaly?: boolean
  /** A sentence that says why. */
  explanation?: string | null
  /** More of it, in a few words each. */
  lines?: readonly string[]
}

/** Something that happened to the table, drawn on the time axis. */
export interface ChartMark {
  at: number
  kind: 'change' | 'run' | 'incident' | 'alert'
  /** What it was, without its kind. */
  text?: string
}

/** A mark in words: without its kind it would read like a cause. */
export const nameMark = ({ kind, text }: ChartMark): string =>
  text ? `${chartTexts[kind]}: ${text}` : chartTexts[kind]

/** How far after the newest value a mark stands beside it, in milliseconds: the axis ends there. */
const LATE_MS = 12 * 3_600_000

/** Where a mark stands: at the newest value if it came shortly after it. */
export function placeMark({ at }: ChartMark, points: readonly ChartPoint[]): number {
  const last = points.at(-1)?.at ?? at
  return at > last && at - last < LATE_MS ? last : at
}

/** The letters that stand at marks which are lines, and in the legend. */
export const MARK_LETTERS = { change: 'S', incident: 'I', alert: 'A' } as const

/** A mark with a letter, at its place in a drawing. */
export interface LetteredMark {
  kind: keyof typeof MARK_LETTERS
  left: number
}

/** The letters of marks by their place, the first at the left; marks that are nearer than `least` share a label. */
export function joinLetters(marks: readonly LetteredMark[], least: number): { left: number; text: string }[] {
  const labels: { left: number; text: string }[] = []
  for (const { kind, left } of marks.toSorted((a, b) => a.left - b.left)) {
    const last = labels.at(-1)
    const letter = MARK_LETTERS[kind]
    if (!last || left - last.left >= least) labels.push({ left, text: letter })
    else if (!last.text.includes(letter)) last.text += ` ${letter}`
  }
  return labels
}

/** Limits that values are to keep: one, or the lowest and the highest. */
export type Threshold = number | readonly number[] | null

export function listThresholds(threshold: Threshold | undefined): number[] {
  return [threshold ?? []].flat()
}
