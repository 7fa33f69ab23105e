import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A check that the values of a column, the child's, occur in a column of another table, the parent's. */
export class ReferentialCheck extends CompanyRow {
  static override tableName = 'referential_checks'
  static override cap = defineCap({
    name: 'referential_checks',
    most: 100_000,
    what: 'referential checks',
    advice: 'delete one first',
  })

  declare id: string
  declare internalId: string
  declare sourceId: string
  /** The child's table, which the check belongs to. */
  declare tableId: string
  declare childColumnName: string
  declare parentTableId: string
  declare parentColumnName: string
  declare name: string
  declare description: string | null
  declare severity: 'info' | 'warning' | 'critical'
  declare isActive: boolean
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  /** The limits as they were given; `limitsOf` gives those that apply. */
  declare maxOrphanCount: string | number | null
  declare maxOrphanPercent: number | null
  declare minChildCount: string | number | null
  declare maxChildCount: string | number | null
  declare latestStatus: 'pass' | 'fail' | 'error' | null
  declare lastCheckAt: Date | null
  declare nextRunAt: Date
  /** The due time that was claimed and is not recorded yet. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}

/** A check with the names of its tables joined in, as the API shows it, and whether the parent was there last. */
export class NamedCheck extends ReferentialCheck {
  declare childCatalog: string
  declare childSchema: string
  declare childTable: string
  declare parentCatalog: string
  declare parentSchema: string
  declare parentTable: string
  declare parentIsActive: boolean
}

/** An outcome of a check, judged. The orphans' values are not kept: they are a customer's data. */
export class ReferentialResult extends CompanyRow {
  static override tableName = 'referential_results'

  declare id: string
  declare referentialCheckId: string
  declare status: 'pass' | 'fail' | 'error'
  declare orphanCount: string | number | null
  declare orphanPercent: number | null
  declare totalChildRows: string | number | null
  declare parentsBelowMin: string | number | null
  declare parentsAboveMax: string | number | null
  declare queryDurationMs: number
  declare errorMessage: string | null
  declare scheduledFor: Date | null
  declare checkedAt: Date
}
