import { DateTime } from 'luxon'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'

t.test('alerts have the names that clients of this family of APIs read', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise({ cause: 'v_1' })
  const [listed] = (await world.ask('GET', ALERTS)).body.data.data
  t.match(listed, {
    id: alertId,
    rule_id: 'v_1',
    message: listed.title,
    triggered_at: listed.created_at,
    asset_id: listed.asset.id,
    qualified_name: 'shop.shop.public.orders',
  })
  await world.raise({ type: 'schema_change', cause: 'table:1' })
  const [change] = (await world.ask('GET', `${ALERTS}?event_type=schema_drift`)).body.data.data
  t.match(change, { event_type: 'schema_change', rule_id: null })
  await world.raise({ type: 'freshness_violation', cause: 'f' })
  for (const word of ['freshness_stale', 'freshness_alert', 'freshness_stale,freshness_violation'])
    t.match((await world.ask('GET', `${ALERTS}?event_type=${word}`)).body.data, {
      data: [{ event_type: 'freshness_violation' }],
      pagination: { total: 1 },
    })
})

t.test('dates have other names', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  await app.query(`update alerts set created_at = '2026-03-01T12:00:00Z' where id = $1`, [alertId])
  const count = async (query: string) =>
    (await world.ask('GET', `${ALERTS}?${query}`)).body.data.pagination.total
  t.equal(await count('from_date=2026-03-01T12:00:00Z&to_date=2026-03-01T12:00:00Z'), 1)
  t.equal(await count('from_date=2026-03-01T12:00:01Z'), 0)
  t.equal(await count('to_date=2026-03-01T11:59:59Z'), 0)
  t.equal((await world.ask('GET', `${ALERTS}?from_date=yesterday`)).status, 400)
})

t.test('the inbox has states, and says who was notified and when an alert was handled', async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  await world.addDestination({ url }, { name: 'Second' })
  await world.addDestination({ url }, { name: 'First' })
  const { alertId: fresh } = await world.raise()
  const { alertId: known } = await world.raise({ cause: '2', severity: 'info' })
  const { alertId: gone } = await world.raise({ cause: '3' })
  await theirs.raise()
  await world.ask('POST', `${ALERTS}/${known}/acknowledge`, { notes: 'On it' })
  await world.ask('POST', `${ALERTS}/${gone}/dismiss`)
  const inbox = async (query = '') => (await world.ask('GET', `${ALERTS}/inbox?${query}`)).body.data.alerts
  const [one] = await inbox('state=new')
  t.match(one, {
    id: fresh,
    alert_state: 'new',
    status: 'triggered',
    asset_name: 'shop.shop.public.orders',
    destination_name: 'First, Second',
    acknowledged_at: null,
    dismissed_at: null,
  })
  const [two] = await inbox('state=acknowledged')
  t.match(two, { id: known, alert_state: 'acknowledged', destination_name: null, notes: 'On it' })
  t.ok(Math.abs(Date.parse(two.acknowledged_at) - Date.now()) < 60_000)
  const [three] = await inbox('state=dismissed')
  t.match(three, { id: gone, alert_state: 'dismissed', dismissed_at: three.resolved_at })
  t.equal((await inbox('state=new,dismissed')).length, 2)
  t.strictSame(
    (await inbox()).map(({ id }: { id: string }) => id),
    [known, fresh],
  )
  t.equal((await world.ask('GET', `${ALERTS}/inbox?state=open`)).status, 400)
  t.equal((await world.ask('GET', `${ALERTS}/inbox?state=new&status=triggered`)).status, 400)
})

t.test('the summary counts rules, and alerts of the last 24 hours', async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  const summary = async () => (await world.ask('GET', `${ALERTS}/summary`)).body.data
  t.match(await summary(), {
    total: 0,
    total_rules: 0,
    active_rules: 0,
    recent_alerts: 0,
    unresolved_alerts: 0,
  })
  const { id } = await world.addDestination({ url })
  const rule = { name: 'r', destination_ids: [id] }
  for (const enabled of [true, false]) await world.ask('POST', `${ALERTS}/rules`, { ...rule, enabled })
  t.match(await summary(), { total: 0, total_rules: 2, active_rules: 1 })
  const { alertId: old } = await world.raise()
  await app.query(`update alerts set created_at = now() - interval '25 hours' where id = $1`, [old])
  const { alertId: snoozed } = await world.raise({ cause: '2', severity: 'critical' })
  await world.ask('POST', `${ALERTS}/${snoozed}/snooze`, { duration_hours: 1 })
  await world.raise({ cause: '3' })
  await world.recover('3')
  await theirs.raise()
  t.match(await summary(), { total: 3, open: 2, recent_alerts: 2, unresolved_alerts: 2 })
})

t.test('trends name their period, and count a day by the hour', async t => {
  const world = await makeWorld(app)
  const trends = async (query: string) => (await world.ask('GET', `${ALERTS}/trends?${query}`)).body.data
  const { alertId: earlier } = await world.raise()
  await app.query(`update alerts set created_at = now() - interval '22 hours' where id = $1`, [earlier])
  const { alertId: before } = await world.raise({ cause: '2' })
  await app.query(`update alerts set created_at = now() - interval '25 hours' where id = $1`, [before])
  const day = await trends('period=24h')
  t.match(day, { period: '24h', opened: 1, trends: { length: 24 } })
  const hour = DateTime.utc().startOf('hour').minus({ hours: 22 })
  const opened = day.trends.filter((point: { opened: number }) => point.opened > 0)
  t.ok(Math.abs(Date.parse(opened[0].timestamp) - hour.toMillis()) <= 3_600_000, 'in its hour')
  t.equal(
    day.by_day.reduce((sum: number, each: { opened: number }) => sum + each.opened, 0),
    1,
  )
  for (const [period, days] of [
    ['7d', 7],
    ['30d', 30],
    ['90d', 90],
  ] as const)
    t.match(await trends(`period=${period}`), { period, opened: 2, trends: { length: days } })
  t.match(await trends(''), { period: '30d', trends: { length: 30 } })
  t.equal((await world.ask('GET', `${ALERTS}/trends?period=1y`)).status, 400)
  t.equal((await world.ask('GET', `${ALERTS}/trends?period=7d&days=7`)).status, 400)
})
