import { randomUUID } from 'node:crypto'
import t from 'tap'
import { explicit, startWorlds } from './worlds.ts'

const { tenant, stranger, world } = await startWorlds(t)

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
  t.match(
    asset.freshness,
    { status: 'fresh', sla_threshold: '24h' },
    'the asset of the table contains it too',
  )
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
    const tag = (name: string, path: string, type: string) =>
      tenant.ask('POST', '/api/v1/sdk/tags', {
        asset_id: source.id,
        name,
        object_path: path,
        object_type: type,
      })
    await tag('gold', 'late', 'table')
    await tag('silver', 'stale.updated_at', 'column')
    t.same(names(await list('&tag=gold')), ['late'])
    t.same(names(await list('&tag=gold,silver')), ['late', 'stale'], 'of the table or any of its columns')
    t.same(names(await list('&tag=bronze')), [])
    await tenant.ask('POST', '/api/v1/sdk/tags', { asset_id: source.id, name: 'cr\u00e8me' })
    t.equal((await list(`&tag=${encodeURIComponent('cre\u0300me')}`)).total, 29, 'and of its source')
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

t.test('schedules are created, changed and removed; invalid fields are rejected', async t => {
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
  await tenant.ask('PATCH', path, { monitoring_mode: 'auto_learn' })
  t.match(
    (await tenant.ask('PATCH', path, { sla_threshold: '8d' })).body.data,
    { monitoring_mode: 'explicit', sla_threshold: '8d' },
    'a threshold makes it explicit, as it does with a new one',
  )
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
