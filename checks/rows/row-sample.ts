import type { Value } from '../../connectors/connector.ts'

/** An invalid row kept as evidence: its primary key, or its number in the sample, and the value. */
export interface RowSample {
  row_id: Value
  /** Null for NULL and for a hidden value. */
  value: Value
  /** The row has a value that is not shown, or one that could not be read. */
  is_hidden?: true
  /** All columns, where whole rows are asked for; null of those that are hidden. */
  row?: Record<string, Value>
  /** Columns of personal data. */
  hidden_columns?: string[]
}

/** Samples, and a sentence that says why some of them or their values are missing. */
export interface TakenSamples {
  samples: RowSample[]
  samplesNote?: string
  /** A statement that selects the rows, where whole ones are asked for. */
  samplesSql?: { text: string; values: unknown[] }
}
