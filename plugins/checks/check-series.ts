/** The results of one check of a table, oldest first. */
export interface CheckSeries {
  /** As the list of all checks has it: `metric`. */
  kind: string
  name: string
  /** The name of its table. */
  table: string
  /** False of a check by groups, which has no points here. */
  hasSeries: boolean
  /** Whether its values would show what a column of personal data holds. */
  isHidden: boolean
  /** Times are milliseconds since 1970; the status is pass, warning, fail or error. */
  points: { at: number; value: number | null; status: string; low: number | null; high: number | null }[]
}
