import { discover, type World } from '../../helpers/world.ts'
import type { Receiver } from '../../helpers/receiver.ts'
import { startSource, type Source } from '../../helpers/source.ts'
import type { Reply, TestServer } from '../../helpers/server.ts'

const SDK = '/api/v1/sdk'

/** Input of the driver: the address of the server, a key, and the ids of the company's objects. */
export interface Fixtures {
  /** Base URL of the server, without a path. */
  url: string
  /** An API key of scope admin. */
  key: string
  /** A receiver of webhooks. */
  receiver: string
  /** A `connection_config` of the source's database. */
  connection: object
  source: { id: string; name: string }
  /** A second source, never discovered. */
  archive: { id: string; name: string }
  /** Qualified names by table name. */
  tables: Record<string, string>
  rule: string
  destination: string
  badge: string
  apiKey: string
  job: string
  validity: { failing: string; broken: string }
  metric: { rows: string; empty: string }
  referential: string
  schedules: { fresh: string; stale: string; off: string }
  alerts: Record<State, string>
}

/** The action that brings a triggered alert into each state. */
const MOVES = {
  triggered: null,
  acknowledged: ['acknowledge', {}],
  snoozed: ['snooze', { duration_minutes: 60 }],
  resolved: ['resolve', {}],
  dismissed: ['dismiss', {}],
} as const
type State = keyof typeof MOVES

interface Teardown {
  teardown(down: () => unknown): unknown
}

const TABLES = `
  create schema app;
  create table app.customers (id int primary key, email text, country text, created_at timestamptz not null);
  insert into app.customers
    select n, case when n > 3 then 'c' || n || '@example.com' end, 'DE', now() - n * interval '1 day'
    from generate_series(1, 20) n;
  create table app.orders (id int primary key, customer_id int, status text, amount numeric, placed_at timestamptz);
  insert into app.orders
    select n, 1 + n % 22, 'paid', n, now() - n * interval '1 hour' from generate_series(1, 100) n;
  create table app.events (id int primary key, kind text, seen_at timestamptz not null);
  insert into app.events select n, 'click', now() - interval '30 days' from generate_series(1, 10) n;
  create table app.payments (id int primary key, amount numeric, updated_at timestamptz not null);
  insert into app.payments select n, n, now() - n * interval '1 hour' from generate_series(1, 50) n;
  create table app.refunds (like app.payments including all);
  create table app.invoices (like app.payments including all);
  create table app.shipments (like app.payments including all);
  create table app.returns (like app.payments including all);
  create table app.claims (id int primary key, amount numeric);
  insert into app.claims values (1, 5);
  create table app.nothing (id int primary key, amount numeric);
  create table app.vanishing (id int primary key, note text);
  create table app.legacy (id int primary key, note text, price int, code varchar(10));
  create view app.order_totals as select customer_id, sum(amount) as total from app.orders group by customer_id;`

/** One schema change of each severity; the changed type has an old and a new value. */
const DRIFT = `
  alter table app.legacy drop column note;
  alter table app.legacy add column added int;
  alter table app.legacy alter column price type text;`

/**
 * Creates a company that uses every feature: a discovered source with schema changes, tags, lineage, schedules (fresh,
 * stale, paused), failing and erroneous checks, alerts in every state, a badge and a second API key.
 */
export async function makeFixtures(t: Teardown, app: TestServer, receiver: Receiver): Promise<Fixtures> {
  const { companyId } = await makeCompany(app)
  const { key } = await app.server.plugins.auth.createKey({ companyId, name: 'client', scope: 'admin' })
  const ask = async (method: string, path: string, payload?: unknown) => {
    const { status, body } = await app.ask(method, path, payload, key)
    if (status >= 300) throw new Error(`${method} ${path} was refused: ${JSON.stringify(body)}`)
    return body.data
  }
  const add = (path: string, payload: object) => ask('POST', `${SDK}${path}`, payload)

  const database = await startSource(t)
  await database.query(TABLES)
  const connection = database.config
  const source = await add('/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: connection,
  })
  const archive = await add('/assets', {
    name: 'archive',
    source_type: 'postgresql',
    connection_config: connection,
  })
  const tenant = { ask: (method: string, path: string, body?: unknown) => app.ask(method, path, body, key) }
  const world = { app, tenant, asset: source } as unknown as World
  await discover(world)

  const destination = await add('/alerts/destinations', {
    name: 'Receiver',
    destination_type: 'webhook',
    config: { url: `${receiver.url}/hook` },
  })
  const rule = await add('/alerts/rules', { name: 'Everything', destination_ids: [destination.id] })
  await database.query(DRIFT)
  const job = await discover(world)
  await connectTables(app, companyId, source.id)
  for (const [name, path] of [
    ['money', 'app.orders'],
    ['personal', 'app.customers.email'],
  ])
    await add('/tags', {
      asset_id: 'shop',
      name,
      object_path: path,
      object_type: name === 'money' ? 'table' : 'column',
      category: 'governance',
    })
  const badge = await add('/badges', { asset_id: 'shop', label: 'shop', freshness_enabled: true })
  const apiKey = await ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  return {
    url: app.server.info.uri.replace(/\/\/[^:]+:/, '//127.0.0.1:'),
    key,
    receiver: receiver.url,
    connection,
    source: { id: source.id, name: 'shop' },
    archive: { id: archive.id, name: 'archive' },
    tables: Object.fromEntries(
      [
        'customers',
        'orders',
        'events',
        'payments',
        'refunds',
        'invoices',
        'shipments',
        'returns',
        'legacy',
      ].map(name => [name, `shop.${database.name}.app.${name}`]),
    ),
    rule: rule.id,
    destination: destination.id,
    badge: badge.id,
    apiKey: apiKey.id,
    job: job.job_id,
    schedules: await addSchedules(add),
    alerts: await addAlerts(ask),
    ...(await addChecks(add, database)),
  }
}

type Ask = (method: string, path: string, payload?: unknown) => Promise<Reply['body']>
type Add = (path: string, payload: object) => Promise<Record<string, string>>

async function makeCompany({ server }: TestServer): Promise<{ companyId: string }> {
  const { id: companyId } = await server.plugins.auth.createCompany({ name: 'Acme' })
  // The driver sends more requests per second than other plans allow.
  await server.plugins.auth.setPlan(companyId, 'enterprise')
  return { companyId }
}

/** Adds lineage directly: PostgreSQL has no query log to derive it from. */
async function connectTables({ server }: TestServer, companyId: string, sourceId: string): Promise<void> {
  await server.db.company(companyId, trx =>
    server.plugins.lineage.connect(trx, sourceId, [
      ['app.customers', 'app.orders'],
      ['app.orders', 'app.payments'],
    ]),
  )
}

async function addSchedules(add: Add): Promise<Fixtures['schedules']> {
  const schedule = (table: string, freshness_column: string, more: object = {}) =>
    add('/freshness/schedules', {
      asset_id: 'shop',
      table_path: `app.${table}`,
      monitoring_mode: 'explicit',
      expected_interval_hours: 24,
      check_interval: '1h',
      freshness_column,
      ...more,
    })
  const fresh = await schedule('orders', 'placed_at')
  const stale = await schedule('events', 'seen_at')
  const off = await schedule('customers', 'created_at', { is_active: false })
  return { fresh: fresh.id!, stale: stale.id!, off: off.id! }
}

/** Creates checks and runs each; two have no number to report: a mean of no rows, and a rule whose table was dropped. */
async function addChecks(
  add: Add,
  database: Source,
): Promise<Pick<Fixtures, 'validity' | 'metric' | 'referential'>> {
  const failing = await add('/validity/shop', {
    rule_type: 'NOT_NULL',
    table_path: 'app.customers',
    column_name: 'email',
    name: 'Emails are known',
    severity: 'critical',
  })
  await add(`/validity/shop/${failing.uuid}/check`, { sample_limit: 5 })
  const broken = await add('/validity/shop', {
    rule_type: 'NOT_NULL',
    table_path: 'app.vanishing',
    column_name: 'note',
    name: 'Notes are known',
  })
  await database.query('drop table app.vanishing')
  await add(`/validity/shop/${broken.uuid}/check`, {})

  const rows = await add('/metrics/shop', { metric_type: 'row_count', table_path: 'app.orders' })
  for (let n = 0; n < 3; n++) await add(`/metrics/shop/${rows.id}/capture`, {})
  const empty = await add('/metrics/shop', {
    metric_type: 'mean',
    table_path: 'app.nothing',
    column_name: 'amount',
  })
  await add(`/metrics/shop/${empty.id}/capture`, {})

  const referential = await add('/referential/shop', {
    child_table_path: 'app.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'app.customers',
    parent_column_name: 'id',
    name: 'Orders have customers',
  })
  await add(`/referential/shop/${referential.id}/execute`, {})
  return {
    validity: { failing: failing.uuid!, broken: broken.uuid! },
    metric: { rows: rows.id!, empty: empty.id! },
    referential: referential.id!,
  }
}

/** Creates one alert in each state, each from its own validity rule, which is named after the state. */
async function addAlerts(ask: Ask): Promise<Fixtures['alerts']> {
  const ids = {} as Fixtures['alerts']
  for (const [state, move] of Object.entries(MOVES) as [State, (typeof MOVES)[State]][]) {
    const { uuid } = await ask('POST', `${SDK}/validity/shop`, {
      rule_type: 'NOT_NULL',
      table_path: 'app.customers',
      column_name: 'email',
      name: `Known emails, ${state}`,
    })
    await ask('POST', `${SDK}/validity/shop/${uuid}/check`, {})
    const { data } = await ask('GET', `${SDK}/alerts?search=${encodeURIComponent(`Known emails, ${state}`)}`)
    ids[state] = data[0].id
    if (move) await ask('POST', `${SDK}/alerts/${ids[state]}/${move[0]}`, move[1])
  }
  return ids
}
