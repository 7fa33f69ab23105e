/** Locks of freshness checks: after their source, before their alerts. The order of all locks: `server/database/locks.ts`. */
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { withSettings, type Schedule, type ScheduleSettings } from './models.ts'

/** A schedule as it is when results are recorded. */
export interface LockedSchedule
  extends ScheduleSettings, Pick<Schedule, 'id' | 'isActive' | 'lastCheckedAt' | 'runningSlot'> {
  /** Whether the catalog has its table; tables are retired under the lock of their source. */
  isTableActive: boolean
}

/** Locks those schedules that still exist, by id. */
export async function lockSchedules(trx: Transaction, ids: readonly string[]): Promise<LockedSchedule[]> {
  const locked = await rows<Omit<LockedSchedule, keyof ScheduleSettings> & { settings: object }>(
    trx,
    `select id, is_active, last_checked_at, running_slot, settings,
       (select t.is_active from tables t where t.company_id = :companyId and t.id = table_id) as is_table_active
     from checks where company_id = :companyId and id = any(cast(:ids as bigint[]))
     order by id for no key update`,
    { companyId: companyOf(trx), ids },
  )
  return withSettings(locked)
}
