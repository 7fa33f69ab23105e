/** What the job engine keeps for the pages of its dashboard, and for how long. */
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { thinCounts } from '../../../server/jobs/thin-counts.ts'
import { startServer } from '../../helpers/server.ts'

const { server, query } = await startServer(t, { isOwn: true })

async function until(text: string): Promise<Record<string, unknown>[]> {
  for (;;) {
    const found = await query(text)
    if (found.length > 0) return found
    await wait(100)
  }
}

t.test('the engine counts its queues and keeps its warnings', async t => {
  await query(`select pgboss.create_queue('probe.backlog', '{"policy": "standard"}')`)
  await query(
    `insert into pgboss.job (name, data) select 'probe.backlog', '{}' from generate_series(1, 10001)`,
  )
  const [warning] = await until(
    `select type, message from pgboss.warning where message like '%probe.backlog%'`,
  )
  t.match(warning, { type: 'queue_backlog', message: /10001 jobs/ })
  const [count] = await until(`select queued_count from pgboss.queue_stats where name = 'probe.backlog'`)
  t.match(count, { queued_count: 10_001 })
  await query(`delete from pgboss.job where name = 'probe.backlog'`)
})

t.test('of minutes in which nothing happened one count is left, and no peak and no sum changes', async t => {
  // Two hours of counts every five seconds: jobs come and run in one minute of ten.
  await query(`
    insert into pgboss.queue_stats (name, deferred_count, queued_count, ready_count, active_count, failed_count,
        total_count, created_delta, completed_delta, failed_delta, delta_seconds, delta_on, captured_on)
    select 'probe.counted', 0, case when busy then n % 7 else 0 end, 0, 0, 0, 3, case when busy then n % 3 else 0 end,
        0, 0, 5, at, at
      from (select n, n % 120 < 12 as busy,
              date_trunc('hour', now()) - interval '3 hours' + n * interval '5 seconds' as at
              from generate_series(0, 1439) n) counts
     where at >= date_trunc('day', now()) and at < date_trunc('day', now()) + interval '1 day'`)
  const sums = () =>
    query(`select max(queued_count) as peak, sum(created_delta) as made, count(*) filter (where queued_count > 0) as busy,
        count(distinct date_trunc('minute', captured_on)) as minutes
       from pgboss.queue_stats where name = 'probe.counted'`)
  const before = await sums()
  const [{ quiet: some } = {}] = await query(
    `select count(*)::int as quiet from pgboss.queue_stats where name = 'probe.counted' and queued_count + created_delta = 0`,
  )
  const deleted = await thinCounts(server)
  t.strictSame(await sums(), before)
  // One after midnight has counts of a part of the two hours, or none.
  t.ok(deleted > 0.8 * Number(some) || Number(some) < 100, `${deleted} of ${String(some)} deleted`)
  t.equal(await thinCounts(server), 0, 'once')
})
