import t from 'tap'
import { explicit, startWorlds } from '../freshness/worlds.ts'

const { server, tenant, stranger, world, discover, query } = await startWorlds(t)

const summary = async (who = tenant, search = '') =>
  (await who.ask('GET', `/api/v1/sdk/health/summary${search}`)).body.data

t.test('a company without sources is healthy', async t => {
  t.match(await summary(stranger), {
    overall_status: 'healthy',
    alerts: { total_rules: Number, recent_alerts: 0, unresolved_alerts: 0, active_destinations: 0 },
    freshness: { total_assets: 0, freshness_rate: 0 },
    schema_drift: { total_changes: 0, last_check: null },
    checks: { passing: 0, failing: 0, error: 0 },
    coverage: { watched_tables: 0, total_tables: 0 },
    since: null,
    needs_attention: [],
    generated_at: String,
  })
})

t.test('the worst state of any feature is the health of the company', async t => {
  const { watch, source, database } = await world(
    t,
    `create table orders (ts timestamptz, email text); insert into orders values (now() - interval '3 days', null)`,
  )
  const name = `${source.name}.${database.name}.public.orders`
  t.equal((await summary()).overall_status, 'healthy')
  const destinations = async () => (await summary()).alerts.active_destinations
  const before = await destinations()
  const { db, plugins } = server
  await db.company(tenant.companyId, trx => plugins.alerts.demo.createDestination(trx, 'chat'))
  t.equal(await destinations(), before + 1)
  await query('update destinations set is_active = false')
  t.equal(await destinations(), 0, 'one that is switched off does not count')
  await query('delete from destinations')
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email' }
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}/${made.body.data.uuid}/check`, {})
  await query(`update alerts set severity = 'warning'`)
  const warned = await summary()
  t.match(warned, {
    overall_status: 'warning',
    alerts: { unresolved_alerts: 1, recent_alerts: Number, active_alerts: 1, affected_tables: 1 },
    checks: { passing: 0, failing: 1, error: 0 },
    needs_attention: [
      { type: 'alert', severity: 'warning', asset_name: name },
      { type: 'checks', severity: 'warning', title: /1 failing/, asset_name: name },
    ],
  })

  await query(`update alerts set event = jsonb_set(event, '{asset,asset_type}', '"destination"')`)
  t.match((await summary()).alerts, { active_alerts: 1, affected_tables: 0 }, 'a destination is no table')
  await query(`update alerts set status = 'snoozed', snoozed_until = now() + interval '1 hour'`)
  t.match((await summary()).alerts, { active_alerts: 0, affected_tables: 0 }, 'nor does a snoozed one count')
  await query(
    `update alerts set status = 'triggered', snoozed_until = null, event = jsonb_set(event, '{asset,asset_type}', '"table"')`,
  )

  await watch('orders', explicit('1d'))
  const found = await summary()
  t.match(found, { overall_status: 'critical', freshness: { stale_count: 1 } })
  t.match(
    found.needs_attention.find(({ type }: { type: string }) => type === 'freshness'),
    { severity: 'critical', title: `${name} is stale`, asset_name: name },
  )
  t.equal(found.needs_attention[0].severity, 'critical', 'the worst come first')
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { is_active: false })
  t.match(await summary(), { checks: { failing: 0 } }, 'a paused source counts no failures')
  t.equal((await summary(stranger)).overall_status, 'healthy', 'another company sees its own state')
})

t.test('a table counts as watched once, however many active checks it has', async t => {
  const { watch, source } = await world(
    t,
    `create table orders (id int, ts timestamptz); create table items (id int, ts timestamptz);
     create view recent as select * from orders`,
  )
  const covered = async () => (await summary()).coverage
  t.strictSame(await covered(), { watched_tables: 0, total_tables: 3 }, 'a view counts, drift alone does not')
  await watch('orders')
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'id' }
  await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  const paused = await watch('items', { is_active: false })
  t.strictSame(await covered(), { watched_tables: 1, total_tables: 3 })
  await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${paused.id}`, { is_active: true })
  t.strictSame(await covered(), { watched_tables: 2, total_tables: 3 })
  t.strictSame((await summary(stranger)).coverage, { watched_tables: 0, total_tables: 0 })
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { is_active: false })
  t.strictSame(await covered(), { watched_tables: 0, total_tables: 0 }, 'a paused source does not count')
})

t.test('since counts what happened from then on', async t => {
  const { source, database } = await world(t, 'create table orders (id int, email text)')
  await query('delete from alerts')
  const at = new Date(Date.now() - 60_000).toISOString()
  const before = await summary(tenant, `?since=${at}`)
  t.strictSame(before.since, { at, alerts_opened: 0, alerts_ended: 0, schema_changes: 0 })
  await database.query('alter table orders add note text; insert into orders values (1, null)')
  await discover(source.id)
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email' }
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}/${made.body.data.uuid}/check`, {})
  const { since, alerts } = await summary(tenant, `?since=${at}`)
  t.match(since, { alerts_opened: 2, alerts_ended: 0, schema_changes: 1 })
  const { critical, warning, info } = alerts.open_by_severity
  t.equal(critical + warning + info, alerts.unresolved_alerts)
  t.equal(alerts.unresolved_alerts, 2)

  await query(`update alerts set status = 'resolved', resolved_at = now() where kind = 'validity_failure'`)
  await query(`update alerts set created_at = now() - interval '1 hour' where kind = 'validity_failure'`)
  t.match((await summary(tenant, `?since=${at}`)).since, { alerts_opened: 1, alerts_ended: 1 })
  const later = new Date(Date.now() + 60_000).toISOString()
  t.strictSame((await summary(tenant, `?since=${later}`)).since, {
    ...{ at: later, alerts_opened: 0, alerts_ended: 0, schema_changes: 0 },
  })
  t.match((await summary(stranger, `?since=${at}`)).since, { alerts_opened: 0, schema_changes: 0 })
  t.equal((await tenant.ask('GET', '/api/v1/sdk/health/summary?since=yesterday')).status, 400)
})
