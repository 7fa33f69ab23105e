import t from 'tap'
import { startWorlds } from '../freshness/worlds.ts'

const { server, tenant, stranger, query, world } = await startWorlds(t)

const watch = (asset: string, body: object, who = tenant) =>
  who.ask('POST', `/api/v1/sdk/assets/${asset}/watch`, body)
const all = { row_count: true, freshness: true, keys: true }

const SHOP = `create table orders (id int primary key, updated_at timestamptz);
  create table items (order_id int, line int, updated_at timestamptz, primary key (line, order_id));
  create table notes (body text); create table tmp_load (id int primary key)`

/** Rules and metrics of a source as their lists show them, without what belongs to each row. */
const stored = async (sourceId: string) => ({
  rules: await query(
    `select name, rule_type, column_name, rule_config, severity, check_interval, detection_mode, sensitivity, is_active,
       treat_null_as_valid, operating_period_mode, error_message, description
     from validity_rules where source_id = $1 order by name`,
    [sourceId],
  ),
  metrics: await query(
    `select t.name as of_table, metric_type, column_name, config, group_by_columns, check_interval, sensitivity, m.is_active
     from metrics m join tables t on t.id = m.table_id where m.source_id = $1 order by t.name`,
    [sourceId],
  ),
})

t.test('one request watches the tables that match, and says what it skips', async t => {
  const { source, database } = await world(t, SHOP)
  const path = (table: string) => `${database.name}.public.${table}`
  const body = { ...all, exclude_patterns: ['tmp_*'] }
  const tried = await watch(source.name, { ...body, dry_run: true })
  t.match(tried, { status: 200 })
  t.same(tried.body.data, {
    asset_id: source.id,
    matched: 3,
    row_count: { created: 3, existing: 0, skipped: [] },
    freshness: {
      ...{ created: 2, existing: 0 },
      skipped: [{ reason: 'no_signal', count: 1, tables: [path('notes')] }],
    },
    not_null: {
      ...{ created: 3, existing: 0 },
      skipped: [{ reason: 'no_primary_key', count: 1, tables: [path('notes')] }],
    },
    unique: {
      ...{ created: 1, existing: 0 },
      skipped: [
        { reason: 'no_primary_key', count: 1, tables: [path('notes')] },
        { reason: 'composite_key', count: 1, tables: [path('items')] },
      ],
    },
    statements_per_day: { checks: 3, freshness: 24 },
    dry_run: true,
  })
  t.same(await stored(source.id), { rules: [], metrics: [] }, 'a dry run creates nothing')

  const { body: made } = await watch(source.id, body)
  t.same(made.data, { ...tried.body.data, dry_run: false }, 'what is created is what a dry run returns')
  const { rules } = await stored(source.id)
  t.strictSame(
    rules.map(({ name }) => name),
    ['NOT_NULL items.line', 'NOT_NULL items.order_id', 'NOT_NULL orders.id', 'UNIQUE orders.id'],
  )
  const { body: again } = await watch(source.id, { ...body, exclude_patterns: [] })
  t.match(again.data, {
    matched: 4,
    row_count: { created: 1, existing: 3 },
    freshness: { created: 0, existing: 2 },
    not_null: { created: 1, existing: 3 },
    unique: { created: 1, existing: 1 },
    statements_per_day: { checks: 1, freshness: 0 },
  })
  const { body: log } = await tenant.ask('GET', '/api/v1/audit-log?limit=2')
  t.match(log.data, [
    {
      action: 'watch.created',
      target: { type: 'source', id: source.id },
      details: { row_count: 1, freshness: 0, not_null: 1, unique: 1 },
    },
    { action: 'watch.created', details: { row_count: 3, freshness: 2, not_null: 3, unique: 1 } },
  ])
})

t.test('checks are those that single requests create', async t => {
  const one = await world(t, SHOP)
  const many = await world(t, SHOP)
  const post = async (path: string, body: object) =>
    t.match(await tenant.ask('POST', `/api/v1/sdk/${path}/${one.source.id}`, body), { status: 201 })
  for (const table of ['orders', 'items', 'notes', 'tmp_load'])
    await post('metrics', { metric_type: 'row_count', table_path: table })
  for (const [table, column] of [
    ['orders', 'id'],
    ['tmp_load', 'id'],
    ['items', 'line'],
    ['items', 'order_id'],
  ] as const) {
    await post('validity', { rule_type: 'NOT_NULL', table_path: table, column_name: column })
    if (table !== 'items')
      await post('validity', { rule_type: 'UNIQUE', table_path: table, column_name: column })
  }
  await watch(many.source.id, all)
  t.same(await stored(many.source.id), await stored(one.source.id))
})

t.test('the statements of a day are those that are sent', async t => {
  const { source } = await world(t, SHOP)
  const { body } = await watch(source.id, all)
  const { checks, freshness } = body.data.statements_per_day
  const tables = await query(`select id from tables where source_id = $1`, [source.id])
  let scanned = 0
  for (const { id } of tables)
    scanned += (await server.plugins.scans.runTable(tenant.companyId, id as string, 'active')).statements
  t.equal(scanned, checks)
  const { companyId } = tenant
  const { statements } = await server.plugins.freshness.checkSource({ companyId, sourceId: source.id })
  t.equal(statements * 24, freshness)
})

t.test('what cannot be watched is refused or skipped', async t => {
  const { source, database } = await world(t, SHOP)
  const refusals: [string, object, number, object][] = [
    [source.id, {}, 400, { error: { message: /row_count, freshness or keys must be true/ } }],
    [
      source.id,
      { ...all, include_patterns: ['a.b.c.d'] },
      400,
      { error: { details: { field: /include_patterns/ } } },
    ],
    [source.id, { row_count: 'yes' }, 400, { error: { details: { field: 'row_count' } } }],
    [
      `${source.name}.${database.name}.public.orders`,
      all,
      400,
      { error: { details: { field: 'asset_id' } } },
    ],
    ['elsewhere', all, 404, { error: { code: 'ASSET_NOT_FOUND' } }],
  ]
  for (const [asset, body, status, error] of refusals)
    t.match(await watch(asset, body), { status, body: error })
  t.match(await watch(source.id, all, stranger), { status: 404 })

  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { query_access_level: 'schema_only' })
  const { body } = await watch(source.id, all)
  t.match(body.data, {
    row_count: { created: 0, existing: 0, skipped: [{ reason: 'not_readable', count: 4 }] },
    freshness: { created: 0, skipped: [{ reason: 'no_signal', count: 4 }] },
    unique: { created: 0, skipped: [{ reason: 'not_readable', count: 4 }] },
    statements_per_day: { checks: 0, freshness: 0 },
  })
})

t.test('requests at the same time create each check once', async t => {
  const { source } = await world(t, SHOP)
  const made = await Promise.all([1, 2, 3].map(() => watch(source.id, all)))
  t.strictSame(
    made.map(({ status }) => status),
    [200, 200, 200],
  )
  const { rules, metrics } = await stored(source.id)
  t.equal(rules.length, 6)
  t.equal(metrics.length, 4)
})

t.test('thousands of tables are watched within seconds', async t => {
  const { source } = await world(t, 'create table orders (id int primary key, updated_at timestamptz)')
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 't' || n, qualified_name || n, kind,
       columns, constraints, fingerprint
     from tables, generate_series(1, 5000) n where source_id = $1`,
    [source.id],
  )
  const from = performance.now()
  const { body } = await watch(source.id, all)
  const seconds = (performance.now() - from) / 1_000
  t.comment(`${seconds.toFixed(1)} s`)
  t.match(body.data, {
    matched: 5_001,
    row_count: { created: 5_001 },
    freshness: { created: 5_001 },
    not_null: { created: 5_001 },
    unique: { created: 5_001 },
    statements_per_day: { checks: 5_001, freshness: 264 },
  })
  t.ok(seconds < 20, `${seconds} s`)
})
