import type { Transaction } from '../../server/database/database.ts'

/** A record that names an operating schedule. */
export interface ScheduleUse {
  /** As the paths of its feature take it. */
  id: string
  name: string
  /** The qualified name of its table. */
  asset: string
}

/** A feature whose records name operating schedules. */
export interface ScheduleUser {
  /** What its records are called, in the plural: `rules`. */
  name: string
  /** How many of its records name a schedule. */
  count(trx: Transaction, scheduleId: string): Promise<number>
  /** The schedules that its active records of a table name. */
  listOfTable(trx: Transaction, tableId: string): Promise<string[]>
  /** The first of them by the names of their tables. */
  list(trx: Transaction, scheduleId: string, limit: number): Promise<ScheduleUse[]>
  /** What it has to do when a schedule means other hours than before, inside the transaction that changes it. */
  onHoursChanged(trx: Transaction, scheduleId: string): Promise<void>
}
