/** Locks of checks of any feature. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import type { CheckFeature, ScheduledCheck } from './api.ts'

/** Locks those checks of a feature that still exist, by id. */
export async function lockChecks(
  trx: Transaction,
  { model }: Pick<CheckFeature, 'model'>,
  ids: readonly string[],
): Promise<ScheduledCheck[]> {
  return model
    .query(trx)
    .findByIds([...ids])
    .orderBy(String(model.idColumn))
    .forUpdate()
}
