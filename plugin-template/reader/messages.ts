/** What a session asks of its reader process, one at a time, each answered once. */
export type Request =
  | { type: 'open'; path: string }
  | { type: 'query'; text: string; values: unknown[]; maxRows?: number; timeoutMs: number }
  | { type: 'validate'; text: string; timeoutMs: number }
  | { type: 'close' }

/** What a reader found. Rows are arrays, in the order of the columns. */
export interface Answer {
  columns: string[]
  rows: unknown[][]
}

/** A failure that crosses the process boundary: an `Error` would lose its code on the way. */
export interface Failure {
  /** SQLite's name of its result code (`SQLITE_BUSY`), or one of our own; errors.ts lists them. */
  code: string
  message: string
}

export type Reply = { answer: Answer } | { failure: Failure }
