import t from 'tap'
import { mariadbAbsent, startShop } from '../../helpers/mariadb.ts'
import { startServer } from '../../helpers/server.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

t.test('rules and freshness of a MariaDB take its own SQL', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query('create table orders (id int primary key, v int, `on` datetime, status varchar(20))')
  await shop.query(
    `insert into orders values (1, 5, now(), 'open'), (2, -3, now(), '12'), (3, null, now(), null)`,
  )
  const app = await startServer(t)
  const tenant = await app.signUp()
  const { body } = await tenant.ask('POST', '/api/v1/sdk/assets', {
    ...{ name: 'shop', source_type: 'mysql', connection_config: shop.config },
  })
  const asset = body.data as { id: string }
  await discover({ app, tenant, asset })
  const rules = `/api/v1/sdk/validity/${asset.id}`
  const make = (sql_expression: string) =>
    tenant.ask('POST', rules, {
      ...{ rule_type: 'CUSTOM_SQL', table_path: 'orders', rule_config: { sql_expression } },
    })
  for (const [text, invalid] of [
    ['`v` >= 0', 2],
    ["status REGEXP '^[0-9]+$'", 2],
    ['status = "open"', 2],
    ['`on` > now() - interval 1 day', 0],
    ['SELECT * FROM orders a JOIN orders b ON a.id = b.id WHERE a.v < 0', 1],
    ['SELECT id FROM `orders` LIMIT 1, 10', 2],
  ] as const) {
    const made = await make(text)
    t.equal(made.status, 201, `${text}: ${JSON.stringify(made.body)}`)
    const checked = await tenant.ask('POST', `${rules}/${made.body.data.uuid}/check`, { sample_limit: 5 })
    t.match(checked.body.data, { invalid_count: invalid, total_rows: 3, error_message: null }, text)
  }
  for (const [text, sentence] of [
    ["status || 'x' = 'openx'", /write or between conditions, and concat\(a, b\)/],
    ["status regexp '^\\d+$'", /write \\\\d for a backslash/],
    ['kind = "status"', /write `status` for the column or 'status' for the text/],
    ['`sleep`(9) = 0', /The function sleep is not allowed/],
    ['`nope` = 1', /The column .*nope.* does not exist/],
    ['SELECT nope FROM orders', /The column .*nope.* does not exist/],
    ['SELECT id, v + 1 AS id FROM orders', /give each a name of its own/],
  ] as const) {
    const made = await make(text)
    t.match(
      made,
      { status: 400, body: { error: { details: { field: 'rule_config.sql_expression' } } } },
      text,
    )
    t.match(JSON.stringify(made.body), new RegExp(sentence.source.replaceAll('\\\\', '\\\\\\\\')), text)
  }
  const schedule = (freshness_expression: string) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      ...{ asset_id: asset.id, table_path: 'orders', freshness_expression },
      ...{ monitoring_mode: 'explicit', sla_threshold: '24h' },
    })
  t.match(await schedule("date_sub(`on`, interval 1 day) || 'x'"), { status: 400 })
  const watched = await schedule('date_sub(`on`, interval 1 day)')
  t.equal(watched.status, 201, JSON.stringify(watched.body))
})

t.test('a SELECT that finds invalid rows fails on an empty table, and other rules pass there', async t => {
  const { tenant, asset, ...world } = await makeWorld(t, ['create table orders (id int primary key)'])
  await discover({ tenant, asset, ...world })
  const rules = `/api/v1/sdk/validity/${asset.id}`
  for (const [sql_expression, expected] of [
    [
      'select 1 from (select count(*) as n from orders) counted where n = 0',
      { status: 'fail', invalid_percent: 100 },
    ],
    ['select id from orders', { status: 'pass', invalid_percent: 0 }],
    ['id > 0', { status: 'pass', invalid_percent: 0 }],
  ] as const) {
    const made = await tenant.ask('POST', rules, {
      ...{ rule_type: 'CUSTOM_SQL', table_path: 'orders', rule_config: { sql_expression } },
    })
    const checked = await tenant.ask('POST', `${rules}/${made.body.data.uuid}/check`, {})
    t.match(checked.body.data, { total_rows: 0, ...expected }, sql_expression)
  }
})
