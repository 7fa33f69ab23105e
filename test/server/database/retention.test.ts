import t from 'tap'
import { expireRows, expireRowsJob } from '../../../server/database/retention.ts'
import { startServer } from '../../helpers/server.ts'

t.test('rows that are too old are deleted, of every company, some in a transaction', async t => {
  const app = await startServer(t, { settings: { RETENTION_CHANGES_DAYS: '100' } })
  for (const name of ['Acme', 'Other']) {
    const { companyId } = await app.signUp(name)
    await app.query(
      `with source as (
         insert into sources (id, company_id, name, source_type, config)
         values (gen_random_uuid(), $1, 'shop', 'postgresql', '{}') returning id)
       insert into runs (id, company_id, workflow_name, source_id, asset_id, status, created_at)
       select gen_random_uuid(), $1, 'discovery', id, id, 'completed', now() - make_interval(days => age)
       from source, unnest(array[0, 30, 65, 99, 101, 102, 200]) age`,
      [companyId],
    )
  }
  const kept = () =>
    app.query(`select extract(day from now() - created_at)::int as age from runs order by created_at`)

  t.strictSame(await expireRows(app.server, { batch: 4, signal: AbortSignal.abort() }), {})
  t.strictSame(await expireRows(app.server, { batch: 4, maxDays: 1 }), {}, 'they are kept for days')
  t.strictSame(await expireRows(app.server, { batch: 4 }), { runs: 6 })
  t.same(
    (await kept()).map(({ age }) => age),
    [99, 99, 65, 65, 30, 30, 0, 0],
  )
})

t.test('what is kept for a day at most is deleted each hour', async t => {
  const { query, server, signUp } = await startServer(t)
  const { companyId } = await signUp()
  await query(
    `insert into idempotent_replies (company_id, actor, key, request_hash, created_at)
     values ($1, 'user:x', 'old', '\\x00', now() - interval '25 hours'), ($1, 'user:x', 'young', '\\x00', now())`,
    [companyId],
  )
  const done = server.jobs.settled(expireRowsJob, () => true)
  await server.jobs.send(expireRowsJob, {})
  t.equal(await done, 'completed')
  t.strictSame(await query('select key from idempotent_replies'), [{ key: 'young' }])
})

t.test('a table that cannot be pruned keeps no other from it', async t => {
  const { query, server } = await startServer(t)
  await query(
    `insert into rate_windows values ('x', 1, now() - interval '1 s', 1, now() - interval '1 s', true)`,
  )
  const { db, config } = server
  const retention = [{ table: 'no_such_table', column: 'at', days: 1 }, ...server.retention]
  await t.rejects(expireRows({ db, config, retention }), { message: /no_such_table/ })
  t.strictSame(await query(`select * from rate_windows where name = 'x'`), [])
})
