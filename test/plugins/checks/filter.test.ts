import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const SHOP = [
  'create table customers (id int primary key)',
  'insert into customers values (1), (2)',
  `create table orders (id int primary key, customer_id int, country text, total int, is_test boolean not null)`,
  `insert into orders values
     (1, 1, 'DE', 10, false), (2, 2, 'DE', null, false), (3, 9, 'FR', 40, false), (4, 8, null, null, true)`,
]

async function shop(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const { tenant, asset } = world
  return {
    ...world,
    ask: (method: string, path: string, body?: object) =>
      tenant.ask(method, `/api/v1/sdk/${path.replace('{asset}', asset.id)}`, body),
  }
}

const NOT_NULL = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'total' }

t.test('a rule, a metric and a referential check are about the rows of their filter', async t => {
  const { ask } = await shop(t)
  const rule = await ask('POST', 'validity/{asset}', { ...NOT_NULL, filter: " country = 'DE' " })
  t.match(rule, { status: 201, body: { data: { filter: "country = 'DE'" } } })
  const judged = await ask('POST', `validity/{asset}/${rule.body.data.uuid}/check`, { sample_limit: 5 })
  t.match(judged.body.data, {
    ...{ status: 'fail', total_rows: 2, invalid_count: 1, invalid_percent: 50 },
    invalid_samples: { samples: [{ row_id: 2 }] },
  })
  const metric = await ask('POST', 'metrics/{asset}', {
    ...{ metric_type: 'mean', table_path: 'orders', column_name: 'total', filter: 'not is_test' },
  })
  const captured = await ask('POST', `metrics/{asset}/${metric.body.data.id}/capture`)
  t.match(captured.body.data, { snapshots: [{ value: 25, status: 'PASS' }] })
  const reference = await ask('POST', 'referential/{asset}', {
    ...{ child_table_path: 'orders', child_column_name: 'customer_id' },
    ...{ parent_table_path: 'customers', parent_column_name: 'id', filter: 'not is_test' },
  })
  const executed = await ask('POST', `referential/{asset}/${reference.body.data.id}/execute`)
  t.match(executed.body.data, { status: 'fail', orphan_count: 1, total_child_rows: 3 })
})

t.test('an alert says of which rows it speaks', async t => {
  const { ask, app, tenant } = await shop(t)
  const rule = await ask('POST', 'validity/{asset}', { ...NOT_NULL, filter: "country = 'DE'" })
  await ask('POST', `validity/{asset}/${rule.body.data.uuid}/check`, {})
  const [alert] = await app.query(
    `select id from alerts where kind = 'validity_failure' and company_id = $1`,
    [tenant.companyId],
  )
  const { body } = await tenant.ask('GET', `/api/v1/sdk/alerts/${String(alert?.id)}`)
  t.match(body.data, {
    title: "orders.total where country = 'DE': 1 row without a value (50 %)",
    event: { details: { filter: "country = 'DE'" } },
  })
})

t.test('a dry run measures, and computes the past of, the rows of the filter', async t => {
  const { ask, asset } = await shop(t)
  const body = { ...NOT_NULL, asset_id: asset.id, filter: "country = 'FR'" }
  const tried = await ask('POST', 'validity/dry-run', body)
  t.match(tried, { status: 200, body: { data: { status: 'pass', total_rows: 1, invalid_count: 0 } } })
  t.match(tried.body.data.sql, [{ text: /country = 'FR'/ }])
})

t.test('a filter that cannot be one is refused when the check is made', async t => {
  const { ask } = await shop(t)
  for (const [filter, sentence] of [
    ['total', /must be a condition/],
    ['select true', /not a SELECT/],
    ['country = ', /must be one boolean expression/],
    ['nope = 1', /The column .*nope.* does not exist/],
    ['sum(total) > 1', /aggregate/],
    ['id in (select 1)', /sub-query/],
    ['', /filter/],
  ] as const)
    for (const [path, body] of [
      ['validity', NOT_NULL],
      ['metrics', { metric_type: 'row_count', table_path: 'orders' }],
      [
        'referential',
        {
          ...{ child_table_path: 'orders', child_column_name: 'customer_id' },
          ...{ parent_table_path: 'customers', parent_column_name: 'id' },
        },
      ],
    ] as const) {
      const made = await ask('POST', `${path}/{asset}`, { ...body, filter })
      t.match(made, { status: 400, body: { error: { details: { errors: [{ field: 'filter' }] } } } }, path)
      t.match(JSON.stringify(made.body), sentence, `${path} ${filter}`)
    }
  const custom = {
    rule_type: 'CUSTOM_SQL',
    table_path: 'orders',
    rule_config: { sql_expression: 'select 1' },
  }
  const made = await ask('POST', 'validity/{asset}', { ...custom, filter: 'id > 1' })
  t.match(JSON.stringify(made.body), /put the condition into its WHERE/)
})

t.test('a filter that fails later is an error with its sentence, and no pass', async t => {
  const { ask, source } = await shop(t)
  const rule = await ask('POST', 'validity/{asset}', { ...NOT_NULL, filter: 'not is_test' })
  await source.query('alter table orders drop column is_test')
  const judged = await ask('POST', `validity/{asset}/${rule.body.data.uuid}/check`, {})
  t.match(judged.body.data, { status: 'error', error_message: /is_test/ })
})
