/** Jobs of which one at most is to wait or run. */
import { rows, type Transaction } from '../database/database.ts'
import { lockName } from '../database/locks.ts'

/**
 * The id of the job with a key that has not ended; undefined without one. The transaction locks the key, so that of two
 * that look at the same time one finds the job of the other.
 */
export async function findUnfinished(
  trx: Transaction | undefined,
  name: string,
  key: string,
): Promise<string | undefined> {
  if (!trx) throw new Error(`Job ${name}: a key needs a transaction`)
  await lockName(trx, `job:${name}:${key}`)
  const [found] = await rows<{ id: string }>(
    trx,
    `select id from pgboss.job where name = :name and singleton_key = :key and state < 'completed' limit 1`,
    { name, key },
  )
  return found?.id
}
