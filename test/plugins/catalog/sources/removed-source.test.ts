import { randomUUID } from 'node:crypto'
import t from 'tap'
import { discover, makeWorld } from '../../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table customers (id int primary key, email text)',
  'create table orders (id int primary key, customer_id int, placed_at timestamptz)',
  'create view recent as select id from orders where placed_at > now()',
  "insert into customers values (1, 'a@example.com'), (2, null)",
  'insert into orders values (1, 1, now()), (2, 3, now())',
])
const { app, tenant, asset, source } = world
const { query, server } = app

/** Tables that keep what happened, also to an asset that is gone, and where that is documented. */
const HISTORIES = new Set([
  'alerts',
  'audit_log',
  'deliveries',
  // With the alerts that they are made of.
  'incidents',
  // For 24 hours, by the key of the request.
  'idempotent_replies',
  // Counters that end within an hour.
  'rate_windows',
])

const columns = (await query(`
  select c.table_name as name, c.column_name as column from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`)) as { name: string; column: string }[]
const tables = [...new Set(columns.map(({ name }) => name))].sort()
/** Tables with a column that names an asset. */
const naming = [
  ...new Set(
    columns
      .filter(
        ({ name, column }) =>
          /^(parent_)?(source|table|asset)_ids?$|_asset_id$|^(up|down)stream_id$/.test(column) &&
          !HISTORIES.has(name),
      )
      .map(({ name }) => name),
  ),
].sort()

/** The tables that hold a row which mentions one of some ids. */
async function mentioning(ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) {
    const rows = await query(`select 1 from ${table} x where to_jsonb(x)::text ~ $1 limit 1`, [ids.join('|')])
    if (rows.length > 0) found.push(table)
  }
  return found
}

async function send(method: string, path: string, body?: object, credential = tenant.key) {
  await query('delete from rate_windows')
  const reply = await app.ask(method, `/api/v1${path}`, body, credential)
  t.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

async function idsOf(assetId: string): Promise<string[]> {
  const found = await query('select id from tables where source_id = $1', [assetId])
  return [assetId, ...found.map(({ id }) => String(id))]
}

/** A model with an owner, a test and a failed run. */
function dbtProjectOf(database: string) {
  const at = new Date().toISOString()
  const id = 'model.shop.orders'
  const placed = { database, schema: 'public', alias: 'orders', meta: { owner: 'Ann' } }
  return {
    manifest: {
      metadata: {
        dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json',
        project_name: 'shop',
      },
      nodes: {
        [id]: { resource_type: 'model', name: 'orders', ...placed },
        'test.shop.t': { resource_type: 'test', name: 't', depends_on: { nodes: [id] } },
      },
    },
    run_results: {
      metadata: { generated_at: at, invocation_id: randomUUID() },
      results: [
        { unique_id: id, status: 'error', message: 'no' },
        { unique_id: 'test.shop.t', status: 'fail' },
      ],
    },
  }
}

/** Makes something of every kind that names the source, or a table of it. @returns ids of its alert rules */
async function fill(sourceId: string, keptId: string) {
  const [{ id: orders } = {}] = await query(
    `select id from tables where source_id = $1 and name = 'orders'`,
    [sourceId],
  )
  await send('POST', `/sdk/assets/${sourceId}/test-connection`)
  for (const id of [sourceId, orders]) await send('POST', '/sdk/badges', { asset_id: id })
  await send('POST', '/sdk/tags', { asset_id: orders, name: 'money' })
  await send('POST', `/sdk/validity/${sourceId}`, {
    rule_type: 'NOT_NULL',
    table_path: 'customers',
    column_name: 'email',
  })
  const metric = await send('POST', `/sdk/metrics/${sourceId}`, {
    metric_type: 'row_count',
    table_path: 'orders',
  })
  await send('POST', '/sdk/chart-links', { asset_id: orders, check_id: metric.data.id })
  await server.plugins.checks.runTable(tenant.companyId, String(orders), 'active', {})
  const profiled = await server.db.company(tenant.companyId, trx =>
    server.plugins.profiles.resolveTarget(trx, String(orders), {}),
  )
  await server.plugins.profiles.profileAsset(profiled, { signal: new AbortController().signal })
  await send('POST', `/sdk/referential/${sourceId}`, {
    child_table_path: 'orders',
    child_column_name: 'customer_id',
    parent_table_path: 'customers',
    parent_column_name: 'id',
  })
  await send('POST', '/sdk/freshness/schedules', { asset_id: sourceId, table_path: 'orders' })
  const { data: file } = await send('GET', `/sdk/monitors/${sourceId}`)
  await send('POST', `/sdk/monitors/${sourceId}/apply`, { files: [{ name: 'shop.yaml', content: file }] })
  await server.db.company(tenant.companyId, trx =>
    server.plugins.lineage.connect(trx, sourceId, [['public.customers', 'public.orders']]),
  )
  await send('POST', '/sdk/lineage/edges', {
    upstream: orders,
    downstream_external: { kind: 'dashboard', namespace: 'bi', name: `sales of ${sourceId}`.slice(0, 8) },
    columns: [{ upstream_column: 'id', downstream_column: '*' }],
  })
  await send('POST', '/sdk/lineage/namespaces', { namespace: `s3://${sourceId}`, source_id: sourceId })
  await send('POST', '/sdk/lineage/dbt', { source: sourceId, ...dbtProjectOf(source.name) })
  const contract = `{apiVersion: v3.1.0, kind: DataContract, id: o, version: '1', status: a, schema: [{name: orders}]}`
  await send('PUT', '/sdk/contracts/orders', { contract, source: sourceId })
  await query(
    `insert into contract_tests (run_id, company_id, source_id, document, extra_columns)
     values (gen_random_uuid(), $1, $2, '{}', 'allow')`,
    [tenant.companyId, sourceId],
  )
  await send('PATCH', `/sdk/assets/${orders}/parts`, { reads: 'whole' })
  await query(
    `insert into table_parts (company_id, table_id, part, version, states) values ($1, $2, 'p', '1', '{}')`,
    [tenant.companyId, orders],
  )
  await send('PUT', '/sdk/owners', { asset_id: orders, owners: ['jane@example.com'] })
  await send('POST', `/sdk/assets/${sourceId}/watch`, { level: 'light' })
  await send('GET', `/sdk/recommendations?asset_id=${sourceId}`)
  await send('PATCH', '/auth/preferences', { default_asset_id: orders }, tenant.token)
  await source.query('alter table orders add column note text')
  await discover({ app, tenant, asset: { id: sourceId } })
  await send('POST', `/sdk/schema/${sourceId}/baseline`)
  await query(
    `insert into source_sessions (company_id, source_id, place, holder, expires_at)
     values ($1, $2, 99, gen_random_uuid(), now())`,
    [tenant.companyId, sourceId],
  )
  await query('insert into check_leases select $1, $2, gen_random_uuid(), now()', [tenant.companyId, orders])
  const destination = await send('POST', '/sdk/alerts/destinations', {
    name: 'hook',
    destination_type: 'webhook',
    config: { url: 'https://127.0.0.1:9/hook' },
  })
  const rule = async (assetIds: unknown[]) =>
    String(
      (
        await send('POST', '/sdk/alerts/rules', {
          name: 'rule',
          asset_ids: assetIds,
          destination_ids: [destination.data.id],
        })
      ).data.id,
    )
  await send('POST', '/sdk/alerts/mute-windows', {
    name: 'maintenance',
    asset_ids: [orders],
    ends_at: new Date(Date.now() + 3_600_000),
  })
  return { both: await rule([sourceId, keptId]), only: await rule([orders, sourceId]) }
}

t.test('a source that is removed takes every row with it that names it or a table of it', async t => {
  const kept = await send('POST', '/sdk/assets', {
    name: 'kept',
    source_type: 'postgresql',
    connection_config: source.config,
  })
  await discover(world)
  await discover({ app, tenant, asset: kept.data })
  const rules = await fill(asset.id, kept.data.id)
  const badges = (await send('GET', '/sdk/badges')).data.badges as { public_id: string }[]
  await send('POST', '/sdk/badges', { asset_id: kept.data.id })
  const [gone, others] = [await idsOf(asset.id), await idsOf(kept.data.id)]
  const before = await mentioning(gone)
  t.strictSame(
    naming.filter(table => !before.includes(table)),
    [],
    'each table that can name an asset does, else this test shows nothing of it',
  )
  const keptBefore = await mentioning(others)

  await send('DELETE', `/sdk/assets/${asset.id}`)
  t.strictSame(
    (await mentioning(gone)).filter(table => !HISTORIES.has(table)),
    [],
  )
  t.strictSame(await mentioning(others), keptBefore, 'what names another source stays')
  t.equal((await send('GET', '/sdk/badges')).data.badges.length, 1)
  for (const { public_id: publicId } of badges)
    t.equal((await app.ask('GET', `/badges/${publicId}.svg`)).status, 404)
  t.match((await send('GET', `/sdk/alerts/rules/${rules.both}`)).data, {
    asset_ids: [kept.data.id],
    is_active: true,
  })
  t.match((await send('GET', `/sdk/alerts/rules/${rules.only}`)).data, { asset_ids: [], is_active: false })
  const [window] = (await send('GET', '/sdk/alerts/mute-windows')).data.mute_windows
  t.match(window, { asset_ids: [] }, 'a window of nothing, not of all')
  t.equal((await send('GET', '/auth/preferences', undefined, tenant.token)).data.default_asset_id, null)
})

t.test('a rule whose last asset was removed is not switched on for all assets by mistake', async t => {
  const [rule] = await query(`select id from alert_rules where asset_ids = '{}'`)
  const path = `/sdk/alerts/rules/${String(rule?.id)}`
  t.match(await tenant.ask('PATCH', `/api/v1${path}`, { is_active: true }), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { field: 'asset_ids' } } },
  })
  const { total } = (await send('POST', '/sdk/alerts/preview', { rule_id: rule?.id })).data.pagination
  t.equal(total, 0, 'it asks for no alert')
  t.match((await send('PATCH', path, { is_active: true, asset_ids: null })).data, {
    is_active: true,
    asset_ids: null,
  })
})
