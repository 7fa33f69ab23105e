import type { Finding } from '../../checks/explanation.ts'

/** What the sentence of an alert says, beside the name of its asset, which comes first. */
export interface AlertTitle extends Finding {
  /** The column that it is about. */
  column?: string | null
  /** The condition of the rows that it is about, as sentences show it. */
  filter?: string | null
  /** What it is about besides: `region north`, the day. */
  scope?: readonly string[]
}
