import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { depsOf } from '../../../../plugins/recommendations/deps.ts'
import { applyJob, dispatchPolicies } from '../../../../plugins/recommendations/watch/jobs.ts'
import { applyPolicy } from '../../../../plugins/recommendations/watch/batches.ts'
import { startWorlds } from '../../freshness/worlds.ts'

const { server, tenant, stranger, query, world, discover } = await startWorlds(t)

const watch = (asset: string, body: object, who = tenant) =>
  who.ask('POST', `/api/v1/sdk/assets/${asset}/watch`, body)
const all = { row_count: true, freshness: true, keys: true }

const SHOP = `create table orders (id int primary key, updated_at timestamptz);
  create table items (order_id int, line int, updated_at timestamptz, primary key (line, order_id));
  create table notes (body text); create table tmp_load (id int primary key)`

/** Rules and metrics of a source as their lists show them, without what belongs to each row. */
const stored = async (sourceId: string) => ({
  rules: await query(
    `select name, type, column_name, config, severity, check_interval, sensitivity, is_active,
       settings, description
     from checks where source_id = $1 and kind = 'validity' order by name`,
    [sourceId],
  ),
  metrics: await query(
    `select t.name as of_table, type, column_name, config, group_by_columns, check_interval, sensitivity, m.is_active
     from checks m join tables t on t.id = m.table_id where m.source_id = $1 and m.kind = 'metric' order by t.name`,
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
    level: null,
    statements_per_day: { checks: 3, freshness: 24 },
    backfill: { days: 30, tables: 2, statements: 2, rows: null, bytes: 0 },
    dry_run: true,
  })
  t.same(await stored(source.id), { rules: [], metrics: [] }, 'a dry run creates nothing')

  const { body: made } = await watch(source.id, body)
  const { backfill } = tried.body.data
  t.same(
    made.data,
    { ...tried.body.data, backfill: { ...backfill, bytes: null }, dry_run: false },
    'what is created is what a dry run returns',
  )
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

t.test('a check of some rows or of a window is not taken for the one of all rows', async t => {
  const { source } = await world(t, SHOP)
  for (const part of [{ filter: 'id > 1' }, { time_column: 'updated_at', window: '1d' }])
    for (const [path, body] of [
      ['metrics', { metric_type: 'row_count' }],
      ['validity', { rule_type: 'NOT_NULL', column_name: 'id' }],
    ] as const)
      t.match(
        await tenant.ask('POST', `/api/v1/sdk/${path}/${source.id}`, {
          table_path: 'orders',
          ...body,
          ...part,
        }),
        { status: 201 },
      )
  const { body } = await watch(source.id, { ...all, include_patterns: ['orders'] })
  t.match(body.data, {
    row_count: { created: 1, existing: 0 },
    not_null: { created: 1, existing: 0 },
    unique: { created: 1, existing: 0 },
  })
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
    scanned += (await server.plugins.checks.runTable(tenant.companyId, id as string, 'active')).statements
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

t.test('thousands of tables are watched by one request', async t => {
  const { source } = await world(t, 'create table orders (id int primary key, updated_at timestamptz)')
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 't' || n, qualified_name || n, kind,
       columns, constraints, fingerprint
     from tables, generate_series(1, 5000) n where source_id = $1`,
    [source.id],
  )
  const { body } = await watch(source.id, all)
  t.match(body.data, {
    matched: 5_001,
    row_count: { created: 5_001 },
    freshness: { created: 5_001 },
    not_null: { created: 5_001 },
    unique: { created: 5_001 },
    statements_per_day: { checks: 5_001, freshness: 264 },
  })
})

t.test('a level is kept as the policy of the source, for tables that come later', async t => {
  const { source, database } = await world(t, SHOP)
  const path = `/api/v1/sdk/assets/${source.id}/watch`
  t.match((await tenant.ask('GET', path)).body.data, { level: null })
  t.match(await tenant.ask('DELETE', path), { status: 404 })
  const tried = await watch(source.id, { level: 'light', exclude_patterns: ['tmp_*'], dry_run: true })
  t.match((await tenant.ask('GET', path)).body.data, { level: null }, 'a dry run keeps nothing')
  const made = await watch(source.id, { level: 'light', exclude_patterns: ['tmp_*'] })
  const estimated = tried.body.data.backfill
  t.same(made.body.data, { ...tried.body.data, backfill: { ...estimated, bytes: null }, dry_run: false })
  t.match(made.body.data, {
    matched: 3,
    level: 'light',
    row_count: { created: 3 },
    freshness: { created: 2 },
    not_null: { created: 3 },
    unique: { created: 1 },
    recommended: {},
    statements_per_day: { checks: 3, freshness: 24 },
  })
  t.match((await tenant.ask('GET', path)).body.data, { level: 'light', exclude_patterns: ['tmp_*'] })

  await query(
    `delete from checks where source_id = $1 and kind = 'metric' and table_id in (select id from tables where name = 'notes')`,
    [source.id],
  )
  await database.query(
    'create table invoices (id int primary key, created_at timestamptz); create table tmp_x (id int)',
  )
  await discover(source.id)
  const applied = server.jobs.settled(applyJob, data => data.source_id === source.id)
  await server.jobs.send(dispatchPolicies, {})
  await applied
  const checks = await query(
    `select t.name, m.type as type from checks m join tables t on t.id = m.table_id where m.source_id = $1 and m.kind = 'metric'
     union all select t.name, type from checks r join tables t on t.id = r.table_id
       where r.source_id = $1 and r.kind = 'validity' and t.name = 'invoices'
     union all select t.name, 'freshness' from checks f join tables t on t.id = f.table_id and f.kind = 'freshness'
       where f.source_id = $1 and t.name = 'invoices' order by 1, 2`,
    [source.id],
  )
  t.strictSame(
    checks.map(({ name, type }) => `${String(name)} ${String(type)}`),
    [
      'invoices NOT_NULL',
      'invoices UNIQUE',
      'invoices freshness',
      'invoices row_count',
      'items row_count',
      'orders row_count',
    ],
    'new tables are watched, and what a person removed stays removed',
  )
  t.match((await tenant.ask('DELETE', path)).body.data, { success: true })
  t.match((await stranger.ask('GET', path)).status, 404)
  const { body: log } = await tenant.ask('GET', '/api/v1/audit-log?limit=2')
  t.match(log.data, [
    { action: 'watch.removed', details: { level: 'light' } },
    { action: 'watch.applied', actor: 'system', details: { created: { row_count: 1 } } },
  ])
})

t.test('the level standard profiles tables, and creates what their profiles speak for', async t => {
  const { source, database } = await world(
    t,
    `create table customers (id int primary key, email text);
     create table orders (id int primary key, customer_id int, status text, total numeric, created_at timestamptz);
     insert into customers select n, 'c' || n || '@example.com' from generate_series(1, 300) n;
     insert into orders select n, 1 + n % 300, (array['new', 'paid', 'sent'])[1 + n % 3], n % 50, now() - make_interval(hours => n)
       from generate_series(1, 1200) n`,
  )
  const settled = server.jobs.settled(applyJob, data => data.source_id === source.id)
  t.match(await watch(source.id, { level: 'standard' }), { status: 200 })
  await settled
  const rules = await query(
    `select t.name || '.' || r.column_name || ' ' || r.type as rule, r.config, r.status
     from checks r join tables t on t.id = r.table_id where r.source_id = $1 and r.kind = 'validity' order by 1`,
    [source.id],
  )
  t.strictSame(
    rules.map(({ rule }) => rule),
    [
      'customers.email NOT_NULL',
      'customers.email REGEX',
      'customers.id NOT_NULL',
      'customers.id UNIQUE',
      'orders.created_at NOT_NULL',
      'orders.customer_id NOT_NULL',
      'orders.id NOT_NULL',
      'orders.id UNIQUE',
      'orders.status ENUM',
      'orders.status NOT_NULL',
      'orders.total NOT_NULL',
      'orders.total RANGE',
    ],
  )
  const references = await query(`select * from checks where source_id = $1 and kind = 'referential'`, [
    source.id,
  ])
  t.match(
    references,
    [{ column_name: 'customer_id', settings: { parentColumnName: 'id' } }],
    'by name and values',
  )

  await database.query(
    `insert into orders values (5000, 999, 'lost', -1, now()), (5001, null, null, null, null);
     update customers set email = 'no address' where id = 1`,
  )
  for (const { id } of await query('select id from tables where source_id = $1', [source.id]))
    await server.plugins.checks.runTable(tenant.companyId, String(id), 'active')
  const failing = await query(
    `select column_name || ' ' || type as rule from checks where source_id = $1 and kind = 'validity' and status = 'fail'
     union all select column_name || ' orphans' from checks
       where source_id = $1 and kind = 'referential' and status = 'fail'
     order by 1`,
    [source.id],
  )
  t.strictSame(
    failing.map(({ rule }) => rule),
    [
      'created_at NOT_NULL',
      'customer_id NOT_NULL',
      'customer_id orphans',
      'email REGEX',
      'status ENUM',
      'status NOT_NULL',
      'total NOT_NULL',
      'total RANGE',
    ],
    'each planted fault is found',
  )
})

t.test('a young table is profiled again once it has doubled', async t => {
  const { source, database } = await world(
    t,
    `create table days (day date, births int);
     insert into days select current_date - n, 1000 + n * 37 % 100 from generate_series(1, 10) n`,
  )
  t.match(await watch(source.id, { level: 'light' }), { status: 200 })
  await query(`update watch_policies set level = 'standard', updated_at = now() where source_id = $1`, [
    source.id,
  ])
  const apply = async () => {
    const data = { company_id: tenant.companyId, source_id: source.id }
    await applyJob.work(data, { server, signal: new AbortController().signal } as never)
    const [profiles] = await query('select cast(count(*) as int) as n from profiles where source_id = $1', [
      source.id,
    ])
    const checks = await query(
      `select distinct type from checks where source_id = $1 and column_name = 'births' order by 1`,
      [source.id],
    )
    return { profiles: profiles!.n, types: checks.map(({ type }) => type) }
  }
  const grow = (rows: number) =>
    query('update tables set estimated_rows = $2 where source_id = $1', [source.id, rows])
  await grow(10)
  t.strictSame(await apply(), { profiles: 1, types: [] }, 'ten rows say nothing')
  await database.query(
    `insert into days select current_date - n, 1000 + n * 37 % 100 from generate_series(11, 30) n`,
  )
  await grow(19)
  t.match(await apply(), { profiles: 1 }, 'not twice as many')
  await grow(30)
  t.strictSame(await apply(), { profiles: 2, types: ['NOT_NULL', 'RANGE'] })
  t.match(await apply(), { profiles: 2 }, 'once')
})

t.test('a table that cannot be profiled does not keep the others from it', async t => {
  const { source, database } = await world(
    t,
    `create table a_gone (id int primary key); create table b_there (id int primary key, note text);
     insert into b_there select n, 'note' || n from generate_series(1, 300) n`,
  )
  await database.query('drop table a_gone')
  const settled = server.jobs.settled(applyJob, data => data.source_id === source.id)
  t.match(await watch(source.id, { level: 'standard' }), { status: 200 })
  t.equal(await settled, 'completed')
  const found = await query(
    `select t.name from profiles p join tables t on t.id = p.table_id where p.source_id = $1`,
    [source.id],
  )
  t.strictSame(found, [{ name: 'b_there' }])
})

t.test('a policy that is replaced while another application waits is the one that is applied', async t => {
  const { source } = await world(t, SHOP)
  await watch(source.id, { level: 'light', include_patterns: ['notes'] })
  await query(`delete from checks where source_id = $1 and kind = 'metric'`, [source.id])
  await query('delete from recommendations where source_id = $1', [source.id])
  await query('delete from watched_tables where source_id = $1', [source.id])
  const { companyId } = tenant
  let applied: Promise<unknown> | undefined
  await server.db.company(companyId, async trx => {
    await server.plugins.catalog.lockSource(trx, source.id)
    applied = applyPolicy(depsOf(server), companyId, source.id, new AbortController().signal)
    await setTimeout(300)
    await trx.raw(`update watch_policies set include_patterns = '{items}' where source_id = ?`, [source.id])
  })
  await applied
  const watched = await query(
    `select t.name from checks m join tables t on t.id = m.table_id where m.source_id = $1 and m.kind = 'metric'`,
    [source.id],
  )
  t.strictSame(watched, [{ name: 'items' }])
})

t.test('a profile is followed by one application, and not by one each minute', async t => {
  const { source } = await world(t, SHOP)
  await watch(source.id, { level: 'light' })
  await query(
    `insert into profiles (id, company_id, source_id, table_id, profiled_at, row_count, is_row_count_exact, profiled_rows,
       is_sampled, statements, milliseconds, columns)
     select gen_random_uuid(), company_id, source_id, id, now() - interval '30 seconds', 1, true, 1, false, 1, 1, '[]'
     from tables where source_id = $1 and name = 'notes'`,
    [source.id],
  )
  const isRequested = async (secondsAgo: number) => {
    const [before] = await query(
      `update watch_policies set requested_at = null, applied_at = now() - make_interval(secs => $2) where source_id = $1
       returning applied_at`,
      [source.id, secondsAgo],
    )
    await dispatchPolicies.work({}, { server } as never)
    const [after] = await query('select requested_at, applied_at from watch_policies where source_id = $1', [
      source.id,
    ])
    return after?.requested_at !== null || String(after.applied_at) !== String(before?.applied_at)
  }
  await query(`update sources set last_discovery_at = now() - interval '1 hour' where id = $1`, [source.id])
  t.equal(await isRequested(0), false, 'it was applied since')
  t.equal(await isRequested(60), true)
})
