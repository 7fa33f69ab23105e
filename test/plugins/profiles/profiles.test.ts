import t from 'tap'
import { profileJob } from '../../../plugins/profiles/job.ts'
import { expireRows } from '../../../server/database/retention.ts'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, stranger, query, world } = await startWorlds(t)

const SHOP = `
  create table customers (id int primary key, email text, city text);
  insert into customers select n, 'c' || n || '@example.com', (array['Oslo', 'Rome'])[1 + n % 2] from generate_series(1, 50) n;
  create table orders (id int primary key, status text, amount numeric, placed_at timestamptz);
  insert into orders select n, (array['new', 'paid'])[1 + n % 2], n, now() from generate_series(1, 40) n;
  create table tmp_load (id int)`

const profile = (asset: string, body: object | null = null, who = tenant) =>
  who.ask('POST', `/api/v1/sdk/assets/${asset}/profile`, body)

async function profileNow(asset: string, body: object | null = null) {
  const asked = await profile(asset, body)
  t.match(asked, { status: 202, body: { data: { status: 'pending' } } })
  const id = asked.body.data.job_id
  await server.jobs.settled(profileJob, data => data.run_id === id)
  return (await tenant.ask('GET', `/api/v1/sdk/jobs/${id}`)).body.data
}

async function tableOf(source: { id: string }, name: string): Promise<string> {
  const [row] = await query('select id from tables where source_id = $1 and name = $2', [source.id, name])
  return String(row?.id)
}

t.test('a table is profiled, and compared with what it was', async t => {
  const { source, database } = await world(t, SHOP)
  const orders = await tableOf(source, 'orders')
  const path = `/api/v1/sdk/assets/${orders}`
  t.match(await tenant.ask('GET', `${path}/profile`), {
    status: 404,
    body: { error: { code: 'NOT_FOUND', message: /was not profiled yet: POST/ } },
  })
  t.match(await tenant.ask('GET', `${path}/profiles`), {
    status: 200,
    body: { data: [], pagination: { total: 0 } },
  })
  const job = await profileNow(orders)
  t.match(job, {
    status: 'completed',
    workflow_name: 'asset_profile',
    result: { tables: 1, profiled: 1, failed: 0, findings: [{ asset_id: orders, status: 'profiled' }] },
  })
  const first = (await tenant.ask('GET', `${path}/profile`)).body.data
  t.match(first, { asset_id: orders, row_count: 40, profiled_rows: 40, is_sampled: false, comparison: null })
  t.match(
    first.columns.map((column: { name: string }) => column.name),
    ['id', 'status', 'amount', 'placed_at'],
  )
  t.match(first.columns[1], {
    null_percent: 0,
    distinct: 2,
    pattern: { name: 'enum', share: 1 },
    top_values: [
      { value: 'new', count: 20 },
      { value: 'paid', count: 20 },
    ],
  })
  t.match(first.columns[0], { is_key_candidate: true, quantiles: { p50: 20.5 } })

  await database.query(`insert into orders values (41, 'lost', 1000, now()), (42, null, null, null)`)
  await database.query('alter table orders add column note text')
  await tenant.ask('POST', `/api/v1/sdk/assets/${source.id}/discover`)
  await profileNow(source.name, { table_path: 'orders' })
  const { body } = await tenant.ask('GET', `${path}/profile?compare_to=${first.id}`)
  t.match(body.data, { row_count: 42, comparison: { profile: { id: first.id, row_count: 40 } } })
  const changes = body.data.comparison.changes as { column: string; field: string }[]
  const change = (column: string, field: string) =>
    changes.find(item => item.column === column && item.field === field)
  t.match(change('amount', 'max'), { before: 40, after: 1000 })
  t.match(change('status', 'nulls'), { before: 0, after: 1 })
  t.match(change('status', 'top_values'), { before: ['new', 'paid'], after: ['new', 'paid', 'lost'] })
  t.equal(change('placed_at', 'type'), undefined)
  const later = new Date(Date.now() + 60_000).toISOString()
  const same = await tenant.ask('GET', `${path}/profile?compare_to=${later}`)
  t.same(same.body.data.comparison.changes, [], 'the last one until then is the same')
  t.match(await tenant.ask('GET', `${path}/profile?compare_to=2001-01-01`), {
    status: 400,
    body: { error: { details: { field: 'compare_to' } } },
  })
  for (const wrong of ['x', '99999999', '9f5fbe35-a4b8-4d2f-a1a0-4a3e3f35a7a1'])
    t.match(await tenant.ask('GET', `${path}/profile?compare_to=${wrong}`), { status: 400 }, wrong)
  t.match(await tenant.ask('GET', `${path}/profiles?limit=1`), {
    body: { data: [{ row_count: 42 }], pagination: { total: 2, has_more: true } },
  })
})

t.test('rows of a table without columns are counted', async t => {
  const { source } = await world(
    t,
    'create table bare (); insert into bare default values; insert into bare default values',
  )
  const bare = await tableOf(source, 'bare')
  t.match(await profileNow(bare), { status: 'completed' })
  t.match((await tenant.ask('GET', `/api/v1/sdk/assets/${bare}/profile`)).body.data, {
    ...{ row_count: 2, is_row_count_exact: true, profiled_rows: 2, is_sampled: false, columns: [] },
  })
})

t.test('tables of a source are chosen by patterns', async t => {
  const { source } = await world(t, SHOP)
  const job = await profileNow(source.id, { include_patterns: ['public.*'], exclude_patterns: ['tmp_*'] })
  t.match(job.result, { asset: source.name, tables: 2, profiled: 2, failed: 0 })
  t.match(await profile(source.id, { include_patterns: ['nothing'] }), {
    status: 400,
    body: { error: { details: { field: 'include_patterns', error: /match no table/ } } },
  })
  const orders = await tableOf(source, 'orders')
  t.match(await profile(orders, { include_patterns: ['*'] }), {
    status: 400,
    body: { error: { details: { field: 'include_patterns' } } },
  })
  t.match(await profile(source.id, null, stranger), { status: 404 })
  t.match(await tenant.ask('GET', `/api/v1/sdk/assets/${source.id}/profile`), { status: 400 })
  const found = await server.db.company(tenant.companyId, async trx =>
    server.plugins.profiles.latest(trx, [orders, await tableOf(source, 'tmp_load')]),
  )
  t.strictSame([...found.keys()], [orders])
  t.match(found.get(orders), { rowCount: 40, tableId: orders })
})

t.test('values of personal data are left out, also of profiles that are older than the tag', async t => {
  const { source } = await world(t, SHOP)
  const customers = await tableOf(source, 'customers')
  await profileNow(customers)
  const read = async () => (await tenant.ask('GET', `/api/v1/sdk/assets/${customers}/profile`)).body.data
  t.match((await read()).columns[2], { name: 'city', top_values: [{}, {}], is_masked: false })
  for (const column of ['email', 'city', 'id']) {
    const tag = {
      asset_id: source.id,
      object_path: `customers.${column}`,
      object_type: 'column',
      name: 'pii',
    }
    t.match(await tenant.ask('POST', '/api/v1/sdk/tags', tag), { status: 201 })
  }
  const hidden = { is_masked: true, top_values: null, min: null, max: null, quantiles: null }
  for (const column of (await read()).columns) t.match(column, hidden)
  await profileNow(customers)
  const after = await read()
  for (const column of after.columns) t.match(column, hidden)
  t.match(after.columns[1], { pattern: { name: 'email', share: 1 }, distinct: 50 })
  const found = await query('select columns::text as stored from profiles order by profiled_at desc limit 1')
  t.notMatch(String(found[0]?.stored), /Oslo|example\.com/)
})

t.test(
  'a source that shows no rows is refused, and one that shows numbers has no frequent values',
  async t => {
    const { source, database } = await world(t, SHOP)
    const orders = await tableOf(source, 'orders')
    const level = (level: string) =>
      tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { query_access_level: level })
    await level('schema_only')
    t.match(await profile(orders), {
      status: 409,
      body: { error: { code: 'CONFLICT', message: /query_access_level .* is schema_only/ } },
    })
    const read = async () => (await tenant.ask('GET', `/api/v1/sdk/assets/${orders}/profile`)).body.data
    const recommended = async () =>
      (await tenant.ask('GET', `/api/v1/sdk/recommendations?asset_id=${orders}&status=offered`)).body
    await level('full')
    await database.query(
      `insert into orders select n, (array['new', 'paid'])[1 + n % 2], n, now() from generate_series(50, 250) n`,
    )
    await profileNow(orders)
    t.match((await read()).columns[1].top_values, [{ value: 'new' }, { value: 'paid' }])
    t.match(JSON.stringify(await recommended()), /allowed_values/)
    await level('aggregates')
    t.match((await read()).columns[1], { top_values: null, distinct: 2 }, 'values of earlier profiles too')
    t.notMatch(JSON.stringify(await recommended()), /allowed_values/)
    await profileNow(orders)
    t.match((await read()).columns[1], { top_values: null, distinct: 2 })
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { is_active: false })
    t.match(await profile(orders), { status: 409 })
  },
)

t.test('few values do not follow from the numbers of personal data, nor from a comparison', async t => {
  const { source, database } = await world(
    t,
    `create table pay (one int, two int, many int);
     insert into pay select 4711, 100 + n % 2, n from generate_series(1, 40) n`,
  )
  const pay = await tableOf(source, 'pay')
  const path = `/api/v1/sdk/assets/${pay}/profile`
  const tag = (column: string) =>
    tenant.ask('POST', '/api/v1/sdk/tags', {
      ...{ asset_id: source.id, object_path: `pay.${column}`, object_type: 'column', name: 'pii' },
    })
  await profileNow(pay)
  const first = (await tenant.ask('GET', path)).body.data
  for (const column of ['one', 'two', 'many']) await tag(column)
  const hidden = [
    { mean: null, stddev: null, distinct: 1 },
    { mean: null, stddev: null, distinct: 2 },
    { mean: 20.5, distinct: 40 },
  ]
  t.match((await tenant.ask('GET', path)).body.data.columns, hidden, 'of a profile before the tag')
  await database.query('insert into pay values (4711, 100, 50)')
  await profileNow(pay)
  const { body } = await tenant.ask('GET', `${path}?compare_to=${first.id}`)
  t.match(body.data.columns.slice(0, 2), hidden.slice(0, 2))
  await query(`update tables set column_tags = '{}' where id = $1`, [pay])
  await profileNow(pay)
  const [second] = (await tenant.ask('GET', `${path}s?limit=2`)).body.data.slice(1)
  const { comparison } = (await tenant.ask('GET', `${path}?compare_to=${second.id}`)).body.data
  t.same(comparison.changes, [], 'what was hidden then is no change')
})

t.test('a table that cannot be read fails with the reason', async t => {
  const { source, database } = await world(t, SHOP)
  const orders = await tableOf(source, 'orders')
  await database.query('drop table orders')
  const job = await profileNow(orders)
  t.match(job, { status: 'failed', error: { message: /orders/ } })
  t.match((await profileNow(source.id)).result, { tables: 3, profiled: 2, failed: 1 })
})

t.test('old profiles are deleted, but never the latest of a table', async t => {
  const { source } = await world(t, SHOP)
  const orders = await tableOf(source, 'orders')
  for (let time = 0; time < 3; time += 1) await profileNow(orders)
  await query(`update profiles set profiled_at = profiled_at - interval '500 days' where table_id = $1`, [
    orders,
  ])
  t.match(await expireRows(server), { profiles: 2 })
  t.match(await tenant.ask('GET', `/api/v1/sdk/assets/${orders}/profiles`), {
    body: { pagination: { total: 1 } },
  })
})
