import t from 'tap'
import { explicit, startWorlds } from '../freshness/worlds.ts'

const { tenant, stranger, world, query } = await startWorlds(t)

const summary = async (who = tenant) => (await who.ask('GET', '/api/v1/sdk/health/summary')).body.data

t.test('a company without sources is healthy', async t => {
  t.match(await summary(stranger), {
    overall_status: 'healthy',
    alerts: { total_rules: Number, recent_alerts: 0, unresolved_alerts: 0 },
    freshness: { total_assets: 0, freshness_rate: 0 },
    schema_drift: { total_changes: 0, last_check: null },
    checks: { passing: 0, failing: 0, error: 0 },
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
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email' }
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}/${made.body.data.uuid}/check`, {})
  await query(`update alerts set severity = 'warning'`)
  const warned = await summary()
  t.match(warned, {
    overall_status: 'warning',
    alerts: { unresolved_alerts: 1, recent_alerts: Number },
    checks: { passing: 0, failing: 1, error: 0 },
    needs_attention: [
      { type: 'alert', severity: 'warning', asset_name: name },
      { type: 'checks', severity: 'warning', title: /1 failing/, asset_name: name },
    ],
  })

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
