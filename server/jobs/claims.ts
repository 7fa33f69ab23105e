/** Claims the jobs of one kind. */
import type pg from 'pg'
import type { FetchOptions, JobWithMetadata, PgBoss } from 'pg-boss'
import { nameLock } from '../database/locks.ts'
import { sendTransaction } from '../database/pipeline.ts'

type StoredJob = JobWithMetadata<object>

/**
 * Claims jobs that may start. If their groups are limited, processes claim one after the other, because pg-boss counts
 * what earlier claims hold: claims at the same moment would each fill the limit. The lock takes no round trip.
 */
export function claim(
  boss: PgBoss,
  name: string,
  options: Pick<FetchOptions, 'batchSize' | 'groupConcurrency' | 'ignoreGroups'>,
): Promise<StoredJob[]> {
  const isLimited = options.groupConcurrency !== undefined
  return boss.fetch<object>(name, {
    ...options,
    includeMetadata: true,
    ...(isLimited && { db: { executeSql: (text, values) => askLocked(boss, { name, text, values }) } }),
  }) as Promise<StoredJob[]>
}

async function askLocked(
  boss: PgBoss,
  { name, text, values = [] }: { name: string; text: string; values: unknown[] | undefined },
): Promise<{ rows: object[] }> {
  const { pool } = boss.getDb() as unknown as { pool: pg.Pool }
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    const [, rows = []] = await sendTransaction(client, [nameLock(`claim ${name}`), { text, values }])
    return { rows }
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    client.release(failure)
  }
}
