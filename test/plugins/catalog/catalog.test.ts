import t from 'tap'
import { discover, makeWorld } from '../../helpers/world.ts'

const TABLES = [
  `create table customers (id int primary key, email varchar(100) not null, joined timestamptz)`,
  `create table orders (id int primary key, customer_id int references customers, total numeric(10,2))`,
]

t.test('a source is connected, discovered and read in both representations', async t => {
  const world = await makeWorld(t, TABLES)
  const { tenant, asset, source } = world
  t.match(asset, {
    name: 'shop',
    asset_type: 'source',
    connection_status: 'untested',
    discovery_state: 'never',
    table_count: 0,
  })
  t.notMatch(JSON.stringify(asset), source.config.password, 'the password is never echoed')

  const tested = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)
  t.match(tested.body.data, { success: true, error_code: null })
  t.equal((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body.ssl_enabled, false, 'as the test saw')
  t.same(
    tested.body.data.stages.map((stage: { name: string }) => stage.name),
    ['reach', 'tls', 'sign_in', 'read_catalog'],
  )

  const job = await discover(world)
  t.match(job, {
    status: 'completed',
    workflow_name: 'discovery',
    progress: 100,
    error: null,
    asset_id: asset.id,
  })
  t.match(job.result, { table_count: 2, column_count: 6, changes_detected: 0 })

  const formA = await tenant.ask('GET', `/api/v1/assets/${asset.id}`)
  t.match(formA.body, {
    table_count: 2,
    column_count: 6,
    schema_count: 1,
    discovery_state: 'completed',
    connection_status: 'connected',
    schema_status: 'ok',
  })
  const name = `shop.${source.name}.public.orders`
  const formB = await tenant.ask('GET', `/api/v1/assets/${name}`)
  t.match(formB.body, {
    qualified_name: name,
    asset_type: 'table',
    source: 'shop',
    schema: 'public',
    name: 'orders',
  })
  t.match(formB.body.columns, [
    { name: 'id' },
    { name: 'customer_id' },
    { name: 'total', data_type: 'numeric(10,2)', kind: 'decimal', nullable: true },
  ])
  const short = await tenant.ask('GET', `/api/v1/assets/${formB.body.id}?include_columns=false`)
  t.equal(short.body.columns, undefined)

  const list = await tenant.ask('GET', '/api/v1/assets?limit=2')
  t.match(list.body.pagination, { total: 3, limit: 2, offset: 0, has_more: true })
  t.equal(list.body.data[0].asset_type, 'source', 'sources come first')
})

t.test(
  'drift is recorded with its impact and raises an alert; an unchanged catalog records nothing',
  async t => {
    const world = await makeWorld(t, TABLES)
    const { app, tenant, asset, source } = world
    await discover(world)
    t.match((await discover(world)).result, { changes_detected: 0 })

    await source.query('alter table orders rename column total to amount')
    await source.query('alter table customers alter column email type varchar(200), add column phone text')
    await source.query('alter table orders drop constraint orders_customer_id_fkey')
    await source.query('create table returns (id int primary key)')
    t.match((await discover(world)).result, { changes_detected: 5 })

    const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes`)
    t.match(body, { success: true, data: { asset: 'shop', total: 5, has_more: false } })
    const byType = Object.fromEntries(
      body.data.changes.map((change: { change_type: string }) => [change.change_type, change]),
    )
    t.match(byType.column_renamed, {
      object_name: 'total',
      new_value: { name: 'amount' },
      impact: 'high',
      acknowledged: false,
    })
    t.match(byType.column_type_changed, {
      object_name: 'email',
      old_value: { data_type: 'varchar(100)' },
      new_value: { data_type: 'varchar(200)' },
    })
    t.match(byType.column_added, {
      object_name: 'phone',
      object_type: 'column',
      old_value: null,
      impact: 'low',
    })
    t.match(byType.constraint_changed, {
      object_name: 'orders',
      object_type: 'table',
      new_value: null,
      impact: 'medium',
    })
    t.match(byType.table_added, { object_name: 'returns', impact: 'low' })

    const only = await tenant.ask(
      'GET',
      `/api/v1/assets/${asset.id}/schema-changes?change_type=column_renamed&limit=1`,
    )
    t.equal(only.body.data.total, 1)
    const ofTable = await tenant.ask(
      'GET',
      `/api/v1/assets/shop.${source.name}.public.customers/schema-changes`,
    )
    t.equal(ofTable.body.data.total, 2)
    t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, {
      schema_status: 'changed',
      schema_change_status: 'high',
    })
    const alerts = await app.query(
      `select severity, event->>'change_type' as change from alerts where kind = 'schema_change'`,
    )
    t.same(new Set(alerts.map(alert => alert.severity)), new Set(['critical', 'info', 'warning']))
  },
)

t.test('a dropped table leaves its record readable, and a failed discovery reports no removal', async t => {
  const world = await makeWorld(t, TABLES)
  const { app, tenant, asset, source } = world
  await discover(world)
  await source.query('drop table orders')
  t.match((await discover(world)).result, { changes_detected: 1 })
  const gone = await tenant.ask('GET', `/api/v1/assets/shop.${source.name}.public.orders`)
  t.match(gone.body, { name: 'orders', is_active: false })

  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { connection_config: { password: 'wrong' } })
  const failed = await discover(world)
  t.match(failed, { status: 'failed', error: { code: 'credentials' } })
  const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}`)
  t.match(body, {
    connection_status: 'failed',
    discovery_state: 'failed',
    table_count: 1,
    schema_status: 'error',
  })
  const [alert] = await app.query(`select status from alerts where kind = 'connection_failed'`)
  t.equal(alert?.status, 'triggered')

  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { password: source.config.password },
  })
  t.equal((await discover(world)).status, 'completed')
  const [closed] = await app.query(`select status from alerts where kind = 'connection_failed'`)
  t.equal(closed?.status, 'resolved', 'the outage is over')
})

t.test('bad input is answered with a sentence that says what to do', async t => {
  const { tenant, asset, source } = await makeWorld(t, TABLES)
  const post = (body: unknown) => tenant.ask('POST', '/api/v1/sdk/assets', body)
  const unknown = await post({ name: 'x', source_type: 'oracle', connection_config: {} })
  t.match(unknown, {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { field: 'source_type' } } },
  })
  t.match(unknown.body.error.message, /mysql|postgresql/)
  const lacking = await post({ name: 'x', source_type: 'postgresql', connection_config: { host: 'h' } })
  t.match(lacking, { status: 400, body: { error: { details: { field: /^connection_config\./ } } } })
  t.match(await post({ name: 'shop', source_type: 'postgresql', connection_config: source.config }), {
    status: 409,
  })
  t.match(await post('{"name": '), { status: 400, body: { error: { code: 'BAD_REQUEST', message: /JSON/ } } })
  t.match(await post({ name: 'a\u0000b', source_type: 'postgresql', connection_config: {} }), { status: 400 })
  t.match(await tenant.ask('GET', '/api/v1/assets/no.such.asset.here'), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })
  t.match(await tenant.ask('GET', '/api/v1/assets?limit=101'), {
    status: 422,
    body: { detail: [{ loc: ['query', 'limit'] }] },
  })
  t.match(await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes?change_type=nope`), {
    status: 422,
  })

  const elsewhere = await post({
    name: 'away',
    source_type: 'postgresql',
    connection_config: { ...source.config, port: 1 },
  })
  const tested = await tenant.ask('POST', `/api/v1/sdk/assets/${elsewhere.body.data.id}/test-connection`)
  t.match(tested.body.data, { success: false, error_code: 'network' })
  t.match(tested.body.data.stages.slice(-1), [{ status: 'skipped' }])
})

t.test('another company sees nothing of it', async t => {
  const { app, asset } = await makeWorld(t, TABLES)
  const other = await app.signUp('Other')
  const random = '11111111-1111-4111-8111-111111111111'
  for (const path of ['', '/schema-changes']) {
    const foreign = await other.ask('GET', `/api/v1/assets/${asset.id}${path}`)
    const nowhere = await other.ask('GET', `/api/v1/assets/${random}${path}`)
    t.equal(foreign.status, 404)
    t.same(JSON.stringify(foreign.body).replaceAll(asset.id, random), JSON.stringify(nowhere.body))
  }
  t.equal((await other.ask('GET', '/api/v1/assets')).body.pagination.total, 0)
  t.equal((await other.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)).status, 404)
})

t.test('a column may be called anything that its engine allows', async t => {
  const columns = ['constructor', '__proto__', 'toString', `a'b"c$1`]
  const quoted = columns.map(name => `"${name.replaceAll('"', '""')}" int`)
  const world = await makeWorld(t, [
    `create table odd (${quoted.join(', ')})`,
    'insert into odd values (1, 2, 3, 4)',
  ])
  await discover(world)
  const { tenant, asset } = world
  const table = await tenant.ask('GET', `/api/v1/assets/shop.${world.source.name}.public.odd`)
  t.same(
    table.body.columns.map(({ name, tags }: { name: string; tags: string[] }) => [name, tags]),
    columns.map(name => [name, []]),
  )
  const metric = { metric_type: 'row_count', table_path: 'odd', group_by_columns: columns.slice(0, 3) }
  const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, metric)
  t.equal(made.status, 201)
  const captured = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}/${made.body.data.id}/capture`)
  t.equal(captured.status, 200)
  const { items } = (
    await tenant.ask('GET', `/api/v1/sdk/metrics/${asset.id}/${made.body.data.id}/snapshots`)
  ).body.data
  t.same(
    new Map(Object.entries(items[0].group_values as object)),
    new Map([
      ['constructor', 1],
      ['__proto__', 2],
      ['toString', 3],
    ]),
  )
})
