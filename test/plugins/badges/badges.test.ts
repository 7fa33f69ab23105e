import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { readStatuses } from '../../../plugins/badges/status.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { command } from '../../helpers/command.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)
const { app, tenant } = stage
const { server, ask, query } = app
const BADGES = '/api/v1/sdk/badges'

t.beforeEach(() => query('delete from rate_windows').then(() => undefined))

const SHOP = [
  `create table orders (id int primary key, total int, placed_at timestamptz)`,
  `insert into orders values (1, 10, now()), (2, 20, now())`,
  `create table customers (id int primary key, email text)`,
  `insert into customers values (1, 'a@x.org'), (2, null)`,
]

/** A discovered shop, with ways to make badges and rules on it. */
async function shop(t: Test) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  const idOf = async (table: string) =>
    String(
      (await query('select id from tables where source_id = $1 and name = $2', [world.asset.id, table]))[0]
        ?.id,
    )
  const [orders, customers] = [await idOf('orders'), await idOf('customers')]
  const make = async (body: object) => {
    const reply = await tenant.ask('POST', BADGES, body)
    t.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.data as { id: string; public_id: string; status: string; [field: string]: unknown }
  }
  const rule = async (table: string, column: string, sql?: string) => {
    const body = {
      ...(sql
        ? { rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: sql } }
        : { rule_type: 'NOT_NULL', column_name: column }),
      table_path: table,
    }
    const made = await tenant.ask('POST', `/api/v1/sdk/validity/${world.asset.id}`, body)
    t.equal(made.status, 201, JSON.stringify(made.body))
    const path = `/api/v1/sdk/validity/${world.asset.id}/${made.body.data.uuid}`
    return { path, check: () => tenant.ask('POST', `${path}/check`) }
  }
  return { ...world, source: world.source, orders, customers, make, rule }
}

const getPicture = (publicId: string, headers: Record<string, string> = {}, method = 'GET') =>
  server.inject({ method, url: `/badges/${publicId}.svg`, headers })

/** The status that the picture shows. */
async function shownStatus(publicId: string): Promise<string | undefined> {
  const { payload } = await getPicture(publicId)
  return /<title>[^<]*: (\w+)<\/title>/.exec(payload)?.[1]
}

t.test('a badge is created, listed, changed and removed', async t => {
  const { asset, orders, make } = await shop(t)
  const [{ qualified_name: name } = {}] = await query('select qualified_name from tables where id = $1', [
    orders,
  ])
  const made = await make({ asset_id: name, label: ' Orders ', tag_filters: ['money'] })
  t.match(made, {
    public_id: /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    asset_id: orders,
    label: 'Orders',
    tag_filters: ['money'],
    schema_drift_enabled: false,
    freshness_enabled: false,
    include_upstream: false,
    is_active: true,
    status: 'unknown',
    badge_url: `${server.config.baseUrl}/badges/${made.public_id}.svg`,
    markdown: `![Orders](${server.config.baseUrl}/badges/${made.public_id}.svg)`,
    created_at: String,
  })
  const other = await make({ asset_id: asset.id })
  t.match((await tenant.ask('GET', `${BADGES}?limit=1`)).body, {
    data: { badges: [{ id: other.id }], pagination: { total: 2, limit: 1, offset: 0, has_more: true } },
  })
  t.match((await tenant.ask('GET', `${BADGES}?asset_id=${orders}`)).body.data.badges, [{ id: made.id }])

  const changed = await tenant.ask('PUT', `${BADGES}/${made.id}`, { label: null, freshness_enabled: true })
  t.equal(changed.status, 200)
  t.match(changed.body.data, {
    id: made.id,
    public_id: made.public_id,
    asset_id: orders,
    label: null,
    tag_filters: ['money'],
    freshness_enabled: true,
    schema_drift_enabled: false,
  })
  t.strictSame((await tenant.ask('GET', `${BADGES}/${made.id}`)).body, changed.body)

  t.match((await tenant.ask('DELETE', `${BADGES}/${made.id}`)).body, { data: { success: true } })
  for (const method of ['GET', 'DELETE'])
    t.match(await tenant.ask(method, `${BADGES}/${made.id}`), {
      status: 404,
      body: { error: { code: 'BADGE_NOT_FOUND' } },
    })
  t.equal((await getPicture(made.public_id)).statusCode, 404)
  const log = await query(`select action from audit_log where target_id = $1 order by sequence`, [made.id])
  t.strictSame(
    log.map(({ action }) => action),
    ['badge.created', 'badge.updated', 'badge.removed'],
  )
})

t.test('an invalid badge is refused with the reason', async t => {
  const { asset, make } = await shop(t)
  const { id } = await make({ asset_id: asset.id })
  for (const body of [
    {},
    { asset_id: asset.id, label: '' },
    { asset_id: asset.id, label: 'x'.repeat(61) },
    { asset_id: asset.id, label: 'a\u0007b' },
    { asset_id: asset.id, label: 'a\u202eb' },
    { asset_id: asset.id, label: 'a\uffffb' },
    { asset_id: asset.id, tag_filters: 'money' },
    { asset_id: asset.id, freshness_enabled: 'yes' },
    { asset_id: asset.id, include_upstream: 'yes' },
    { asset_id: asset.id, is_active: null },
    { asset_id: asset.id, color: 'red' },
  ])
    t.match(await tenant.ask('POST', BADGES, body), {
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    })
  for (const assetId of [randomUUID(), 'nothing.like.this.here']) {
    const error = { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } }
    t.match(await tenant.ask('POST', BADGES, { asset_id: assetId }), error)
    t.match(await tenant.ask('PUT', `${BADGES}/${id}`, { asset_id: assetId }), error)
  }
  t.match(await tenant.ask('GET', `${BADGES}/not-an-id`), {
    status: 404,
    body: { error: { code: 'BADGE_NOT_FOUND' } },
  })
})

t.test(
  'a badge passes or fails with the last results of the active checks of its table or source',
  async t => {
    const { asset, orders, customers, make, rule } = await shop(t)
    const badges = {
      source: await make({ asset_id: asset.id }),
      orders: await make({ asset_id: orders }),
      customers: await make({ asset_id: customers }),
    }
    const all = async () => [
      await shownStatus(badges.source.public_id),
      await shownStatus(badges.orders.public_id),
      await shownStatus(badges.customers.public_id),
    ]
    t.strictSame(await all(), ['unknown', 'unknown', 'unknown'])
    const good = await rule('orders', 'total')
    t.strictSame(await all(), ['unknown', 'unknown', 'unknown'], 'nothing has run')
    await good.check()
    t.strictSame(await all(), ['passing', 'passing', 'unknown'])
    const bad = await rule('customers', 'email')
    await bad.check()
    t.strictSame(await all(), ['failing', 'passing', 'failing'])
    const { body } = await tenant.ask('GET', `${BADGES}?limit=3`)
    t.strictSame(
      body.data.badges.map(({ status }: { status: string }) => status),
      ['failing', 'passing', 'failing'],
      'the list shows the same',
    )
    await tenant.ask('PATCH', bad.path, { is_active: false })
    t.strictSame(await all(), ['passing', 'passing', 'unknown'])
    const broken = await rule('orders', '', 'total / (total - 10) > 0')
    await broken.check()
    t.strictSame(await all(), ['failing', 'failing', 'unknown'], 'a check that errs')
    await tenant.ask('DELETE', broken.path)
    const metric = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, {
      metric_type: 'row_count',
      table_path: 'customers',
    })
    await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}/${metric.body.data.id}/capture`)
    t.strictSame(await all(), ['passing', 'passing', 'passing'], 'metrics count')
    const check = await tenant.ask('POST', `/api/v1/sdk/referential/${asset.id}`, {
      child_table_path: 'orders',
      child_column_name: 'total',
      parent_table_path: 'customers',
      parent_column_name: 'id',
    })
    await tenant.ask('POST', `/api/v1/sdk/referential/${asset.id}/${check.body.data.id}/execute`)
    t.strictSame(await all(), ['failing', 'failing', 'passing'], 'so do referential checks, with their child')
  },
)

t.test('drift and freshness count where the badge includes them', async t => {
  const { asset, orders, source, make, tenant: own } = await shop(t)
  const plain = await make({ asset_id: orders })
  const drift = await make({ asset_id: orders, schema_drift_enabled: true })
  const ofSource = await make({ asset_id: asset.id, schema_drift_enabled: true })
  const fresh = await make({ asset_id: orders, freshness_enabled: true })
  const all = async () => [
    await shownStatus(plain.public_id),
    await shownStatus(drift.public_id),
    await shownStatus(ofSource.public_id),
    await shownStatus(fresh.public_id),
  ]
  t.strictSame(await all(), ['unknown', 'passing', 'passing', 'unknown'])
  const schedule = await own.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: orders,
    monitoring_mode: 'explicit',
    sla_threshold: '1h',
    freshness_column: 'placed_at',
  })
  t.equal(schedule.status, 201)
  const { companyId } = own
  const refresh = () => server.plugins.freshness.checkSource({ companyId, sourceId: String(asset.id) })
  await refresh()
  t.strictSame(await all(), ['unknown', 'passing', 'passing', 'passing'])
  await source.query(`update orders set placed_at = now() - interval '2 hours'`)
  await refresh()
  t.strictSame(await all(), ['unknown', 'passing', 'passing', 'failing'])
  await own.ask('PATCH', `/api/v1/sdk/freshness/schedules/${schedule.body.data.id}`, { is_active: false })
  t.strictSame(await all(), ['unknown', 'passing', 'passing', 'unknown'], 'a paused schedule has no outcome')

  await source.query('alter table orders drop column total')
  await discover({ app, tenant: own, asset })
  t.strictSame(await all(), ['unknown', 'failing', 'failing', 'unknown'])
  const { body } = await own.ask('POST', `/api/v1/sdk/schema/${asset.id}/baseline`)
  t.ok(body.data)
  t.strictSame(await all(), ['unknown', 'passing', 'passing', 'unknown'], 'changes that were accepted')
  await query(`update sources set discovery_state = 'failed' where id = $1`, [asset.id])
  t.strictSame(await all(), ['unknown', 'failing', 'failing', 'unknown'], 'a discovery that failed')
})

t.test('tag filters limit which tables count', async t => {
  const { asset, orders, customers, make, rule } = await shop(t)
  await (await rule('orders', 'total')).check()
  await (await rule('customers', 'email')).check()
  const badge = await make({ asset_id: asset.id, tag_filters: ['money', 'gold'] })
  const tag = (body: object) => tenant.ask('POST', '/api/v1/sdk/tags', { name: 'money', ...body })
  t.equal(await shownStatus(badge.public_id), 'unknown', 'no table has one of them')
  await tag({ asset_id: orders })
  t.equal(await shownStatus(badge.public_id), 'passing', 'orders alone')
  const column = await tag({ asset_id: customers, object_path: 'email', object_type: 'column', name: 'gold' })
  t.equal(column.status, 201)
  t.equal(await shownStatus(badge.public_id), 'failing', 'a column of customers too')
  await tenant.ask('DELETE', `/api/v1/sdk/tags/${column.body.data.id}`)
  t.equal(await shownStatus(badge.public_id), 'passing')
  await tag({ asset_id: asset.id, name: 'gold' })
  t.equal(await shownStatus(badge.public_id), 'failing', 'all of a tagged source')
})

t.test('upstream tables count where the badge includes them, over any number of steps', async t => {
  const world = await makeWorldOn(t, stage, [...SHOP, 'create table daily (id int primary key, total int)'])
  await discover(world)
  const { asset, tenant: own } = world
  const { companyId } = own
  await server.db.company(companyId, trx =>
    server.plugins.lineage.connect(trx, String(asset.id), [
      ['public.customers', 'public.orders'],
      ['public.orders', 'public.daily'],
      ['public.daily', 'public.orders'],
    ]),
  )
  const paths = Object.fromEntries(
    (await query('select name, qualified_name from tables where source_id = $1', [asset.id])).map(
      ({ name, qualified_name: path }) => [name, path],
    ),
  )
  const make = async (table: string, more: object = {}) => {
    const body = { asset_id: paths[table], include_upstream: true, ...more }
    const made = await own.ask('POST', BADGES, body)
    t.match(made, { status: 201, body: { data: { include_upstream: true } } })
    return made.body.data as { id: string; public_id: string }
  }
  const badges = [
    await make('daily'),
    await make('customers'),
    await make('daily', { schema_drift_enabled: true, tag_filters: ['money'] }),
    await make('daily', { schema_drift_enabled: true }),
  ]
  const all = () => Promise.all(badges.map(({ public_id: publicId }) => shownStatus(publicId)))
  t.strictSame(await all(), ['unknown', 'unknown', 'unknown', 'passing'])
  const check = async (table: string, column: string) => {
    const body = { rule_type: 'NOT_NULL', column_name: column, table_path: table }
    const made = await own.ask('POST', `/api/v1/sdk/validity/${asset.id}`, body)
    await own.ask('POST', `/api/v1/sdk/validity/${asset.id}/${made.body.data.uuid}/check`)
  }
  await check('daily', 'id')
  t.strictSame(await all(), ['passing', 'unknown', 'unknown', 'passing'], 'nothing is taken from downstream')
  await check('customers', 'email')
  t.strictSame(await all(), ['failing', 'failing', 'unknown', 'failing'], 'two steps away')
  await own.ask('POST', '/api/v1/sdk/tags', { asset_id: paths.orders, name: 'money' })
  t.equal((await all())[2], 'unknown', 'only tables with the tag')
  await world.source.query('alter table orders drop column total')
  await discover(world)
  t.strictSame(await all(), ['failing', 'failing', 'failing', 'failing'], 'a schema change of a tagged one')

  const path = `${BADGES}/${badges[0]!.id}`
  t.match(await own.ask('PUT', path, { include_upstream: false }), {
    status: 200,
    body: { data: { include_upstream: false, status: 'passing' } },
  })
  t.same((await own.ask('GET', `${path}/status`)).body.data, {
    badge_id: badges[0]!.id,
    status: 'passing',
    badge_url: `${server.config.baseUrl}/badges/${badges[0]!.public_id}.svg`,
  })
})

t.test('an inactive badge has no picture, and is left out of the list of active ones', async t => {
  const { orders, make } = await shop(t)
  const { id, public_id: publicId } = await make({ asset_id: orders, label: 'Off', is_active: false })
  const on = await make({ asset_id: orders })
  t.match(await getPicture(publicId), { statusCode: 404, payload: /<title>data quality: unknown</ })
  const listed = async (active: string) => {
    const { body } = await tenant.ask('GET', `${BADGES}?asset_id=${orders}${active}`)
    return body.data.badges.map((badge: { id: string }) => badge.id)
  }
  t.strictSame(await listed('&active_only=true'), [on.id])
  t.strictSame(await listed('&active_only=false'), [on.id, id])
  t.strictSame(await listed(''), [on.id, id])
  t.equal((await tenant.ask('GET', `${BADGES}?active_only=yes`)).status, 400)
  t.match((await tenant.ask('PUT', `${BADGES}/${id}`, { is_active: true })).body.data, { is_active: true })
  t.match(await getPicture(publicId), { statusCode: 200, payload: /<title>Off: unknown</ })
})

t.test('a removed source takes the badges of its tables with it', async t => {
  const { asset, orders, make, rule } = await shop(t)
  await (await rule('orders', 'total')).check()
  const badge = await make({ asset_id: orders, schema_drift_enabled: true, freshness_enabled: true })
  t.equal(await shownStatus(badge.public_id), 'passing')
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)
  t.equal((await getPicture(badge.public_id)).statusCode, 404)
  t.equal((await tenant.ask('GET', `${BADGES}/${badge.id}`)).status, 404)
})

t.test(
  'the picture may be cached for a minute, is revalidated by its ETag, and cannot run anything',
  async t => {
    const { asset, make } = await shop(t)
    const { public_id: publicId } = await make({ asset_id: asset.id, label: 'shop' })
    const { statusCode, headers, payload } = await getPicture(publicId)
    t.equal(statusCode, 200)
    t.match(headers, {
      'content-type': /^image\/svg\+xml/,
      'cache-control': 'max-age=60',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; sandbox`,
      'x-content-type-options': 'nosniff',
      etag: /^"[\w-]{22}"$/,
    })
    t.match(payload, /^<svg .*<title>shop: unknown<\/title>/)
    const same = await getPicture(publicId, { 'if-none-match': String(headers.etag) })
    t.match([same.statusCode, same.payload, same.headers['cache-control']], [304, '', 'max-age=60'])
    await tenant.ask('PUT', `${BADGES}/${(await tenant.ask('GET', BADGES)).body.data.badges[0].id}`, {
      label: 'else',
    })
    t.equal((await getPicture(publicId, { 'if-none-match': String(headers.etag) })).statusCode, 200)
    const head = await getPicture(publicId, {}, 'HEAD')
    t.match([head.statusCode, head.payload], [200, ''])
  },
)

t.test('an unknown id gets a grey picture, an impossible one is refused', async t => {
  for (const publicId of [randomUUID(), 'LyC_p-jl4ARBaf8WId1Rnw']) {
    const { statusCode, headers, payload } = await getPicture(publicId)
    t.equal(statusCode, 404)
    t.match(headers['content-type'], /^image\/svg\+xml/)
    t.match(payload, /<title>data quality: unknown<\/title>/)
    t.match(payload, '#939393')
  }
  for (const publicId of ['not-a-uuid', 'a%20b', 'a.b', 'x'.repeat(36), '%C3%A4', '%2e%2e', `'`]) {
    const { statusCode, payload } = await getPicture(publicId)
    t.equal(statusCode, 422, publicId)
    t.match(JSON.parse(payload), { detail: [{ loc: ['path', 'public_id'], msg: String, type: String }] })
  }
})

t.test('a badge of a former version keeps its URL', async t => {
  const { asset, make } = await shop(t)
  const { id } = await make({ asset_id: asset.id, label: 'old' })
  await query(`update badges set public_id = 'LyC_p-jl4ARBaf8WId1Rnw', source_id = null where id = $1`, [id])
  t.match(await getPicture('LyC_p-jl4ARBaf8WId1Rnw'), {
    statusCode: 200,
    payload: /<title>old: unknown<\/title>/,
  })
  t.match((await tenant.ask('PUT', `${BADGES}/${id}`, { label: 'still' })).body.data, {
    public_id: 'LyC_p-jl4ARBaf8WId1Rnw',
  })
  await tenant.ask('DELETE', `${BADGES}/${id}`)
})

t.test('a page that cached the picture learns that the badge was removed', async t => {
  const { asset, make } = await shop(t)
  const { id, public_id: publicId } = await make({ asset_id: asset.id })
  const { headers } = await getPicture(publicId)
  const again = () => getPicture(publicId, { 'if-none-match': String(headers.etag) })
  t.equal((await again()).statusCode, 304)
  await tenant.ask('DELETE', `${BADGES}/${id}`)
  const { statusCode, payload } = await again()
  t.equal(statusCode, 404, 'though both are the same grey picture')
  t.match(payload, /^<svg /)
})

t.test('one statement reads the status of any number of badges, however many tables there are', async t => {
  const { asset, orders, make } = await shop(t)
  const badges = [
    await make({ asset_id: asset.id, tag_filters: ['money'] }),
    await make({ asset_id: orders, schema_drift_enabled: true, freshness_enabled: true }),
  ]
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns, constraints, fingerprint)
     select gen_random_uuid(), company_id, source_id, 'x', 'x', n::text, 'x.' || n, kind, '[]', '[]', 'x'
     from tables, generate_series(1, 2000) n where id = $1`,
    [orders],
  )
  const one = { id: badges[0]!.id, includeUpstream: false }
  const all = badges.map(({ id }) => ({ id, includeUpstream: true }))
  for (const asked of [[one], all]) {
    const statements = await server.db.company(tenant.companyId, async trx => {
      let count = 0
      trx.on('query', () => count++)
      t.equal((await readStatuses(server.plugins.catalog, trx, asked)).size, asked.length)
      return count
    })
    t.equal(statements, 1)
  }
})

t.test('badges of another company cannot be seen, changed or removed', async t => {
  const { asset, make } = await shop(t)
  const { id } = await make({ asset_id: asset.id })
  const stranger = await app.signUp('Other')
  for (const badgeId of [id, randomUUID()]) {
    t.equal((await stranger.ask('GET', `${BADGES}/${badgeId}/status`)).status, 404)
    for (const [method, body] of [['GET'], ['PUT', { label: 'mine' }], ['DELETE']] as const) {
      const { status, body: answered } = await stranger.ask(method, `${BADGES}/${badgeId}`, body)
      t.match([status, answered.error.code], [404, 'BADGE_NOT_FOUND'])
    }
  }
  t.strictSame((await stranger.ask('GET', BADGES)).body.data.badges, [])
  t.equal((await stranger.ask('POST', BADGES, { asset_id: asset.id })).status, 404)
  const { key } = await server.plugins.auth.createKey({
    companyId: tenant.companyId,
    name: 'r',
    scope: 'read-only',
  })
  t.equal((await ask('GET', BADGES, undefined, key)).status, 200)
  t.equal((await ask('DELETE', `${BADGES}/${id}`, undefined, key)).status, 403)
})

t.test('the command line shows a badge, and creates one if there is none', async t => {
  const { orders } = await shop(t)
  const settings = { DATABASE_URL: server.config.databaseUrl!, SECRET_KEY, DEMO_ENABLED: 'false' }
  const run = (...words: string[]) => command(['badge', ...words, '--company', tenant.companyId], settings)
  const first = await run(orders, '--label', 'Orders', '--json')
  t.equal(first.code, 0, first.err)
  const made = JSON.parse(first.out)
  t.match(made, { asset_id: orders, label: 'Orders', status: 'unknown' })
  const again = await run(orders)
  t.equal(again.code, 0)
  t.match(again.out, `/badges/${made.public_id}.svg`)
  t.match(again.err, /BASE_URL is not set: .* http:\/\/127\.0\.0\.1:8000/, 'whose port may be another')
  const known = { ...settings, BASE_URL: 'https://tidemark.example.com' }
  const there = await command(['badge', orders, '--company', tenant.companyId], known)
  t.match(there.out, `https://tidemark.example.com/badges/${made.public_id}.svg`)
  t.equal(there.err, '')
  const other = JSON.parse((await run(orders, '--drift', '--tag', 'a', 'b', '--json')).out)
  t.not(other.id, made.id)
  t.match(other, { tag_filters: ['a', 'b'], schema_drift_enabled: true })
  t.match(await run(randomUUID()), { code: 3, err: /no such asset/ })
  t.match(await run(orders, '--label', 'x'.repeat(61)), { code: 2, err: /label/ })
  t.equal((await query('select 1 from badges where asset_id = $1', [orders])).length, 2)
})
