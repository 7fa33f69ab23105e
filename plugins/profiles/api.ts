import type { ColumnKind } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'

/** What other features may read in SQL: which tables were profiled, and when. */
export const READABLE_TABLES = ['profiles'] as const

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
  /** A number, or ISO 8601 text to the second for dates and timestamps. */
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

/** The last buckets of time that a profile read, from `start` up to `end`, ISO 8601. */
export interface ProfiledWindow {
  time_column: string
  window: string
  start: string
  end: string
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
  /** Whether other rows were left out: above the row limit, or outside the window. */
  isSampled: boolean
  /** The buckets that were read, of a table with a window; null of a profile of all rows. */
  profiledWindow: ProfiledWindow | null
  /** Statements that were sent to the source. */
  statements: number
  milliseconds: number
  columns: ColumnProfile[]
}

/** The tables that are profiled. */
export interface ProfileTarget {
  companyId: string
  sourceId: string
  /** Absent for tables of the source. */
  tableId?: string
  include_patterns?: string[]
  exclude_patterns?: string[]
}

/** What became of the tables of a request. */
export interface ProfileJobResult {
  asset: string
  tables: number
  profiled: number
  failed: number
  /** Statements that were sent to the source. */
  statements: number
  /** One of each table, those that failed first, at most 1,000. */
  findings: {
    asset_id: string
    /** The qualified name of the table. */
    asset: string
    status: 'profiled' | 'error'
    profile_id: string | null
    row_count: number | null
    message: string
  }[]
}

/** What other features may ask of profiles, as `server.plugins.profiles`. */
export interface ProfilesApi {
  /**
   * The latest profile of each of some tables, by table; tables without one are left out. What shows values of columns
   * that are tagged as personal data now is left out, whatever they were when they were profiled.
   */
  latest(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, TableProfile>>
  /**
   * The target of a request to profile an asset.
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when the source is switched off or its rows may
   *   not be read
   */
  resolveTarget(
    trx: Transaction,
    assetId: string,
    request: { table_path?: string; include_patterns?: string[]; exclude_patterns?: string[] },
  ): Promise<ProfileTarget>
  /**
   * Profiles the tables of a target, one after the other. While all sessions of the source are in use it waits.
   * @param options.onProgress receives the percentage done before each table; false ends the work
   * @param options.slotWaitMs milliseconds to wait for a session before the first table; defaults to any time
   * @returns null when it was ended
   * @throws 503 `UNAVAILABLE` when no session was free for the first table within `slotWaitMs`
   */
  profileAsset(
    target: ProfileTarget,
    options: { signal: AbortSignal; slotWaitMs?: number; onProgress?(percent: number): Promise<boolean> },
  ): Promise<ProfileJobResult | null>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    profiles: ProfilesApi
  }
}
