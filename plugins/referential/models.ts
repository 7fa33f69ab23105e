import { capOfKind, CheckRow, type CheckResult, type TableNames } from '../checks/kit.ts'

/**
 * A check that the values of a column, the child's, occur in a column of another table, the parent's. The child's table and column are
 * those of the check, the parent is its other table. Its results hold the numbers of orphans.
 */
export class ReferentialCheck extends CheckRow {
  static override kind = 'referential'
  static override settings = [
    'parentColumnName',
    'maxOrphanCount',
    'maxOrphanPercent',
    'minChildCount',
    'maxChildCount',
  ]
  static override cap = capOfKind('referential', { name: 'referential_checks', what: 'referential checks' })

  declare name: string
  declare description: string | null
  declare severity: 'info' | 'warning' | 'critical'
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare parentColumnName: string
  /** The limits as they were given; `limitsOf` gives those that apply. */
  declare maxOrphanCount: number | null
  declare maxOrphanPercent: number | null
  declare minChildCount: number | null
  declare maxChildCount: number | null
}

export type NamedCheck = ReferentialCheck & TableNames

/** The numbers of an outcome; null of one that could not run. The orphans' values are not kept: they are a customer's data. */
export interface OrphanNumbers {
  orphanCount: number | null
  orphanPercent: number | null
  totalChildRows: number | null
  /** Null without a limit of children. */
  parentsBelowMin: number | null
  parentsAboveMax: number | null
}

/** What a result has besides the number of orphans and of the child's rows. */
export type OrphanDetails = Omit<OrphanNumbers, 'orphanCount' | 'totalChildRows'>

/** The numbers of a stored result. */
export function numbersOf(result: Pick<CheckResult, 'value' | 'totalRows' | 'details'>): OrphanNumbers {
  const {
    orphanPercent = null,
    parentsBelowMin = null,
    parentsAboveMax = null,
  } = result.details as Partial<OrphanDetails>
  return {
    orphanCount: result.value,
    orphanPercent,
    totalChildRows: result.totalRows === null ? null : Number(result.totalRows),
    parentsBelowMin,
    parentsAboveMax,
  }
}
