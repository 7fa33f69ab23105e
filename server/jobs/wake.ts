/** Wakes workers when delayed jobs become due: PostgreSQL notifies only when a job is sent. */
import type { PgBoss } from 'pg-boss'

/** How late a delayed job may be found. */
const LOOK_MS = 2_000

/** Selects the queues that hold a job that may start. */
const DUE = `
  select queue.name
  from unnest(cast($1 as text[])) as queue (name)
  cross join lateral (
    select from pgboss.job
    where job.name = queue.name and state < 'active' and not blocked and start_after <= now()
    limit 1
  ) as due`

/**
 * Looks every 2 s, for all queues in one statement: left to themselves, the workers would send one for each queue.
 * @param workers by queue, wakes its workers
 * @returns stops looking
 */
export function wakeForDueJobs(
  boss: Pick<PgBoss, 'getDb'>,
  workers: ReadonlyMap<string, () => void>,
): () => void {
  let isLooking = false
  const look = async () => {
    const { rows } = await boss.getDb().executeSql(DUE, [[...workers.keys()]])
    for (const { name } of rows as { name: string }[]) workers.get(name)?.()
  }
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    // The workers look for themselves too, more seldom, and report what fails.
    void look()
      .catch(() => undefined)
      .finally(() => (isLooking = false))
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** pg-boss's channel, by the name of its schema. */
const CHANNEL = `select 'pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24) as channel`

/**
 * Wakes workers when a job that may start is sent. The connection is pg-boss's: it is opened again when it is lost, and
 * all workers look then.
 * @returns stops listening
 */
export async function wakeForSentJobs(
  boss: Pick<PgBoss, 'getDb'>,
  workers: ReadonlyMap<string, () => void>,
): Promise<() => Promise<void>> {
  const db = boss.getDb()
  const { rows } = await db.executeSql(CHANNEL)
  const { channel } = rows[0] as { channel: string }
  const wakeAll = () => workers.forEach(wake => wake())
  const handle = await db.listen?.(channel, queue => workers.get(queue)?.(), wakeAll)
  return async () => handle?.close()
}
