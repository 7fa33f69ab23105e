import t from 'tap'
import type { ColumnInfo } from '../../../../connectors/catalog.ts'
import { personalColumns } from '../../../../plugins/catalog/tags/personal-columns.ts'
import type { Reply } from '../../../helpers/server.ts'
import { discover, makeWorld, type World } from '../../../helpers/world.ts'

const UNKNOWN = '11111111-1111-4111-8111-111111111111'

const SHOP = [
  `create table customers (id int primary key, email text, full_name text, score int, email_sent boolean)`,
  `insert into customers values (1, 'ann@x.org', 'Ann', 10, true), (2, 'bad', 'Bob', 20, false)`,
  `create table orders (id int primary key, buyer text, region text, total int)`,
  `insert into orders values (1, 'ann@x.org', 'north', 5), (2, 'eve@x.org', 'south', 7)`,
  `create view contacts as select id, email as reach from customers`,
  `create table visits (id int, seen date, updated_at date, pay int)`,
  `insert into visits values (1, '2020-01-02', '2021-03-04', 5), (2, '2019-01-02', '2021-03-03', 7)`,
  `create schema odd`,
  `create table odd.orders (id int)`,
  `create table odd."we.ird" ("a.b" text, "a,b" text)`,
]

type Record = { [field: string]: unknown }

async function shop(t: Parameters<typeof makeWorld>[0]) {
  const world = await makeWorld(t, SHOP)
  const { tenant, asset } = world
  const tag = (body: object): Promise<Reply> =>
    tenant.ask('POST', '/api/v1/sdk/tags', { asset_id: asset.id, ...body })
  const list = async (query = ''): Promise<Record[]> =>
    (await tenant.ask('GET', `/api/v1/sdk/tags?asset_id=${asset.id}${query}`)).body.data.tags
  return {
    ...world,
    tag,
    list,
    /** `path name`, sorted. */
    names: async (query = '') =>
      (await list(query)).map(({ object_path: path, name }) => `${short(path, world)} ${name}`).sort(),
    column: (path: string, name = 'pii') => tag({ name, object_path: path, object_type: 'column' }),
    /** A table's record. */
    table: async (path: string): Promise<Record> =>
      (await tenant.ask('GET', `/api/v1/assets/shop.${world.source.name}.${path}`)).body,
    auto: (isOn: boolean) =>
      tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { auto_tag_enabled: isOn }),
  }
}

function short(path: unknown, { source }: Pick<World, 'source'>): string {
  return path === null ? 'source' : String(path).replace(`${source.name}.`, '').replace('public.', '')
}

function columnTags(table: Record): object {
  const columns = table.columns as { name: string; tags: string[] }[]
  return Object.fromEntries(columns.flatMap(({ name, tags }) => (tags.length > 0 ? [[name, tags]] : [])))
}

t.test('tags by hand', async t => {
  const world = await shop(t)
  const { app, tenant, asset, source, tag, list, table, column } = world
  await discover(world)
  const database = source.name
  const orders = await table('public.orders')

  await t.test('stand on sources, tables and columns, and show in their records', async t => {
    const onSource = await tag({ name: 'gold' })
    t.equal(onSource.status, 201)
    t.match(onSource.body.data, {
      id: String,
      name: 'gold',
      category: 'business',
      description: null,
      origin: 'manual',
      asset_id: asset.id,
      source_id: asset.id,
      object_path: null,
      object_type: 'source',
      created_at: /Z$/,
    })
    const onTable = await tag({
      name: 'sales',
      object_path: 'public.orders',
      category: 'technical',
      description: 'All',
    })
    t.match(onTable.body.data, {
      asset_id: orders.id,
      source_id: asset.id,
      object_path: `${database}.public.orders`,
      object_type: 'table',
      category: 'technical',
      description: 'All',
    })
    const odd = await tag({ name: 'x', object_path: 'odd."we.ird"."a.b"', object_type: 'column' })
    t.match(odd.body.data, { object_path: `${database}.odd."we.ird"."a.b"`, object_type: 'column' })
    const again = await tag({ name: 'y', object_path: odd.body.data.object_path, object_type: 'column' })
    t.equal(again.body.data.object_path, odd.body.data.object_path, 'a path from a reply is accepted')
    t.same(columnTags(await table('odd."we.ird"')), { 'a.b': ['x', 'y'] })
    t.same((await table('public.orders')).tags, ['sales'])
    t.same(await app.query('select tags from sources'), [{ tags: ['gold'] }])
  })

  await t.test('an asset that is a table needs no path, and of its columns only the name', async t => {
    const onTable = await tag({ asset_id: orders.id, name: 'core' })
    t.match(onTable.body.data, { asset_id: orders.id, object_type: 'table' })
    const named = await tag({
      asset_id: orders.qualified_name,
      name: 'where',
      object_path: 'region',
      object_type: 'column',
    })
    t.match(named.body.data, { object_path: `${database}.public.orders.region`, object_type: 'column' })
    const other = await tag({ asset_id: orders.id, name: 'core', object_path: 'customers' })
    t.match(other, {
      status: 400,
      body: { error: { details: { field: 'object_path', error: /another table/ } } },
    })
  })

  await t.test('the same tag twice is the same tag, with what is said anew', async t => {
    const first = await tag({ name: 'twice', object_path: 'customers', category: 'technical' })
    const second = await tag({ name: ' twice ', object_path: 'customers', description: 'Now with words' })
    t.same([first.status, second.status], [201, 200])
    t.same(second.body.data, { ...first.body.data, description: 'Now with words' })
  })

  await t.test('what cannot be is refused with what to do', async t => {
    const refused: [object, string, RegExp][] = [
      [{ name: '' }, 'name', /empty/],
      [{ name: 'a,b' }, 'name', /comma/],
      [{ name: 'a\nb' }, 'name', /control character/],
      [{ name: 'x'.repeat(101) }, 'name', /100/],
      [{ name: 'x', category: 'nice' }, 'category', /business/],
      [{ name: 'x', object_path: 'orders' }, 'object_path', /several tables.*odd\.orders.*public\.orders/],
      [{ name: 'x', object_path: 'nowhere' }, 'object_path', /there is no table `nowhere`/],
      [{ name: 'x', object_path: 'a."b' }, 'object_path', /double quotes/],
      [{ name: 'x', object_type: 'column' }, 'object_path', /required/],
      [
        { name: 'x', object_type: 'column', object_path: 'customers.nope' },
        'object_path',
        /no column `nope`/,
      ],
      [{ name: 'x', object_type: 'column', object_path: 'email' }, 'object_path', /path/],
    ]
    for (const [body, field, error] of refused)
      t.match(await tag(body), {
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', details: { field, error } } },
      })
    t.match(await tag({ asset_id: UNKNOWN, name: 'x' }), {
      status: 404,
      body: { error: { code: 'ASSET_NOT_FOUND' } },
    })
  })

  await t.test('many at once: one bad path does not lose the others', async t => {
    const { body } = await tenant.ask('POST', '/api/v1/sdk/tags/apply', {
      asset_id: asset.id,
      tag_names: ['one', 'two'],
      object_paths: ['customers', 'customers.score', 'odd.orders.id', 'customers.none'],
      category: 'governance',
    })
    t.match(body.data, { applied: 6, failed: 2, total: 8 })
    t.match(body.data.errors, [
      { object_path: 'customers.none', name: 'one', error: /no column `none`/ },
      { object_path: 'customers.none', name: 'two' },
    ])
    t.same((await list('&name=one')).map(({ object_type: type }) => type).sort(), [
      'column',
      'column',
      'table',
    ])
    const bulk = await tenant.ask('POST', '/api/v1/sdk/tags/bulk-apply', {
      tag_name: 'everywhere',
      asset_ids: [asset.id, 'shop', orders.id, orders.qualified_name, UNKNOWN, 'no.such.table'],
    })
    t.match(bulk.body.data, { applied: 4, failed: 2, total: 6 })
    t.same(
      (await list('&name=everywhere')).map(({ asset_id: id }) => id).sort(),
      [asset.id, orders.id].sort(),
    )
    t.same(await app.query('select tags from sources'), [{ tags: ['everywhere', 'gold'] }])
  })

  await t.test('lists are filtered and paged', async t => {
    const all = (await tenant.ask('GET', '/api/v1/sdk/tags?limit=3')).body.data
    t.equal(all.tags.length, 3)
    t.match(all.pagination, { total: (await list()).length, limit: 3, offset: 0, has_more: true })
    t.same((await list('&category=governance')).length, 6)
    t.same(await list('&origin=automatic'), [])
    const ofTable = await tenant.ask('GET', `/api/v1/sdk/tags?asset_id=${orders.id}`)
    t.same(
      ofTable.body.data.tags.map(({ name }: Record) => name).sort(),
      ['core', 'everywhere', 'sales', 'where'],
      'of a table with its columns, not of others of its name',
    )
    t.match(await tenant.ask('GET', '/api/v1/sdk/tags?limit=501'), { status: 400 })
  })

  await t.test('are taken off, once', async t => {
    const { body } = await column('customers.score', 'gone')
    t.same(columnTags(await table('public.customers')), { score: ['gone', 'one', 'two'] })
    const path = `/api/v1/sdk/tags/${body.data.id}`
    t.match(await tenant.ask('DELETE', path), { status: 200, body: { data: { success: true } } })
    t.same(columnTags(await table('public.customers')), { score: ['one', 'two'] })
    for (const missing of [path, '/api/v1/sdk/tags/nonsense'])
      t.match(await tenant.ask('DELETE', missing), {
        status: 404,
        body: { error: { code: 'TAG_NOT_FOUND' } },
      })
  })

  await t.test('are of one company', async t => {
    const other = await app.signUp('Other')
    const [mine] = await list()
    t.same((await other.ask('GET', '/api/v1/sdk/tags')).body.data.tags, [])
    t.equal((await other.ask('DELETE', `/api/v1/sdk/tags/${mine?.id}`)).status, 404)
    const bulk = await other.ask('POST', '/api/v1/sdk/tags/bulk-apply', {
      tag_name: 'x',
      asset_ids: [asset.id, orders.id],
    })
    t.match(bulk.body.data, { applied: 0, failed: 2 })
    const key = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
    const read = (method: string, path: string, body?: object) =>
      app.ask(method, path, body, key.body.data.key)
    t.equal((await read('GET', '/api/v1/sdk/tags')).status, 200)
    t.equal((await read('POST', '/api/v1/sdk/tags', { asset_id: asset.id, name: 'x' })).status, 403)
    t.equal((await read('DELETE', `/api/v1/sdk/tags/${mine?.id}`)).status, 403)
  })

  await t.test('two at once lose none', async t => {
    const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`)
    await Promise.all(
      names.map((name, index) =>
        index % 2 ? column('customers.id', name) : tag({ name, object_path: 'customers' }),
      ),
    )
    const customers = await table('public.customers')
    const seen = [...(customers.tags as string[]), ...Object.values(columnTags(customers)).flat()]
    t.same(seen.filter(name => String(name).startsWith('at-once')).sort(), names)
  })

  await t.test('alerts of a check carry the tags of its column, its table and its source', async t => {
    await column('customers.email_sent', 'flag')
    const rules = `/api/v1/sdk/validity/${asset.id}`
    const rule = {
      rule_type: 'ENUM',
      table_path: 'customers',
      column_name: 'email_sent',
      rule_config: { allowed_values: [true] },
    }
    const made = await tenant.ask('POST', rules, rule)
    t.equal((await tenant.ask('POST', `${rules}/${made.body.data.id}/check`, {})).body.data.status, 'fail')
    const [alert] = await app.query(
      `select event -> 'asset' -> 'tags' as tags from alerts where kind = 'validity_failure'`,
    )
    const tags = alert?.tags as string[]
    for (const name of ['flag', 'twice', 'gold']) t.ok(tags.includes(name), name)
    t.notOk(tags.includes('at-once-1'), 'another column’s')
    t.same(tags, [...new Set(tags)].sort())
  })

  await t.test('the first hundred errors are returned, and all are counted', async t => {
    const many = (name: string, length: number) => Array.from({ length }, (_, i) => `${name}${i}`)
    const { status, body } = await tenant.ask('POST', '/api/v1/sdk/tags/apply', {
      asset_id: asset.id,
      tag_names: many('n', 50),
      object_paths: many('nowhere', 500),
    })
    t.match([status, body.data], [200, { applied: 0, failed: 25_000, total: 25_000 }])
    t.equal(body.data.errors.length, 100)
  })

  await t.test('an object carries at most 100, so that lists of assets stay short', async t => {
    const apply = (tag_names: string[], object_paths: string[]) =>
      tenant.ask('POST', '/api/v1/sdk/tags/apply', { asset_id: asset.id, tag_names, object_paths })
    const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `n${from + i}`)
    const before = (await table('odd.orders')).tags as string[]
    const room = 100 - before.length
    t.equal((await apply(names(0, 50), ['odd.orders'])).status, 200)
    t.equal((await apply(names(50, room), ['odd.orders'])).status, 200, 'a hundred are fine')
    t.equal((await apply(names(0, 50), ['odd.orders'])).status, 200, 'and so are those it has')
    t.match(await apply(['surplus'], ['public.orders', 'odd.orders']), {
      status: 409,
      body: {
        error: {
          code: 'CONFLICT',
          message: /would carry 101 tags, and at most 100 are possible/,
          details: { object_path: `shop.${database}.odd.orders`, max_tags: 100 },
        },
      },
    })
    t.equal((await tag({ name: 'surplus', object_path: 'odd.orders' })).status, 409)
    t.strictSame(await list('&name=surplus'), [], 'none of those was put on')
    t.equal((await tag({ name: 'id', object_path: 'odd.orders.id', object_type: 'column' })).status, 201)
  })
})

t.test('tags by the names of columns', async t => {
  const world = await shop(t)
  const { app, source, tenant, names, list, tag, auto, table, column } = world
  const found = ['customers.email pii.email', 'customers.full_name pii.name']

  await t.test('are given by discovery where that is asked for, and only there', async t => {
    await discover(world)
    t.same(await names(), [])
    t.equal((await auto(true)).status, 200)
    t.same(await names('&origin=automatic'), found, 'of the tables that are known already')
    t.same(columnTags(await table('public.customers')), { email: ['pii.email'], full_name: ['pii.name'] })
    t.match(await list('&name=pii.email'), [
      { category: 'governance', origin: 'automatic', object_type: 'column' },
    ])
    await auto(false)
    t.same([await names(), columnTags(await table('public.customers'))], [[], {}])
    await auto(true)
  })

  await t.test('come and go with their columns, and manual ones stay', async t => {
    await column('customers.email', 'mine')
    await source.query('alter table customers add column phone text')
    await source.query('alter table customers drop column full_name')
    await source.query('create table staff (birth_date date, name text)')
    await discover(world)
    t.same(await names(), [
      'customers.email mine',
      'customers.email pii.email',
      'customers.phone pii.phone',
      'staff.birth_date pii.birth_date',
    ])
  })

  await t.test('one that was taken off stays off, until it is put on by hand', async t => {
    const [automatic] = await list('&name=pii.phone')
    const taken = await tenant.ask('DELETE', `/api/v1/sdk/tags/${automatic?.id}`)
    t.match(taken.body.data.message, /not be put on again/)
    await source.query('alter table customers add column age int')
    await discover(world)
    await auto(false)
    await auto(true)
    t.same(await list('&name=pii.phone'), [])
    const again = await column('customers.phone', 'pii.phone')
    t.match(again, { status: 201, body: { data: { origin: 'manual' } } })
    t.same(columnTags(await table('public.customers')), {
      email: ['mine', 'pii.email'],
      phone: ['pii.phone'],
    })
    await tenant.ask('DELETE', `/api/v1/sdk/tags/${again.body.data.id}`)
    await auto(false)
    await auto(true)
    t.same(await list('&name=pii.phone'), [], 'off again, the name alone does not bring it back')
  })

  await t.test('an automatic one that is put on by hand is manual and outlives the switch', async t => {
    const put = await tag({ name: 'pii.birth_date', object_path: 'staff.birth_date', object_type: 'column' })
    t.match(put, { status: 200, body: { data: { origin: 'manual', description: null } } })
    await auto(false)
    t.same(await names(), ['customers.email mine', 'staff.birth_date pii.birth_date'])
    await auto(true)
  })

  await t.test('tags follow a renamed column, also where two change names', async t => {
    await source.query('alter table customers rename column email to reach')
    await source.query('alter table orders rename column buyer to swap')
    await source.query('alter table orders rename column region to buyer')
    await source.query('alter table orders rename column swap to region')
    await column('orders.buyer', 'person').then(() => column('public.orders.buyer', 'person'))
    await column('public.orders.region', 'place')
    await discover(world)
    t.same(await names('&name=pii.email'), ['customers.reach pii.email'])
    t.match(await list('&name=pii.email'), [
      { origin: 'manual', description: /former name of the column, email/ },
    ])
    t.same(columnTags(await table('public.orders')), { buyer: ['place'], region: ['person'] })
  })

  await t.test('and a renamed table, with all of its columns', async t => {
    const before = columnTags(await table('public.customers'))
    await source.query('alter table customers rename to clients')
    await source.query('alter table clients rename column reach to via')
    await discover(world)
    const { reach, ...others } = before as { reach: string[] }
    t.same(columnTags(await table('public.clients')), { ...others, via: reach })
  })

  await t.test('many tables take no more statements than few', async t => {
    const { server } = app
    await source.query(
      `do $$ begin for n in 1..300 loop execute format('create table many_%s (id int, email text, c%s text)', n, n); end loop; end $$`,
    )
    const statements: string[] = []
    const { source: record } = await server.db.company(tenant.companyId, trx =>
      server.plugins.catalog.findAsset(trx, String(world.asset.id)),
    )
    await discover(world)
    t.equal((await list('&name=pii.email&limit=500')).length, 301)
    const { classifyAll, forgetAutomatic } = await import('../../../../plugins/catalog/tags/tags.ts')
    for (const work of [forgetAutomatic, classifyAll, classifyAll]) {
      await server.db.company(tenant.companyId, async trx => {
        trx.on('query', ({ sql }: { sql: string }) => statements.push(sql))
        await work(trx, record)
      })
      t.ok(statements.length <= 7, `${work.name}: ${statements.length}`)
      statements.length = 0
    }
    t.equal((await list('&name=pii.email&limit=500')).length, 301)
  })

  await t.test('and a table whose name another one took at once', async t => {
    await source.query('create table fresh (id int)')
    await discover(world)
    const before = columnTags(await table('public.clients'))
    await source.query('alter table clients rename to clients_old')
    await source.query('alter table fresh rename to clients')
    await discover(world)
    t.same(columnTags(await table('public.clients_old')), before)
    t.ok(Object.keys(before).includes('via'))
  })
})

t.test('personal data is known by the tags of a column, of its table and of its source', async t => {
  const hidden = (columnTags: { [column: string]: string[] }, ...tags: string[]) => {
    const columns = ['Email', 'score'].map(name => ({ name }) as ColumnInfo)
    return [
      ...personalColumns({
        source: { tags: [] },
        table: { tags, columnTags, columns, personalFromUpstream: {} },
      }),
    ]
  }
  for (const name of [
    'pii',
    'PII.email',
    'pii-email',
    'pii_email',
    'pii:a,b',
    'Personal Data',
    'sensitive/x',
  ])
    t.same(hidden({ score: [name] }), ['score'], name)
  for (const name of ['piii', 'happiness', 'personal-trainer', 'insensitive', 'sensitive-to-heat'])
    t.same(hidden({ score: [name] }), [], name)
  t.same(hidden({}, 'pii'), ['Email', 'score'])
  t.same(hidden({ email: ['pii'] }), ['Email'], 'the column is written otherwise since')
  t.same(hidden({ gone: ['pii'], constructor: ['pii'] }), [])
})

t.test('what columns of personal data hold is shown nowhere', async t => {
  const world = await shop(t)
  await discover(world)
  const { tenant, asset, column, tag } = world
  const metrics = `/api/v1/sdk/metrics/${asset.id}`
  const rules = `/api/v1/sdk/validity/${asset.id}`
  const metric = async (body: object) => tenant.ask('POST', metrics, { table_path: 'customers', ...body })
  const capture = async ({ body }: Reply) =>
    (await tenant.ask('POST', `${metrics}/${body.data.id}/capture`)).body.data.snapshots

  await t.test('no least, greatest or ranked value, by a new metric or by one made before', async t => {
    const showing = [
      { metric_type: 'min_value', column_name: 'score' },
      { metric_type: 'max_value', column_name: 'score' },
      { metric_type: 'percentile', column_name: 'score', percentile_value: 50 },
    ]
    const made = await Promise.all(showing.map(metric))
    const alone = { metric_type: 'mean', column_name: 'score', group_by_columns: ['id'] }
    const grouped = await metric(alone)
    const mean = await metric({ metric_type: 'mean', column_name: 'score' })
    t.match(await capture(made[0]!), [{ status: 'PASS', value: 10 }])
    await column('customers.score')
    for (const [index, body] of showing.entries()) {
      const refused = {
        status: 400,
        body: { error: { details: { field: 'column_name', error: /score is tagged as personal data/ } } },
      }
      t.match(await metric(body), refused)
      const dry = await tenant.ask('POST', '/api/v1/sdk/metrics/dry-run', {
        asset_id: asset.id,
        table_path: 'customers',
        ...body,
      })
      t.match(dry, refused, 'and in no dry run')
      t.match(await capture(made[index]!), [{ status: 'ERROR', value: null, error_message: /personal data/ }])
    }
    t.match(await metric(alone), { status: 400, body: { error: { details: { field: 'group_by_columns' } } } })
    t.match(await capture(grouped), [{ status: 'ERROR', error_message: /every group of one row/ }])
    t.match(await capture(mean), [{ status: 'PASS', value: 15 }], 'a mean of many rows identifies no person')
  })

  await t.test('no past of a mean, each period of which may be one row', async t => {
    const body = { table_path: 'visits', metric_type: 'mean', column_name: 'pay' }
    const dryRun = () =>
      tenant.ask('POST', '/api/v1/sdk/metrics/dry-run', { asset_id: asset.id, ...body, lookback_days: 30 })
    t.match((await dryRun()).body.data.history, { source: 'timestamps', timestamp_column: 'updated_at' })
    await column('visits.pay')
    t.match((await dryRun()).body.data.history, { source: null, message: /value of every period/ })
    t.match(await metric({ ...body, backfill_days: 30 }), {
      status: 400,
      body: { error: { details: { field: 'backfill_days', error: /personal data/ } } },
    })
    const made = await metric(body)
    t.match(await capture(made), [{ status: 'PASS', value: 6 }])
    await world.source.query('delete from visits where id = 2')
    t.match(await capture(made), [{ status: 'ERROR', value: null, error_message: /of one row/ }])
  })

  await t.test('no sample, no key, and no orphan whose parent is tagged', async t => {
    const rule = async (body: object) =>
      (await tenant.ask('POST', rules, { table_path: 'customers', ...body })).body.data.id
    const samples = async (id: string) =>
      (await tenant.ask('POST', `${rules}/${id}/check`, {})).body.data.invalid_samples.samples
    const pattern = await rule({ rule_type: 'REGEX', column_name: 'email', rule_config: { pattern: '@' } })
    const range = await rule({
      rule_type: 'ENUM',
      column_name: 'full_name',
      rule_config: { allowed_values: ['Ann'] },
    })
    t.same(await samples(pattern), [{ row_id: 2, value: 'bad' }])
    await column('customers.email', 'pii.email')
    t.same(await samples(pattern), [{ row_id: 2, value: null, is_hidden: true }])
    const key = await column('customers.id', 'personal')
    t.same(await samples(range), [{ row_id: 1, value: 'Bob' }], 'a number of the sample in place of the key')
    await tenant.ask('DELETE', `/api/v1/sdk/tags/${key.body.data.id}`)
    t.same(await samples(range), [{ row_id: 2, value: 'Bob' }], 'and the key again')
    const check = await tenant.ask('POST', `/api/v1/sdk/referential/${asset.id}`, {
      child_table_path: 'public.orders',
      child_column_name: 'buyer',
      parent_table_path: 'customers',
      parent_column_name: 'email',
    })
    const executed = await tenant.ask(
      'POST',
      `/api/v1/sdk/referential/${asset.id}/${check.body.data.id}/execute`,
    )
    t.match(executed.body.data, {
      orphan_count: 1,
      orphan_sample: [{ row_id: 2, value: null, is_hidden: true }],
    })
  })

  await t.test('no newest value, by a schedule made before or after', async t => {
    const path = '/api/v1/sdk/freshness/schedules'
    const asked = { asset_id: asset.id, table_path: 'visits', freshness_column: 'seen', sla_threshold: '1h' }
    const made = await tenant.ask('POST', path, asked)
    const read = () =>
      world.app
        .query(`select settings ->> 'timestampColumn' as timestamp_column, cast(settings ->> 'lastUpdated' as timestamptz) as last_updated,
         settings ->> 'lastError' as last_error from checks where kind = 'freshness'`)
    t.match(await read(), [{ last_updated: Date, last_error: null }])
    await column('visits.seen', 'pii-visit')
    const refused = {
      status: 400,
      body: { error: { details: { field: 'freshness_column', error: /tagged/ } } },
    }
    await world.source.query(`update visits set seen = '2024-05-06'`)
    await tenant.ask('PATCH', `${path}/${made.body.data.id}`, { check_interval: '2h' })
    t.match(await read(), [{ last_updated: new Date('2020-01-02'), last_error: /tagged as personal data/ }])
    await tenant.ask('DELETE', `${path}/${made.body.data.id}`)
    t.match(await tenant.ask('POST', path, asked), refused)
    const { freshness_column: _, ...unnamed } = asked
    t.equal((await tenant.ask('POST', path, unnamed)).status, 201)
    t.match(await read(), [{ timestamp_column: 'updated_at' }])
  })

  await t.test('a tag on the table, or on the source, is one on all columns', async t => {
    const made = await tenant.ask('POST', rules, {
      table_path: 'odd.orders',
      column_name: 'id',
      rule_type: 'RANGE',
      rule_config: { min: 100 },
    })
    const range = { table_path: 'public.orders', column_name: 'total', metric_type: 'max_value' }
    for (const where of [{ object_path: 'public.orders' }, {}]) {
      const put = await tag({ name: 'Sensitive', ...where })
      t.match(await metric(range), { status: 400, body: { error: { details: { field: 'column_name' } } } })
      await tenant.ask('DELETE', `/api/v1/sdk/tags/${put.body.data.id}`)
    }
    t.equal((await metric(range)).status, 201)
    t.equal(made.status, 201)
  })
})
