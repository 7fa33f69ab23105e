import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { refreshJob } from '../../../../plugins/freshness/jobs.ts'
import { parseDuration } from '../../../../server/settings/durations.ts'
import { explicit, startWorlds } from '../worlds.ts'

const folder = await mkdtemp(join(tmpdir(), 'tidemark-freshness-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, tenant, query, addSource, world } = await startWorlds(t, {
  settings: { FILE_SOURCES: folder },
})

const alertsOf = (scheduleId: string) =>
  query(
    `select cause, severity, status, occurrences, title, event from alerts
    where kind = 'freshness_violation' and cause = $1 order by created_at, id`,
    [scheduleId],
  )

t.test('a violation alerts once, after a warning, and resolves by itself', async t => {
  const { watch, check, database, source } = await world(
    t,
    `create table orders (updated_at timestamptz); insert into orders values ('2025-03-10 00:00Z')`,
  )
  const { id } = await watch('orders', { ...explicit('10h'), is_active: false })
  await query(
    'update checks set is_active = true, next_run_at = now() + make_interval(days => 1) where uuid = $1',
    [id],
  )
  const at = (hour: number) => check(new Date(Date.UTC(2025, 2, 10, hour)))
  await at(7)
  t.same(await alertsOf(id), [])
  await at(8)
  t.match(await alertsOf(id), [
    { cause: id, severity: 'warning', status: 'triggered', title: 'orders: 8 h old, stale after 10 h' },
  ])
  await at(10)
  await at(11)
  await at(12)
  const open = await alertsOf(id)
  t.match(open, [
    { severity: 'warning', status: 'resolved' },
    {
      severity: 'critical',
      status: 'triggered',
      occurrences: 3,
      title: 'orders: 10 h old, expected every 10 h',
    },
  ])
  t.match(open[1]?.event, {
    asset: { qualified_name: `${source.name}.${database.name}.public.orders` },
    details: {
      table_path: `${database.name}.public.orders`,
      timestamp_column: 'updated_at',
      last_updated: '2025-03-10T00:00:00.000Z',
      sla_threshold: '10h',
      data_age_minutes: 600,
    },
  })
  await database.query('alter table orders rename to away')
  await at(13)
  t.match((await alertsOf(id)).at(-1), { status: 'triggered' }, 'not knowing resolves nothing')
  await database.query(
    `alter table away rename to orders; update orders set updated_at = '2025-03-10 13:00Z'`,
  )
  await at(14)
  const closed = await alertsOf(id)
  t.equal(closed.length, 2)
  t.match(closed.at(-1), { status: 'resolved' })
})

t.test('auto_learn learns the cadence from updates, and then judges by it', async t => {
  const { watch, check, database, freshness } = await world(t, 'create table loads (loaded_at timestamp)')
  const schedule = await watch('loads', { is_active: false })
  t.match(schedule, { monitoring_mode: 'auto_learn', sla_threshold: null, expected_interval_hours: null })
  await query(
    'update checks set is_active = true, next_run_at = now() + make_interval(days => 1) where uuid = $1',
    [schedule.id],
  )
  const day = (index: number, hour: number) => new Date(Date.UTC(2025, 2, 3 + index, hour))
  for (let index = 0; index < 7; index++) {
    await database.query('insert into loads values ($1)', [day(index, 6)])
    await check(day(index, 7))
    await check(day(index, 19))
    const { data, meta } = await freshness('loads')
    t.equal(data.status, index < 6 ? 'unknown' : 'fresh', `update ${index + 1}`)
    if (index < 6) t.match(meta.note, /7 updates/)
  }
  const { data, meta } = await freshness('loads')
  t.match(data.sla_threshold, /^\d+h$|^\d+m$/)
  const learned = parseDuration(data.sla_threshold)
  t.equal(meta.expected_next_update, day(7, 6).toISOString())
  await check(new Date(day(7, 5).getTime() + 30 * 60_000))
  t.equal((await freshness('loads')).data.sla_status, 'warning')
  t.same(await alertsOf(schedule.id), [], 'a learned threshold does not warn before every usual update')
  // Usually at 6:00; unusual from 6:00 and as long as the schedule says.
  const end = day(6, 6).getTime() + (learned ?? 0) * 1000
  const usual = day(7, 6).getTime()
  await check(new Date(usual + 0.79 * (end - usual)))
  t.same(await alertsOf(schedule.id), [])
  await check(new Date(usual + 0.81 * (end - usual)))
  t.match(await alertsOf(schedule.id), [
    { severity: 'warning', status: 'triggered', title: / old, stale after / },
  ])
  await check(day(9, 7))
  t.match(await alertsOf(schedule.id), [
    { severity: 'warning', status: 'resolved' },
    { severity: 'critical', status: 'triggered' },
  ])
  t.match((await freshness('loads')).data, { status: 'stale', sla_status: 'violated' })
})

t.test('a check that was overtaken by a later one is not recorded', async t => {
  const { watch, database, source, freshness } = await world(
    t,
    `create table a (ts timestamptz); insert into a values ('2025-03-10 00:00Z')`,
  )
  const { id } = await watch('a', explicit('24h'))
  await database.query(`update a set ts = now()`)
  const later = new Date(Date.now() + 3_600_000)
  await query('update checks set last_checked_at = $1, running_slot = now() where uuid = $2', [later, id])
  const ids = { companyId: tenant.companyId, sourceId: source.id }
  t.match(await server.plugins.freshness.checkSource(ids), { measured: 1 })
  const { data } = await freshness('a')
  t.match(data, { last_updated: '2025-03-10T00:00:00.000Z', checked_at: later.toISOString() })
  const [row] = await query('select running_slot from checks where uuid = $1', [id])
  t.match(row, { running_slot: null }, 'the next one need not wait for this one')
})

t.test('a refresh is a job that reports what failed', async t => {
  const { watch, source, database } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now());
     create table b (ts timestamptz); insert into b values (now());`,
  )
  await watch('a', explicit('1h'))
  await watch('b', explicit('1h'))
  await database.query('drop table b')
  const refresh = async () => {
    const reply = await tenant.ask('POST', `/api/v1/sdk/freshness/${source.id}/refresh`)
    t.match(reply, { status: 202, body: { data: { job_id: String, status: 'pending', message: String } } })
    await server.jobs.settled(refreshJob, data => data.run_id === reply.body.data.job_id)
    return (await tenant.ask('GET', `/api/v1/sdk/jobs/${reply.body.data.job_id}`)).body.data
  }
  t.match(await refresh(), {
    status: 'completed',
    workflow_name: 'freshness_refresh',
    asset_id: source.id,
    result: {
      measured: 1,
      failed: 1,
      tables: [{ asset: `${source.name}.${database.name}.public.b`, status: 'error' }],
    },
  })
  await database.query('drop table a')
  t.match(await refresh(), { status: 'failed', error: { code: 'missing_object', message: String } })
})

t.test('a source that cannot be reached makes every table an error, once', async t => {
  const { watch, source, database, check } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now());
     create table b (ts timestamptz); insert into b values (now());`,
  )
  await watch('a', explicit('1h'))
  const { id: slow } = await watch('b', explicit('1h'))
  await query(`update checks set settings = settings || '{"isSlow": true}' where uuid = $1`, [slow])
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { connection_config: { password: 'wrong' } })
  const { measured, failed } = await check()
  t.equal(measured, 0)
  t.same(
    failed.map(({ error }) => error.kind),
    ['credentials', 'credentials'],
  )
  const { body } = await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness?status=error`)
  t.match(body.data, { total: 2, summary: { error: 2 } })
  t.ok(
    body.data.tables.every(({ last_updated }: { last_updated: string | null }) => last_updated),
    'what was known stays known',
  )
  t.match(
    await query(`select settings -> 'isSlow' as is_slow from checks where uuid = $1`, [slow]),
    [{ is_slow: true }],
    'what is slow still is',
  )
  t.equal((await tenant.ask('GET', `/api/v1/assets/${source.id}`)).body.connection_status, 'failed')
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, {
    connection_config: { password: database.config.password },
  })
  t.match(await check(), { measured: 2, fresh: 2 })
})

t.test('SQLite: texts are read in the zone of the source', async t => {
  const path = join(folder, `${randomUUID()}.db`)
  const database = new DatabaseSync(path)
  database.exec(`create table orders (id integer primary key, updated_at timestamp);
    insert into orders values (1, '2025-07-10 12:00:00'), (2, '2025-07-10 11:59:59');
    create table days (date date); insert into days values ('2025-07-10');
    create table words (updated_at timestamp); insert into words values ('soon');`)
  database.close()
  const source = await addSource('sqlite', { path, timezone: 'Europe/Berlin' })
  for (const table of ['orders', 'days', 'words']) {
    const reply = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: table,
      ...explicit('1h'),
    })
    t.equal(reply.status, 201)
  }
  const at = new Date('2025-07-10T10:30:00Z')
  const checked = await server.plugins.freshness.checkSource({
    companyId: tenant.companyId,
    sourceId: source.id,
    at,
  })
  t.match(checked, { measured: 2, statements: 1 })
  const { body } = await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness`)
  const byName = new Map(
    body.data.tables.map((table: { asset: string }) => [table.asset.split('.').at(-1), table]),
  )
  t.match(byName.get('orders'), {
    last_updated: '2025-07-10T10:00:00.000Z',
    data_age_minutes: 30,
    status: 'fresh',
  })
  t.match(byName.get('days'), { last_updated: '2025-07-09T22:00:00.000Z', status: 'stale' })
  t.match(byName.get('words'), { status: 'unknown', readiness: 'error' })
})

t.test('a message that no JSON can hold keeps no finding from being recorded', async t => {
  const path = join(folder, `${randomUUID()}.db`)
  const database = new DatabaseSync(path)
  // The engine's message is cut after 500 characters, one of these names in the middle of a character.
  const names = ['x', 'xx'].map(start => start + '\u{1F600}'.repeat(400))
  for (const name of ['orders', ...names])
    database.exec(`create table "${name}" (updated_at timestamp);
      insert into "${name}" values ('2025-07-10 12:00:00')`)
  const source = await addSource('sqlite', { path })
  const made = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules/bulk', {
    asset_id: source.id,
    sla_threshold: '400d',
  })
  t.match(made.body.data, { created: 3 })
  for (const name of names) database.exec(`drop table "${name}"`)
  database.close()
  const ids = { companyId: tenant.companyId, sourceId: source.id }
  t.match(await server.plugins.freshness.checkSource({ ...ids, at: new Date('2025-07-11') }), {
    measured: 1,
    failed: { length: 2 },
  })
  const { body } = await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness`)
  t.match(body.data.summary, { ready: 1, error: 2 })
})
