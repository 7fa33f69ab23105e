/** Claims the jobs of one kind. */
import type { FetchOptions, JobWithMetadata, PgBoss } from 'pg-boss'
import { Batch } from '../database/batch.ts'
import { nameLock } from '../database/locks.ts'

type StoredJob = JobWithMetadata<object>

/** The engine's pool of connections. */
interface Pool {
  query(batch: Batch, values: undefined, done: (error: Error | null, found: object[][]) => void): void
}

/**
 * Claims jobs that may start. If their groups are limited, processes claim one after the other, because pg-boss counts
 * what earlier claims hold: claims at the same moment would each fill the limit. The lock takes no round trip.
 */
export function claim(
  boss: PgBoss,
  name: string,
  options: Pick<FetchOptions, 'batchSize' | 'groupConcurrency'>,
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
  const { pool } = boss.getDb() as unknown as { pool: Pool }
  const batch = new Batch([nameLock(`claim ${name}`), { text, values }])
  const found = await new Promise<object[][]>((resolve, reject) => {
    pool.query(batch, undefined, (error, rows) => (error ? reject(error) : resolve(rows)))
  })
  return { rows: found[1] ?? [] }
}
