import t from 'tap'
import { randomOf } from '../../bench/detector-random.ts'
import { makeStage } from '../../helpers/world.ts'
import { DAILY, DAY_MS, dayStart, startShop, textOf } from './windows/shop.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

async function shop(t: Parameters<typeof startShop>[0]) {
  const started = await startShop(t, stage, 'placed timestamp not null, day date, note text')
  return {
    ...started,
    async snapshots(id: string) {
      const { body } = await started.ask('GET', `metrics/{asset}/${id}/snapshots?limit=1000`)
      return (body.data.items as Record<string, unknown>[]).toReversed()
    },
  }
}

t.test('a run measures the newest day that is over, and the two before it, by one statement', async t => {
  const { make, insert, run, snapshots } = await shop(t)
  for (const [total, day] of [
    [1, 0],
    [2, 1],
    [4, 1],
    [8, 2],
    [16, 3],
  ] as const)
    await insert(total, new Date(dayStart(day).getTime() + 3_600_000))
  const { id } = await make('metrics', { metric_type: 'sum', column_name: 'total', ...DAILY })
  const ran = await run(new Date(dayStart(3).getTime() + 2 * 3_600_000))
  t.equal(ran.statements, 1)
  t.match(
    (await snapshots(id)).map(({ value, bucket_start, bucket_end, revisions }) => ({
      ...{ value, bucket_start, bucket_end, revisions },
    })),
    [0, 1, 2].map(day => ({
      value: [1, 6, 8][day],
      bucket_start: dayStart(day).toISOString(),
      bucket_end: dayStart(day + 1).toISOString(),
      revisions: 0,
    })),
  )
})

t.test('late data revises a day, which keeps the value that it had first', async t => {
  const { make, insert, run, snapshots } = await shop(t)
  await insert(1, dayStart(1))
  const { id } = await make('metrics', { metric_type: 'row_count', ...DAILY, revisit: 1 })
  await run(dayStart(2))
  await insert(2, dayStart(1))
  await run(new Date(dayStart(2).getTime() + 3_600_000))
  await insert(3, dayStart(1))
  await run(dayStart(3))
  // One day more, and it is no longer looked at.
  await insert(4, dayStart(1))
  await run(dayStart(4))
  const of = await snapshots(id)
  t.match(
    of.map(({ value, revisions, first_value }) => [value, revisions, first_value]),
    [
      [0, 0, null],
      [3, 2, 1],
      [0, 0, null],
      [0, 0, null],
    ],
  )
  t.match(of[1]!.revised_at, String)
})

t.test('days that were missed are caught up in one statement, each as a result of its own', async t => {
  const { make, insert, run, snapshots } = await shop(t)
  const { id } = await make('metrics', { metric_type: 'row_count', ...DAILY, revisit: 0 })
  await run(dayStart(1))
  for (const day of [1, 2, 3, 4]) await insert(day, dayStart(day))
  const ran = await run(dayStart(5))
  t.equal(ran.statements, 1)
  t.same(
    (await snapshots(id)).map(({ value }) => value),
    [0, 1, 1, 1, 1],
  )
})

t.test('a day is measured once its delay has passed', async t => {
  const { make, run, snapshots } = await shop(t)
  const { id } = await make('metrics', { metric_type: 'row_count', ...DAILY, revisit: 0, window_delay: '6h' })
  await run(new Date(dayStart(2).getTime() + 5 * 3_600_000))
  t.match(await snapshots(id), [{ bucket_start: dayStart(0).toISOString() }])
  await run(new Date(dayStart(2).getTime() + 6 * 3_600_000))
  t.match(await snapshots(id), [{}, { bucket_start: dayStart(1).toISOString() }])
})

t.test('an alert names the day, and a revision that mends it resolves it', async t => {
  const { app, tenant, make, insert, run, source } = await shop(t)
  await insert(null, dayStart(1))
  await make('validity', { rule_type: 'NOT_NULL', column_name: 'total', ...DAILY })
  const alerts = () =>
    app.query(`select status, title from alerts where kind = 'validity_failure' and company_id = $1`, [
      tenant.companyId,
    ])
  await run(dayStart(2))
  t.match(await alerts(), [{ title: /^\w+(\.\w+)?, 2026-10-02: 1 row .* \(100 %\)$/, status: 'triggered' }])
  await source.query('update orders set total = 1')
  await run(new Date(dayStart(2).getTime() + 3_600_000))
  t.match(await alerts(), [{ status: 'resolved' }])
})

t.test('results equal what a statement says of each day, while rows come late, change and go', async t => {
  const { make, run, snapshots, source, ask } = await shop(t)
  const random = randomOf('late rows').uniform
  const below = (most: number) => Math.floor(random() * most)
  const sum = await make('metrics', { metric_type: 'sum', column_name: 'total', ...DAILY, revisit: 3 })
  const kinds = await make('metrics', {
    metric_type: 'distinct_count',
    column_name: 'total',
    ...DAILY,
    revisit: 3,
  })
  const rule = await make('validity', { rule_type: 'UNIQUE', column_name: 'total', ...DAILY, revisit: 3 })
  for (let day = 1; day < 9; day += 1) {
    for (let row = below(6); row >= 0; row -= 1) {
      const moment = new Date(dayStart(day - below(3)).getTime() + below(86_400) * 1_000)
      const total = random() < 0.1 ? 'null' : below(5)
      await source.query(`insert into orders (total, placed) values (${total}, '${textOf(moment)}')`)
    }
    const recent = `placed >= '${textOf(dayStart(day - 2))}'`
    if (random() < 0.5) await source.query(`delete from orders where ${recent} and total = ${below(5)}`)
    if (random() < 0.5)
      await source.query(`update orders set total = ${below(5)} where ${recent} and total = ${below(5)}`)
    await run(dayStart(day + 1))
  }
  const [sums, counts] = [await snapshots(sum.id), await snapshots(kinds.id)]
  const { body } = await ask('GET', `validity/{asset}/${rule.uuid}/results?limit=100`)
  const results = (body.data.items as Record<string, unknown>[]).toReversed()
  t.equal(sums.length, 11)
  for (const [place, { bucket_start }] of sums.entries()) {
    const start = new Date(String(bucket_start))
    const within = `placed >= '${textOf(start)}' and placed < '${textOf(new Date(start.getTime() + DAY_MS))}'`
    const [now] = await source.query(
      `select coalesce(sum(total), 0)::int as sum, count(distinct total)::int as kinds, count(*)::int as rows,
         (select coalesce(sum(n), 0)::int from (select count(*) as n from orders where ${within} and total is not null
            group by total having count(*) > 1) r) + count(*) filter (where total is null)::int as invalid
       from orders where ${within}`,
    )
    t.same([sums[place]!.value, counts[place]!.value], [now?.sum, now?.kinds], String(bucket_start))
    t.match(results[place], { total_rows: now?.rows, invalid_count: now?.invalid }, String(bucket_start))
  }
})

t.test('lists show which of two checks is about days, and when it ran', async t => {
  const { make, run, ask } = await shop(t)
  await make('metrics', { metric_type: 'row_count' })
  await make('metrics', { metric_type: 'row_count', ...DAILY, filter: 'total > 1' })
  await run(dayStart(2))
  const { body } = await ask('GET', 'checks/{asset}')
  const items = body.data.items as { name: string; last_checked_at: string }[]
  t.same(items.map(({ name }) => name).sort(), [
    'row_count on orders',
    'row_count on orders per day where total > 1',
  ])
  t.same(
    items.map(({ last_checked_at: at }) => at),
    [dayStart(2).toISOString(), dayStart(2).toISOString()],
  )
})

t.test('a window that cannot be one is refused when the check is made', async t => {
  const { ask } = await shop(t)
  for (const [body, field, sentence] of [
    [{ window: '1d' }, 'time_column', /is required with window/],
    [{ time_column: 'placed' }, 'time_column', /give window too/],
    [{ window_delay: '6h' }, 'window_delay', /give window too/],
    [{ revisit: 3 }, 'revisit', /give window too/],
    [{ time_column: 'total', window: '1d' }, 'time_column', /needs a column of dates or timestamps/],
    [{ time_column: 'nope', window: '1d' }, 'time_column', /nope/],
    [{ time_column: 'placed', window: '5h' }, 'window', /hours that divide a day/],
    [{ time_column: 'day', window: '6h' }, 'window', /whole days on a column of dates/],
    [{ ...DAILY, revisit: 32 }, 'revisit', /31/],
    [{ ...DAILY, window_delay: '1w' }, 'window_delay', /hours or days/],
  ] as const)
    for (const [path, check] of [
      ['metrics', { metric_type: 'row_count' }],
      ['validity', { rule_type: 'NOT_NULL', column_name: 'total' }],
    ] as const) {
      const made = await ask('POST', `${path}/{asset}`, { table_path: 'orders', ...check, ...body })
      t.match(
        made,
        { status: 400, body: { error: { details: { errors: [{ field }] } } } },
        JSON.stringify(body),
      )
      t.match(JSON.stringify(made.body), sentence, JSON.stringify(body))
    }
  const custom = {
    rule_type: 'CUSTOM_SQL',
    rule_config: { sql_expression: 'select 1' },
    table_path: 'orders',
  }
  t.match(JSON.stringify((await ask('POST', 'validity/{asset}', { ...custom, ...DAILY })).body), /WHERE/)
})

t.test('a backfill and a dry run measure the days of the past exactly, percentiles included', async t => {
  const { ask, asset, make, source, snapshots } = await shop(t)
  await source.query(
    `insert into orders (total, placed)
     select n, date_trunc('day', now() at time zone 'UTC') - n * interval '1 day' + interval '1 hour'
     from generate_series(1, 20) n`,
  )
  const metric = { metric_type: 'percentile', percentile_value: 50, column_name: 'total', ...DAILY }
  const { id } = await make('metrics', { ...metric, backfill_days: 10 })
  t.same(
    (await snapshots(id)).map(({ value }) => value),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
  )
  const tried = await ask('POST', 'metrics/dry-run', {
    ...{ ...metric, percentile_value: 60 },
    ...{ asset_id: asset.id, table_path: 'orders', lookback_days: 5 },
  })
  t.match(tried.body.data, { value: 1, total_rows: 1, history: { points: 5, timestamp_column: 'placed' } })
  t.match(tried.body.data.sql, [{ text: /"placed" >= '/ }])
})
