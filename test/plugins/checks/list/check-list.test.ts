import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'

const stage = await makeStage(t)
const { app, tenant } = stage

const SHOP = [
  `create table customers (id int primary key)`,
  `create table orders (id int primary key, customer_id int, email text, region text)`,
  `insert into customers values (1)`,
  `insert into orders values (1, 1, 'ann@x.org', 'north'), (2, 7, null, 'south')`,
]

interface ListedCheck {
  kind: string
  id: string
  name: string
  table_path: string
  status: string
  last_checked_at: string | null
  open_alert_id: string | null
  points: { at: string; value: number | null; status: string; low: number | null; high: number | null }[]
}

const list = async (asset: unknown, query = '', who = tenant) =>
  who.ask('GET', `/api/v1/sdk/checks/${encodeURIComponent(String(asset))}${query}`)

/** A source with a check of each kind on one table, made one after the other, and none run. */
async function shopWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const { asset } = world
  const create = async (path: string, body: object): Promise<string> => {
    const { status, body: reply } = await tenant.ask('POST', `/api/v1/sdk/${path}/${asset.id}`, body)
    if (status !== 201) throw new Error(JSON.stringify(reply))
    return String(reply.data.uuid ?? reply.data.id)
  }
  const table = { table_path: 'orders', column_name: 'email' }
  const rule = await create('validity', { ...table, rule_type: 'NOT_NULL', name: 'Has an address' })
  const metric = await create('metrics', { ...table, metric_type: 'null_percent' })
  const grouped = await create('metrics', {
    ...{ table_path: 'orders', metric_type: 'row_count', group_by_columns: ['region'] },
  })
  const reference = await create('referential', {
    ...{ child_table_path: 'orders', child_column_name: 'customer_id', name: 'Orders have customers' },
    ...{ parent_table_path: 'customers', parent_column_name: 'id' },
  })
  const [orders] = await app.query(
    `select id, qualified_name from tables where source_id = $1 and name = 'orders'`,
    [asset.id],
  )
  const run = async () => {
    for (const path of [
      ...[`validity/${asset.id}/${rule}/check`, `referential/${asset.id}/${reference}/execute`],
      ...[metric, grouped].map(id => `metrics/${asset.id}/${id}/capture`),
    ]) {
      const { status, body } = await tenant.ask('POST', `/api/v1/sdk/${path}`)
      if (status !== 200) throw new Error(JSON.stringify(body))
    }
  }
  return { ...world, rule, metric, grouped, reference, orders: orders!, run }
}

const itemsOf = (body: { data: { items: ListedCheck[] } }) => body.data.items

t.test('a check is listed with the rows and the buckets of time that it is about', async t => {
  const world = await shopWorld(t)
  const { asset, source } = world
  await source.query('alter table orders add column placed_at timestamptz')
  await discover(world)
  const scope = { filter: 'id > 1', time_column: 'placed_at', window: '1d' }
  const { body } = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, {
    ...{ table_path: 'orders', metric_type: 'row_count', window_delay: '2h', ...scope },
  })
  const [newest] = itemsOf((await list(asset.id)).body)
  t.match(newest, { id: body.data.id, ...scope, window_delay: '2h', revisit: null })
})

t.test('checks are sorted by each of their columns, also where they are searched', async t => {
  const { asset, rule, metric, grouped, reference, run } = await shopWorld(t)
  await run()
  await app.query(
    `update checks set check_interval = case id when (select min(id) from checks where company_id = $1) then 'weekly'
       else check_interval end, last_checked_at = last_checked_at + id * interval '1 s' where company_id = $1`,
    [tenant.companyId],
  )
  const sortedBy = async (query: string) => itemsOf((await list(asset.id, query)).body).map(({ id }) => id)
  const valuesOf = async (name: keyof ListedCheck, query: string) =>
    itemsOf((await list(asset.id, query)).body).map(check => String(check[name]))
  for (const [sort, name] of [
    ['kind', 'kind'],
    ['table', 'table_path'],
    ['last_checked_at', 'last_checked_at'],
  ] as const) {
    const up = await valuesOf(name, `?sort=${sort}&order=asc`)
    t.strictSame(up, up.toSorted(), `${sort} ascending`)
    const down = await valuesOf(name, `?sort=${sort}&order=desc`)
    t.strictSame(down, down.toSorted().reverse(), `${sort} descending`)
  }
  t.equal((await sortedBy('?sort=interval&order=desc'))[0], rule, 'weekly comes after daily')
  t.strictSame(
    await sortedBy('?sort=name&order=asc&search=orders'),
    (await sortedBy('?sort=name&order=desc&search=orders')).toReversed(),
  )
  t.strictSame(
    (await Promise.all([0, 2].map(offset => sortedBy(`?sort=name&limit=2&offset=${offset}`))))
      .flat()
      .toSorted(),
    [rule, metric, grouped, reference].toSorted(),
    'each is on one page',
  )
})

t.test('the checks of all kinds are one list, by the ids of their own endpoints', async t => {
  const { tenant, asset, rule, metric, grouped, reference, orders, run } = await shopWorld(t)
  const pending = await list(asset.id)
  t.match(pending.body.pagination, { total: 4, limit: 50, offset: 0, has_more: false })
  t.strictSame(
    itemsOf(pending.body).map(({ id, kind, status, last_checked_at: at }) => [id, kind, status, at]),
    [
      [reference, 'referential', 'pending', null],
      [grouped, 'metric', 'pending', null],
      [metric, 'metric', 'pending', null],
      [rule, 'validity', 'pending', null],
    ],
    'the newest first',
  )

  await run()
  const { body } = await list(asset.id)
  const [ofReference, ofGroups, ofMetric, ofRule] = itemsOf(body)
  const [alert] = await app.query(`select id from alerts where kind = 'validity_failure' and cause = $1`, [
    rule,
  ])
  t.strictSame(
    { ...ofRule, last_checked_at: null, points: [] },
    {
      ...{ kind: 'validity', id: rule, asset_id: orders.id, qualified_name: orders.qualified_name },
      table_path: String(orders.qualified_name).split('.').slice(1).join('.'),
      ...{ name: 'Has an address', title: 'Has an address' },
      ...{ column_name: 'email', type: 'NOT_NULL', severity: 'warning' },
      ...{ is_active: true, interval: 'daily', status: 'failing', last_checked_at: null },
      ...{ open_alert_id: alert?.id, points: [] },
    },
  )
  t.match(ofRule?.points, [
    { at: ofRule?.last_checked_at, value: 50, status: 'failing', low: null, high: null },
  ])
  t.match(ofMetric, {
    ...{ name: 'null_percent of email on orders', title: 'Null rate of orders.email' },
    ...{ type: 'null_percent', severity: null },
    ...{ status: 'learning', open_alert_id: null, points: [{ value: 50, status: 'learning' }] },
  })
  t.match(ofGroups, { name: 'row_count on orders', column_name: null, status: 'learning', points: [] })
  t.type(ofGroups?.last_checked_at, 'string', 'a metric by groups has no series, but has run')
  const { quality } = (
    await tenant.ask('GET', `/api/v1/assets/${encodeURIComponent(String(orders.qualified_name))}`)
  ).body
  t.strictSame(
    quality,
    { status: 'failing', passing: 0, learning: 2, failing: 2, error: 0, pending: 0 },
    'what learns counts as no pass',
  )
  t.match(ofReference, {
    ...{ name: 'Orders have customers', type: 'referential', column_name: 'customer_id', status: 'failing' },
    ...{ severity: 'warning', points: [{ value: 1, status: 'failing' }] },
  })
  const { body: alerts } = await tenant.ask('GET', `/api/v1/sdk/alerts/${ofReference?.open_alert_id}`)
  t.equal(alerts.data?.rule_name, ofReference?.name, 'a check is called as its alerts call it')

  for (const name of [orders.id, orders.qualified_name, asset.name])
    t.strictSame((await list(name)).body, body, `the same by ${name}`)
  const [customers] = await app.query(`select id from tables where source_id = $1 and name = 'customers'`, [
    asset.id,
  ])
  t.match((await list(customers?.id)).body, { data: { items: [] }, pagination: { total: 0 } })
})

t.test('points are the last results of a series, the oldest first', async t => {
  const { asset, metric, rule } = await shopWorld(t)
  await app.query(
    `insert into check_results (company_id, check_id, value, status, is_learning, at,
       low, high, error_message)
     select company_id, id, case when n < 120 then n end, case when n < 120 then 'pass' else 'error' end, n < 118,
       now() - make_interval(days => 120 - n), n - 1, n + 1, case when n < 120 then null else 'gone' end
     from checks, generate_series(1, 120) n where uuid = $1`,
    [metric.slice(2)],
  )
  await app.query(
    `update checks c set status = 'error', last_checked_at = (select max(at) from check_results r where r.check_id = c.id)
     where uuid = $1`,
    [metric.slice(2)],
  )
  const checksWith = async (query: string) => {
    const found = itemsOf((await list(asset.id, query)).body)
    return new Map(found.map(item => [item.id, item]))
  }
  const three = (await checksWith('?points=3')).get(metric)
  t.match(three?.points, [
    { value: 118, status: 'passing', low: 117, high: 119 },
    { value: 119, status: 'passing' },
    { value: null, status: 'error' },
  ])
  t.match(three, { status: 'error', last_checked_at: three?.points[2]?.at })
  t.equal((await checksWith('')).get(metric)?.points.length, 30)
  const all = await checksWith('?points=100')
  t.strictSame([all.get(metric)?.points.length, all.get(rule)?.points.length], [100, 0])
  const none = (await checksWith('?points=0')).get(metric)
  t.match(none, { points: { length: 0 }, last_checked_at: three?.last_checked_at })
})

t.test('filters and pages are those of the whole list', async t => {
  const { asset, run, rule, metric } = await shopWorld(t)
  await run()
  const idsOf = async (query: string) => {
    const { status, body } = await list(asset.id, query)
    t.equal(status, 200, query)
    t.equal(body.pagination.total, query.includes('offset') ? 4 : itemsOf(body).length, `total of ${query}`)
    return itemsOf(body).map(({ kind, id }) => (kind === 'metric' ? id : kind))
  }
  t.strictSame(await idsOf('?status=failing'), ['referential', 'validity'])
  t.equal((await idsOf('?status=failing,learning,error')).length, 4)
  t.strictSame(await idsOf('?status=passing'), [])
  t.strictSame(await idsOf('?kind=validity'), ['validity'])
  t.strictSame(await idsOf('?search=ADDRESS'), ['validity'])
  t.strictSame(await idsOf('?search=null_percent'), [metric])
  t.equal((await idsOf('?search=public.orders')).length, 4)
  t.strictSame(await idsOf('?search=100%25'), [], 'there are no wildcards')
  await tenant.ask('PATCH', `/api/v1/sdk/validity/${asset.id}/${rule}`, { is_active: false })
  t.strictSame(await idsOf('?is_active=false'), ['validity'])
  t.strictSame(await idsOf('?kind=validity&status=failing&is_active=true'), [])
  t.match((await list(asset.id, '?kind=validity')).body.data.items, [
    { open_alert_id: null, is_active: false },
  ])
  t.strictSame((await idsOf('?limit=2&offset=1')).length, 2)
  t.strictSame(await idsOf('?limit=2&offset=3'), ['validity'])
  t.match((await list(asset.id, '?limit=3')).body.pagination, { total: 4, has_more: true })
})

t.test('pages are parts of the whole list, also where times are equal', async t => {
  const { asset, run } = await shopWorld(t)
  await run()
  const [stored] = await app.query(
    `select string_agg(column_name, ', ') as columns from information_schema.columns
     where table_name = 'checks' and is_generated = 'NEVER'`,
  )
  await app.query(
    `insert into checks (${stored?.columns}) overriding system value
     select ${stored?.columns} from (select (jsonb_populate_record(c, jsonb_build_object('id', 1000000 + 10 * c.id + n,
       'uuid', gen_random_uuid(), 'status', (array['pass', 'fail', 'error', 'warning', null])[1 + n % 5],
       'created_at', timestamptz '2026-01-01' + make_interval(days => n / 2)))).*
     from checks c, generate_series(1, 7) n
     where c.id in (select min(id) from checks where source_id = $1 group by kind)) copied`,
    [asset.id],
  )
  const page = async (query: string) => (await list(asset.id, `?points=0&${query}`)).body
  for (const sort of ['sort=created_at', 'sort=status'])
    for (const order of ['order=desc', 'order=asc'])
      for (const filter of [
        '',
        'status=failing',
        'status=failing,pending,error',
        'search=orders',
        'search=Public.orders',
        'kind=metric',
      ]) {
        const query = [sort, order, filter].join('&')
        const whole = await page(`${query}&limit=100`)
        const ids = itemsOf(whole).map(({ id }) => id)
        t.equal(ids.length, whole.pagination.total, query)
        const pages = await Promise.all(ids.map((_, offset) => page(`${query}&limit=3&offset=${offset}`)))
        t.strictSame(
          pages.map(itemsOf).map(items => items.map(({ id }) => id)),
          ids.map((_, offset) => ids.slice(offset, offset + 3)),
        )
        t.ok(
          pages.every(({ pagination }) => pagination.total === ids.length),
          'with the total',
        )
        t.match(await page(`${query}&offset=100`), {
          data: { items: { length: 0 } },
          pagination: { total: ids.length },
        })
      }
})

t.test('a search finds checks by the name that their table has now', async t => {
  const { asset, orders } = await shopWorld(t)
  const totalOf = async (search: string) => (await list(asset.id, `?search=${search}`)).body.pagination.total
  t.strictSame([await totalOf('orders'), await totalOf('public.orders')], [4, 4])
  await app.query(`update tables set name = 'Parcels', schema_name = 'Post' where id = $1`, [orders.id])
  t.strictSame(
    [await totalOf('parcels'), await totalOf('st.parcel'), await totalOf('public.orders')],
    [4, 4, 0],
  )
})

t.test('another company has no such asset, and bad input is refused', async t => {
  const { asset, orders } = await shopWorld(t)
  const stranger = await app.signUp('Stranger')
  for (const id of [asset.id, orders.id, orders.qualified_name])
    t.match(await list(id, '', stranger), { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  for (const query of ['points=101', 'points=-1', 'kind=freshness', 'status=fine', 'limit=101', 'search='])
    t.equal((await list(asset.id, `?${query}`)).status, 400, query)
})

t.test('all checks of a company are one list, with the same filters', async t => {
  const one = await shopWorld(t)
  await one.run()
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${one.asset.id}`, { name: 'warehouse' })
  const other = await makeWorldOn(t, stage, [`create table parcels (id int, weight int)`])
  await discover(other)
  const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${other.asset.id}`, {
    ...{ table_path: 'parcels', metric_type: 'row_count' },
  })
  const all = async (query: string, who = tenant) => {
    const { status, body } = await who.ask('GET', `/api/v1/sdk/checks${query}`)
    t.equal(status, 200, query)
    return body
  }
  const idsOf = async (query: string) => itemsOf(await all(query)).map(({ id }) => id)
  const mine = [one.reference, one.grouped, one.metric, one.rule]
  t.equal((await idsOf('?limit=1'))[0], made.body.data.id, 'the newest first')
  t.same((await idsOf('?limit=100')).slice(1, 5), mine)
  t.equal((await idsOf('?limit=100&order=asc')).at(-1), made.body.data.id)
  const ofAsset = itemsOf((await list(one.asset.id)).body)
  const ofCompany = itemsOf(await all('?limit=100'))
  t.strictSame(
    ofCompany.filter(({ id }) => mine.includes(id)),
    ofAsset,
    'the same records',
  )
  t.match(await all('?search=parcels'), {
    data: { items: [{ id: made.body.data.id }] },
    pagination: { total: 1 },
  })
  t.match(await all('?search=public.parcels'), { pagination: { total: 1 } })
  t.match(await all(`?search=${other.asset.name}.`), { pagination: { total: 0 } })
  t.match(await all(`?search=${other.asset.name}&status=pending`), { pagination: { total: 1 } })
  const statuses = itemsOf(await all('?sort=status&limit=100')).map(({ status }) => status)
  const rank = ['failing', 'error', 'warning', 'learning', 'pending', 'passing']
  t.strictSame(
    statuses,
    statuses.toSorted((a, b) => rank.indexOf(a) - rank.indexOf(b)),
    'the worst first',
  )
  t.equal(itemsOf(await all('?sort=status&order=asc&limit=100')).at(-1)?.status, 'failing')
  t.ok((await idsOf('?status=learning')).includes(one.metric))
  t.notOk((await idsOf('?status=passing')).includes(one.metric))
  const { body } = await tenant.ask('GET', '/api/v1/sdk/checks?offset=1&limit=2')
  t.match(body.pagination, { offset: 1, limit: 2, has_more: true })
  t.equal((await tenant.ask('GET', '/api/v1/sdk/checks?sort=value')).status, 400)
  const stranger = await app.signUp('Stranger')
  t.match(await all('', stranger), { data: { items: { length: 0 } }, pagination: { total: 0 } })
})

t.test('assets are listed by the status of their checks, their freshness and their alerts', async t => {
  const { asset, run } = await shopWorld(t)
  const namesOf = async (query: string) => {
    const { status, body } = await tenant.ask('GET', `/api/v1/assets?source=${asset.name}&${query}`)
    t.equal(status, 200, query)
    t.equal(body.pagination.total, body.data.length, `total of ${query}`)
    return body.data.map(({ name }: { name: string }) => name)
  }
  t.strictSame(await namesOf('quality_status=failing,error,passing'), [])
  t.same((await namesOf('quality_status=none')).sort(), ['customers', 'orders'])
  await run()
  t.strictSame(await namesOf('quality_status=failing'), ['orders'])
  t.strictSame(await namesOf('quality_status=none'), ['customers'])
  t.strictSame(await namesOf('quality_status=failing,passing'), ['orders'])
  t.same((await namesOf('quality_status=none,failing,error')).sort(), ['customers', 'orders'])
  t.strictSame(await namesOf('quality_status=passing,error'), [])
  t.strictSame(await namesOf('has_open_alerts=true'), ['orders'])
  t.strictSame(await namesOf('has_open_alerts=false'), ['customers'])
  await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    ...{ asset_id: asset.id, table_path: 'orders', sla_threshold: '24h', freshness_expression: 'now()' },
  })
  const [schedule] = await app.query(
    `update checks set status = 'fail', settings = settings || '{"lastError": null}', last_checked_at = now(),
      next_run_at = now() + interval '1 day' where source_id = $1 and kind = 'freshness' returning id`,
    [asset.id],
  )
  if (schedule) {
    t.strictSame(await namesOf('freshness_status=stale'), ['orders'])
    t.strictSame(await namesOf('freshness_status=stale&quality_status=none'), [])
    t.strictSame(await namesOf('freshness_status=unknown'), ['customers'])
    t.strictSame(await namesOf('freshness_status=fresh,error'), [])
    t.strictSame(
      await namesOf('sort=status&asset_type=table'),
      ['orders', 'customers'],
      'the stale one first',
    )
    t.strictSame(await namesOf('sort=status&order=desc&asset_type=table'), ['customers', 'orders'])
  }
  t.strictSame(await namesOf('sort=name&asset_type=table'), ['customers', 'orders'])
  t.strictSame(await namesOf('sort=name&order=desc&asset_type=table'), ['orders', 'customers'])
  t.equal((await tenant.ask('GET', '/api/v1/assets?quality_status=bad')).status, 422)
})
