import t from 'tap'
import { pastJob } from '../../../../plugins/freshness/past/past-job.ts'
import { explicit, startWorlds } from '../worlds.ts'

const { server, tenant, query, world } = await startWorlds(t)

/** Daily loads of 40 days, the newest half an hour ago. */
const DAILY = `create table orders (id int, loaded_at timestamptz);
  insert into orders select n, now() - interval '30 minutes' - n * interval '1 day' from generate_series(0, 39) n`

const settled = (sourceId: string) => server.jobs.settled(pastJob, data => data.source_id === sourceId)
const detailOf = async (id: string, table: string) =>
  (await tenant.ask('GET', `/api/v1/sdk/freshness/${id}.public.${table}?clock_timezone=UTC`)).body.data

t.test('a new schedule has a threshold, a clock and a history from the rows of its table', async t => {
  const { watch, source, database } = await world(t, DAILY)
  await watch('orders')
  await settled(source.id)
  const orders = await detailOf(`${source.name}.${database.name}`, 'orders')
  t.match(orders, { status: 'fresh', learning: null, note: null, readiness: 'ready' })
  t.ok(orders.staleness_threshold_hours >= 24 && orders.staleness_threshold_hours < 36)
  t.equal(orders.update_clock.updates, 40)
  const asset = `${source.name}.${database.name}.public.orders`
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/${asset}/history?limit=100`)
  const checks = body.data.data as { is_backfilled: boolean; status: string; data_age_minutes: number }[]
  const past = checks.filter(check => check.is_backfilled)
  t.equal(past.length, 78, 'two for each earlier update: when it was found, and the last before the next')
  t.ok(
    past.every(({ status }) => status === 'unknown'),
    'the past is not judged',
  )
  t.ok(past.some(({ data_age_minutes: age }) => age > 22 * 60))
})

t.test('updates are read once, and again for another column', async t => {
  const { watch, source, check, database } = await world(
    t,
    `create table orders (a timestamptz, b timestamp);
     insert into orders select now() - n * interval '1 day', (now() at time zone 'UTC') - n * interval '2 days'
       from generate_series(0, 25) n`,
  )
  const { id } = await watch('orders', { freshness_column: 'a' })
  await settled(source.id)
  const updates = async () =>
    (await detailOf(`${source.name}.${database.name}`, 'orders')).update_clock.updates as number
  t.equal(await updates(), 26)
  await check()
  t.equal(await updates(), 26)
  server.jobs.forgetSettled()
  await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { freshness_column: 'b' })
  await settled(source.id)
  t.equal(await updates(), 26, 'of a column without a time zone')
})

t.test('what cannot be learned from the past is said, and learning goes on', async t => {
  const { watch, source, database } = await world(
    t,
    `create table few (loaded_at timestamptz); insert into few values (now()), (now() - interval '1 day');
     create table plans (starts timestamptz); insert into plans select now() + n * interval '1 day' from generate_series(-9, 9) n;
     create table batch (event_time timestamptz);
     insert into batch select now() - interval '20 hours' - n * interval '1 hour' from generate_series(0, 300) n;
     create table epochs (ts bigint); insert into epochs select extract(epoch from now())`,
  )
  await watch('few')
  await watch('plans', { freshness_column: 'starts' })
  await watch('batch')
  await watch('epochs', { freshness_column: 'ts' })
  const pending = () =>
    query(`select 1 from checks where source_id = $1 and settings ->> 'pastReadAt' is null`, [source.id])
  for (let tries = 0; (await pending()).length > 0 && tries < 20; tries++) {
    server.jobs.forgetSettled()
    await server.jobs.send(pastJob, { company_id: tenant.companyId, source_id: source.id })
    await settled(source.id)
  }
  const expected: [string, object][] = [
    ['few', { learning: { seen: 2, needed: 7 }, note: /2 of 7 updates seen$/ }],
    ['plans', { learning: { seen: 1, needed: 7 } }],
    ['batch', { learning: { seen: 1, needed: 7 }, note: /1 of 7.*20 h old.*loaded in batches/ }],
    ['epochs', { learning: { seen: 1, needed: 7 }, note: /ts is no date or timestamp/ }],
  ]
  for (const [table, found] of expected)
    t.match(await detailOf(`${source.name}.${database.name}`, table), found, table)
})

t.test('an explicit schedule is judged by its threshold, and shows its past', async t => {
  const { watch, source, database } = await world(t, DAILY)
  await watch('orders', explicit('2h'))
  await settled(source.id)
  const orders = await detailOf(`${source.name}.${database.name}`, 'orders')
  t.match(orders, { status: 'fresh', sla_threshold: '2h', learning: null })
  t.equal(orders.update_clock.updates, 40)
  const tried = await tenant.ask('POST', '/api/v1/sdk/freshness/dry-run', {
    asset_id: `${source.name}.${database.name}.public.orders`,
    expected_interval_hours: 20,
    lookback_days: 30,
  })
  t.match(tried.body.data, { would_open_alerts: 30 }, 'a dry run has a past to judge')
})
