/** What a comparison found. */
import type { Value } from '../../connectors/connector.ts'
import type { ColumnPair } from './pairs.ts'

/** A row that is not the same on both sides, by its key; values as texts, null for NULL. */
export interface DifferingRow {
  key: string[]
  kind: 'only_left' | 'only_right' | 'differs'
  /** The values of the columns that differ, by their names on the left; absent where one side lacks the row. */
  values?: { column: string; left: string | null; right: string | null }[]
}

/** The numbers of a comparison of rows. */
export interface RowDifferences {
  rowsLeft: number
  rowsRight: number
  onlyLeft: number
  onlyRight: number
  /** Rows with a key of both sides, of which a column differs. */
  differing: number
  /** How many rows differ in each column, by its name on the left. */
  byColumn: Record<string, number>
  /** Some of the rows that are not the same, at most as many as were asked for. */
  samples: DifferingRow[]
  /** Parts of the key's range that were looked at; 0 where one statement compared the rows. */
  segments: number
  /** Rows that came over the wire. */
  rowsFetched: number
}

/** An aggregate that is not the same on both sides; values as texts, null for no value. */
export interface DifferingAggregate {
  /** The values of the columns that are grouped by. */
  group: Record<string, string | null>
  /** Its name on the left; null of the number of rows. */
  column: string | null
  measure: AggregateMeasure
  left: string | null
  right: string | null
}

export type AggregateMeasure = 'rows' | 'nulls' | 'distinct' | 'sum' | 'minimum' | 'maximum'

/** The numbers of a comparison of aggregates. */
export interface AggregateDifferences {
  rowsLeft: number
  rowsRight: number
  /** Aggregates that were compared. */
  compared: number
  differing: DifferingAggregate[]
}

/** What a comparison of two tables found. */
export type ComparedTables = ({ by: 'rows' } & RowDifferences) | ({ by: 'aggregates' } & AggregateDifferences)

/** The text of what a driver gives. */
export function readText(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value)
}

/** Says that rows of a table share a key. */
export class RepeatedKeyError extends Error {
  override readonly name = 'RepeatedKeyError'
}

/** @param count how many rows share a key with another; null where one was met */
export function repeatedKeyError(
  side: 'left' | 'right',
  table: string,
  keys: readonly ColumnPair[],
  count: number | null,
): RepeatedKeyError {
  const columns = keys.map(pair => pair[side].name).join(', ')
  const many = count === null ? 'Rows' : `${count.toLocaleString('en')} keys`
  return new RepeatedKeyError(
    `${many} of ${table} ${count === null ? 'share their key' : 'occur more than once'} (${columns}): choose key_columns of which each row has its own values.`,
  )
}
