import t from 'tap'
import { startWorlds } from '../freshness/worlds.ts'
import { columnProfile, storeProfile } from './profiles.ts'

const { server, tenant, stranger, query, world } = await startWorlds(t)

const SHOP = `create table customers (id int primary key, email text, created_at timestamptz default now());
  create table orders (id int primary key, customer_id int references customers, buyer_id int, status text, total numeric,
    note text, created_at timestamptz);
  insert into customers select n, 'c' || n || '@example.com', now() - make_interval(hours => n) from generate_series(1, 200) n;
  insert into orders select n, 1 + n % 200, n, (array['new', 'paid', 'sent'])[1 + n % 3], n % 50,
    case when n % 4 = 0 then 'x' end, now() - make_interval(hours => n) from generate_series(1, 1000) n`

interface Offered {
  id: string
  table_path: string
  kind: string
  type: string
  column_name: string | null
  [field: string]: unknown
}

async function shop(t: Parameters<typeof world>[0]) {
  const { source, database } = await world(t, SHOP)
  const { companyId } = tenant
  const common = { companyId, sourceId: source.id }
  await storeProfile(server, {
    ...{ ...common, table: 'orders', rows: 1_000 },
    columns: [
      columnProfile('id', { kind: 'integer', distinct: 1_000, isKeyCandidate: true, min: 1, max: 1_000 }),
      columnProfile('customer_id', { kind: 'integer', distinct: 200, min: 1, max: 200 }),
      columnProfile('status', {
        kind: 'text',
        distinct: 3,
        topValues: ['new', 'paid', 'sent'].map(value => ({ value, count: value === 'new' ? 334 : 333 })),
      }),
      columnProfile('total', {
        ...{ kind: 'decimal', distinct: 50, min: 0, max: 49, mean: 24.5, stddev: 14.4 },
        quantiles: { p05: 2, p25: 12, p50: 24, p75: 37, p95: 47 },
      }),
      columnProfile('note', { kind: 'text', count: 250, nulls: 750, distinct: 1 }),
      columnProfile('created_at', {
        kind: 'timestamp',
        min: new Date(Date.now() - 4e9).toISOString(),
        max: new Date().toISOString(),
      }),
    ],
  })
  await storeProfile(server, {
    ...{ ...common, table: 'customers', rows: 200 },
    columns: [
      columnProfile('id', {
        kind: 'integer',
        count: 200,
        distinct: 200,
        isKeyCandidate: true,
        min: 1,
        max: 200,
      }),
      columnProfile('email', {
        kind: 'text',
        count: 200,
        distinct: 200,
        isKeyCandidate: true,
        pattern: { name: 'email', share: 1 },
      }),
    ],
  })
  return { source, database }
}

const base = '/api/v1/sdk/recommendations'
const list = async (asset: string, more = '', who = tenant) =>
  who.ask('GET', `${base}?asset_id=${asset}${more}`)
const namesOf = (offers: Offered[]) =>
  offers.map(
    ({ table_path: path, column_name: column, type }) =>
      `${type} ${path.split('.').at(-1)}${column ? `.${column}` : ''}`,
  )

t.test('recommendations follow from constraints, profiles and names', async t => {
  const { source, database } = await shop(t)
  const { body, status } = await list(source.id)
  t.equal(status, 200)
  const offers = body.data.recommendations as Offered[]
  t.strictSame(namesOf(offers).sort(), [
    'ENUM orders.status',
    'NOT_NULL customers.email',
    'NOT_NULL customers.id',
    'NOT_NULL orders.created_at',
    'NOT_NULL orders.customer_id',
    'NOT_NULL orders.id',
    'NOT_NULL orders.status',
    'NOT_NULL orders.total',
    'RANGE orders.total',
    'REGEX customers.email',
    'UNIQUE customers.email',
    'UNIQUE customers.id',
    'UNIQUE orders.id',
    'freshness customers.created_at',
    'freshness orders.created_at',
    'mean orders.total',
    'null_percent orders.note',
    'referential orders.customer_id',
    'row_count customers',
    'row_count orders',
  ])
  t.match(body.data, {
    tables: 2,
    counts: { offered: 20, applied: 0 },
    pagination: { total: 20, has_more: false },
  })
  t.match(
    offers.find(({ type }) => type === 'ENUM'),
    {
      table_path: `${database.name}.public.orders`,
      kind: 'validity',
      config: { allowed_values: ['new', 'paid', 'sent'], treat_null_as_valid: true },
      basis: ['profiles'],
      cost: { statements_per_day: 1, rows_per_day: 1_000, is_shared: true },
      quiet_by: 'profile',
    },
  )
  t.match(
    offers.find(({ type }) => type === 'referential'),
    {
      parent: { table_path: `${database.name}.public.customers`, column_name: 'id' },
      basis: ['constraints'],
      cost: { is_shared: false },
    },
  )
  const again = await list(source.id)
  t.strictSame(again.body.data, body.data, 'the same evidence gives the same')
  const page = await list(source.id, '&limit=3&offset=2')
  t.strictSame(page.body.data.recommendations, offers.slice(2, 5))
  const rules = await list(
    `${source.name}.${database.name}.public.orders`,
    '&kind=validity&min_confidence=0.9&type=ENUM,RANGE',
  )
  t.strictSame(namesOf(rules.body.data.recommendations as Offered[]), [
    'RANGE orders.total',
    'ENUM orders.status',
  ])
  t.match(await list(source.id, '', stranger), { status: 404 })
})

t.test('what is applied is created once, and stays away once it is removed', async t => {
  const { source } = await shop(t)
  // Values that are judged by a past have a test of their own.
  const apply = (body: object) => tenant.ask('POST', `${base}/apply`, { backfill: false, ...body })
  const tried = await apply({ asset_id: source.id, min_confidence: 0.8, dry_run: true })
  t.match(tried, { status: 200, body: { data: { dry_run: true } } })
  const made = await apply({ asset_id: source.id, min_confidence: 0.8 })
  t.same(made.body.data, { ...tried.body.data, dry_run: false })
  t.match(
    made.body.data.cost,
    { statements_per_day: 27, is_shared: true },
    'two scans, one reference, freshness each hour',
  )
  t.match((await apply({ asset_id: source.id, min_confidence: 0.8 })).body.data, {
    created_count: 0,
    created: {},
  })
  const { body } = await list(source.id, '&status=applied')
  t.equal(body.data.counts.applied, made.body.data.created_count)
  const [rule] = await query(`select * from checks where source_id = $1 and type = 'ENUM'`, [source.id])
  t.match(rule, {
    config: { allowed_values: ['new', 'paid', 'sent'] },
    settings: { treatNullAsValid: true },
    check_interval: 'daily',
  })
  const [metric] = await query(`select * from checks where source_id = $1 and type = 'mean'`, [source.id])
  t.match(metric, { column_name: 'total', sensitivity: 4 })
  for (const { id } of await query('select id from tables where source_id = $1', [source.id]))
    await server.plugins.checks.runTable(tenant.companyId, String(id), 'active')
  t.same(
    await query(`select type, status from checks where source_id = $1 and status <> 'pass'`, [source.id]),
    [],
  )

  await query(`delete from checks where source_id = $1 and type = 'ENUM'`, [source.id])
  const removed = (await list(source.id, '&status=removed')).body.data.recommendations as Offered[]
  t.strictSame(namesOf(removed), ['ENUM orders.status'])
  t.match((await apply({ asset_id: source.id })).body.data, { declined: 1 })
  const { body: named } = await apply({ ids: [removed[0]!.id] })
  t.match(named.data, { created: { ENUM: 1 } }, 'a person may apply it again')
  const { body: log } = await tenant.ask('GET', '/api/v1/audit-log?limit=1')
  t.match(log.data[0], { action: 'recommendations.applied', details: { created: { ENUM: 1 } } })
})

t.test('a request that says too little or too much is refused', async t => {
  const { source } = await shop(t)
  const ids = Array.from({ length: 21 }, (_, n) => `rec_${n}`)
  for (const [body, message] of [
    [{}, /^give ids or asset_id$/],
    [{ ids: ['rec_1'], asset_id: source.id }, /^ids and asset_id cannot be given together$/],
    [{ ids: ['rec_1'], type: ['mean'] }, /ids cannot be given together with type/],
    [{ asset_id: source.id, check_past: true }, /check_past needs ids/],
    [{ ids, check_past: true }, /at most 20/],
  ] as const)
    t.match(await tenant.ask('POST', `${base}/apply`, body), { status: 400, body: { error: { message } } })
  t.match(await list(source.id, '&type=nothing'), {
    status: 400,
    body: { error: { details: { field: 'type' } } },
  })
  t.match(await list(source.id, '&min_confidence=2'), { status: 400 })
})

t.test('what is dismissed is not offered until it is restored', async t => {
  const { source } = await shop(t)
  const { body } = await list(source.id, '&type=mean')
  const [{ id } = { id: '' }] = body.data.recommendations as Offered[]
  t.match(await tenant.ask('POST', `${base}/dismiss`, { ids: [id], reason: 'Prices vary' }), {
    status: 200,
    body: { data: { changed: 1 } },
  })
  t.match((await list(source.id, '&type=mean')).body.data, { recommendations: [], counts: { dismissed: 1 } })
  t.match((await list(source.id, '&type=mean&status=dismissed')).body.data.recommendations, [
    { id, dismiss_reason: 'Prices vary' },
  ])
  t.match((await tenant.ask('POST', `${base}/apply`, { asset_id: source.id, type: ['mean'] })).body.data, {
    created_count: 0,
    declined: 1,
  })
  t.match((await tenant.ask('POST', `${base}/restore`, { ids: [id, id.replace(/.$/, 'x')] })).body.data, {
    changed: 1,
  })
  t.match((await list(source.id, '&type=mean')).body.data, { recommendations: [{ id }] })
  for (const path of ['apply', 'dismiss']) {
    t.match(await tenant.ask('POST', `${base}/${path}`, { ids: ['rec_nothing'] }), {
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    })
    t.match(await stranger.ask('POST', `${base}/${path}`, { ids: [id] }), { status: 404 })
  }
  t.match(await stranger.ask('POST', `${base}/restore`, { ids: [id] }), { body: { data: { changed: 0 } } })
})

t.test('the past of a recommendation is computed from timestamps', async t => {
  const { source } = await shop(t)
  const { body } = await list(source.id)
  const past = async (type: string, table: string) => {
    const { id } = (body.data.recommendations as Offered[]).find(
      each => each.type === type && each.table_path.endsWith(table),
    )!
    const reply = await tenant.ask('POST', `${base}/${id}/past`)
    t.equal(reply.status, 200)
    return reply.body.data
  }
  const mean = await past('mean', 'orders')
  t.match(mean.past, { days: 60, source: 'timestamps', timestamp_column: 'created_at', points: 41 })
  t.ok(mean.past.series.length > 0)
  t.match(await past('ENUM', 'orders'), { status: 'offered', past: { alerts: 0 } })
  t.match(await past('freshness', 'orders'), { past: { alerts: 0, cadence: { typical_gap_hours: 1 } } })
  t.match(await past('referential', 'orders'), {
    past: { alerts: 0, points: null, message: /no orphans now/ },
  })

  await query(
    `update recommendations set past = past || '{"alerts": 2}' where type = 'mean' and source_id = $1`,
    [source.id],
  )
  const after = await list(source.id, '&type=mean')
  t.match(
    after.body.data,
    { recommendations: [], counts: { noisy: 1 } },
    'what would have alerted is not offered',
  )
})

t.test('a table without a conventional column is scheduled by the one that its loads move', async t => {
  const { source } = await world(
    t,
    `create table flights (id int primary key, time_hour timestamptz, born timestamptz);
     insert into flights select n, now() - make_interval(hours => n), now() from generate_series(1, 400) n`,
  )
  const times = { kind: 'timestamp', max: new Date().toISOString() } as const
  await storeProfile(server, {
    ...{ companyId: tenant.companyId, sourceId: source.id, table: 'flights', rows: 400 },
    columns: ['time_hour', 'born'].map(name =>
      columnProfile(name, { ...times, min: new Date(Date.now() - 1.4e9).toISOString(), count: 400 }),
    ),
  })
  const made = await tenant.ask('POST', `${base}/apply`, { asset_id: source.id, type: ['freshness'] })
  t.match(made.body.data, { created: { freshness: 1 } })
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${source.id}`)
  t.match(body.data.data, [{ freshness_column: 'time_hour' }])
})
