/** Locks of operating schedules: before the checks that use them. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import { OperatingSchedule } from './models.ts'

/**
 * - `use`: a check is made to use it; it can be neither changed nor deleted meanwhile
 * - `change`: not FOR UPDATE, which conflicts with the KEY SHARE lock that PostgreSQL takes for a rule that one
 *   transaction updates twice, as scans do; the change locks these rules next
 * - `delete`: no check can be made to use it meanwhile
 */
export type SchedulePurpose = 'use' | 'change' | 'delete'

/** Locks a schedule; undefined if it was removed. */
export async function lockOperatingSchedule(
  trx: Transaction,
  id: string,
  purpose: SchedulePurpose,
): Promise<OperatingSchedule | undefined> {
  const query = OperatingSchedule.query(trx).findById(id)
  if (purpose === 'use') return query.forShare()
  return purpose === 'change' ? query.forNoKeyUpdate() : query.forUpdate()
}
