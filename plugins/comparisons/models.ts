import type { DifferingAggregate, ValueRule } from '../../checks/comparison.ts'
import { capOfKind, CheckRow, type CheckResult, type TableNames } from '../checks/kit.ts'

export const LEVELS = ['rows', 'aggregates', 'counts'] as const
/** What is compared: every row by its key, aggregates of columns, or how many rows there are. */
export type ComparisonLevel = (typeof LEVELS)[number]

/** Two columns by their names, and when their values count as equal. */
export interface StoredPair extends ValueRule {
  left: string
  right: string
}

/** A comparison of a table, the left one, with another, the right one, which may be of another source. */
export class Comparison extends CheckRow {
  static override kind = 'comparison'
  static override settings = [
    'level',
    'keyColumns',
    'comparedColumns',
    'groupPairs',
    'rightFilter',
    'maxDifferingRows',
    'maxDifferingPercent',
  ]
  static override cap = capOfKind('comparison', { name: 'comparisons', what: 'comparisons' })

  declare name: string
  declare description: string | null
  declare severity: 'info' | 'warning' | 'critical'
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare level: ComparisonLevel
  declare keyColumns: StoredPair[]
  /** Null for all columns that have the same name. */
  declare comparedColumns: StoredPair[] | null
  declare groupPairs: StoredPair[]
  declare rightFilter: string | null
  /** The limits as they were given; without any, nothing may differ. */
  declare maxDifferingRows: number | null
  declare maxDifferingPercent: number | null
}

export type NamedComparison = Comparison & TableNames

/** What a result has besides the number of differences and of rows. */
export interface ComparisonDetails {
  rowsLeft: number
  rowsRight: number
  onlyLeft: number | null
  onlyRight: number | null
  differing: number | null
  differingPercent: number
  /** How many rows differ in a column, of the columns in which any does, by the name on the left. */
  byColumn: Record<string, number>
  aggregates: DifferingAggregate[]
  segments: number
  rowsFetched: number
}

const NO_DETAILS: ComparisonDetails = {
  rowsLeft: 0,
  rowsRight: 0,
  onlyLeft: null,
  onlyRight: null,
  differing: null,
  differingPercent: 0,
  byColumn: {},
  aggregates: [],
  segments: 0,
  rowsFetched: 0,
}

/** The numbers of a stored result; null of one that could not run. */
export function detailsOf({
  details,
  status,
}: Pick<CheckResult, 'details' | 'status'>): ComparisonDetails | null {
  return status === 'error' ? null : { ...NO_DETAILS, ...(details as Partial<ComparisonDetails>) }
}
