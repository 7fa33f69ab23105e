import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { listCaps } from '../../../server/database/company-caps.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { manifest, node, notNull } from '../../plugins/lineage/feeds/dbt-project.ts'

const world = await makeWorld(t, [
  'create table customers (id int primary key, email text)',
  'create table orders (id int primary key, customer_id int, total int)',
])
const { app, tenant, asset, source } = world
const { query } = app
await discover(world)
await query(`update companies set plan = 'enterprise' where company_id = $1`, [tenant.companyId])
t.beforeEach(() => query('delete from rate_windows'))
const { user_id: userId } = (
  await query('select id as user_id from users where company_id = $1', [tenant.companyId])
)[0] as { user_id: string }
const tables = await query('select id, name from tables where source_id = $1', [asset.id])
const tableOf = (name: string) => String(tables.find(table => table.name === name)?.id)

const SDK = '/api/v1/sdk'
const incident = randomUUID()
await query(
  `insert into incidents (id, company_id, status, severity, title, event_type, cause, alert_count)
   values ($1, $2, 'open', 'info', 'One', 'row_count', '{}', 0)`,
  [incident, tenant.companyId],
)
const made = async (path: string, body: object) => {
  const reply = await tenant.ask('POST', `${SDK}${path}`, body)
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
  return reply.body.data
}
const alert = randomUUID()
await query(
  `insert into alerts (id, company_id, kind, cause, severity, rule_name, title, event)
   values ($1, $2, 'validity_failure', 'one', 'info', 'One', 'One', '{}')`,
  [alert, tenant.companyId],
)
const metric = (await made(`/metrics/${asset.id}`, { table_path: 'orders', metric_type: 'row_count' })) as {
  id: string
}
const hook = (name: string) => ({
  ...{ name, destination_type: 'webhook' },
  config: { url: 'https://127.0.0.1:9/hook' },
})
const destination = (await made('/alerts/destinations', hook('First'))) as { id: string }

const database = String((source.config as { database: unknown }).database)
const placed = (name: string) => node('model', name, { database, schema: 'public' })
const event = (name: string) => ({
  eventType: 'COMPLETE',
  eventTime: new Date().toISOString(),
  producer: 'https://example.com',
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
  run: { runId: randomUUID() },
  job: { namespace: 'jobs', name: 'load' },
  inputs: [{ namespace: 'files', name }],
  outputs: [{ namespace: 'files', name: 'all' }],
})

/** By cap, a request that makes one more. */
const REQUESTS: Readonly<Record<string, (name: string) => [method: string, path: string, body: object]>> = {
  alert_comments: name => ['POST', `${SDK}/alerts/${alert}/comment`, { comment: name }],
  alert_rules: name => ['POST', `${SDK}/alerts/rules`, { name, destination_ids: [destination.id] }],
  api_keys: name => ['POST', '/api/v1/api-keys', { name, scope: 'read-only' }],
  badges: () => ['POST', `${SDK}/badges`, { asset_id: asset.id }],
  chart_links: () => [
    'POST',
    `${SDK}/chart-links`,
    { asset_id: tableOf('orders'), check_id: metric.id, expires_in_days: 7 },
  ],
  comparisons: () => [
    'POST',
    `${SDK}/comparisons/${asset.id}`,
    { table_path: 'orders', right_table_path: 'customers', key_columns: ['id'] },
  ],
  data_contracts: name => [
    'PUT',
    `${SDK}/contracts/${name}`,
    {
      source: asset.id,
      contract: { apiVersion: 'v3.1.0', kind: 'DataContract', id: name, version: '1.0.0', status: 'active' },
    },
  ],
  destinations: name => ['POST', `${SDK}/alerts/destinations`, hook(name)],
  digests: name => ['POST', `${SDK}/alerts/digests`, { name, destination_id: destination.id }],
  external_checks: name => {
    const nodes = [placed('orders'), notNull('orders', name)]
    return ['POST', `${SDK}/lineage/dbt`, { source: 'shop', manifest: manifest(nodes) }]
  },
  incident_comments: name => ['POST', `${SDK}/incidents/${incident}/comment`, { comment: name }],
  invitations: name => ['POST', '/api/v1/invitations', { email: `${name}@example.com`, role: 'viewer' }],
  mute_windows: name => [
    'POST',
    `${SDK}/alerts/mute-windows`,
    { name, ends_at: '2999-01-01T00:00:00Z', starts_at: '2998-12-01T00:00:00Z' },
  ],
  lineage_aliases: name => {
    const symlinks = { identifiers: [{ namespace: 'hive', name, type: 'TABLE' }] }
    const { inputs, ...rest } = event('aliased')
    return [
      'POST',
      '/api/v1/lineage',
      { ...rest, inputs: inputs.map(each => ({ ...each, facets: { symlinks } })) },
    ]
  },
  lineage_edges: () => [
    'POST',
    `${SDK}/lineage/edges`,
    { upstream: tableOf('customers'), downstream: tableOf('orders') },
  ],
  lineage_nodes: name => ['POST', '/api/v1/lineage', event(name)],
  metrics: () => ['POST', `${SDK}/metrics/${asset.id}`, { table_path: 'orders', metric_type: 'row_count' }],
  operating_schedules: name => [
    'POST',
    '/api/v1/operating-schedules',
    { name, timezone: 'UTC', rules: [{ days: [1], start: '08:00', end: '18:00' }] },
  ],
  ownerships: name => ['PUT', `${SDK}/owners`, { tag: name, owners: [userId] }],
  referential_checks: () => [
    'POST',
    `${SDK}/referential/${asset.id}`,
    {
      ...{ child_table_path: 'orders', child_column_name: 'customer_id' },
      ...{ parent_table_path: 'customers', parent_column_name: 'id' },
    },
  ],
  sources: name => [
    'POST',
    `${SDK}/assets`,
    {
      ...{ name, source_type: 'postgresql' },
      connection_config: { host: '127.0.0.1', port: 9, database: 'd', username: 'u', password: 'p' },
    },
  ],
  teams: name => ['POST', `${SDK}/teams`, { name }],
  validity_rules: name => [
    'POST',
    `${SDK}/validity/${asset.id}`,
    { table_path: 'orders', rule_type: 'NOT_NULL', column_name: 'total', name },
  ],
}

/** Caps of an extension, which another test may load into this process. */
const OF_EXTENSIONS = ['row_budgets']
const productCaps = [...listCaps()].filter(([name]) => !OF_EXTENSIONS.includes(name)).sort()

for (const [name, cap] of productCaps) {
  t.test(`a company has a limited number of ${cap.what}`, async t => {
    const { most } = cap
    t.teardown(() => (cap.most = most))
    const count = async () => {
      const [row] = await query(`select count(*)::int as count from ${cap.table} where company_id = $1`, [
        tenant.companyId,
      ])
      return Number(row?.count)
    }
    const ask = (what: string) => {
      const [method, path, body] = REQUESTS[name]!(what)
      const credential = path === '/api/v1/invitations' ? tenant.token : tenant.key
      return app.ask(method, path, body, credential)
    }
    const before = await count()
    cap.most = 0
    const refused = await ask('refused')
    t.match(refused, {
      status: 409,
      body: { error: { code: 'LIMIT_REACHED', details: { cap: name, limit: 0 } } },
    })
    t.match(refused.body.error?.message, /^A company may have at most 0 .+: /)
    t.equal(await count(), before, 'nothing is stored')

    cap.most = before + 10
    const { status, body } = await ask('accepted')
    t.match(String(status), /^20[01]$/, JSON.stringify(body))
  })
}

t.test('the documentation has the number of each cap', async t => {
  const page = readFileSync(new URL('../../../plugins/public/docs/operations.md', import.meta.url), 'utf8')
  const limits = /^## Limits$([^]*?)^## /m.exec(page)?.[1] ?? ''
  for (const [, { what, most }] of productCaps) {
    const [subject = ''] = what.split(/,| within| on one| of | outside/)
    const rows = limits.split('\n').filter(line => line.includes(subject))
    t.ok(
      rows.some(row => row.includes(most.toLocaleString('en'))),
      `${what}: ${most}`,
    )
  }
})

/** Tables without a cap of their own, by what bounds them. */
const BOUNDED: Readonly<Record<string, readonly string[]>> = {
  'the catalog of the sources, which are capped': [
    ...['tables', 'tags', 'schema_changes', 'lineage_views', 'lineage_sources'],
    ...['lineage_edge_origins', 'lineage_column_edges', 'recommendations', 'recommendation_counts'],
    ...['recommendation_changes', 'table_part_settings', 'watch_policies', 'watched_tables'],
  ],
  'checks, which are capped, and the time for which results are kept': [
    ...['check_results', 'check_states'],
    ...['alerts', 'alert_escalations', 'alert_history', 'incidents', 'incident_alerts', 'deliveries'],
    ...['delivery_attempts', 'destination_slots', 'check_leases', 'monitors', 'scan_costs', 'profiles'],
    ...['source_usage', 'source_sessions'],
  ],
  'the parts of tables, of which at most 4,000 are kept': ['table_parts'],
  'contracts, which are capped': ['contract_clauses'],
  'limits of requests, and the days for which they are kept': [
    ...['audit_log', 'contract_events', 'contract_exports', 'contract_tests', 'demo_sessions'],
    ...['idempotent_replies', 'onboarding_events', 'prospects', 'runs'],
    ...['schema_baselines', 'tickets'],
  ],
  'invitations, which are capped': [
    'users',
    'identities',
    'user_preferences',
    'onboarding_chapters',
    'password_resets',
  ],
  'a number in the code': [
    ...['companies', 'audit_heads', 'lineage_namespaces', 'lineage_runs', 'lineage_run_ends', 'team_members'],
    'sessions',
  ],
}

t.test('a user has a limited number of sessions, of which the oldest end', async t => {
  await query(
    `insert into sessions (id, company_id, user_id, refresh_hash, expires_at, created_at)
     select gen_random_uuid(), $1, $2, sha256(cast(n::text as bytea)), now() + interval '1 day', now() - interval '1 day'
       from generate_series(1, 150) n`,
    [tenant.companyId, userId],
  )
  const login = { email: tenant.email, password: tenant.password }
  const { status, body } = await app.ask('POST', '/api/v1/auth/login', login)
  t.equal(status, 200, JSON.stringify(body))
  const [left] = await query('select count(*)::int as count from sessions where user_id = $1', [userId])
  t.equal(left?.count, 100)
  t.equal((await app.ask('GET', '/api/v1/auth/me', undefined, body.access_token)).status, 200)
  t.equal(
    (await app.ask('GET', '/api/v1/auth/me', undefined, tenant.token)).status,
    200,
    'a newer one goes on',
  )
})

t.test('each table of companies has a cap, or something else that bounds it', async t => {
  const found = await query(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t
       using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'company_id' and t.table_type = 'BASE TABLE' order by 1`,
  )
  const capped = new Set([...listCaps().values()].map(({ table }) => table))
  const open = found.map(({ name }) => String(name)).filter(name => !capped.has(name))
  t.strictSame(open, Object.values(BOUNDED).flat().sort())
})
