import { setTimeout as wait } from 'node:timers/promises'
import type { TestServer } from './server.ts'

/**
 * Waits until so many statements, or more, wait for a lock in the database of a server. Asking `pg_locks` for all that is
 * not granted would count those of the other tests: they share the cluster.
 */
export async function untilBlocked(app: Pick<TestServer, 'query'>, count = 1): Promise<void> {
  while ((await countBlocked(app)) < count) await wait(10)
}

export async function countBlocked({ query }: Pick<TestServer, 'query'>): Promise<number> {
  // A transaction sees one state of the view unless it says otherwise.
  await query('select pg_stat_clear_snapshot()')
  const [row] = await query(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.waiting as number
}
