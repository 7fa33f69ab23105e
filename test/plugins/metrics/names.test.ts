import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'
import { metricOf } from './world.ts'

const stage = await makeStage(t)

const PAYMENTS = [
  'create table payments (id int, paid numeric, email text, at timestamptz)',
  `insert into payments select n, n, case when n > 6 then n::text end, '2024-05-31' from generate_series(1, 10) n`,
]

async function paymentsWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, PAYMENTS)
  await discover(world)
  return world
}

const LIMITED = { metric_type: 'null_percent', column_name: 'email', max: 10 }

t.test('a metric with a name and a severity alerts by them', async t => {
  const world = await paymentsWorld(t)
  const metric = await metricOf(world, 'payments', {
    ...LIMITED,
    name: 'Emails are known',
    severity: 'info',
  })
  await metric.capture(0)
  const [alert] = await metric.alerts()
  t.match(alert, { severity: 'info', title: 'payments.email: 60 % null, expected at most 10 %' })
  const listed = await world.tenant.ask('GET', `/api/v1/sdk/checks/${world.asset.id}?search=emails+are`)
  t.match(listed.body.data.items, [{ name: 'Emails are known', severity: 'info' }], 'lists find it by name')
  const { body } = await world.tenant.ask('GET', `/api/v1/sdk/alerts/${alert!.id}`)
  t.equal(body.data.rule_name, 'Emails are known')

  const without = await world.tenant.ask('PATCH', metric.path, { name: null, severity: null })
  t.match(without.body.data, { name: null, severity: null })
  await metric.capture(1)
  t.match(
    (await metric.alerts()).at(-1),
    { severity: 'warning' },
    'it follows from the value again, and an open alert gets worse',
  )
})

t.test(
  'a metric without them is as it was: info and critical follow from how far off a value is',
  async t => {
    const world = await paymentsWorld(t)
    const metric = await metricOf(world, 'payments', LIMITED)
    t.match(metric.metric, { name: null, severity: null })
    await metric.capture(0)
    t.match(await metric.alerts(), [
      { severity: 'warning', title: 'payments.email: 60 % null, expected at most 10 %' },
    ])
  },
)

t.test('metrics of several columns are named after them, and one may have the severity of all', async t => {
  const { tenant, asset } = await paymentsWorld(t)
  const many = { metric_type: 'null_percent', table_path: 'payments', column_names: ['email', 'paid'] }
  const path = `/api/v1/sdk/metrics/${asset.id}/bulk`
  t.match(await tenant.ask('POST', path, { ...many, name: 'Both' }), {
    status: 400,
    body: { error: { details: { field: 'name' } } },
  })
  t.equal((await tenant.ask('POST', path, { ...many, severity: 'info' })).body.data.created, 2)
  const { body } = await tenant.ask('GET', `/api/v1/sdk/metrics/${asset.id}`)
  t.match(body.data.items, [
    { name: null, severity: 'info' },
    { name: null, severity: 'info' },
  ])
})

t.test('lists call a metric without a name as its alert does', async t => {
  const world = await paymentsWorld(t)
  const long = `sum(case when paid > 3 then 1 else 0 end)   * 100.0
    / nullif(count(*), 0) + ${'0 + '.repeat(20)} 0`
  const bodies = [
    { metric_type: 'row_count' },
    { metric_type: 'mean', column_name: 'paid' },
    { metric_type: 'custom_sql', sql_expression: 'sum(paid)' },
    { metric_type: 'custom_sql', sql_expression: long },
    { metric_type: 'custom_sql', sql_expression: `sum(length('${'𝒳'.repeat(60)}'))` },
    {
      metric_type: 'row_count',
      filter: `  paid > 2
      and email is null`,
    },
    { metric_type: 'row_count', filter: `paid > 2 and ${'paid > 0 and '.repeat(10)} true` },
    { metric_type: 'row_count', time_column: 'at', window: '1d' },
    { metric_type: 'row_count', time_column: 'at', window: '6h', filter: 'paid > 0' },
  ].map(body => ({ ...body, min: 1e6 }))
  const [first, ...others] = bodies
  const metric = await metricOf(world, 'payments', first!)
  for (const body of others) await metric.make(body)
  await metric.capture(0)
  const raised = await world.app.query('select cause, rule_name from alerts where company_id = $1', [
    world.tenant.companyId,
  ])
  const named = new Map(raised.map(({ cause, rule_name: name }) => [cause, name]))
  const { body } = await world.tenant.ask('GET', `/api/v1/sdk/checks/${world.asset.id}?limit=50`)
  const items = body.data.items as { id: string; name: string }[]
  t.equal(items.length, bodies.length)
  for (const { id, name } of items) t.equal(name, named.get(id), name)
})
