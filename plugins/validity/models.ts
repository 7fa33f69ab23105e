import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'
import type { DetectorState } from '../../checks/detector.ts'

/** A rule on a table, usually on one of its columns. */
export class ValidityRule extends CompanyRow {
  static override tableName = 'validity_rules'
  static override cap = defineCap({
    name: 'validity_rules',
    most: 100_000,
    what: 'rules',
    advice: 'delete one first',
  })
  static override jsonAttributes = ['ruleConfig']

  declare id: string
  declare uuid: string
  declare sourceId: string
  declare tableId: string
  declare columnName: string | null
  declare ruleType: string
  declare ruleConfig: Record<string, unknown> | null
  declare name: string
  declare description: string | null
  declare severity: 'info' | 'warning' | 'critical'
  declare isActive: boolean
  declare alertThresholdPercent: number | null
  declare treatNullAsValid: boolean
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare detectionMode: 'manual' | 'auto'
  declare sensitivity: number
  declare operatingPeriodMode: 'off' | 'schedule' | 'auto'
  declare operatingScheduleId: string | null
  declare errorMessage: string | null
  declare latestStatus: 'pass' | 'fail' | 'error' | null
  /** The id of the last result that is no part of the baseline: up to it, something else was measured. */
  declare baselineAfter: string
  declare nextRunAt: Date
  /** The due time that was claimed and is not recorded yet. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A rule with the names of its table joined in, as the API shows it. */
export class NamedRule extends ValidityRule {
  declare catalogName: string
  declare schemaName: string
  declare ofTable: string
}

/** An outcome of a rule, judged. */
export class ValidityResult extends CompanyRow {
  static override tableName = 'validity_results'

  declare id: string
  declare validityRuleId: string
  declare status: 'pass' | 'fail' | 'error'
  /** Null, as the two that follow, when the status is `error`. */
  declare totalRows: string | number | null
  declare invalidCount: string | number | null
  declare invalidPercent: number | null
  declare expectedValue: number | null
  declare expectedRangeLow: number | null
  declare expectedRangeHigh: number | null
  declare zScore: number | null
  declare isLearning: boolean
  declare errorMessage: string | null
  declare executionDurationMs: number
  declare scheduledFor: Date | null
  /** Computed from the table's own timestamps when the rule was made. */
  declare isBackfilled: boolean
  /** The alert that it raised or counted on. */
  declare alertId: string | null
  /** A user dismissed it as expected: it is learned in full. */
  declare isConfirmed: boolean
  /** Whether the operating schedule of that time called the moment active; null of other modes. */
  declare wasActive: boolean | null
  declare checkedAt: Date
  /** What was found in words, right after it was recorded; not stored. */
  finding?: string | null
}

/** What was learned of a rule's results; a rule without it is learned again from them. */
export class ValidityState extends CompanyRow {
  static override tableName = 'validity_states'
  static override idColumn = 'ruleId'
  static override jsonAttributes = ['state']

  declare ruleId: string
  declare state: DetectorState
}
