import t from 'tap'
import { discover, makeWorld, type World } from '../../../helpers/world.ts'

const TABLES = [
  'create table customers (id int primary key, email varchar(100) not null, joined timestamptz)',
  'create table orders (id int primary key, total numeric(10,2))',
  'create table notes (id int primary key, body text)',
  'create table legacy (id int primary key)',
]

/** Two changes of customers, one of orders, one table gone and one come. */
const DRIFT = [
  'alter table customers alter column email type varchar(200), add column phone text',
  'alter table orders rename column total to amount',
  'drop table legacy',
  'create table returns (id int primary key)',
]

const BASE = '/api/v1/sdk/schema'
const NOWHERE = '11111111-1111-4111-8111-111111111111'

/** A world that was discovered once, with what the tests of this file ask of it. */
async function known(t: Parameters<typeof makeWorld>[0]) {
  const world = await makeWorld(t, TABLES)
  await discover(world)
  return { ...world, ...asking(world) }
}

function asking({ app, tenant, source, asset }: World) {
  const nameOf = (table: string) => `shop.${source.name}.public.${table}`
  return {
    nameOf,
    idOf: async (table: string): Promise<string> =>
      (await tenant.ask('GET', `/api/v1/assets/${nameOf(table)}`)).body.id,
    status: async (assetId: unknown = asset.id) => {
      const reply = await tenant.ask('GET', `${BASE}/${String(assetId)}`)
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body.data
    },
    changes: async (query = ''): Promise<Change[]> => {
      const reply = await tenant.ask('GET', `${BASE}/changes?${query}`)
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body.data.data
    },
    summary: async (query = '') => (await tenant.ask('GET', `${BASE}/summary?${query}`)).body.data,
    alerts: () =>
      app.query(
        `select a.id, a.status, split_part(event->'asset'->>'qualified_name', '.', 4) as table,
           (select reason from alert_history h where h.alert_id = a.id order by h.id desc limit 1) as reason
         from alerts a where kind = 'schema_change' order by created_at, 3`,
      ),
    drift: async (statements: readonly string[] = DRIFT) => {
      for (const statement of statements) await source.query(statement)
      const job = await discover({ app, tenant, asset })
      if (job.status !== 'completed') throw new Error(JSON.stringify(job))
      return job.result.changes_detected as number
    },
  }
}

interface Change {
  id: string
  change_type: string
  object_name: string
  [field: string]: unknown
}

const typesOf = (changes: Change[]) => changes.map(({ change_type: type }) => type).sort()

t.test('what changed is counted and listed, with its table, its severity and every filter', async t => {
  const { asset, nameOf, idOf, status, changes, summary, drift, tenant, app } = await known(t)
  t.match(await summary(), {
    total_changes: 0,
    unacknowledged: 0,
    critical_count: 0,
    warning_count: 0,
    info_count: 0,
    last_check: /^\d{4}-/,
  })
  t.equal(await drift(), 5)
  const counts = { critical_count: 2, warning_count: 1, info_count: 2 }
  t.match(await summary(), { total_changes: 5, unacknowledged: 5, ...counts })
  t.match(await summary(`asset_id=${nameOf('customers')}`), { total_changes: 2, critical_count: 0 })
  t.match(await summary('asset_id=shop'), { total_changes: 5, ...counts })

  const customers = await idOf('customers')
  const [retyped] = await changes('change_type=column_type_changed')
  t.match(retyped, {
    asset_id: customers,
    qualified_name: nameOf('customers'),
    object_name: 'email',
    column_name: 'email',
    impact: 'medium',
    severity: 'warning',
    old_value: /^varchar\(100\)/,
    new_value: /^varchar\(200\)/,
    old_definition: { data_type: 'varchar(100)' },
    new_definition: { data_type: 'varchar(200)' },
    acknowledged: false,
    acknowledged_at: null,
    acknowledged_by: null,
  })
  t.match(await changes('change_type=table_removed'), [{ object_name: 'legacy', column_name: null }])

  t.same(typesOf(await changes()), [
    'column_added',
    'column_renamed',
    'column_type_changed',
    'table_added',
    'table_removed',
  ])
  t.same(typesOf(await changes('severity=critical')), ['column_renamed', 'table_removed'])
  t.same(typesOf(await changes('impact=low')), ['column_added', 'table_added'])
  t.same(await changes('impact=low&severity=critical'), [])
  for (const table of [customers, nameOf('customers')])
    t.same(typesOf(await changes(`asset_id=${table}`)), ['column_added', 'column_type_changed'])
  for (const source of [asset.id, 'shop']) t.equal((await changes(`asset_id=${source}`)).length, 5)

  const byImpact = async () => (await changes('sort=impact')).map(({ impact }) => impact)
  t.same(await byImpact(), ['high', 'high', 'medium', 'low', 'low'])
  await app.query(`update schema_changes set is_acknowledged = true where change_type = 'table_removed'`)
  t.same(await byImpact(), ['high', 'medium', 'low', 'low', 'high'], 'those that are open come first')
  await app.query('update schema_changes set is_acknowledged = false')

  const page = await tenant.ask('GET', `${BASE}/changes?limit=2&offset=2`)
  t.match(page.body.data, { pagination: { total: 5, limit: 2, offset: 2, has_more: true } })
  t.same(page.body.data.data, (await changes()).slice(2, 4), 'pages follow one another')

  await app.query(
    `update schema_changes set detected_at = now() - interval '40 days' where impact = 'medium'`,
  )
  t.equal((await changes()).length, 4)
  t.equal((await changes('days_back=60')).length, 5)
  t.match(await summary(), { total_changes: 4, unacknowledged: 5 }, 'an open one is open however old it is')
  t.match(await summary('days_back=60'), { total_changes: 5 })

  t.match(await status(), {
    asset_id: asset.id,
    qualified_name: 'shop',
    schema_change_status: 'high',
    total_unacknowledged: 5,
  })
  t.match(await status(customers), {
    asset_id: customers,
    qualified_name: nameOf('customers'),
    schema_change_status: 'medium',
    total_unacknowledged: 2,
  })
  t.same(typesOf((await status(nameOf('orders'))).recent_changes), ['column_renamed'])

  const older = async (id: string, query = '') =>
    (await tenant.ask('GET', `/api/v1/assets/${id}/schema-changes?${query}`)).body.data
  t.match(await older(String(asset.id), 'days_back=60&limit=3&offset=1'), {
    total: 5,
    limit: 3,
    offset: 1,
    has_more: true,
    changes: { length: 3 },
  })
  t.match(await older('shop'), { total: 4 })
  t.match(await older(customers), { total: 1, changes: [{ change_type: 'column_added' }] })
  t.match(await older(nameOf('customers'), 'days_back=60'), { total: 2 })
  t.match(await older(customers, 'days_back=60&change_type=column_type_changed'), { total: 1 })
  t.match(await older(customers, 'change_type=table_added'), { total: 0 })
})

t.test(
  'drift from the baseline is reported until it is accepted; the first discovery is a baseline',
  async t => {
    const { app, tenant, asset, nameOf, idOf, status, changes, alerts, drift } = await known(t)
    const first = { id: null, asset_id: asset.id, captured_by: null, table_count: 4, column_count: 8 }
    t.match(await status(), { baseline: first, drift: [], drifted_tables: 0, schema_change_status: 'none' })
    t.match(await status(nameOf('orders')), { baseline: first })

    await drift()
    const drifted = await status()
    t.equal(drifted.drifted_tables, 4)
    t.same(typesOf(drifted.drift), typesOf(await changes()))
    const orders = await status(nameOf('orders'))
    t.match(orders, {
      baseline: first,
      drift: [
        {
          asset_id: await idOf('orders'),
          change_type: 'column_renamed',
          object_name: 'total',
          new_value: 'amount',
          new_definition: { name: 'amount' },
          severity: 'critical',
        },
      ],
    })

    const one = await tenant.ask('POST', `${BASE}/${nameOf('orders')}/baseline`, { description: 'renamed' })
    t.match(one, {
      status: 201,
      body: { data: { asset_id: orders.asset_id, table_count: 1, column_count: 2, description: 'renamed' } },
    })
    t.match(await status(nameOf('orders')), {
      baseline: { id: one.body.data.id, captured_by: /^key:/ },
      drift: [],
      schema_change_status: 'none',
      total_unacknowledged: 0,
    })
    t.match(await status(), { baseline: first, drifted_tables: 3, total_unacknowledged: 4 })
    const [renamed] = await changes('change_type=column_renamed')
    t.match(renamed, { acknowledged: true, acknowledged_at: /^\d{4}-/, acknowledged_by: /^key:/ })

    const all = await app.ask('POST', `${BASE}/shop/baseline`, undefined, tenant.token)
    t.match(all, {
      status: 201,
      body: {
        data: {
          asset_id: asset.id,
          table_count: 4,
          column_count: 9,
          description: null,
          captured_by: /^user:/,
        },
      },
    })
    t.match(await status(), {
      baseline: { id: all.body.data.id },
      drift: [],
      drifted_tables: 0,
      total_unacknowledged: 0,
    })
    t.match(await status(nameOf('orders')), { baseline: { id: all.body.data.id } }, 'the newer one')
    t.same(await changes('unacknowledged_only=true'), [])
    t.equal((await changes('unacknowledged_only=false')).length, 5)
    t.match(await alerts(), [
      { status: 'resolved', reason: /accepted/ },
      { status: 'resolved' },
      { status: 'resolved' },
      { status: 'resolved' },
    ])
    t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, { schema_change_status: 'none' })

    t.equal(await drift(['alter table orders rename column amount to total']), 1)
    t.match(
      await status(nameOf('orders')),
      { drift: [{ object_name: 'amount', new_value: 'total' }], total_unacknowledged: 1 },
      'what was accepted is what later changes are compared with',
    )
  },
)

t.test('a table of which the last open change is acknowledged is accepted', async t => {
  const { tenant, nameOf, status, changes, summary, alerts, drift } = await known(t)
  await drift()
  const acknowledge = (id: string) => tenant.ask('POST', `${BASE}/changes/${id}/acknowledge`)
  const ofCustomers = await changes(`asset_id=${nameOf('customers')}`)
  const [one, other] = ofCustomers.map(({ id }) => id) as [string, string]
  const alertOf = async (table: string) => (await alerts()).find(alert => alert.table === table)

  const first = await acknowledge(one)
  t.match(first, { status: 200, body: { data: { id: one, acknowledged: true, acknowledged_by: /^key:/ } } })
  t.match(await status(nameOf('customers')), { total_unacknowledged: 1, drift: { length: 2 } })
  t.match(await alertOf('customers'), { status: 'triggered' })
  t.same((await acknowledge(one)).body, first.body, 'twice is the same')

  t.equal((await acknowledge(other)).status, 200)
  t.match(await status(nameOf('customers')), {
    total_unacknowledged: 0,
    schema_change_status: 'none',
    drift: [],
    baseline: { table_count: 1, column_count: 4, description: /acknowledged/ },
  })
  t.match(await alertOf('customers'), { status: 'resolved', reason: /acknowledged/ })
  t.equal((await alerts()).filter(alert => alert.status === 'triggered').length, 3)

  const many = (asset: string, payload?: object) =>
    tenant.ask('POST', `${BASE}/${asset}/acknowledge`, payload)
  const [renamed, removed] = await Promise.all([
    changes('change_type=column_renamed'),
    changes('change_type=table_removed'),
  ])
  const ids = [one, renamed[0]?.id, removed[0]?.id]
  for (const unknown of [NOWHERE, 'nothing'])
    t.match(await many('shop', { change_ids: [unknown, ...ids] }), {
      status: 404,
      body: { error: { code: 'CHANGE_NOT_FOUND', details: { change_id: unknown } } },
    })
  t.equal((await many(nameOf('notes'), { change_ids: ids })).status, 404, 'those of another table')
  t.match(await summary(), { unacknowledged: 3 }, 'a refusal leaves all as it was')
  t.match(await many('shop', { change_ids: ids }), {
    status: 200,
    body: { data: { acknowledged: 2, remaining: 1 } },
  })
  t.match(await many(nameOf('customers')), { body: { data: { acknowledged: 0, remaining: 0 } } })
  t.match(await many('shop'), { status: 200, body: { data: { acknowledged: 1, remaining: 0 } } })
  t.match(await status(), { drifted_tables: 0, drift: [], schema_change_status: 'none' })
  t.same([...new Set((await alerts()).map(alert => alert.status))], ['resolved'])
})

t.test('an alert that is dismissed as expected accepts its table, and no other', async t => {
  const { tenant, nameOf, status, changes, alerts, drift } = await known(t)
  await drift()
  const dismiss = async (table: string, reason: string) => {
    const alert = (await alerts()).find(one => one.table === table)
    return tenant.ask('POST', `/api/v1/sdk/alerts/${String(alert?.id)}/dismiss`, { reason })
  }
  t.match(await dismiss('customers', 'expected'), {
    status: 200,
    body: { data: { status: 'dismissed' } },
  })
  t.match(await status(nameOf('customers')), {
    total_unacknowledged: 0,
    drift: [],
    baseline: { table_count: 1, captured_by: /^key:/, description: /dismissed as expected/ },
  })
  t.match(await changes(`asset_id=${nameOf('customers')}`), [
    { acknowledged: true, acknowledged_by: /^key:/ },
    { acknowledged: true },
  ])
  t.match(await dismiss('orders', 'not now'), { status: 200, body: { data: { status: 'dismissed' } } })
  t.match(await status(nameOf('orders')), { total_unacknowledged: 1, drift: { length: 1 } })
  t.same(
    new Map((await alerts()).map(alert => [alert.table, alert.status])),
    new Map([
      ['customers', 'dismissed'],
      ['legacy', 'triggered'],
      ['orders', 'dismissed'],
      ['returns', 'triggered'],
    ]),
  )
  t.match(await dismiss('customers', 'expected'), { status: 409 })
  t.equal(await drift([]), 0, 'and the next discovery finds no drift')
})

t.test('a source is watched on a schedule, and left alone again', async t => {
  const { app, tenant, asset, nameOf, status, changes, drift } = await known(t)
  const watch = (body?: unknown, id: unknown = asset.id) =>
    tenant.ask('POST', `${BASE}/${String(id)}/monitoring`, body)
  const off = { monitoring_enabled: false, schedule_type: null, next_check_at: null }
  t.match(await status(), { monitoring: { asset_id: asset.id, ...off, last_check_at: /^\d{4}-/ } })

  await drift()
  const daily = await watch()
  t.match(daily, {
    status: 200,
    body: {
      data: {
        asset_id: asset.id,
        monitoring_enabled: true,
        schedule_type: 'daily',
        schedule_label: 'Every day',
        next_check_at: /^\d{4}-/,
        last_check_at: /^\d{4}-/,
        baseline_id: null,
      },
    },
  })
  t.equal((await changes('unacknowledged_only=true')).length, 5, 'nothing that is open is accepted by that')
  t.match((await tenant.ask('GET', `/api/v1/sdk/assets/${asset.id}`)).body.data, {
    discovery_interval: 'daily',
  })

  await tenant.ask('POST', `${BASE}/shop/acknowledge`)
  t.match(await watch({ auto_create_baseline: false }), { body: { data: { baseline_id: null } } })
  const hourly = await watch({ schedule_type: 'hourly' }, 'shop')
  t.match(hourly.body.data, { schedule_type: 'hourly', baseline_id: /^[0-9a-f-]{36}$/ })
  t.match(
    await status(nameOf('orders')),
    { monitoring: hourly.body.data },
    'a table is watched with its source',
  )
  t.match(await watch({ schedule_type: 'weekly' }), {
    body: { data: { schedule_type: 'weekly', baseline_id: hourly.body.data.baseline_id } },
  })

  const ofTable = await watch({}, nameOf('orders'))
  t.match(ofTable, {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { field: 'asset_id', asset_id: asset.id } } },
  })
  t.equal((await tenant.ask('DELETE', `${BASE}/${nameOf('orders')}/monitoring`)).status, 400)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { is_active: false })
  t.match(await watch(), { status: 409, body: { error: { code: 'CONFLICT', message: /is_active/ } } })
  t.match(await status(), { monitoring: { monitoring_enabled: false, next_check_at: null } })

  t.match(await tenant.ask('DELETE', `${BASE}/shop/monitoring`), {
    status: 200,
    body: { data: { success: true, message: /shop/, asset_id: asset.id, monitoring_enabled: false } },
  })
  t.match(await status(), { monitoring: { ...off, schedule_label: 'Not scheduled' } })
  const [stored] = await app.query('select discovery_interval, next_run_at from sources')
  t.same(stored, { discovery_interval: 'off', next_run_at: null })
})

t.test(
  'a dry run reads the catalog now, returns what a discovery would record, and records nothing',
  async t => {
    const { app, tenant, source, asset, nameOf, status, summary, changes, drift } = await known(t)
    const reader = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
    const dryRun = async (body: object = {}) =>
      app.ask('POST', `${BASE}/dry-run`, { asset_id: asset.id, ...body }, reader.body.data.key)
    t.match((await dryRun()).body.data, {
      asset_id: asset.id,
      qualified_name: 'shop',
      table_count: 4,
      column_count: 8,
      unread_count: 0,
      change_count: 0,
      alert_count: 0,
      changes: [],
      error_code: null,
      schedule_type: 'off',
      baseline_exists: true,
      tables_in_baseline: 4,
      tables_in_current: 4,
      changes_detected: false,
      total_changes: 0,
      changes_summary: {},
      sample_changes: [],
      estimated_alerts_per_week: 0,
      recommendation: /^Nothing has changed.*monitoring/,
    })
    for (const statement of DRIFT) await source.query(statement)
    const before = await status()
    const all = await dryRun()
    t.match(all, {
      status: 200,
      body: {
        data: {
          table_count: 4,
          column_count: 9,
          change_count: 5,
          critical_count: 2,
          warning_count: 1,
          info_count: 2,
          alert_count: 4,
          history: { lookback_days: 30, changes: 0, unacknowledged: 0 },
          changes_detected: true,
          total_changes: 5,
          sample_changes: { length: 5 },
          recommendation: /^5 changes would be recorded, with 4 alerts/,
        },
      },
    })
    t.same(all.body.data.changes_summary, {
      column_renamed: 1,
      table_removed: 1,
      table_added: 1,
      column_added: 1,
      column_type_changed: 1,
    })
    t.match(await dryRun({ table_path: 'orders' }), {
      body: {
        data: {
          qualified_name: nameOf('orders'),
          table_count: 1,
          tables_in_baseline: 1,
          sample_changes: [
            { change_type: 'column_renamed', column_name: 'total', old_value: 'total', new_value: 'amount' },
          ],
          changes: [
            {
              change_type: 'column_renamed',
              object_name: 'total',
              severity: 'critical',
              is_reverting: false,
            },
          ],
        },
      },
    })
    t.match(await dryRun({ asset_id: nameOf('notes') }), {
      body: { data: { table_count: 1, change_count: 0 } },
    })
    t.same(await status(), before)
    t.match(await summary(), { total_changes: 0 })
    t.same(await app.query(`select id from alerts where kind = 'schema_change'`), [])

    await drift([])
    t.same(typesOf(await changes()), typesOf(all.body.data.changes), 'the discovery then records just that')
    await source.query('alter table orders rename column amount to total')
    t.match(await dryRun({ asset_id: nameOf('orders'), lookback_days: 7 }), {
      body: {
        data: {
          change_count: 1,
          alert_count: 0,
          changes: [{ is_reverting: true }],
          history: { lookback_days: 7, changes: 1, unacknowledged: 1 },
          estimated_alerts_per_week: 1,
        },
      },
    })

    await app.query(`update sources set config = jsonb_set(config, '{port}', '1')`)
    t.match(await dryRun(), {
      status: 200,
      body: {
        data: {
          error_code: 'network',
          table_count: null,
          change_count: null,
          changes: [],
          tables_in_baseline: 4,
          tables_in_current: 0,
          total_changes: 0,
          recommendation: /could not be read/,
        },
      },
    })
    t.match(await status(), { monitoring: { last_check_at: /^\d{4}-/ } })
    for (const [field, value] of [
      ['table_path', 'nope'],
      ['lookback_days', 366],
    ] as const)
      t.match(await dryRun({ [field]: value }), { status: 400, body: { error: { details: { field } } } })
    let last = await dryRun()
    for (let more = 0; last.status === 200 && more < 10; more++) last = await dryRun()
    t.match(last, { status: 429, body: { error: { code: 'RATE_LIMITED' } } }, 'ten an hour')
  },
)

t.test('before its first discovery a source has no baseline, and none can be made', async t => {
  const world = await makeWorld(t, TABLES)
  const { tenant, asset } = world
  const { status, summary } = asking(world)
  t.match(await status(), {
    schema_change_status: 'none',
    total_unacknowledged: 0,
    recent_changes: [],
    baseline: null,
    drift: [],
    monitoring: { last_check_at: null, baseline_id: null, baseline_captured_at: null },
  })
  t.match(await summary(), { total_changes: 0, last_check: null })
  t.match(await tenant.ask('POST', `${BASE}/${asset.id}/baseline`), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: /discover/, details: { suggestion: /discover/ } } },
  })
  t.match(await tenant.ask('POST', `${BASE}/${asset.id}/monitoring`), {
    status: 200,
    body: { data: { monitoring_enabled: true, baseline_id: null } },
  })
})

t.test('bad input, other companies and credentials that may only read', async t => {
  const { app, tenant, asset, nameOf, changes, drift, summary } = await known(t)
  await drift()
  const [change] = await changes()
  const refused = async (method: string, path: string, field: string, body?: unknown) => {
    const reply = await tenant.ask(method, `${BASE}${path}`, body)
    t.match(reply, { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: { field } } } }, path)
  }
  for (const field of ['severity', 'impact', 'change_type', 'unacknowledged_only', 'limit', 'offset', 'nope'])
    await refused('GET', `/changes?${field}=wrong`, field)
  for (const days of ['0', '366', '1e1']) await refused('GET', `/changes?days_back=${days}`, 'days_back')
  await refused('GET', '/changes?limit=101', 'limit')
  await refused('GET', '/summary?days_back=0', 'days_back')
  await refused('POST', '/shop/monitoring', 'schedule_type', { schedule_type: 'off' })
  await refused('POST', '/shop/monitoring', 'auto_create_baseline', { auto_create_baseline: 'yes' })
  await refused('POST', '/shop/baseline', 'description', { description: 1 })
  await refused('POST', '/shop/acknowledge', 'change_ids', { change_ids: [] })
  await refused('POST', '/shop/acknowledge', 'change_ids', { change_ids: 'all' })

  const other = await app.signUp('Other')
  const calls = (id: string): [string, string, object?][] => [
    ['GET', `/summary?asset_id=${id}`],
    ['GET', `/changes?asset_id=${id}`],
    ['GET', `/${id}`],
    ['POST', '/dry-run', { asset_id: id }],
    ['POST', `/${id}/acknowledge`],
    ['POST', `/${id}/baseline`],
    ['POST', `/${id}/monitoring`],
    ['DELETE', `/${id}/monitoring`],
  ]
  for (const [method, path, body] of [
    ...calls(String(asset.id)),
    ...calls('shop'),
    ...calls(nameOf('orders')),
  ])
    t.match(
      await other.ask(method, `${BASE}${path}`, body),
      { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } },
      path,
    )
  const foreign = await other.ask('POST', `${BASE}/changes/${change?.id}/acknowledge`)
  const nowhere = await other.ask('POST', `${BASE}/changes/${NOWHERE}/acknowledge`)
  t.match(foreign, { status: 404, body: { error: { code: 'CHANGE_NOT_FOUND' } } })
  t.same(JSON.stringify(foreign.body).replaceAll(String(change?.id), NOWHERE), JSON.stringify(nowhere.body))
  t.match((await other.ask('GET', `${BASE}/changes`)).body.data, { data: [], pagination: { total: 0 } })
  t.match((await other.ask('GET', `${BASE}/summary`)).body.data, { total_changes: 0, last_check: null })
  t.match(await summary(), { unacknowledged: 5 }, 'and nothing was acknowledged by it')

  const made = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  for (const [method, path, body] of calls(String(asset.id))) {
    const { status } = await app.ask(method, `${BASE}${path}`, body, made.body.data.key)
    t.equal(status, method === 'GET' || path === '/dry-run' ? 200 : 403, `${method} ${path}`)
  }
})

t.test('a source is accepted while it is discovered, and neither waits for the other for ever', async t => {
  const { tenant, source, status, drift } = await known(t)
  const statements = ['alter table orders add column a int', 'alter table customers add column b int']
  for (const statement of statements) await source.query(statement)
  const [, ...replies] = await Promise.all([
    drift([]),
    ...['shop/baseline', 'shop/acknowledge', 'shop/baseline'].map(path =>
      tenant.ask('POST', `${BASE}/${path}`),
    ),
  ])
  t.same(
    replies.map(({ status: code }) => code),
    [201, 200, 201],
  )
  const { drifted_tables: tables, total_unacknowledged: open } = await status()
  t.ok(
    (tables === 0 && open === 0) || (tables === 2 && open === 2),
    'all of a discovery is accepted, or none',
  )
})
