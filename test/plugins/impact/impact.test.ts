import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { command } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table customers (id int primary key, email text, name text)',
  'create table orders (id int primary key, customer_id int references customers, total numeric(10,2), note text)',
  'create table lonely (id int primary key)',
  'create view daily as select customer_id, sum(total) as revenue from orders group by 1',
])
const { app, tenant, asset } = world
await discover(world)
const found = (await tenant.ask('GET', '/api/v1/assets?asset_type=table,view')).body.data as {
  id: string
  name: string
}[]
const idOf = (name: string) => found.find(table => table.name === name)!.id

async function send(method: string, path: string, body?: object) {
  const reply = await tenant.ask(method, `/api/v1/sdk${path}`, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}

await app.server.db.company(tenant.companyId, trx =>
  app.server.plugins.lineage.recordEdges(trx, {
    origin: 'dbt',
    sourceId: null,
    isComplete: false,
    edges: [
      {
        upstream: { tableId: idOf('daily') },
        downstream: {
          outside: {
            kind: 'dashboard',
            namespace: 'dbt:shop',
            name: 'Revenue',
            url: 'https://bi.example.com/1',
            owners: [{ name: 'Kim', email: 'kim@example.com' }],
          },
        },
        detail: 'shop',
        columns: [{ upstream: 'revenue', downstream: 'revenue' }],
      },
      {
        upstream: { tableId: idOf('customers') },
        downstream: { tableId: idOf('lonely') },
        detail: 'guess',
      },
    ],
  }),
)
await send('PUT', '/owners', { asset_id: idOf('daily'), owners: ['ann@example.com'] })
await send('POST', `/validity/${idOf('orders')}`, {
  rule_type: 'NOT_NULL',
  table_path: 'orders',
  column_name: 'total',
  name: 'Totals',
})
await send('POST', `/metrics/${idOf('orders')}`, { metric_type: 'row_count', table_path: 'orders' })
await send('PUT', '/contracts/orders', {
  source: asset.id,
  contract: `{apiVersion: v3.1.0, kind: DataContract, id: o, version: '1', status: active, schema: [{name: orders,
    properties: [{name: note, logicalType: string}]}]}`,
})

const ask = async (...changes: object[]) => send('POST', '/lineage/impact', { source: 'shop', changes })

t.test('a column hits what uses it, and only that', async t => {
  const { level, changes } = await ask({ change: 'drop_column', table: 'public.orders', column: 'total' })
  t.equal(level, 'critical')
  t.match(changes, [
    {
      level: 'critical',
      sentence: 'Dropping public.orders.total breaks 1 dashboard, 1 table, 1 check',
      table: { id: idOf('orders') },
      old_type: 'numeric(10,2)',
      tables: [
        {
          id: idOf('daily'),
          distance: 1,
          certainty: 'certain',
          columns: ['revenue'],
          owners: [{ name: 'ann@example.com' }],
        },
      ],
      dashboards: [{ name: 'Revenue', distance: 2, certainty: 'certain', url: 'https://bi.example.com/1' }],
      owners: [
        { email: 'ann@example.com', assets: 1 },
        { email: 'kim@example.com', assets: 1 },
      ],
      checks: [{ id: /^v_/, name: 'Totals', kind: 'validity', certainty: 'certain' }],
      contracts: [],
      is_complete: true,
    },
  ])
  const { changes: others } = await ask(
    { change: 'drop_column', table: 'orders', column: 'note' },
    { change: 'drop_column', table: 'customers', column: 'name' },
    { change: 'retype_column', table: 'orders', column: 'total', new_type: 'numeric(12,2)' },
    { change: 'retype_column', table: 'orders', column: 'total', new_type: 'numeric(10,2)' },
    { change: 'add_not_null', table: 'orders', column: 'note' },
    { change: 'drop_table', table: 'lonely' },
  )
  t.match(others, [
    { level: 'high', tables: [], contracts: [{ contract: 'orders' }] },
    { level: 'medium', tables: [{ id: idOf('lonely'), certainty: 'possible', columns: null }] },
    { level: 'medium', sentence: /changes what reaches/, dashboards: [{}] },
    { level: 'none' },
    { level: 'low' },
    { level: 'none', sentence: 'Dropping lonely: no known use' },
  ])
  t.ok(
    others.every(
      ({ tables }: { tables: object[] }, index: number) => index === 1 || index === 2 || tables.length === 0,
    ),
  )
})

t.test('a table and a schema hit all that is made from them', async t => {
  const { changes, unknown, level } = await ask(
    { change: 'drop_table', table: 'orders' },
    { change: 'drop_schema', schema: 'public' },
    { change: 'drop_table', table: 'nothing' },
    { change: 'drop_column', table: 'orders', column: 'gone' },
  )
  t.equal(level, 'critical')
  t.match(changes, [
    { tables: [{ name: 'daily' }], dashboards: [{ name: 'Revenue' }], checks: { length: 2 } },
    { table: null, schema: 'public', dashboards: [{ name: 'Revenue' }] },
  ])
  t.match(unknown, [
    { index: 2, table: 'nothing', problem: /no table/ },
    { index: 3, column: 'gone', problem: /gone/ },
  ])
})

t.test('bad input is refused by field', async t => {
  for (const [body, field] of [
    [{ source: 'shop', changes: [] }, 'changes'],
    [{ source: idOf('orders'), changes: [{ change: 'drop_table', table: 'orders' }] }, 'source'],
    [{ source: 'shop', changes: [{ change: 'drop_column', table: 'orders' }] }, 'changes.0'],
    [{ source: 'shop', changes: [{ change: 'burn', table: 'orders' }] }, 'changes.0.change'],
  ] as const)
    t.match(await tenant.ask('POST', '/api/v1/sdk/lineage/impact', body), {
      status: 400,
      body: { error: { details: { field } } },
    })
  const theirs = await app.signUp()
  const body = { source: asset.id, changes: [{ change: 'drop_table', table: 'orders' }] }
  t.equal((await theirs.ask('POST', '/api/v1/sdk/lineage/impact', body)).status, 404)
})

t.test('schema changes and alerts have their impact', async t => {
  await world.source.query('alter table customers drop column name')
  await discover(world)
  const { data } = (await tenant.ask('GET', '/api/v1/sdk/schema/changes')).body.data
  const change = data.find(({ change_type: type }: { change_type: string }) => type === 'column_removed')
  t.match(await send('GET', `/schema/changes/${change.id}/impact`), {
    change: 'drop_column',
    column: 'name',
    level: 'medium',
    tables: [{ id: idOf('lonely'), certainty: 'possible' }],
  })
  const { alertId } = await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.alerts.raise(trx, {
      type: 'validity_failure',
      cause: 'x',
      severity: 'critical',
      sourceId: asset.id,
      asset: { id: idOf('orders'), qualifiedName: 'shop.shop.public.orders', assetType: 'table' },
      ruleName: 'Totals',
      title: 'Wrong',
      details: { column_name: 'total' },
    }),
  )
  t.match(await send('GET', `/alerts/${alertId}/impact`), {
    column: 'total',
    level: 'high',
    sentence: '1 dashboard and 1 table are made from it',
    tables: [{ id: idOf('daily'), columns: ['revenue'] }],
    dashboards: [{ name: 'Revenue' }],
    owners: [{ email: 'ann@example.com' }, { email: 'kim@example.com' }],
  })
  for (const path of ['/schema/changes/x/impact', `/alerts/${asset.id}/impact`])
    t.equal((await tenant.ask('GET', `/api/v1/sdk${path}`)).status, 404)
})

t.test('the command is a gate', async t => {
  const folder = t.testdir({})
  const migration = async (sql: string) => {
    const file = join(folder, 'm.sql')
    await writeFile(file, sql)
    return file
  }
  const run = (file: string, ...options: string[]) =>
    command(['impact', '-f', file, '--source', 'shop', ...options], {
      TIDEMARK_URL: app.server.info.uri,
      TIDEMARK_API_KEY: tenant.key,
    })
  const hit = await run(await migration('begin;\nalter table orders drop column total;\ncommit;'))
  t.equal(hit.code, 1, hit.err)
  t.match(hit.out, /critical +.*m\.sql:2 +Dropping orders\.total breaks/)
  t.match(hit.out, /certain +view .*daily/)
  t.match(hit.out, /owners: ann@example\.com, Kim/)
  t.equal((await run(await migration('drop table lonely'))).code, 0)
  t.equal(
    (await run(await migration('alter table customers drop column email'), '--fail-on', 'high')).code,
    0,
  )
  const unclear = await run(await migration('update orders set total = 0; drop table other;'), '--json')
  t.equal(unclear.code, 0)
  t.match(JSON.parse(unclear.out), { level: 'none', not_understood: [{ line: 1 }], unknown: [{ line: 1 }] })
  t.equal((await run(await migration('update orders set total = 0'), '--strict')).code, 1)
  t.equal((await run(await migration('alter table `orders` drop column total'))).code, 2)
  t.equal((await run(join(folder, 'none.sql'))).code, 2)
  const deep = join(folder, 'deep.sql')
  await writeFile(deep, `select 1${' + 1'.repeat(300_000)}`)
  const some = await run(await migration('drop table orders'), '-f', deep, join(folder, 'none.sql'))
  t.equal(some.code, 2, 'a file that cannot be read stops itself only')
  t.match(
    some.out,
    /unread +.*deep\.sql cannot be read .*nested too deeply\nunread +.*none\.sql is not there/,
  )
  t.match(some.out, /Dropping orders breaks[^]*2 files not read/)
  const near = await command(
    ['impact', '-f', await migration('drop table orders'), '--source', 'shop', '--company', tenant.companyId],
    { DATABASE_URL: String(app.server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' },
  )
  t.equal(near.code, 1, near.err)
  t.match(near.out, /critical +.*Dropping orders breaks 1 dashboard, 1 table, 2 checks, 1 contract/)
})
