import t from 'tap'
import { discover, makeStage } from '../../../helpers/world.ts'
import { DAILY, dayStart, startShop, textOf } from './shop.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const HOUR_MS = 3_600_000
const hoursLater = (moment: Date, hours: number) => new Date(moment.getTime() + hours * HOUR_MS)

async function shop(t: Parameters<typeof startShop>[0]) {
  const started = await startShop(t, stage, 'placed timestamp, shop text, a text')
  const { app, tenant } = started
  return {
    ...started,
    check: async () => {
      const [check] = await app.query('select * from checks where company_id = $1', [tenant.companyId])
      return check!
    },
    results: () =>
      app.query(`select r.* from check_results r where company_id = $1 order by at, series`, [
        tenant.companyId,
      ]),
    alerts: () =>
      app.query(
        `select status, title, kind, occurrences from alerts where company_id = $1 and kind in ('validity_failure', 'metric_anomaly') order by created_at`,
        [tenant.companyId],
      ),
  }
}

t.test('a check that runs again after an error recovers, though no bucket changed', async t => {
  const { make, run, source, check, alerts, results } = await shop(t)
  await make('validity', { rule_type: 'NOT_NULL', column_name: 'total', ...DAILY })
  await run(dayStart(3))
  await source.query('alter table orders rename column placed to gone')
  await run(hoursLater(dayStart(3), 1))
  t.match(await check(), { status: 'error', last_bucket_end: dayStart(3) })
  t.match(
    (await results()).filter(({ status }) => status === 'error'),
    [{ error_message: /placed/ }],
  )
  await source.query('alter table orders rename column gone to placed')
  await run(hoursLater(dayStart(3), 2))
  t.match(await check(), { status: 'pass' })
  t.notMatch(await alerts(), [{ status: 'triggered' }])
})

t.test('a late failure of an older day is over where the day after it passed', async t => {
  const { make, run, insert, alerts, check } = await shop(t)
  await make('validity', { rule_type: 'NOT_NULL', column_name: 'total', ...DAILY })
  await insert(1, dayStart(1))
  await insert(1, dayStart(2))
  await run(dayStart(3))
  await insert(null, dayStart(1))
  await run(hoursLater(dayStart(3), 1))
  t.match(await alerts(), [{ status: 'resolved', title: /2026-10-02/ }])
  t.match(await check(), { status: 'pass' })
})

t.test('an older day that is mended leaves the alert of a newer one open', async t => {
  const { make, run, insert, alerts, check, source } = await shop(t)
  await make('validity', { rule_type: 'NOT_NULL', column_name: 'total', ...DAILY })
  await insert(null, dayStart(1))
  await insert(null, dayStart(2))
  await run(dayStart(3))
  await source.query(`update orders set total = 1 where placed = '${textOf(dayStart(1))}'`)
  await run(hoursLater(dayStart(3), 1))
  t.match(await alerts(), [{ status: 'triggered' }])
  t.match(await check(), { status: 'fail' })
})

t.test('a day that fails once counts as one failing run, however often it is judged again', async t => {
  const { make, run, insert, alerts, check } = await shop(t)
  await make('metrics', { metric_type: 'row_count', min: 10, consecutive: 3, ...DAILY, revisit: 1 })
  await run(dayStart(1))
  t.match(await check(), { failing_runs: 2 })
  await insert(1, dayStart(0))
  await run(hoursLater(dayStart(1), 1))
  await insert(1, dayStart(0))
  await run(hoursLater(dayStart(1), 2))
  t.match(await check(), { failing_runs: 2 })
  t.same(await alerts(), [])
  await run(dayStart(2))
  t.match(await check(), { failing_runs: 3 })
  t.equal((await alerts()).length, 1)
})

t.test('groups of two columns are the same from run to run, whatever the order of their names', async t => {
  const { make, run, source, results } = await shop(t)
  await make('metrics', { metric_type: 'row_count', group_by_columns: ['shop', 'a'], ...DAILY })
  await source.query(`insert into orders (placed, shop, a) values ('${textOf(dayStart(1))}', 'x', 'y')`)
  await run(dayStart(3))
  const before = await results()
  await run(hoursLater(dayStart(3), 1))
  t.same(await results(), before)
})

t.test('window_delay and revisit of a check without a window are refused', async t => {
  const { make, ask } = await shop(t)
  const metric = await make('metrics', { metric_type: 'row_count' })
  const rule = await make('validity', { rule_type: 'NOT_NULL', column_name: 'total' })
  for (const path of [`metrics/{asset}/${metric.id}`, `validity/{asset}/${rule.uuid}`])
    for (const patch of [{ window_delay: '2h' }, { revisit: 3 }]) {
      const changed = await ask('PATCH', path, patch)
      t.match(changed, { status: 400 }, `${path} ${JSON.stringify(patch)}`)
      t.match(JSON.stringify(changed.body), /window/)
    }
})

t.test('a day of one row of personal data is an error of that day, and no revision of it', async t => {
  const { make, run, insert, results, tenant, asset } = await shop(t)
  await make('metrics', { metric_type: 'mean', column_name: 'total', ...DAILY })
  for (const row of [1, 2]) await insert(row, dayStart(0))
  await insert(1, dayStart(1))
  for (const row of [1, 2]) await insert(row, dayStart(2))
  const tag = { asset_id: asset.id, name: 'pii', object_path: 'orders.total', object_type: 'column' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/tags', tag)).status, 201)
  await run(dayStart(3))
  const before = await results()
  t.match(before, [
    { status: 'pass', value: 1.5 },
    { status: 'error', error_message: /one row/ },
    { status: 'pass', value: 1.5 },
  ])
  await run(hoursLater(dayStart(3), 1))
  t.same(await results(), before)
})

t.test('a day on which no group has a row counts as measured, so that its groups are missing', async t => {
  const { make, run, source, app, tenant } = await shop(t)
  await make('metrics', { metric_type: 'row_count', group_by_columns: ['shop'], ...DAILY, revisit: 0 })
  for (let day = 0; day < 12; day += 1) {
    await source.query(`insert into orders (placed, shop) values ('${textOf(dayStart(day))}', 'x')`)
    await run(dayStart(day + 1))
  }
  await run(dayStart(13))
  t.match(
    await app.query(`select title from alerts where company_id = $1 and kind = 'metric_anomaly'`, [
      tenant.companyId,
    ]),
    [{ title: /no rows with shop x/ }],
  )
})

t.test('a time column that has become one of dates is an error where days are cut into hours', async t => {
  const { app, make, run, source, asset, tenant, check, insert } = await shop(t)
  await make('metrics', { metric_type: 'row_count', time_column: 'placed', window: '6h' })
  await insert(1, dayStart(0))
  await run(dayStart(1))
  await source.query('alter table orders alter placed type date')
  await discover({ app, tenant, asset })
  await run(dayStart(2))
  t.match(await check(), { status: 'error', last_bucket_end: dayStart(1) })
})

t.test('a day that is judged again neither ends nor repeats what is known of missing groups', async t => {
  const { make, run, source, alerts, app, tenant } = await shop(t)
  await make('metrics', {
    metric_type: 'row_count',
    min: 0,
    group_by_columns: ['shop'],
    ...DAILY,
    revisit: 1,
  })
  const sell = (name: string, day: number) =>
    source.query(`insert into orders (placed, shop) values ('${textOf(dayStart(day))}', '${name}')`)
  for (let day = 0; day < 12; day += 1) {
    for (const name of ['x', 'y']) await sell(name, day)
    await run(dayStart(day + 1))
    await sell('x', day)
    await run(hoursLater(dayStart(day + 1), 1))
  }
  const runs = async () => {
    const found = await app.query(
      `select series ->> 'shop' as shop, run from check_states where company_id = $1 order by 1`,
      [tenant.companyId],
    )
    return found.map(({ shop: name, run: count }) => [name, count])
  }
  t.same(await runs(), [
    ['x', 12],
    ['y', 12],
  ])
  await sell('x', 12)
  await run(dayStart(13))
  t.match(await alerts(), [{ status: 'triggered', title: /no rows with shop y/ }])
  await sell('x', 11)
  await run(hoursLater(dayStart(13), 1))
  t.match(await alerts(), [{ status: 'triggered' }])
  for (const name of ['x', 'y']) await sell(name, 13)
  await run(dayStart(14))
  t.match(await alerts(), [{ status: 'resolved' }])
  t.same(await runs(), [
    ['x', 14],
    ['y', 1],
  ])
})

t.test('values that were dismissed as expected stay expected when an older day is revised', async t => {
  const { make, run, source, alerts, app, tenant, check } = await shop(t)
  await make('metrics', { metric_type: 'row_count', sensitivity: 3, ...DAILY, revisit: 4 })
  const sell = (count: number, day: number) =>
    source.query(
      `insert into orders (placed) select timestamp '${textOf(dayStart(day))}' from generate_series(1, ${count})`,
    )
  for (let day = 0; day < 23; day += 1) {
    await sell(day < 22 ? 100 + (day % 3) : 400 + (day % 3), day)
    await run(dayStart(day + 1))
  }
  const [alert] = await app.query(`select id from alerts where company_id = $1 and kind = 'metric_anomaly'`, [
    tenant.companyId,
  ])
  const path = `/api/v1/sdk/alerts/${String(alert?.id)}/dismiss`
  t.match(await tenant.ask('POST', path, { reason: 'expected' }), { status: 200 })
  await sell(1, 20)
  await run(hoursLater(dayStart(23), 1))
  await sell(401, 23)
  await run(dayStart(24))
  t.match(await alerts(), [{ status: 'dismissed' }])
  t.match(await check(), { status: 'pass' })
})

t.test('a delay that has become longer takes no day back', async t => {
  const { make, run, ask, insert, results, check } = await shop(t)
  const { id } = await make('metrics', { metric_type: 'row_count', ...DAILY, revisit: 1 })
  await insert(1, dayStart(2))
  await run(dayStart(3))
  t.match(await ask('PATCH', `metrics/{asset}/${id}`, { window_delay: '3d' }), { status: 200 })
  await insert(1, dayStart(1))
  await run(hoursLater(dayStart(3), 1))
  t.match(
    (await results()).map(({ value, revisions }) => [value, revisions]),
    [
      [1, 1],
      [1, 0],
    ],
  )
  t.match(await check(), { last_bucket_end: dayStart(3) })
})

t.test('the list of checks says when a check ran, not when its newest day began', async t => {
  const { make, run, ask } = await shop(t)
  await make('metrics', { metric_type: 'row_count', ...DAILY })
  const ranAt = hoursLater(dayStart(3), 5)
  await run(ranAt)
  t.match((await ask('GET', 'checks/{asset}?points=1')).body.data.items, [
    { last_checked_at: ranAt.toISOString(), points: [{ at: dayStart(2).toISOString() }] },
  ])
})
