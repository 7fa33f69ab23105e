import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { LineageOrigin, SeenEdge } from '../../../../plugins/lineage/api.ts'
import { discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import type { Tenant, TestServer } from '../../../helpers/server.ts'
import { startSource } from '../../../helpers/source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Some of it holds, some does not, and some cannot be enforced. */
const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
team:
  name: sales
schema:
  - name: orders
    properties:
      - name: id
        logicalType: integer
        primaryKey: true
      - name: total
        logicalType: date
      - name: email
        required: true
        quality:
          - type: text
            description: Ask the sales team
slaProperties:
  - { property: retention, value: 3, unit: y }
`

/** Names of columns that a page must show as text. */
export const HOSTILE_NAMES = [
  '<script>isAttacked = 1</script>',
  '"><img src=x onerror=isAttacked=1>',
  'עברית מימין לשמאל',
  '🚚 delivery 👩‍👩‍👧',
  'a'.repeat(63),
]

/** A company whose source has one of everything that the console shows. */
export interface ConsoleWorld {
  tenant: Tenant
  source: string
  /** Qualified names. */
  table: string
  hostileTable: string
  metricId: string
  /** Open alerts, the newest first. */
  alertIds: string[]
  /** Raises one more alert, as the checks would. */
  raiseAlert(): Promise<void>
}

const DAYS = 60

export async function makeConsoleWorld(t: Teardown, app: TestServer): Promise<ConsoleWorld> {
  const source = await startSource(t)
  const { server } = app
  const tenant = await app.signUp()
  const quoted = HOSTILE_NAMES.map(name => `"${name.replaceAll('"', '""')}" text`)
  for (const statement of [
    `create table orders (id int primary key, email text, total numeric(10,2), status varchar(20), created_at timestamptz)`,
    `insert into orders select n, case when n % 9 = 0 then null else n || '@example.com' end, n, 'paid',
       now() - interval '3 days' from generate_series(1, 500) n`,
    `create table customers (id int primary key, email text, phone text)`,
    `create view recent as select id, total from orders`,
    `create table "<script>isAttacked = 1</script>" (${quoted.join(', ')})`,
  ])
    await source.query(statement)
  const post = async (path: string, payload: object) => {
    const reply = await tenant.ask('POST', `/api/v1/sdk${path}`, payload)
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
    return reply.body.data
  }
  const asset = await post('/assets', {
    name: 'shop',
    description: 'A <b>shop</b>',
    source_type: 'postgresql',
    connection_config: source.config,
  })
  const discover = async () => {
    const { job_id: id } = await post(`/assets/${asset.id}/discover`, {})
    await server.jobs.settled(discoverJob, data => data.run_id === id)
  }
  await discover()
  const table = { table_path: 'public.orders' }
  const metric = await post(`/metrics/${asset.id}`, { ...table, metric_type: 'row_count' })
  for (const rule of [
    { rule_type: 'NOT_NULL', column_name: 'email', severity: 'warning' },
    { rule_type: 'RANGE', column_name: 'total', rule_config: { max: 300 }, severity: 'warning' },
    {
      rule_type: 'ENUM',
      column_name: 'status',
      rule_config: { allowed_values: ['open'] },
      severity: 'critical',
    },
    { rule_type: 'UNIQUE', column_name: 'id' },
  ])
    await post(`/validity/${asset.id}`, { ...table, ...rule })
  await post('/freshness/schedules', {
    asset_id: asset.id,
    ...table,
    freshness_column: 'created_at',
    sla_threshold: '24h',
  })
  const found = await tenant.ask('GET', '/api/v1/assets?search=orders&asset_type=table')
  const { id: tableId, qualified_name: name } = found.body.data[0]
  const scan = (at?: Date) =>
    server.plugins.checks.runTable(tenant.companyId, tableId as string, 'active', at ? { at } : {})
  await scan()
  const profile = async () => {
    const { profiles } = server.plugins
    const target = await server.db.company(tenant.companyId, trx =>
      profiles.resolveTarget(trx, tableId as string, {}),
    )
    await profiles.profileAsset(target, { signal: new AbortController().signal })
  }
  await profile()
  // The past of a metric, which would take as many days to measure.
  await app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at,
       expected, low, high)
     select company_id, check_id, series, value + n % 7, total_rows, 'pass', at - make_interval(days => n),
       value, value - 9, value + 9
     from check_results, generate_series(1, $2) n where check_id = $1`,
    [metric.internal_id, DAYS],
  )
  await tenant.ask('PUT', '/api/v1/sdk/contracts/orders', { contract: CONTRACT, source: 'shop' })
  for (const statement of [
    `alter table orders alter column status type text`,
    `insert into orders values (501, null, 9000, 'lost', now() - interval '3 days')`,
    `alter table customers drop column phone`,
    `create table invoices (id int)`,
  ])
    await source.query(statement)
  await discover()
  await profile()
  // The row was there for the profile; other tests count the 500 that are left.
  await source.query('delete from orders where id = 501')
  await tenant.ask('POST', `/api/v1/sdk/freshness/${tableId}/refresh`, {})
  const hostile = await tenant.ask('GET', `/api/v1/assets?search=${encodeURIComponent('<script>')}`)
  const alerts = await tenant.ask('GET', '/api/v1/sdk/alerts/inbox?limit=100')
  return {
    tenant,
    source: 'shop',
    table: name,
    hostileTable: hostile.body.data[0].qualified_name,
    metricId: metric.id,
    alertIds: alerts.body.data.alerts.map(({ id }: { id: string }) => id),
    async raiseAlert() {
      await server.db.company(tenant.companyId, trx =>
        server.plugins.alerts.raise(trx, {
          type: 'validity_failure',
          cause: randomUUID(),
          severity: 'critical',
          sourceId: asset.id,
          asset: { id: tableId, qualifiedName: name, assetType: 'table', tags: [] },
          ruleName: 'One more',
          title: 'One more rule fails',
          details: { rule_id: 'v_1', invalid_count: 3 },
        }),
      )
    },
  }
}

/**
 * Adds lineage around the table: a landing zone and the customers before it, a view with columns and a dashboard behind
 * it, an edge that was not seen for long, and a foreign key. @returns the ids of nodes by name
 */
export async function addLineage({ server, query }: TestServer, { tenant }: ConsoleWorld) {
  const tables = await query(`select id, name, source_id from tables where company_id = $1`, [
    tenant.companyId,
  ])
  const ids: Record<string, string> = Object.fromEntries(
    tables.map(({ id, name }) => [String(name), String(id)]),
  )
  const table = (name: string) => ({ tableId: ids[name]! })
  const sourceId = String(tables[0]!.source_id)
  const landing = { kind: 'dataset' as const, namespace: 's3://landing', name: 'orders' }
  const revenue = {
    ...{ kind: 'dashboard' as const, namespace: 'looker', name: 'Revenue' },
    ...{ url: 'https://looker.example.com/revenue', owners: [{ name: 'Ada', email: 'ada@example.com' }] },
  }
  await server.db.company(tenant.companyId, async trx => {
    const record = (origin: LineageOrigin, edges: SeenEdge[]) =>
      server.plugins.lineage.recordEdges(trx, {
        ...{ origin, edges, isComplete: false },
        sourceId: ['view', 'foreign_key'].includes(origin) ? sourceId : null,
      })
    await record('openlineage', [
      { upstream: { outside: landing }, downstream: table('orders'), detail: 'airflow.load_orders' },
      { upstream: table('customers'), downstream: table('orders'), detail: 'airflow.old_load' },
    ])
    await record('view', [
      {
        ...{ upstream: table('orders'), downstream: table('recent'), detail: 'public.recent' },
        columns: [
          { upstream: 'id', downstream: 'id' },
          { upstream: 'total', downstream: 'total' },
        ],
      },
    ])
    await record('dbt', [
      { upstream: table('recent'), downstream: { outside: revenue }, detail: 'exposure.revenue' },
    ])
    await record('foreign_key', [
      { upstream: table('orders'), downstream: table('invoices'), detail: 'invoices_order' },
    ])
  })
  const old = `last_seen_at = now() - interval '40 days' where company_id = $1 and upstream_id = $2`
  for (const name of ['lineage_edges', 'lineage_edge_origins'])
    await query(`update ${name} set ${old} and downstream_id = $3`, [
      tenant.companyId,
      ids.customers,
      ids.orders,
    ])
  for (const { id, name } of await query('select id, name from lineage_nodes where company_id = $1', [
    tenant.companyId,
  ]))
    ids[name === 'orders' ? 'landing' : String(name)] = String(id)
  return ids
}

/** The incident of the first alert, which a job makes after the alert was raised. */
export async function untilIncident({ tenant, alertIds }: ConsoleWorld): Promise<string> {
  for (;;) {
    const { body } = await tenant.ask('GET', `/api/v1/sdk/incidents?alert_id=${alertIds[0]}`)
    const [incident] = body.data.incidents
    if (incident) return String(incident.id)
    await wait(100)
  }
}
