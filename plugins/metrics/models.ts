import type { AlertDirection, Basis } from '../../checks/detector.ts'
import { capOfKind, CheckRow, type CheckResult, type TableNames } from '../checks/kit.ts'

/** A number taken of a table again and again. By groups, each group is a series of its own. */
export class Metric extends CheckRow {
  static override kind = 'metric'
  static override cap = capOfKind('metric', { name: 'metrics', what: 'metrics' })

  static override settings = [
    'min',
    'max',
    'maxChangePercent',
    'changeAgainst',
    'detection',
    'direction',
    'consecutive',
  ]

  /** Null: its alerts are named after what it measures. */
  declare name: string | null
  /** The severity of its alerts; null: it follows from each value. */
  declare severity: 'info' | 'warning' | 'critical' | null
  declare sensitivity: number
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  /** The lowest and the highest value that does not fail. */
  declare min: number | null
  declare max: number | null
  /** The greatest change that does not fail, in percent of the earlier value. */
  declare maxChangePercent: number | null
  declare changeAgainst: 'previous' | 'same_weekday' | null
  /** What makes a value fail; null: `detectionOf` says. */
  declare detection: 'anomaly' | 'threshold' | 'both' | null
  /** In which direction anomalies and changes count; null: both. */
  declare direction: AlertDirection | null
  /** Failing captures in a row before an alert; null: one. */
  declare consecutive: number | null
}

export type NamedMetric = Metric & TableNames

/** A threshold that a value breaks. */
export interface Breach {
  threshold: 'min' | 'max' | 'max_change_percent'
  limit: number
  /** How far beyond the limit it is; null of a change from zero, which is no percentage. */
  excess: number | null
  /** For a change: the earlier value. */
  before?: number
}

/** What the snapshot of a metric has besides its value and its band. */
export interface SnapshotDetails {
  /** What the band was made of; null without one. */
  basis: Basis | null
  /** |z| > sensitivity, whatever the status went by. */
  isAnomaly: boolean
  /** The threshold that the value breaks; null of none. */
  breach: Breach | null
}

export function detailsOf({ details, status }: Pick<CheckResult, 'details' | 'status'>): SnapshotDetails {
  // Without thresholds, the status said it.
  const { basis = null, isAnomaly = status === 'fail', breach = null } = details as Partial<SnapshotDetails>
  return { basis, isAnomaly, breach }
}
