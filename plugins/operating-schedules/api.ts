import type { Schedule } from '../../checks/detector.ts'
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

/** What other features may ask of operating schedules, as `server.plugins.operatingSchedules`. */
export interface OperatingSchedulesApi {
  /**
   * A schedule of the company, in the form that the detector takes. It cannot be changed or deleted before the
   * transaction ends.
   * @throws 404 `SCHEDULE_NOT_FOUND`, also for a malformed id
   */
  find(trx: Transaction, scheduleId: string): Promise<{ id: string; schedule: Schedule }>
  /**
   * The hours of schedules by id, those of now and free to be changed: for who has locked the records that name them,
   * which a change of hours comes to after the schedule, so that each would wait for the other.
   */
  loadHours(trx: Transaction, scheduleIds: readonly string[]): Promise<ReadonlyMap<string, Schedule>>
  /**
   * The hours in which a table operates: those of the one schedule that the active checks of the table name; null
   * without one, or where they name several.
   */
  loadHoursOfTable(trx: Transaction, tableId: string): Promise<Schedule | null>
  /** Adds a feature that is checked before a schedule is deleted, and notified when one changes. */
  addUser(user: ScheduleUser): void
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    operatingSchedules: OperatingSchedulesApi
  }
}
