import type { AlertDirection } from '../../checks/detector.ts'
import { capOfKind, CheckRow, type CheckResult, type TableNames } from '../checks/kit.ts'

/** A rule on a table, usually on one of its columns. Its results hold the percentages of invalid rows. */
export class ValidityRule extends CheckRow {
  static override kind = 'validity'
  static override settings = [
    'alertThresholdPercent',
    'treatNullAsValid',
    'detectionMode',
    'operatingPeriodMode',
    'errorMessage',
    'direction',
    'consecutive',
  ]
  static override cap = capOfKind('validity', { name: 'validity_rules', what: 'rules' })

  declare name: string
  declare description: string | null
  declare severity: 'info' | 'warning' | 'critical'
  declare sensitivity: number
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare alertThresholdPercent: number | null
  declare treatNullAsValid: boolean
  declare detectionMode: 'manual' | 'auto'
  declare operatingPeriodMode: 'off' | 'schedule' | 'auto'
  declare errorMessage: string | null
  /** In which direction anomalies count, in auto mode; null: rises. */
  declare direction: AlertDirection | null
  /** Failing checks in a row before an alert. */
  declare consecutive: number
}

/** How many checks in a row must fail before an alert. */
export function consecutiveOf({ consecutive }: { consecutive?: number | null }): number {
  return consecutive ?? 1
}

/** The direction of anomalies of a rule; null of a manual one, which has none. */
export function directionOf({
  detectionMode,
  direction,
}: Pick<ValidityRule, 'detectionMode'> & { direction?: AlertDirection | null }): AlertDirection | null {
  return detectionMode === 'manual' ? null : (direction ?? 'rise')
}

export type NamedRule = ValidityRule & TableNames

/** What the result of a rule has besides its percentage. */
export interface RuleDetails {
  invalidCount: number | null
  /** Whether the operating schedule of that time called the moment active; null of other modes. */
  wasActive: boolean | null
}

export function detailsOf({ details }: Pick<CheckResult, 'details'>): RuleDetails {
  const { invalidCount = null, wasActive = null } = details as Partial<RuleDetails>
  return { invalidCount, wasActive }
}
