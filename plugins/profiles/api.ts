import type { ColumnKind } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'

/** Forms of text that a profile recognises; `enum` is one of few values that return. */
export const PATTERN_NAMES = [
  'uuid',
  'email',
  'url',
  'iso_date',
  'iso_timestamp',
  'numeric_text',
  'phone',
  'enum',
] as const
export type PatternName = (typeof PATTERN_NAMES)[number]

/** The quantiles of a numeric column, interpolated. */
export interface Quantiles {
  p05: number
  p25: number
  p50: number
  p75: number
  p95: number
}

/** A value and the rows that have it. */
export interface TopValue {
  value: string | number | boolean
  count: number
}

/** What a profile found in one column. All numbers are of the profiled rows; null is not known or does not apply. */
export interface ColumnProfile {
  name: string
  type: string
  kind: ColumnKind
  /** Values that are not NULL; null where the engine could not measure the column. */
  count: number | null
  nulls: number | null
  /** Distinct values that are not NULL. */
  distinct: number | null
  /** Whether `distinct` was counted over all rows, and not approximated by the engine or counted in a sample. */
  isDistinctExact: boolean
  /** Of numbers; of dates and timestamps ISO 8601 text, to the second. */
  min: number | string | null
  max: number | string | null
  mean: number | null
  /** The standard deviation of a sample; null below two values. */
  stddev: number | null
  quantiles: Quantiles | null
  /** Characters of texts. */
  minLength: number | null
  maxLength: number | null
  meanLength: number | null
  /** The most frequent values, at most 20; null where they are hidden, or where most values are rare. */
  topValues: TopValue[] | null
  /** The pattern that most texts have, and the share of the values that match it, from 0.5 to 1. */
  pattern: { name: PatternName; share: number } | null
  /** All values of all rows are there and distinct, counted exactly. */
  isKeyCandidate: boolean
  /** The column is tagged as personal data, so that what shows values is left out. */
  isMasked: boolean
}

/** What one profile of a table found. */
export interface TableProfile {
  id: string
  sourceId: string
  tableId: string
  profiledAt: Date
  /** All rows of the table. */
  rowCount: number
  /** Whether they were counted; otherwise the engine estimates them. */
  isRowCountExact: boolean
  /** The rows that were read. */
  profiledRows: number
  isSampled: boolean
  /** Statements that were sent to the source. */
  statements: number
  milliseconds: number
  columns: ColumnProfile[]
}

/** What other features may ask of profiles, as `server.plugins.profiles`. */
export interface ProfilesApi {
  /**
   * The latest profile of each of some tables, by table; tables without one are left out. What shows values of columns
   * that are tagged as personal data now is left out, whatever they were when they were profiled.
   */
  latest(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, TableProfile>>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    profiles: ProfilesApi
  }
}
