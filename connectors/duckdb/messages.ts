/** What a session asks of its reader process. */
export type Request =
  | ({ type: 'open' } & OpenRequest)
  | { type: 'query'; text: string; values: unknown[]; views?: FileView[]; maxRows?: number }
  | { type: 'validate'; text: string; views?: FileView[] }
  | { type: 'describe'; relations: string[] }
  | { type: 'close' }

export interface OpenRequest {
  /** The database file; absent for data files, which are read in a database in memory. */
  file?: string
  /** The folder of data files and the schema of their tables. */
  folder?: { path: string; schema: string; hasKeys: boolean }
  memoryMb: number
  threads: number
}

/** A table of data files that a statement names. */
export interface FileView {
  name: string
  /** What stands in FROM for its rows. */
  relation: string
}

/** Rows are arrays, in the order of the columns. */
export interface QueryAnswer {
  columns: string[]
  rows: unknown[][]
}

/** The columns of a relation with their types, or why it cannot be read. */
export type Description = { columns: [name: string, type: string][] } | { code: string; message: string }
