/** Sources of other engines than PostgreSQL, as a client of the interface meets them. */
import t from 'tap'
import { mariadbAbsent, startShop } from './helpers/mariadb.ts'
import { startRedshift } from './helpers/redshift.ts'
import { startServer } from './helpers/server.ts'
import { discover } from './helpers/world.ts'

const SDK = '/api/v1/sdk'

interface Customer {
  config: Record<string, unknown>
  /** The table's path as discovery reports it. */
  path: string
  query(text: string): Promise<unknown>
}

const engines: {
  name: string
  skip: string | false
  start(t: { teardown(down: () => unknown): unknown }): Promise<Customer>
}[] = [
  {
    name: 'mysql',
    skip: mariadbAbsent,
    async start(t) {
      const shop = await startShop(t)
      return { config: shop.config, path: `${shop.name}.${shop.name}.orders`, query: shop.query }
    },
  },
  {
    name: 'redshift',
    skip: false,
    async start(t) {
      const cluster = await startRedshift(t)
      return {
        config: { ...cluster.config },
        path: `${cluster.config.database}.public.orders`,
        query: text => cluster.query(text),
      }
    },
  },
]

for (const { name, skip, start } of engines) {
  t.test(`${name}: from a connection to a measured rule`, { skip }, async t => {
    const customer = await start(t)
    await customer.query(
      'create table orders (id int not null primary key, email varchar(99), total decimal(10,2), updated_at timestamp)',
    )
    await customer.query(
      `insert into orders values (1, 'a@x.org', 10.5, '2024-01-01 00:00:00'), (2, null, 20, null), (3, 'no', 3, null)`,
    )
    const app = await startServer(t)
    const tenant = await app.signUp()
    const make = (connection_config: object, source = 'shop') =>
      tenant.ask('POST', `${SDK}/assets`, { name: source, source_type: name, connection_config })

    const wrong = await make({ ...customer.config, password: 'not-this-one' }, 'wrong')
    const refused = await tenant.ask('POST', `${SDK}/assets/${wrong.body.data.id}/test-connection`)
    t.match(refused.body.data, { success: false, error_code: 'credentials', error_message: /check/ })
    t.notMatch(JSON.stringify(refused.body), /not-this-one/)

    const made = await make(customer.config)
    t.equal(made.status, 201, JSON.stringify(made.body))
    t.notMatch(JSON.stringify(made.body), new RegExp(String(customer.config.password)))
    const asset = made.body.data
    const tested = await tenant.ask('POST', `${SDK}/assets/${asset.id}/test-connection`)
    t.match(tested.body.data, { success: true }, JSON.stringify(tested.body.data))

    const world = { app, tenant, asset }
    t.match(await discover(world), { status: 'completed', result: { table_count: 1, column_count: 4 } })
    const table = (await tenant.ask('GET', `/api/v1/assets/shop.${customer.path}?include_columns=true`)).body
    t.match(table, { asset_type: 'table', qualified_name: `shop.${customer.path}` })
    await customer.query('alter table orders add column note varchar(10)')
    t.match(await discover(world), { result: { changes_detected: 1 } })

    const rule = await tenant.ask('POST', `${SDK}/validity/${asset.id}`, {
      rule_type: 'REGEX',
      table_path: 'orders',
      column_name: 'email',
      rule_config: { pattern: '^[^@]+@[^@]+$' },
    })
    t.equal(rule.status, 201, JSON.stringify(rule.body))
    const checked = await tenant.ask('POST', `${SDK}/validity/${asset.id}/${rule.body.data.id}/check`)
    t.match(
      checked.body.data,
      { status: 'fail', total_rows: 3, invalid_count: 2 },
      JSON.stringify(checked.body),
    )

    const metric = (more: object) =>
      tenant.ask('POST', `${SDK}/metrics/${asset.id}`, {
        metric_type: 'percentile',
        table_path: 'orders',
        column_name: 'total',
        percentile_value: 50,
        sensitivity: 3,
        ...more,
      })
    const median = await metric({})
    const captured = await tenant.ask('POST', `${SDK}/metrics/${asset.id}/${median.body.data.id}/capture`)
    t.match(captured.body.data.snapshots, [{ value: 10.5 }], JSON.stringify(captured.body))
    const grouped = await metric({ group_by_columns: ['email'] })
    const groups = await tenant.ask('POST', `${SDK}/metrics/${asset.id}/${grouped.body.data.id}/capture`)
    const byEmail = groups.body.data.snapshots.map(
      ({ group_values: { email }, value }: { group_values: { email: string | null }; value: number }) =>
        [String(email), value] as const,
    )
    t.same(Object.fromEntries(byEmail), { 'a@x.org': 10.5, null: 20, no: 3 }, JSON.stringify(groups.body))
  })
}
