import type { Basis, DetectorState } from '../../checks/detector.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A number taken of a table again and again. */
export class Metric extends CompanyRow {
  static override tableName = 'metrics'
  static override cap = defineCap({
    name: 'metrics',
    most: 100_000,
    what: 'metrics',
    advice: 'delete one first',
  })
  static override idColumn = 'internalId'
  static override jsonAttributes = ['config']

  declare internalId: string
  declare id: string
  declare sourceId: string
  declare tableId: string
  declare columnName: string | null
  declare metricType: string
  declare config: Record<string, unknown>
  declare groupByColumns: string[]
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare sensitivity: number
  declare isActive: boolean
  declare lastStatus: 'PASS' | 'WARNING' | 'FAIL' | 'ERROR' | null
  declare nextRunAt: Date
  /** The due time that was claimed and is not recorded yet. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A metric with the names of its table and its source's number joined in, as the API shows it. */
export class NamedMetric extends Metric {
  declare catalogName: string
  declare schemaName: string
  declare ofTable: string
  declare assetNumber: string
}

/** A value taken, judged. */
export class Snapshot extends CompanyRow {
  static override tableName = 'metric_snapshots'
  static override jsonAttributes = ['groupValues', 'basis']

  declare id: string
  declare metricId: string
  declare groupValues: Record<string, unknown>
  declare value: number | null
  declare totalRows: string | number | null
  declare status: 'PASS' | 'FAIL' | 'ERROR'
  declare isAnomaly: boolean
  declare isLearning: boolean
  declare zScore: number
  declare expectedValue: number | null
  declare expectedRangeLow: number | null
  declare expectedRangeHigh: number | null
  /** What the band was made of; null without a band, and of snapshots that an earlier version stored. */
  declare basis: Basis | null
  declare errorMessage: string | null
  declare scheduledFor: Date | null
  /** Computed from the table's own timestamps when the metric was made. */
  declare isBackfilled: boolean
  /** The alert that it raised or counted on. */
  declare alertId: string | null
  /** A user dismissed it as expected: it is learned in full. */
  declare isConfirmed: boolean
  declare capturedAt: Date
}

/** What was learned of one group of a metric; a metric without groups has the group {}. */
export class MetricState extends CompanyRow {
  static override tableName = 'metric_states'
  static override idColumn = ['metricId', 'groupValues']
  static override jsonAttributes = ['groupValues', 'state']

  declare metricId: string
  declare groupValues: Record<string, unknown>
  declare state: DetectorState
  /** Captures in a row that had the group; 0 once it is missing, below 0 when an alert reports it. */
  declare run: number
  /** The last capture that had the group. */
  declare lastSeenAt: Date | null
}
