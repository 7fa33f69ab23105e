import { capOfKind, CheckRow, type TableNames } from 'tidemark/check-kind'

/** A table has at most so many rows. */
export class RowBudget extends CheckRow {
  static override kind = 'row_budget'
  static override settings = ['maxRows']
  static override cap = capOfKind('row_budget', { name: 'row_budgets', what: 'row budgets' })

  declare name: string
  declare severity: 'info' | 'warning' | 'critical'
  declare checkInterval: 'hourly' | 'daily' | 'weekly'
  declare maxRows: number
}

export type NamedBudget = RowBudget & TableNames
