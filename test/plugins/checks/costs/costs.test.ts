import t from 'tap'
import { expireRows } from '../../../../server/database/retention.ts'
import { logPostgresql } from '../../../helpers/statement-log.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

const stage = await makeStage(t)

const SHOP = [
  'create table orders (id int primary key, email text)',
  `insert into orders select n, case when n % 10 > 0 then 'a@x.org' end from generate_series(1, 100) n`,
  'create table items (id int primary key, name text)',
  `insert into items values (1, 'a')`,
  'create table idle (id int)',
]

interface Table {
  id: string
  qualified_name: string
}

async function tableOf({ tenant, asset }: World, name: string): Promise<Table> {
  const path = `/api/v1/assets?source=${String(asset.name)}&asset_type=table&search=${name}`
  return (await tenant.ask('GET', path)).body.data[0]
}

async function makeRule({ tenant, asset }: World, table: string, rule: object): Promise<string> {
  const body = { rule_type: 'NOT_NULL', table_path: table, column_name: 'id', ...rule }
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.uuid
}

const scan = ({ app, tenant }: World, table: Table) =>
  app.server.plugins.checks.runTable(tenant.companyId, table.id, 'active')
const recordOf = async ({ tenant }: World, name: string) =>
  (await tenant.ask('GET', `/api/v1/sdk/assets/${name}`)).body.data
const costs = ({ tenant }: World, query = '') => tenant.ask('GET', `/api/v1/sdk/usage/tables${query}`)

t.test('the last scan of a table says what it used, as the log of the source has it', async t => {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const orders = await tableOf(world, 'orders')
  t.equal((await recordOf(world, orders.id)).last_scan, null, 'it was never scanned')
  await makeRule(world, 'orders', { column_name: 'email' })
  await makeRule(world, 'orders', { rule_type: 'UNIQUE' })
  const log = await logPostgresql(world.source)
  await scan(world, orders)
  const { statements, settings } = await log.take()
  const { last_scan: last } = await recordOf(world, orders.id)
  t.match(last, { checks: 2, statements: statements.length + settings.length })
  t.ok(last.rows > 0 && last.bytes > 0 && last.duration_ms >= 0)
  t.ok(Date.now() - Date.parse(last.at) < 60_000)
  t.strictSame((await recordOf(world, orders.qualified_name)).last_scan, last, 'by name too')
  const listed = await world.tenant.ask(
    'GET',
    `/api/v1/assets?source=${String(world.asset.name)}&asset_type=table`,
  )
  t.notOk('last_scan' in listed.body.data[0], 'lists leave it out')
})

t.test('tables are listed by the cost of their scans, those of the period alone', async t => {
  const world = await makeWorldOn(t, stage, SHOP)
  const { app, asset } = world
  await discover(world)
  const [orders, items] = [await tableOf(world, 'orders'), await tableOf(world, 'items')]
  await makeRule(world, 'orders', {})
  await makeRule(world, 'items', {})
  const paused = await makeRule(world, 'items', { rule_type: 'UNIQUE' })
  await world.tenant.ask('PATCH', `/api/v1/sdk/validity/${asset.id}/${paused}`, { is_active: false })
  await scan(world, orders)
  await scan(world, orders)
  await scan(world, items)
  const found = await costs(world, `?asset_id=${asset.id}&order_by=statements`)
  t.match(found, {
    status: 200,
    body: {
      data: {
        items: [
          { asset_id: orders.id, qualified_name: orders.qualified_name, scans: 2, active_checks: 1 },
          { asset_id: items.id, scans: 1, active_checks: 1 },
        ],
      },
      pagination: { total: 2 },
    },
  })
  const [first, second] = found.body.data.items
  t.equal(first.statements, 2 * second.statements)
  const used = await world.tenant.ask('GET', `/api/v1/sdk/assets/${asset.id}/usage`)
  t.equal(
    first.statements + second.statements,
    used.body.data.by_purpose.scan.statements,
    'as the source has it',
  )

  await app.query(`update scan_costs set day = day - 10 where table_id = $1`, [items.id])
  t.match((await costs(world, `?asset_id=${asset.id}&days=10`)).body, {
    data: { items: [{ asset_id: orders.id }] },
    pagination: { total: 1 },
  })
  t.match((await costs(world, `?asset_id=${asset.id}&days=11&limit=1&offset=5`)).body, {
    data: { items: [] },
    pagination: { total: 2 },
  })
  t.match((await costs(world, `?asset_id=${items.qualified_name}`)).body.data.items, [{ asset_id: items.id }])
  t.equal((await costs(world, '?order_by=money')).status, 400)
  t.equal((await costs(world, '?asset_id=nowhere')).status, 404)

  await app.query(`update scan_costs set day = day - 81 where table_id = $1`, [items.id])
  t.match(await expireRows(app.server), { scan_costs: 1 }, 'and what is older than 90 days is forgotten')
  t.equal((await recordOf(world, items.id)).last_scan, null)
  t.notOk((await expireRows(app.server)).scan_costs)

  await world.tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)
  t.strictSame(await app.query('select 1 from scan_costs where source_id = $1', [asset.id]), [])
})

t.test('a scan that did not reach its source cost it nothing', async t => {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  await makeRule(world, 'orders', {})
  await world.tenant.ask('PATCH', `/api/v1/sdk/assets/${world.asset.id}`, {
    connection_config: { ...world.source.config, port: 1 },
  })
  await scan(world, await tableOf(world, 'orders'))
  t.equal((await recordOf(world, (await tableOf(world, 'orders')).id)).last_scan, null)
  t.strictSame((await costs(world, `?asset_id=${world.asset.id}`)).body.data.items, [])
})
