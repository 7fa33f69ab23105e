import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { discoverJob } from '../../../plugins/catalog/jobs.ts'
import { checkJob, dispatchChecks, refreshJob } from '../../../plugins/freshness/jobs.ts'
import { startServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

const folder = await mkdtemp(join(tmpdir(), 'tidemark-freshness-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, signUp, query } = await startServer(t, { settings: { FILE_SOURCES: folder } })
const { checkSource } = server.plugins.freshness
// Few may register in a minute, so that one company watches all sources.
const tenant = await signUp()
const stranger = await signUp('Other')

/** Adds a source and discovers it. */
async function addSource(type: string, config: object): Promise<{ id: string; name: string }> {
  const name = `shop-${randomUUID().slice(0, 8)}`
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name,
    source_type: type,
    connection_config: config,
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const id = made.body.data.id as string
  await discover(id)
  return { id, name }
}

async function discover(id: string): Promise<void> {
  const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
  await server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
}

/** A PostgreSQL source with these tables. */
async function world(t: Parameters<typeof startSource>[0], statements: string) {
  const database = await startSource(t)
  await database.query(statements)
  const source = await addSource('postgresql', database.config)
  const watch = async (table: string, fields: object = {}) => {
    const reply = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: table,
      ...fields,
    })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.data
  }
  const freshness = async (table: string) => {
    const name = `${source.name}.${database.name}.public.${table}`
    return (await tenant.ask('GET', `/api/v1/freshness?asset=${name}`)).body
  }
  const check = (at?: Date) => checkSource({ companyId: tenant.companyId, sourceId: source.id, at })
  return { database, source, watch, freshness, check }
}

const alertsOf = (scheduleId: string) =>
  query(
    `select cause, severity, status, occurrences, title, event from alerts
    where kind = 'freshness_violation' and cause = $1 order by created_at, id`,
    [scheduleId],
  )

const explicit = (threshold: string) => ({ monitoring_mode: 'explicit', sla_threshold: threshold })

t.test('making a schedule detects the column, runs the first check and shows the record', async t => {
  const { watch, freshness, source, database } = await world(
    t,
    `create table orders (id int primary key, created_at timestamptz, updated_at timestamptz);
     insert into orders values (1, now(), now() - interval '90 minutes')`,
  )
  const schedule = await watch('public.orders', { ...explicit('24h'), check_interval: '30m' })
  t.match(schedule, {
    asset_id: source.id,
    table_path: `${database.name}.public.orders`,
    check_interval: '30m',
    freshness_column: 'updated_at',
    expected_interval_hours: 24,
    sla_threshold: '24h',
    monitoring_mode: 'explicit',
    is_active: true,
    last_check: String,
  })
  const step = Date.parse(schedule.next_check) - Date.parse(schedule.created_at)
  t.equal(Math.round(step / 60_000), 30, 'the next check comes an interval after it was made')

  const body = await freshness('orders')
  t.match(body, { success: true, error: '', meta: { note: null, expected_next_update: String } })
  const [{ updated_at: updatedAt }] = (await database.query('select updated_at from orders')) as [
    { updated_at: Date },
  ]
  t.same(body.data, {
    asset: `${source.name}.${database.name}.public.orders`,
    status: 'fresh',
    last_updated: updatedAt.toISOString(),
    sla_threshold: '24h',
    sla_status: 'within_sla',
    checked_at: schedule.last_check,
    timestamp_column: 'updated_at',
    data_age_minutes: 90,
  })
  const { body: asset } = await tenant.ask('GET', `/api/v1/assets/${body.data.asset}`)
  t.match(asset.freshness, { status: 'fresh', sla_threshold: '24h' }, 'the record of the table tells it too')
  const { body: whole } = await tenant.ask('GET', `/api/v1/assets/${source.id}`)
  t.equal(whole.freshness_status, 'fresh')
})

t.test('every status, and many tables in one statement', async t => {
  const many = Array.from(
    { length: 20 },
    (_, index) => `create table many_${index} (ts timestamptz default now());
    insert into many_${index} default values;`,
  ).join('')
  const { watch, freshness, source, check, database } = await world(
    t,
    `create table fresh (updated_at timestamptz); insert into fresh values (now());
     create table late (updated_at timestamp); insert into late values (now() at time zone 'utc' - interval '9 hours');
     create table stale (updated_at timestamptz); insert into stale values (now() - interval '3 days');
     create table empty (updated_at timestamptz);
     create table bare (id int); insert into bare values (1);
     create table ahead (updated_at timestamptz); insert into ahead values (now() + interval '2 days');
     create table epochs (id int, seconds bigint); insert into epochs select 1, extract(epoch from now())::bigint - 60;
     create table days (date date); insert into days values (current_date);
     create table gone (updated_at timestamptz); ${many}`,
  )
  for (const table of ['fresh', 'stale', 'empty', 'bare', 'ahead', 'gone']) await watch(table, explicit('1d'))
  await watch('late', explicit('10h'))
  await watch('days', explicit('7d'))
  await watch('epochs', { ...explicit('1h'), freshness_column: 'seconds' })
  for (let index = 0; index < 20; index++) await watch(`many_${index}`, explicit('1h'))
  const first = await check()
  t.match(first, { measured: 29, failed: [], statements: 1 }, 'one statement for 28 tables with a column')

  await database.query('drop table gone')
  const second = await check()
  t.match(second, { measured: 28, failed: [{ asset: `${source.name}.${database.name}.public.gone` }] })
  t.ok(second.statements <= 11, `a guilty table is found by halving: ${second.statements} statements`)

  const states: Record<string, unknown[]> = {
    fresh: ['fresh', 'within_sla'],
    late: ['fresh', 'warning'],
    stale: ['stale', 'violated'],
    empty: ['unknown', null],
    bare: ['unknown', null],
    ahead: ['fresh', 'within_sla'],
    epochs: ['fresh', 'within_sla'],
    days: ['fresh', 'within_sla'],
    gone: ['unknown', null],
  }
  for (const [table, state] of Object.entries(states)) {
    const { data } = await freshness(table)
    t.same([data.status, data.sla_status], state, table)
  }
  t.match(await freshness('ahead'), { data: { data_age_minutes: 0 }, meta: { note: /future/ } })
  t.match(await freshness('bare'), {
    data: { timestamp_column: null },
    meta: { note: /no timestamp column/ },
  })
  t.match(await freshness('gone'), { meta: { error_message: String } })

  await t.test('the list of the source filters and counts', async t => {
    const list = async (filter = '') =>
      (await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness?limit=100${filter}`)).body.data
    const names = (data: { tables: { asset: string }[] }) =>
      data.tables.map(({ asset }) => asset.split('.').at(-1)).sort()
    const all = await list()
    t.match(all, { asset: source.name, total: 29, limit: 100, offset: 0, has_more: false })
    t.same(all.summary, { ready: 25, not_ready: 1, unknown: 2, error: 1 })
    t.same(names(await list('&status=not_ready')), ['stale'])
    t.same(names(await list('&status=unknown,error')), ['bare', 'empty', 'gone'])
    t.equal((await list('&search=MANY_1')).total, 11)
    t.equal((await list('&search=many%25')).total, 0, 'no wildcards')
    t.equal((await list('&schema=public,other')).total, 29)
    t.equal((await list('&schema=other')).total, 0)
    await query(`update tables set tags = '{pii,gold}' where name = 'late' and company_id = $1`, [
      tenant.companyId,
    ])
    t.same(names(await list('&tag=gold,silver')), ['late'])
    const page = (await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness?limit=10&offset=20`)).body
      .data
    t.match(page, { total: 29, limit: 10, offset: 20, has_more: false })
    t.equal(page.tables.length, 9)
    t.match(page.tables[0], { asset: String, readiness: String })

    for (const bad of ['status=fine', 'limit=0', 'limit=101', 'offset=-1', 'colour=red']) {
      const { status, body } = await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness?${bad}`)
      t.equal(status, 422, bad)
      t.match(body.detail[0].loc, ['query', bad.split('=')[0]])
    }
  })

  await t.test('the SDK lists, details and summarizes the same', async t => {
    const { body: list } = await tenant.ask('GET', '/api/v1/sdk/freshness?status=error&asset_id=' + source.id)
    t.match(list.data, { data: [{ status: 'unknown', readiness: 'error' }], pagination: { total: 1 } })
    const { body: detail } = await tenant.ask('GET', `/api/v1/sdk/freshness/${list.data.data[0].asset_id}`)
    t.match(detail.data, {
      readiness: 'error',
      table_path: `${database.name}.public.gone`,
      error_message: String,
    })
    const { body: whole } = await tenant.ask('GET', `/api/v1/sdk/freshness/${source.id}`)
    t.match(whole.data, { asset: source.name, total: 29 })
    const { body: summary } = await tenant.ask('GET', `/api/v1/sdk/freshness/summary?asset_id=${source.id}`)
    t.match(summary.data, {
      total_tables: 29,
      fresh: 25,
      stale: 1,
      unknown: 2,
      error: 1,
      warning: 1,
      violated: 1,
    })
  })
})

t.test('an asset without a schedule is 422, an unknown one 404', async t => {
  const { source, database } = await world(t, 'create table lonely (updated_at timestamptz)')
  const table = `${source.name}.${database.name}.public.lonely`
  const path = await tenant.ask('GET', `/api/v1/assets/${table}/freshness`)
  t.match(path, { status: 422, body: { detail: [{ loc: ['path', 'asset_id'], msg: String, type: String }] } })
  t.equal((await tenant.ask('GET', `/api/v1/assets/${source.id}/freshness`)).status, 422)
  const named = await tenant.ask('GET', `/api/v1/freshness?asset=${table}`)
  t.match(named, { status: 422, body: { detail: [{ loc: ['query', 'asset'] }] } })
  t.match(await tenant.ask('GET', '/api/v1/freshness'), {
    status: 422,
    body: { detail: [{ loc: ['query', 'asset'] }] },
  })
  t.equal((await tenant.ask('POST', `/api/v1/sdk/freshness/${source.id}/refresh`)).status, 422)
  const unknown = await tenant.ask('GET', `/api/v1/assets/${randomUUID()}/freshness`)
  t.match(unknown, { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  t.equal((await stranger.ask('GET', `/api/v1/assets/${source.id}/freshness`)).status, 404)
})

t.test('schedules are made, changed and removed; what is wrong is refused', async t => {
  const { source, watch, freshness } = await world(
    t,
    `create table orders (id int, flag boolean, updated_at timestamptz, shipped_at timestamptz);
     insert into orders values (1, true, now() - interval '30 hours', now())`,
  )
  const create = (body: object) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: 'orders',
      ...body,
    })
  const refusals: [object, string][] = [
    [{ monitoring_mode: 'explicit' }, 'sla_threshold'],
    [{ sla_threshold: 'soon' }, 'sla_threshold'],
    [{ check_interval: '4m' }, 'check_interval'],
    [{ check_interval: '8d' }, 'check_interval'],
    [{ freshness_column: 'nowhere' }, 'freshness_column'],
    [{ freshness_column: 'flag' }, 'freshness_column'],
    [{ table_path: 'nowhere' }, 'table_path'],
    [{ colour: 'red' }, 'colour'],
  ]
  for (const [body, field] of refusals) {
    t.match(
      await create(body),
      { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: { field } } } },
      JSON.stringify(body),
    )
  }
  const schedule = await watch('orders', { expected_interval_hours: 24 })
  t.match(schedule, {
    monitoring_mode: 'explicit',
    sla_threshold: '24h',
    check_interval: '1h',
    freshness_column: 'updated_at',
  })
  t.match(await create({}), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.equal((await freshness('orders')).data.status, 'stale')

  const path = `/api/v1/sdk/freshness/schedules/${schedule.id}`
  const { body: changed } = await tenant.ask('PATCH', path, { sla_threshold: '7d', check_interval: '1w' })
  t.match(changed.data, {
    id: schedule.id,
    sla_threshold: '7d',
    expected_interval_hours: 168,
    check_interval: '1w',
  })
  t.equal((await freshness('orders')).data.status, 'fresh', 'judged by the new threshold')
  await tenant.ask('PATCH', path, { freshness_column: 'shipped_at' })
  t.match((await freshness('orders')).data, { timestamp_column: 'shipped_at', data_age_minutes: 0 })
  const { body: paused } = await tenant.ask('PATCH', path, { is_active: false })
  t.match(paused.data, { is_active: false, next_check: null })
  t.equal((await tenant.ask('PATCH', path, {})).status, 400)

  const { body: list } = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${source.id}`)
  t.match(list.data, { data: [{ id: schedule.id }], pagination: { total: 1 } })
  t.equal(
    (await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?is_active=true&asset_id=${source.id}`)).body
      .data.pagination.total,
    0,
  )
  for (const id of [schedule.id, randomUUID(), 'nonsense']) {
    const foreign = await stranger.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { is_active: true })
    t.match(foreign, { status: 404, body: { error: { code: 'SCHEDULE_NOT_FOUND' } } })
  }
  t.match(await tenant.ask('DELETE', path), {
    status: 200,
    body: { data: { success: true, message: String } },
  })
  t.equal((await tenant.ask('DELETE', path)).status, 404)
})

t.test('a violation alerts once, after a warning, and resolves by itself', async t => {
  const { watch, check, database, source } = await world(
    t,
    `create table orders (updated_at timestamptz); insert into orders values ('2025-03-10 00:00Z')`,
  )
  const { id } = await watch('orders', { ...explicit('10h'), is_active: false })
  await query('update freshness_schedules set is_active = true where id = $1', [id])
  const at = (hour: number) => check(new Date(Date.UTC(2025, 2, 10, hour)))
  await at(7)
  t.same(await alertsOf(id), [])
  await at(8)
  t.match(await alertsOf(id), [
    { cause: id, severity: 'warning', status: 'triggered', title: /nearly stale/ },
  ])
  await at(10)
  await at(11)
  await at(12)
  const open = await alertsOf(id)
  t.match(open, [
    { severity: 'warning', status: 'resolved' },
    { severity: 'critical', status: 'triggered', occurrences: 3, title: /is stale/ },
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
  await query('update freshness_schedules set is_active = true where id = $1', [schedule.id])
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
  t.equal(meta.expected_next_update, day(7, 6).toISOString())
  await check(new Date(day(7, 5).getTime() + 30 * 60_000))
  t.equal((await freshness('loads')).data.sla_status, 'warning')
  t.same(await alertsOf(schedule.id), [], 'a learned threshold does not warn before every usual update')
  await check(day(9, 7))
  t.match(await alertsOf(schedule.id), [{ severity: 'critical', status: 'triggered' }])
  t.match((await freshness('loads')).data, { status: 'stale', sla_status: 'violated' })
})

t.test('the sweep claims what is due once, keeps the grid, and checks a source in one job', async t => {
  const { watch, source, database } = await world(
    t,
    `create table a (ts timestamptz); insert into a values (now());
     create table b (ts timestamptz); insert into b values (now());`,
  )
  const a = await watch('a', { ...explicit('1h'), check_interval: '5m' })
  const b = await watch('b', { ...explicit('1h'), check_interval: '1d' })
  // Three hours down: the grid of `a` is at 2 minutes past every fifth.
  await query(
    `update freshness_schedules set next_run_at = date_trunc('hour', now()) - interval '3 hours' + interval '2 minutes' where id = $1`,
    [a.id],
  )
  await database.query(`insert into a values (now() + interval '1 ms')`)
  const checked = server.jobs.settled(checkJob, data => data.source_id === source.id)
  await server.jobs.send(dispatchChecks, {})
  t.equal(await checked, 'completed')
  const [row] = (await query(
    `select extract(minute from next_run_at)::int % 5 as minute, extract(second from next_run_at)::float as second,
       next_run_at > now() as is_ahead, next_run_at <= now() + interval '5 minutes' as is_next, claimed_at,
       (select count(*)::int from freshness_checks where schedule_id = f.id) as checks
     from freshness_schedules f where id = $1`,
    [a.id],
  )) as [object]
  t.same(
    row,
    { minute: 2, second: 0, is_ahead: true, is_next: true, claimed_at: null, checks: 2 },
    'what was missed came once',
  )
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${source.id}`)
  const other = body.data.data.find(({ id }: { id: string }) => id === b.id)
  t.equal(other.last_check, b.last_check, 'what was not due was not checked')
})

t.test('a refresh is a job that tells what failed', async t => {
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
  await watch('b', explicit('1h'))
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
  const checked = await checkSource({ companyId: tenant.companyId, sourceId: source.id, at })
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
