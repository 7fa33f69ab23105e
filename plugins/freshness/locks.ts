/** Locks of freshness schedules: after their source, before their alerts. The order of all locks: `server/database/locks.ts`. */
import type { ModelObject } from 'objection'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { Schedule } from './models.ts'

/** A schedule as it is when results are recorded. */
export interface LockedSchedule extends ModelObject<Schedule> {
  /** Whether the catalog has its table; tables are retired under the lock of their source. */
  isKnown: boolean
}

/** Locks those schedules that still exist, by id. */
export function lockSchedules(trx: Transaction, ids: readonly string[]): Promise<LockedSchedule[]> {
  return rows<LockedSchedule>(
    trx,
    `select freshness_schedules.*,
       (select t.is_active from tables t where t.company_id = :companyId and t.id = table_id) as is_known
     from freshness_schedules where company_id = :companyId and id = any(cast(:ids as uuid[]))
     order by id for no key update`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
}

/** Locks a schedule; once it is locked, no check of it is being recorded. */
export async function lockSchedule(trx: Transaction, id: string): Promise<void> {
  await Schedule.query(trx).findById(id).select('id').forUpdate()
}
