import type { TestServer } from '../../../helpers/server.ts'

/** Waits until so many sessions of the product's database wait for a lock. */
export async function untilWaiting(app: Pick<TestServer, 'query'>, count: number): Promise<void> {
  for (;;) {
    // A transaction sees one state of this view unless it says otherwise.
    await app.query('select pg_stat_clear_snapshot()')
    const [row] = await app.query(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (row?.waiting === count) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
