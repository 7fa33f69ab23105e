/** What a session asks of its reader process, one at a time, each answered once. */
export type Request =
  | { type: 'open'; path: string }
  | { type: 'query'; text: string; values: unknown[]; maxRows?: number }
  | { type: 'validate'; text: string }
  | { type: 'close' }

/** What a reader found. Rows are arrays, in the order of the columns. */
export interface Answer {
  columns: string[]
  rows: unknown[][]
}
