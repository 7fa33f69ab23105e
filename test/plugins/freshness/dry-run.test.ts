import t from 'tap'
import { explicit, startWorlds } from './worlds.ts'

const { tenant, stranger, query, world } = await startWorlds(t)

const HOUR = 3_600_000

t.test('stored checks are judged by another threshold', async t => {
  const { watch, source, database, check } = await world(
    t,
    'create table orders (ts timestamptz); create table unwatched (ts timestamptz)',
  )
  const schedule = await watch('orders', { ...explicit('100h'), is_active: false })
  await query('update checks set is_active = true where uuid = $1', [schedule.id])
  const start = Date.now() - 48 * HOUR
  const at = (hours: number) => new Date(start + hours * HOUR)
  await check(at(0))
  await database.query('insert into orders values ($1)', [at(0)])
  for (const hours of [1, 3, 5]) await check(at(hours))
  await database.query('insert into orders values ($1)', [at(6)])
  for (const hours of [7, 10]) await check(at(hours))

  const dryRun = (body: object, who = tenant) => who.ask('POST', '/api/v1/sdk/freshness/dry-run', body)
  const orders = { asset_id: source.name, table_path: 'orders' }
  const { status, body } = await dryRun({ ...orders, expected_interval_hours: 3 })
  t.equal(status, 200)
  t.match(body.data, {
    table_path: `${database.name}.public.orders`,
    ...{ threshold_hours: 3, lookback_days: 7, total_checks: 5 },
    ...{ would_alert_count: 3, would_open_alerts: 2, alert_rate_percent: 60, would_alert_now: true },
    sample_alerts: [{ hours_since_update: 4 }, { hours_since_update: 5 }, { hours_since_update: 3 }],
    recommendation: /3 of 5 checks .*younger than 6 h/,
  })
  t.ok(Math.abs(body.data.current_age_hours - 42) < 0.1)
  t.match((await dryRun({ ...orders, expected_interval_hours: 48 })).body.data, {
    ...{ would_alert_count: 0, would_open_alerts: 0, alert_rate_percent: 0, would_alert_now: false },
    sample_alerts: [],
    recommendation: /No check/,
  })
  const { body: fraction } = await dryRun({ ...orders, expected_interval_hours: 2.99999 })
  t.match(fraction.data, { threshold_hours: 2.99999, would_alert_count: 3 }, 'seconds are rounded, as stored')
  const id = `${source.name}.${database.name}.public.orders`
  const recent = await dryRun({ asset_id: id, expected_interval_hours: 3, lookback_days: 1 })
  t.match(recent.body.data, { total_checks: 0, would_alert_now: true, recommendation: /look further back/ })
  t.match((await dryRun({ ...orders, table_path: 'unwatched', expected_interval_hours: 3 })).body.data, {
    ...{ total_checks: 0, current_age_hours: null, would_alert_now: false },
    recommendation: /no freshness schedule/,
  })

  t.equal((await dryRun({ ...orders, expected_interval_hours: 3 }, stranger)).status, 404)
  const bad = [
    ['expected_interval_hours', {}],
    ['expected_interval_hours', { expected_interval_hours: 0 }],
    ['lookback_days', { expected_interval_hours: 1, lookback_days: 0 }],
    ['table_path', { expected_interval_hours: 1, table_path: 'missing' }],
  ] as const
  for (const [field, more] of bad)
    t.match(await dryRun({ ...orders, ...more }), { status: 400, body: { error: { details: { field } } } })
})
