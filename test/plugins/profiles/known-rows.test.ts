import t from 'tap'
import { profileJob } from '../../../plugins/profiles/job.ts'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)

t.test('the newest count of rows stands where the engine estimates none', async t => {
  const { source, database } = await world(
    t,
    'create table orders (id int); insert into orders values (1), (2)',
  )
  const table = `${source.name}.${database.name}.public.orders`
  const rows = async () => (await tenant.ask('GET', `/api/v1/sdk/assets/${table}`)).body.data.known_rows
  await query('update tables set estimated_rows = 7 where source_id = $1', [source.id])
  t.same(await rows(), { count: 7, from: 'engine', at: null })
  await query('update tables set estimated_rows = null where source_id = $1', [source.id])
  t.equal(await rows(), null)

  const profiled = await tenant.ask('POST', `/api/v1/sdk/assets/${table}/profile`)
  await server.jobs.settled(profileJob, data => data.run_id === profiled.body.data.job_id)
  t.match(await rows(), { count: 2, from: 'profile', at: /Z$/ })
  await database.query('insert into orders values (3)')
  const metric = await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}`, {
    metric_type: 'row_count',
    table_path: 'orders',
  })
  await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}/${metric.body.data.id}/capture`)
  t.match(await rows(), { count: 3, from: 'row_count', at: /Z$/ })
  const { body } = await tenant.ask('GET', `/api/v1/sdk/assets?source=${source.name}&asset_type=table`)
  t.match(body.data.data, [{ known_rows: { count: 3, from: 'row_count' } }], 'in lists, too')
})
