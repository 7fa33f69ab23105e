/** Locks of metrics: before their alerts. The order of all locks: `server/database/locks.ts`. */
import type { Transaction } from '../../server/database/database.ts'
import { Metric } from './models.ts'

/** Locks a metric; undefined if it was removed. Once it is locked, no scan of it is being recorded. */
export async function lockMetric(
  trx: Transaction,
  key: { internalId: Metric['internalId'] } | { id: string },
): Promise<Metric | undefined> {
  return Metric.query(trx).findOne(key).forUpdate()
}
