import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)

async function paymentsWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, [
    `create table payments (id int, region text, paid numeric, due numeric, email text)`,
    `insert into payments values (1, 'north', 5, 10, 'a'), (2, 'south', 10, 10, 'b'), (3, 'south', 0, 10, null)`,
  ])
  await discover(world)
  const { tenant, asset } = world
  const base = `/api/v1/sdk/metrics/${asset.id}`
  const make = (body: object) =>
    tenant.ask('POST', base, { metric_type: 'custom_sql', table_path: 'payments', ...body })
  const capture = async (body: object) => {
    const made = await make(body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return (await tenant.ask('POST', `${base}/${made.body.data.id}/capture`)).body.data.snapshots
  }
  return { ...world, base, make, capture }
}

t.test('an expression is captured, in groups too, and a threshold says what is wrong with it', async t => {
  const { capture, app, tenant } = await paymentsWorld(t)
  const ratio = 'sum(paid) / nullif(sum(due), 0)'
  t.match(await capture({ sql_expression: ratio }), [{ value: 0.5, status: 'PASS' }])
  t.match(await capture({ sql_expression: ratio, group_by_columns: ['region'], min: 0.9 }), [
    { value: 0.5, status: 'FAIL' },
    { value: 0.5, status: 'FAIL' },
  ])
  const [alert] = await app.query(
    `select title from alerts where company_id = $1 and kind = 'metric_anomaly'`,
    [tenant.companyId],
  )
  t.match(
    alert?.title,
    /^payments, region south: sum\(paid\) \/ nullif\(sum\(due\), 0\) = 0.5, expected at least 0.9 \(−44 %\)$/,
  )
})

t.test('a SELECT gives one number; two rows, none and texts are errors and no passes', async t => {
  const { capture } = await paymentsWorld(t)
  t.match(await capture({ sql_expression: 'select sum(paid) as value from payments where due > 5' }), [
    { value: 15, status: 'PASS' },
  ])
  t.match(await capture({ sql_expression: 'select paid as value from payments', max: 100 }), [
    { value: null, status: 'ERROR', error_message: /returned 3 rows/ },
  ])
  t.match(await capture({ sql_expression: 'select paid as value from payments where paid > 99' }), [
    { status: 'ERROR', error_message: /returned no row/ },
  ])
  t.match(await capture({ sql_expression: 'select max(region) as value from payments' }), [
    { status: 'ERROR', error_message: /not a finite number/ },
  ])
})

t.test('what is no number of the table is refused when it is made', async t => {
  const { make } = await paymentsWorld(t)
  const cases: [object, string, RegExp][] = [
    [{ sql_expression: 'paid' }, 'sql_expression', /stands in no aggregate function/],
    [{ sql_expression: 'sum(paid) over ()' }, 'sql_expression', /each row/],
    [{ sql_expression: 'sum(gone)' }, 'sql_expression', /gone/],
    [{ sql_expression: 'sum((select 1))' }, 'sql_expression', /whole SELECT/],
    [{ sql_expression: 'max(pg_sleep(1)::text)' }, 'sql_expression', /not allowed/],
    [{ sql_expression: 'delete from payments' }, 'sql_expression', /not allowed|SELECT/],
    [{ sql_expression: 'select * from payments' }, 'sql_expression', /one column/],
    [{}, 'sql_expression', /required/],
    [
      { sql_expression: 'select count(*) as value from payments', group_by_columns: ['region'] },
      'group_by_columns',
      /has no groups/,
    ],
  ]
  for (const [body, field, message] of cases)
    t.match(
      await make(body),
      { status: 400, body: { error: { message, details: { field } } } },
      JSON.stringify(body),
    )
})

t.test('of a column that is tagged as personal data it may count, and show no value', async t => {
  const { make, tenant, asset } = await paymentsWorld(t)
  const tag = { asset_id: asset.id, name: 'pii', object_path: 'payments.email', object_type: 'column' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/tags', tag)).status, 201)
  t.match(await make({ sql_expression: 'count(email)' }), { status: 201 })
  t.match(await make({ sql_expression: 'max(length(email))' }), {
    status: 400,
    body: { error: { message: /tagged as personal data/ } },
  })
  t.match(await make({ sql_expression: 'max(payments::text)' }), { status: 400 }, 'the whole row has it')
  t.match(await make({ sql_expression: 'select count(*) as value from payments' }), { status: 201 })
  t.match(await make({ sql_expression: 'select max(paid) as value from payments' }), { status: 400 })
})
