import type { Schedule } from '../../checks/detector.ts'
import type { Transaction } from '../../server/database.ts'

/** A feature whose records name operating schedules. */
export interface ScheduleUser {
  /** What its records are called, in the plural: `rules`. */
  name: string
  /** How many of its records name a schedule. */
  count(trx: Transaction, scheduleId: string): Promise<number>
  /** What it has to do when a schedule means other hours than before, inside the transaction that changes it. */
  changed(trx: Transaction, scheduleId: string): Promise<void>
}

/** What other features may ask of operating schedules, as `server.plugins.operatingSchedules`. */
export interface OperatingSchedulesApi {
  /**
   * A schedule of the company, in the form that the detector takes. It cannot be changed or deleted before the
   * transaction ends.
   * @param options `lock: false` leaves it free to be changed: for who has locked a record that names it, which a
   * change of hours comes to after the schedule, so that each would wait for the other
   * @throws 404 `SCHEDULE_NOT_FOUND`, also for a malformed id
   */
  find(
    trx: Transaction,
    scheduleId: string,
    options?: { lock?: boolean },
  ): Promise<{ id: string; schedule: Schedule }>
  /** Adds a feature that is asked before a schedule is deleted, and told when one changes. */
  usedBy(user: ScheduleUser): void
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    operatingSchedules: OperatingSchedulesApi
  }
}
