import t from 'tap'
import { discover, makeWorld } from '../../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table customers (id int primary key, email text)',
  'create table orders (id int primary key, customer_id int, total int)',
  'insert into orders values (1, 1, 5), (2, 1, 7)',
  'create view daily as select customer_id, sum(total) as revenue from orders group by 1',
])
const { app, tenant, asset } = world
await discover(world)
const found = (await tenant.ask('GET', '/api/v1/assets?asset_type=table,view')).body.data as {
  id: string
  name: string
}[]
const idOf = (name: string) => found.find(table => table.name === name)!.id
const [customers, orders, daily] = ['customers', 'orders', 'daily'].map(idOf) as [string, string, string]

async function send(method: string, path: string, body?: object) {
  const reply = await tenant.ask(method, `/api/v1/sdk${path}`, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}
const { id: ruleId } = await send('POST', `/validity/${orders}`, {
  rule_type: 'NOT_NULL',
  table_path: 'orders',
  column_name: 'total',
  name: 'Totals',
}).then(({ uuid }) => ({ id: uuid as string }))
await send('PUT', '/owners', { asset_id: orders, owners: ['ann@example.com'] })
await send('PUT', '/owners', { asset_id: daily, owners: ['kim@example.com'] })
const check = () => send('POST', `/validity/${orders}/${ruleId}/check`, {})
const alertOf = async (id: string) => send('GET', `/alerts/${id}`)
const openAlert = async () => (await send('GET', `/alerts?asset_id=${orders}&limit=1`)).data[0].id as string

let alertId = ''

t.test('one alert names its last pass, what it hits and who owns that', async t => {
  await check()
  await world.source.query('insert into orders values (3, 1, null)')
  await check()
  alertId = await openAlert()
  const alert = await alertOf(alertId)
  t.match(alert, {
    finding: { found: '1 row without a value (33 %)' },
    last_pass: { value: 0 },
    owners: [{ name: 'ann@example.com' }],
    downstream: {
      table_count: 1,
      tables: [{ id: daily, name: 'daily', steps: 1 }],
      dashboard_count: 0,
      owners: [{ email: 'kim@example.com' }],
      is_complete: true,
    },
    activities: [{ activity_type: 'opened' }],
  })
  t.ok(alert.last_pass.at < alert.created_at)
  t.equal(alert.upstream.table_count, 0, 'no lineage leads to it')
})

t.test('what never passed says so, and what no check raised has no last pass', async t => {
  await app.query(`delete from check_results where status = 'pass'`)
  t.strictSame((await alertOf(alertId)).last_pass, { at: null, value: null })
  await send('DELETE', `/validity/${orders}/${ruleId}`)
  t.equal((await alertOf(alertId)).last_pass, null)
})

t.test('tables upstream are counted, and those with an open alert named, the nearest first', async t => {
  const trouble = (id: string, name: string, severity: 'info' | 'critical') => ({
    ...{ type: 'freshness_violation', cause: `${id} ${severity}`, severity, sourceId: asset.id },
    asset: { id, qualifiedName: `shop.shop.public.${name}`, assetType: 'table' },
    ...{ ruleName: 'every hour', title: `${name}: ${severity}`, details: {} },
  })
  const [, , raised] = await app.server.db.company(tenant.companyId, async trx => {
    await app.server.plugins.lineage.recordEdges(trx, {
      ...{ origin: 'manual', sourceId: null, isComplete: false },
      edges: [{ upstream: { tableId: customers }, downstream: { tableId: orders }, detail: '' }],
    })
    return app.server.plugins.alerts.raiseAll(trx, [
      trouble(customers, 'customers', 'info'),
      trouble(customers, 'customers', 'critical'),
      trouble(daily, 'daily', 'critical'),
    ])
  })
  t.match((await alertOf(raised!.alertId)).upstream, {
    ...{ table_count: 2, unwatched_count: 2 },
    failing: [{ title: 'customers: critical', severity: 'critical', asset_id: customers, steps: 2 }],
  })
})

t.test('a comment stands in the timeline of the reply', async t => {
  await send('POST', `/alerts/${alertId}/comment`, { comment: 'The loader is late' })
  t.match((await alertOf(alertId)).activities[0], { metadata: { comment: 'The loader is late' } })
})
