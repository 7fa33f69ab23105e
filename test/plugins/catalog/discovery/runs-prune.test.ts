import t from 'tap'
import { pruneJob, pruneRuns } from '../../../../plugins/catalog/discovery/prune.ts'
import { startServer } from '../../../helpers/server.ts'

t.test('runs that began too long ago are deleted, of every company, some in a transaction', async t => {
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

  t.equal(await pruneRuns(app.server, { batch: 4, signal: AbortSignal.abort() }), 0)
  t.equal(await pruneRuns(app.server, { batch: 4 }), 6)
  t.same(
    (await kept()).map(({ age }) => age),
    [99, 99, 65, 65, 30, 30, 0, 0],
  )

  await app.query(
    `update runs set created_at = now() - interval '101 days' where created_at < now() - interval '98 days'`,
  )
  const done = app.server.jobs.settled(pruneJob, () => true)
  await app.server.jobs.send(pruneJob, {})
  t.equal(await done, 'completed')
  t.equal((await kept()).length, 6, 'the job does it')
})
