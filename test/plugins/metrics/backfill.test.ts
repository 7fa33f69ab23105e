import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

/** Ten rows a day for sixty days and, of each day, one without a note; noon, so that no zone moves a day. */
const EVENTS = [
  `create table events as
     select n as id, case when n % 10 > 0 then 'note ' || n end as note, n % 7 as amount,
       now() - interval '1 hour' - (n / 10) * interval '1 day' as created_at
     from generate_series(0, 599) n`,
  `create table things (id int, label text)`,
]

async function eventsWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, EVENTS)
  await discover(world)
  const { tenant, asset } = world
  const post = (feature: string) => (body: object) =>
    tenant.ask('POST', `/api/v1/sdk/${feature}/${asset.id}`, { table_path: 'events', ...body })
  const dryRun = (feature: string, body: object, credential = tenant.key) =>
    world.app.ask(
      'POST',
      `/api/v1/sdk/${feature}/dry-run`,
      { asset_id: asset.id, table_path: 'events', ...body },
      credential,
    )
  return { ...world, metric: post('metrics'), rule: post('validity'), dryRun }
}

t.test('a metric made with backfill_days has its history, and judges its first capture', async t => {
  const { metric, tenant, asset, source, app } = await eventsWorld(t)
  const made = await metric({ metric_type: 'row_count', sensitivity: 3, backfill_days: 30 })
  t.equal(made.status, 201, JSON.stringify(made.body))
  t.match(made.body.data.backfill, {
    points: 30,
    timestamp_column: 'created_at',
    message:
      /30 daily values of the last 30 days were computed from created_at, as if rows had only been added/,
  })
  const base = `/api/v1/sdk/metrics/${asset.id}/${made.body.data.id}`
  const { body } = await tenant.ask('GET', `${base}/snapshots`)
  t.equal(body.pagination.total, 30)
  t.same(
    body.data.items.map((item: { value: number }) => item.value),
    // The newest lies a day before now: without today's ten rows.
    Array.from({ length: 30 }, (_, index) => 590 - 10 * index),
  )
  t.ok(body.data.items.every((item: { is_backfilled: boolean }) => item.is_backfilled))
  t.match((await tenant.ask('POST', `${base}/capture`)).body.data.snapshots, [
    { value: 600, learning: false, is_anomaly: false, status: 'PASS', is_backfilled: false },
  ])
  await source.query(
    `insert into events select n, 'more', 1, now() - interval '1 minute' from generate_series(1, 4000) n`,
  )
  t.match((await tenant.ask('POST', `${base}/capture`)).body.data.snapshots, [
    { value: 4600, learning: false, is_anomaly: true, status: 'FAIL' },
  ])
  t.match(await app.query(`select kind, occurrences from alerts where kind = 'metric_anomaly'`), [
    { kind: 'metric_anomaly', occurrences: 1 },
  ])
  await tenant.ask('PATCH', base, { is_active: false })
  t.match(await app.query('select status from alerts'), [{ status: 'resolved' }], 'switched off')
})

t.test('an auto rule made with backfill_days fails its first bad check', async t => {
  const { rule, tenant, asset, source } = await eventsWorld(t)
  const made = await rule({
    rule_type: 'NOT_NULL',
    column_name: 'note',
    detection_mode: 'auto',
    backfill_days: 45,
  })
  t.match(made.body.data.backfill, { points: 45 }, JSON.stringify(made.body))
  const base = `/api/v1/sdk/validity/${asset.id}/${made.body.data.uuid}`
  const { body } = await tenant.ask('GET', `${base}/results?limit=45`)
  t.match(body.data.items[0], {
    total_rows: 590,
    invalid_count: 59,
    invalid_percent: 10,
    is_backfilled: true,
  })
  t.ok(
    body.data.items.every((item: { status: string }) => item.status === 'pass'),
    'a rate as usual passes',
  )
  t.match((await tenant.ask('POST', `${base}/check`)).body.data, { status: 'pass', learning: false })
  await source.query(`update events set note = null where id % 2 = 0`)
  t.match((await tenant.ask('POST', `${base}/check`)).body.data, { status: 'fail', learning: false })
})

t.test('what has no past that could be known is refused with the reason, and nothing is made', async t => {
  const { rule, metric, app } = await eventsWorld(t)
  const wrong: [object, Promise<{ status: number; body: object }>][] = [
    [/auto/, rule({ rule_type: 'NOT_NULL', column_name: 'note', backfill_days: 10 })],
    [/timestamp column/, metric({ metric_type: 'row_count', table_path: 'things', backfill_days: 10 })],
    [
      /percentile/,
      metric({ metric_type: 'percentile', column_name: 'amount', percentile_value: 50, backfill_days: 10 }),
    ],
    [/group/, metric({ metric_type: 'row_count', group_by_columns: ['amount'], backfill_days: 10 })],
    [
      /CUSTOM_SQL/,
      rule({
        rule_type: 'CUSTOM_SQL',
        rule_config: { sql_expression: 'amount > 1' },
        detection_mode: 'auto',
        backfill_days: 10,
      }),
    ],
    [/90/, metric({ metric_type: 'row_count', backfill_days: 91 })],
    [/must be a whole number, not 1\.5/, metric({ metric_type: 'row_count', backfill_days: 1.5 })],
  ]
  for (const [message, asked] of wrong) {
    const { status, body } = await asked
    t.match([status, body], [400, { error: { details: { field: 'backfill_days', error: message } } }])
  }
  t.same(await app.query('select from checks'), [])
})

t.test('a check can be made although its source cannot be queried for the past', async t => {
  const { metric, tenant, asset } = await eventsWorld(t)
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { connection_config: { password: 'wrong' } })
  const made = await metric({ metric_type: 'row_count', backfill_days: 30 })
  t.match(
    [made.status, made.body.data.backfill],
    [201, { points: 0, timestamp_column: null, message: /could not be read: .*password/ }],
  )
})

t.test('a dry run measures, returns its SQL and the result for the past, and stores nothing', async t => {
  const { dryRun, tenant, app } = await eventsWorld(t)
  const key = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const reader = key.body.data.key as string
  const metric = await dryRun('metrics', { metric_type: 'row_count', sensitivity: 3 }, reader)
  t.match(metric, {
    status: 200,
    body: {
      data: {
        sql: [{ text: /^select count\(\*\).* from "public"\."events"/, values: [] }],
        value: 600,
        status: 'PASS',
        is_anomaly: false,
        learning: false,
        history: { lookback_days: 30, points: 30, anomalies: 0, timestamp_column: 'created_at' },
      },
    },
  })
  t.match(metric.body.data.history.message, /0 would have been anomalies at sensitivity 3/)
  const rule = await dryRun('validity', {
    rule_type: 'NOT_NULL',
    column_name: 'note',
    lookback_days: 20,
    alert_threshold_percent: 9,
  })
  t.match(rule.body.data, {
    sql: [{ text: /count/ }],
    status: 'fail',
    total_rows: 600,
    invalid_count: 60,
    invalid_percent: 10,
    history: {
      points: 20,
      failing: 20,
      message: /Of 20 daily checks in the last 20 days, 20 would have failed/,
    },
  })
  const grouped = await dryRun('metrics', { metric_type: 'row_count', group_by_columns: ['amount'] })
  t.equal(grouped.body.data.groups.length, 7)
  t.match(grouped.body.data.history, { points: 0, message: /not known/ })
  const things = await dryRun('metrics', { metric_type: 'row_count', table_path: 'things' })
  t.match(things.body.data, { value: 0, learning: true, history: { points: 0, message: /timestamp column/ } })
  t.same(await app.query('select from checks union all select from check_results'), [])
})

t.test('a dry run refuses what creating would refuse', async t => {
  const { dryRun } = await eventsWorld(t)
  t.match(await dryRun('metrics', { metric_type: 'mean' }), {
    status: 400,
    body: { error: { details: { field: 'column_name' } } },
  })
  t.match(
    await dryRun('validity', { rule_type: 'REGEX', column_name: 'note', rule_config: { pattern: '(' } }),
    { status: 400, body: { error: { details: { field: 'rule_config.pattern' } } } },
  )
  t.match(await dryRun('metrics', { metric_type: 'row_count', asset_id: 'nowhere' }), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })
  t.equal((await dryRun('metrics', { metric_type: 'row_count', lookback_days: 0 })).status, 400)
  t.equal(
    (await dryRun('validity', { rule_type: 'UNIQUE', column_name: 'id', backfill_days: 5 })).status,
    400,
  )
})

t.test('the past of a source is read no further than its switch and its access level say', async t => {
  const { metric, dryRun, tenant, asset, app } = await eventsWorld(t)
  const change = (body: object) => tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, body)
  const body = { metric_type: 'row_count' }
  await change({ query_access_level: 'schema_only' })
  const made = await metric({ ...body, backfill_days: 30 })
  t.match(
    [made.status, made.body.data.backfill],
    [201, { points: 0, message: /could not be read: .*schema_only: checks need aggregates or full/ }],
  )
  t.match((await dryRun('metrics', body)).body.data, {
    status: 'ERROR',
    value: null,
    error_message: /schema_only/,
    history: { points: 0 },
  })
  await change({ query_access_level: 'full', is_active: false })
  const off = await metric({ ...body, backfill_days: 30 })
  t.match([off.status, off.body.data.backfill], [201, { points: 0, message: /switched off/ }])
  t.match(await dryRun('metrics', body), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: /switched off.*is_active/ } },
  })
  t.same(await app.query('select from check_results'), [])
})
