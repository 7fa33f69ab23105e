import {
  TEMPORAL_KINDS,
  type ColumnInfo,
  type ConstraintInfo,
  type TableKind,
  type TableRef,
} from '../../../connectors/catalog.ts'
import { isIdentifier } from './names.ts'
import type { TableSignal } from '../../freshness/api.ts'
import type { ColumnProfile, TableProfile } from '../../profiles/api.ts'

/** Kinds of checks, as the list of all checks calls them. */
export const CHECK_KINDS = ['validity', 'metric', 'referential', 'comparison', 'freshness'] as const
export type CheckKindName = (typeof CHECK_KINDS)[number]

/** What may be recommended, in the order in which a table shows it, and the kind of each. */
export const KIND_OF_TYPE = {
  row_count: 'metric',
  freshness: 'freshness',
  NOT_NULL: 'validity',
  UNIQUE: 'validity',
  ENUM: 'validity',
  RANGE: 'validity',
  REGEX: 'validity',
  DATE_FORMAT: 'validity',
  referential: 'referential',
  comparison: 'comparison',
  null_percent: 'metric',
  distinct_count: 'metric',
  mean: 'metric',
} as const satisfies Record<string, CheckKindName>
export type CheckTypeName = keyof typeof KIND_OF_TYPE
export const CHECK_TYPES = Object.keys(KIND_OF_TYPE) as CheckTypeName[]

/** Where the evidence comes from. */
export const EVIDENCE_BASES = ['constraints', 'profiles', 'names', 'tags', 'history', 'usage'] as const
export type EvidenceBasis = (typeof EVIDENCE_BASES)[number]

/** A column as rules need it; `nullable` is absent where it is true, as catalogs are stored. */
export type EvidenceColumn = Pick<ColumnInfo, 'name' | 'type' | 'kind'> & { nullable?: boolean }

/** A table of another source that may hold the same rows. */
export interface ReplicaCandidate {
  sourceName: string
  table: TableRef
  columns: number
  /** Columns that both tables have, by name, and whose values can be compared. */
  sharedColumns: string[]
  primaryKey: string[]
}

/** What is known of a table. The same evidence always gives the same recommendations. */
export interface TableEvidence extends TableRef {
  id: string
  kind: TableKind
  columns: EvidenceColumn[]
  constraints: ConstraintInfo[]
  columnTags: Record<string, string[]>
  /** As the engine estimates them. */
  estimatedRows: number | null
  /** Tables that are made from it. */
  dependents: number
  profile?: TableProfile
  /** What shows when it was updated. */
  freshness?: TableSignal
  /** Tables of other sources that have its name. */
  replicas?: ReplicaCandidate[]
}

/** The parent of a recommended reference. */
export interface ParentColumn {
  tableId: string
  table: TableRef
  column: string
}

/** A check that evidence speaks for. */
export interface Suggestion {
  kind: CheckKindName
  type: CheckTypeName
  column: string | null
  /** The config of the check type. */
  config: Record<string, unknown>
  /** Other fields of the check that are not its defaults. */
  settings: { treat_null_as_valid?: boolean; sensitivity?: number; alert_threshold_percent?: number }
  parent?: ParentColumn
  /** From 0 to 1. */
  confidence: number
  /** One sentence. */
  reason: string
  basis: EvidenceBasis[]
  evidence: Record<string, unknown>
  /** Whether all rows of a profile are known to be valid: a rule that only rows can break was quiet in the past. */
  isQuietByProfile: boolean
}

/** The |z| beyond which a recommended metric alerts. */
export const METRIC_SENSITIVITY = 4

/**
 * How many rows may break a rule, where `seen` of `rows` did: with 95 % confidence no more will, by the rule of three. Few
 * rows leave open whether a rare one comes; a load that is broken brings more.
 */
export function toleranceOf(seen: number, rows: number): { alert_threshold_percent: number } {
  const percent = (100 * (seen + 2 * Math.sqrt(seen) + 3)) / rows
  return { alert_threshold_percent: Math.min(100, Number(percent.toPrecision(2))) }
}

/** A column with its profile. */
export interface ProfiledColumn {
  column: EvidenceColumn
  profile: ColumnProfile
  /** Rows that were read. */
  rows: number
  /** Values that are not NULL. */
  values: number
  nulls: number
  isSampled: boolean
}

/** The profile of a column, if it was measured and the column is still of the same type. */
export function profiledColumn(table: TableEvidence, column: EvidenceColumn): ProfiledColumn | null {
  const profile = table.profile?.columns.find(({ name }) => name === column.name)
  if (!profile || profile.count === null || profile.nulls === null || profile.kind !== column.kind)
    return null
  const { profiledRows: rows, isSampled } = table.profile!
  return { column, profile, rows, values: profile.count, nulls: profile.nulls, isSampled }
}

/** Rows below which whole numbers that measure something are distinct by chance, as totals of a month of days are. */
const MIN_KEY_ROWS = 100

/** Whether whole numbers follow each other without a gap. */
function isCounter({ min, max, distinct }: ColumnProfile): boolean {
  return typeof min === 'number' && typeof max === 'number' && max - min + 1 === distinct
}

/**
 * Whether the values of a column name rows. Amounts and measurements are distinct by chance, whatever a profile says of
 * them.
 */
export function isKeyLike(
  table: Pick<TableEvidence, 'constraints'>,
  { column, profile, rows }: ProfiledColumn,
): boolean {
  if (primaryKeyOf(table).includes(column.name)) return true
  if (!profile.isKeyCandidate || column.kind === 'decimal' || column.kind === 'float') return false
  return column.kind !== 'integer' || rows >= MIN_KEY_ROWS || isIdentifier(column.name) || isCounter(profile)
}

/** The columns of a table's primary key; empty without one. */
export function primaryKeyOf({ constraints }: Pick<TableEvidence, 'constraints'>): string[] {
  return constraints.find(({ type }) => type === 'primary_key')?.columns ?? []
}

// Made once: toLocaleString makes one for each number, which took a fifth of the time of a large source.
const countFormat = new Intl.NumberFormat('en-US')
const valueFormat = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 8 })

export function formatCount(count: number): string {
  return countFormat.format(count)
}

/** A value of a column, without the digits that binary fractions add, such as 14548.439999999999. */
export function formatValue(value: number): string {
  return valueFormat.format(value)
}

/**
 * Confidence that what held for `count` rows holds for the next ones: at most `most`, by the rule of three: with 95 %
 * confidence it fails for at most 3 / count of them.
 */
export function confidenceAfter(count: number, most: number): number {
  return round(most * Math.max(0, 1 - 3 / Math.max(count, 1)))
}

const DAY_MS = 86_400_000
/** Days below which rows a day are not known. */
const MIN_DAYS = 7
/** Rows a day below which a single row is most of a load. */
const FEW_ROWS_PER_DAY = 3

/** Rows a day, by the longest span of time that a column of the profile covers; null where none does. */
export function rowsPerDay({ profile }: Pick<TableEvidence, 'profile'>): number | null {
  const spans = (profile?.columns ?? [])
    .filter(({ kind }) => TEMPORAL_KINDS.includes(kind))
    .map(({ min, max }) => (Date.parse(String(max)) - Date.parse(String(min))) / DAY_MS + 1)
    .filter(days => days >= MIN_DAYS)
  return profile && spans.length > 0 ? profile.rowCount / Math.max(...spans) : null
}

/** Whether a load is a row or two, as a daily total is, so that a rule cannot wait for a third one that breaks it. */
export function hasFewRowsPerDay(table: Pick<TableEvidence, 'profile'>): boolean {
  const rows = rowsPerDay(table)
  return rows !== null && rows < FEW_ROWS_PER_DAY
}

export function round(confidence: number): number {
  return Math.round(Math.min(0.99, Math.max(0, confidence)) * 100) / 100
}
