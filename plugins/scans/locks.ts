/** Locks of checks of any feature. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import type { Feature, Scheduled } from './api.ts'

/** Locks those checks of a feature that still exist, by id. */
export async function lockChecks(
  trx: Transaction,
  { model }: Pick<Feature, 'model'>,
  ids: readonly string[],
): Promise<Scheduled[]> {
  return model
    .query(trx)
    .findByIds([...ids])
    .orderBy(String(model.idColumn))
    .forUpdate()
}
