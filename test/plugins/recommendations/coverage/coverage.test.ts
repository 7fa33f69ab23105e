import t from 'tap'
import { startWorlds } from '../../freshness/worlds.ts'

const { tenant, stranger, world, query } = await startWorlds(t)

const get = async (path: string, who = tenant) => who.ask('GET', `/api/v1/sdk/coverage/${path}`)

t.test('coverage counts the tables that active checks watch', async t => {
  const { watch, source, database } = await world(
    t,
    `create table big (id int, ts timestamptz, email text); create table small (id int, ts timestamptz)`,
  )
  await query(
    `update tables set estimated_rows = case name when 'big' then 1000 else 10 end where source_id = $1`,
    [source.id],
  )
  await query(`update sources set discovery_interval = 'off' where id = $1`, [source.id])
  const none = (await get(source.id)).body.data
  t.match(none, { score: 0, tier: 'none', total_tables: 2, breakdown: { freshness: { count: 0, pct: 0 } } })

  await watch('small')
  const paused = await watch('big', { is_active: false })
  const rule = { rule_type: 'NOT_NULL', table_path: 'small', column_name: 'id' }
  await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  const { body } = await get(source.name)
  t.match(body.data, {
    ...{ asset_id: source.id, score: 28, tier: 'bronze', total_tables: 2 },
    breakdown: {
      freshness: { count: 1, total: 2, pct: 0.5 },
      validity: { count: 1, pct: 0.5 },
      metrics: { count: 0 },
      schema_drift: { count: 0 },
    },
    next_tier_info: {
      next_tier: 'silver',
      points_needed: 22,
      actions: ['Add metrics to 2 of 2 tables', /.+/],
    },
    recommendation: 'Add metrics to 2 of 2 tables',
  })
  const small = `${source.name}.${database.name}.public.small`
  t.match((await get(small)).body.data, { total_tables: 1, score: 55, tier: 'silver' })

  const gaps = await get(`${source.id}/gaps`)
  t.match(gaps.body.data, {
    ...{ total_tables: 2, monitored_tables: 1, coverage_percentage: 50 },
    recommendations: [
      {
        ...{ table_path: 'public.big', importance_score: 1, row_count: 1000, column_count: 3 },
        suggested_monitoring: ['freshness', 'metrics', 'validity', 'schema_drift'],
      },
      { table_path: 'public.small', suggested_monitoring: ['metrics', 'schema_drift'] },
    ],
  })
  t.match((await get(`${source.id}/gaps?limit=1`)).body.data.recommendations, { length: 1 })
  await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${paused.id}`, { is_active: true })
  t.match((await get(source.id)).body.data, { breakdown: { freshness: { count: 2, pct: 1 } }, score: 43 })

  t.match((await get('company')).body.data, {
    ...{ company_score: 43, asset_count: 1, tier_distribution: { bronze: 1 } },
    per_asset: [{ asset_id: source.id, asset_name: source.name, score: 43, tier: 'bronze' }],
    lowest_coverage: [{ asset_id: source.id }],
  })
  t.match((await get('company', stranger)).body.data, { company_score: 0, asset_count: 0, per_asset: [] })
  for (const path of [source.id, `${source.id}/gaps`]) t.equal((await get(path, stranger)).status, 404)
  t.equal((await get(`${source.id}/gaps?limit=101`)).status, 400)
})
