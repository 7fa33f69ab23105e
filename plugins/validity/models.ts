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
