/** The endpoints that published clients of the API read, in their shapes. */
import t from 'tap'
import { startWorlds } from '../freshness/worlds.ts'
import { columnProfile, storeProfile } from './profiles.ts'

const { server, tenant, stranger, query, world } = await startWorlds(t)

const { source } = await world(
  t,
  `create table orders (id int primary key, total numeric, created_at timestamptz);
   create table notes (body text);
   insert into orders select n, n % 50, now() - make_interval(hours => n) from generate_series(1, 500) n`,
)
const now = Date.now()
await storeProfile(server, {
  ...{ companyId: tenant.companyId, sourceId: source.id, table: 'orders', rows: 500 },
  columns: [
    columnProfile('total', {
      ...{ kind: 'decimal', count: 500, distinct: 50, min: 0, max: 49, mean: 24.5, stddev: 14.4 },
      quantiles: { p05: 2, p25: 12, p50: 24, p75: 37, p95: 47 },
    }),
    columnProfile('created_at', {
      ...{ kind: 'timestamp', count: 500 },
      ...{ min: new Date(now - 500 * 3_600_000).toISOString(), max: new Date(now).toISOString() },
    }),
  ],
})

const base = '/api/v1/sdk/recommendations'
const ask = async (path: string, who = tenant) => who.ask('GET', `${base}/${path}asset_id=${source.id}`)

t.test('cadences come from profiles, from a computed past and from stored checks', async t => {
  const guess = (await ask('freshness?')).body.data
  t.match(guess, {
    recommendations: [
      {
        table_path: 'public.orders',
        suggested_check_interval: '1h',
        suggested_threshold_hours: 2,
        detected_frequency: 'hourly',
        confidence: 0.5,
        data_points: 500,
      },
    ],
    asset_id: source.id,
    tables_analyzed: 1,
    tables_with_recommendations: 1,
  })
  const { body } = await tenant.ask('GET', `${base}?asset_id=${source.id}&type=freshness`)
  await tenant.ask('POST', `${base}/${body.data.recommendations[0].id}/past`)
  t.match((await ask('freshness?min_confidence=0.9&')).body.data.recommendations, [
    { detected_frequency: 'hourly', confidence: 0.95, reasoning: /timestamps show \d+ updates/ },
  ])
  t.match(await ask('freshness?', stranger), { status: 404 })
})

t.test('metrics of columns', async t => {
  t.match((await ask('metrics?table_path=orders&')).body.data, {
    recommendations: [
      {
        table_path: 'public.orders',
        column_name: 'total',
        suggested_metric_type: 'mean',
        suggested_check_type: 'anomaly',
      },
    ],
    columns_analyzed: 3,
    columns_with_recommendations: 1,
  })
  t.match(await ask('metrics?table_path=nothing&'), { status: 400 })
})

t.test('coverage says what tables have, and adds what they lack', async t => {
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { discovery_interval: 'daily' })
  const { data } = (await ask('coverage?')).body
  t.match(data, { total_tables: 2, monitored_tables: 0, coverage_percentage: 0, asset_id: source.id })
  t.match(data.recommendations[0], {
    table_path: 'public.orders',
    suggested_monitoring: ['freshness', 'metrics', 'validity'],
    currently_monitored: { freshness: false, metrics: false, validity: false, schema_drift: true },
  })
  const apply = (body: object, who = tenant) =>
    who.ask('POST', `/api/v1/sdk/coverage/${source.id}/apply`, body)
  t.match((await apply({ types: ['freshness', 'schema_drift'], table_paths: ['public.orders'] })).body.data, {
    applied: [{ type: 'freshness', check_type: 'freshness', count: 1 }],
    failed: [],
    applied_count: 1,
    failed_count: 0,
  })
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { discovery_interval: 'off' })
  t.match((await apply({ types: ['metrics', 'schema_drift'] })).body.data, {
    applied: [
      { type: 'metrics', check_type: 'row_count', count: 2 },
      { type: 'metrics', check_type: 'mean', count: 1 },
    ],
    failed: [{ type: 'schema_drift', table_path: null, error: /discovery_interval/ }],
  })
  t.match(await apply({ table_paths: ['nothing'] }), { status: 400 })
  t.match(await apply({}, stranger), { status: 404 })
  t.match((await tenant.ask('GET', '/api/v1/audit-log?limit=1')).body.data[0], { action: 'coverage.applied' })
})

t.test('thresholds follow from the alerts that metrics would have raised', async t => {
  await query(`update checks set sensitivity = 1 where type = 'mean' and source_id = $1`, [source.id])
  await query(
    `insert into check_results (company_id, check_id, value, status, is_learning, z_score, at)
     select company_id, id, n, 'pass', false, case when n % 4 = 0 then 1.5 else 0 end,
       now() - make_interval(hours => n)
     from checks, generate_series(1, 24) n where type = 'mean' and source_id = $1`,
    [source.id],
  )
  t.match((await ask('thresholds?')).body.data, {
    recommendations: [
      {
        table_path: 'public.orders',
        metric_type: 'mean',
        current_threshold: 1,
        suggested_threshold: 2,
        direction: 'increase',
        historical_alerts: 6,
        projected_reduction: '100%',
      },
    ],
    monitored_items_analyzed: 1,
    items_with_recommendations: 1,
  })
})

t.test('no sensitivity is advised to a metric that limits alone make fail', async t => {
  const make = async (body: object) => {
    const metric = { table_path: 'orders', metric_type: 'row_count', sensitivity: 4, ...body }
    const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}`, metric)
    t.equal(made.status, 201)
    return made.body.data.internal_id as number
  }
  const ids = [await make({ min: 1 }), await make({ filter: 'total > 1' })]
  await query(
    `insert into check_results (company_id, check_id, value, status, is_learning, z_score, at)
     select company_id, id, 500, 'pass', false, 0, now() - make_interval(hours => n)
     from checks, generate_series(1, 24) n where id = any($1)`,
    [ids],
  )
  const { recommendations } = (await ask('thresholds?')).body.data
  const advised = recommendations.filter(
    ({ metric_type: type }: { metric_type: string }) => type === 'row_count',
  )
  t.equal(advised.length, 1, 'only the one that goes by anomalies')
  t.match(advised, [{ current_threshold: 4, suggested_threshold: 3, direction: 'decrease' }])
})
