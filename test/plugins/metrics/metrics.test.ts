import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const SALES = [
  `create table sales (id int primary key, region text, amount numeric(10,2), note text)`,
  `insert into sales select n, case when n % 2 = 0 then 'north' else 'south' end, n, case when n <= 2 then null else 'x' end
     from generate_series(1, 10) n`,
]

async function salesWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SALES)
  await discover(world)
  const base = `/api/v1/sdk/metrics/${world.asset.id}`
  const make = (body: object) => world.tenant.ask('POST', base, { table_path: 'sales', ...body })
  return { ...world, base, make }
}

t.test('a metric of each kind captures its number', async t => {
  const { tenant, asset, base, make } = await salesWorld(t)
  const kinds: [object, number][] = [
    [{ metric_type: 'row_count' }, 10],
    [{ metric_type: 'null_percent', column_name: 'note' }, 20],
    [{ metric_type: 'distinct_count', column_name: 'region' }, 2],
    [{ metric_type: 'duplicate_count', column_name: 'region' }, 8],
    [{ metric_type: 'min_value', column_name: 'amount' }, 1],
    [{ metric_type: 'max_value', column_name: 'amount' }, 10],
    [{ metric_type: 'mean', column_name: 'amount' }, 5.5],
    [{ metric_type: 'percentile', column_name: 'amount', percentile_value: 25 }, 3.25],
    [{ metric_type: 'mean_length', column_name: 'region' }, 5],
  ]
  for (const [body, value] of kinds) {
    const made = await make(body)
    t.equal(made.status, 201, JSON.stringify(made.body))
    t.match(made.body.data, { asset_id: Number, asset_public_id: asset.id })
    t.match(made.body.data, { id: /^m_/, capture_interval: 'daily', sensitivity: 1, is_active: true })
    const { body: captured } = await tenant.ask('POST', `${base}/${made.body.data.id}/capture`)
    t.match(
      captured.data,
      { snapshot_count: 1, snapshots: [{ value, is_anomaly: false, z_score: 0, status: 'PASS' }] },
      JSON.stringify(body),
    )
  }
  t.match((await tenant.ask('GET', `${base}/summary`)).body.data, {
    total_metrics: 9,
    active_metrics: 9,
    total_checks: 9,
    passing: 9,
    failing: 0,
    health_percentage: 100,
  })
})

t.test(
  'a jump after enough history is an anomaly with its band, and raises an alert that a return resolves',
  async t => {
    const { app, tenant, base, make, source } = await salesWorld(t)
    const made = await make({ metric_type: 'mean', column_name: 'amount', sensitivity: 3 })
    const [row] = await app.query('select table_id from checks')
    const capture = (day: number) =>
      app.server.plugins.checks.runTable(tenant.companyId, String(row?.table_id), 'active', {
        at: new Date(Date.UTC(2024, 5, day, 6)),
      })
    for (let day = 1; day <= 14; day++) {
      await source.query(`update sales set amount = id + ${(day * 7) % 5} * 0.02`)
      await capture(day)
    }
    await source.query('update sales set amount = amount * 100')
    await capture(15)
    const { body } = await tenant.ask('GET', `${base}/${made.body.data.id}?snapshot_limit=2`)
    const [jump, before] = body.data.snapshots
    t.match(before, { is_anomaly: false, status: 'PASS' })
    t.match(jump, { is_anomaly: true, status: 'FAIL', learning: false })
    t.ok(Math.abs(jump.z_score) > 3 && jump.value > jump.expected_range_high)
    const alerts = () => app.query(`select status, event from alerts where kind = 'metric_anomaly'`)
    t.match(await alerts(), [{ status: 'triggered' }])
    await source.query('update sales set amount = amount / 100')
    await capture(16)
    t.match(await alerts(), [{ status: 'resolved' }])
  },
)

t.test('groups are judged apart, and too many of them are an error that says so', async t => {
  const { tenant, base, make, source } = await salesWorld(t)
  const made = await make({ metric_type: 'row_count', group_by_columns: ['region'] })
  const { body } = await tenant.ask('POST', `${base}/${made.body.data.id}/capture`)
  t.equal(body.data.snapshot_count, 2)
  t.same(
    Object.fromEntries(
      body.data.snapshots.map((snapshot: { group_values: { region: string }; value: number }) => [
        snapshot.group_values.region,
        snapshot.value,
      ]),
    ),
    { north: 5, south: 5 },
  )
  await source.query(`insert into sales select n, 'r' || n, 1, null from generate_series(11, 1100) n`)
  const tooMany = await tenant.ask('POST', `${base}/${made.body.data.id}/capture`)
  t.match(tooMany.body.data.snapshots, [{ status: 'ERROR', value: null, error_message: /1,000 groups/ }])
})

t.test('no rows give no value, which passes and is not learned', async t => {
  const { tenant, base, make, source } = await salesWorld(t)
  await source.query('delete from sales')
  const mean = await make({ metric_type: 'mean', column_name: 'amount' })
  const { body } = await tenant.ask('POST', `${base}/${mean.body.data.id}/capture`)
  t.match(body.data.snapshots, [{ value: null, status: 'PASS', is_anomaly: false }])
  const share = await make({ metric_type: 'null_percent', column_name: 'note' })
  t.match((await tenant.ask('POST', `${base}/${share.body.data.id}/capture`)).body.data.snapshots, [
    { value: 0 },
  ])
})

t.test('what a user gets wrong is named with its field; patches keep the rest', async t => {
  const { tenant, base, make } = await salesWorld(t)
  for (const [body, field] of [
    [{ metric_type: 'mode' }, 'metric_type'],
    [{ metric_type: 'mean' }, 'column_name'],
    [{ metric_type: 'mean', column_name: 'region' }, 'column_name'],
    [{ metric_type: 'percentile', column_name: 'amount' }, 'percentile_value'],
    [{ metric_type: 'percentile', column_name: 'amount', percentile_value: 101 }, 'percentile_value'],
    [{ metric_type: 'row_count', sensitivity: 11 }, 'sensitivity'],
    [{ metric_type: 'row_count', group_by_columns: ['a', 'b', 'c', 'd'] }, 'group_by_columns'],
    [{ metric_type: 'row_count', group_by_columns: ['nope'] }, 'group_by_columns'],
    [{ metric_type: 'row_count', colour: 'red' }, 'colour'],
  ] as const) {
    const refused = await make(body)
    t.match(
      refused,
      { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: { field } } } },
      JSON.stringify([body, refused.body]),
    )
  }
  const missing = await make({ metric_type: 'mean' })
  t.match(missing.body.error.details, { field: 'column_name', metric_type: 'mean' })

  const made = await make({ metric_type: 'row_count', column_name: 'note' })
  t.equal(made.body.data.column_name, null, 'row_count ignores the column')
  const patched = await tenant.ask('PATCH', `${base}/${made.body.data.id}`, { is_active: false })
  t.match(patched.body.data, { is_active: false, sensitivity: 1, capture_interval: 'daily' })
  t.equal((await tenant.ask('GET', `${base}?is_active=true`)).body.pagination.total, 0)
  t.match(await tenant.ask('GET', `${base}/${made.body.data.internal_id}`), { status: 200 })
  t.match((await tenant.ask('DELETE', `${base}/${made.body.data.id}`)).body.data, { success: true })
  t.match(await tenant.ask('GET', `${base}/${made.body.data.id}`), {
    status: 404,
    body: { error: { code: 'METRIC_NOT_FOUND' } },
  })
})
