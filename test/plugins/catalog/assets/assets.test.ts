import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import t from 'tap'
import { countTags } from '../../../../plugins/catalog/tags/count-tags.ts'
import { createSearch, dropSearch } from '../../../../migrations/catalog-search.ts'
import { presentSources } from '../../../../plugins/catalog/assets/present.ts'
import { Source } from '../../../../plugins/catalog/models.ts'
import { rows } from '../../../../server/database/database.ts'
import { startServer, type Tenant, type TestServer } from '../../../helpers/server.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'

/** A table as these tests make one, without a database behind it. */
interface TableFixture {
  name: string
  schema?: string
  kind?: string
  /** Days since it was found. */
  age?: number
  isActive?: boolean
}

async function addSource(
  app: TestServer,
  tenant: Tenant,
  name: string,
  columns: object = {},
): Promise<string> {
  const id = randomUUID()
  const given = {
    id,
    company_id: tenant.companyId,
    name,
    source_type: 'postgresql',
    config: { host: 'db' },
    ...columns,
  }
  await app.query(
    `insert into sources (${Object.keys(given).join(', ')})
     values (${Object.keys(given)
       .map((_, i) => `$${i + 1}`)
       .join(', ')})`,
    Object.values(given),
  )
  return id
}

async function addTables(
  app: TestServer,
  sourceId: string,
  made: readonly TableFixture[],
): Promise<string[]> {
  const added = await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count, is_active, created_at)
     select gen_random_uuid(), s.company_id, s.id, 'db', coalesce(m.schema, 'public'), m.name,
       s.name || '.db.' || coalesce(m.schema, 'public') || '.' || m.name, coalesce(m.kind, 'table'), '[]', '[]', '', 0,
       coalesce(m."isActive", true), now() - make_interval(days => coalesce(m.age, 0))
     from sources s, jsonb_to_recordset($2) as m(name text, schema text, kind text, age int, "isActive" boolean)
     where s.id = $1 returning id`,
    [sourceId, JSON.stringify(made)],
  )
  await app.query(
    `update sources set table_count = (select count(*) from tables where source_id = $1 and is_active) where id = $1`,
    [sourceId],
  )
  return added.map(({ id }) => id as string)
}

async function tag(
  app: TestServer,
  name: string,
  { sourceId, table, column }: { sourceId: string; table?: string; column?: string },
): Promise<void> {
  await app.query(
    `insert into tags (id, company_id, source_id, table_id, column_name, name, origin)
     select gen_random_uuid(), company_id, id, (select id from tables where source_id = $1 and name = $2), $3, $4,
       'manual' from sources where id = $1`,
    [sourceId, table ?? null, column ?? null, name],
  )
  const [source] = await app.query('select company_id from sources where id = $1', [sourceId])
  await app.server.db.company(String(source?.company_id), trx => countTags(trx, [sourceId]))
}

/** The names that a list gives, in order, and how many there are. */
async function list(tenant: Tenant, query: string): Promise<{ names: string[]; total: number }> {
  const { status, body } = await tenant.ask('GET', `/api/v1/assets?${query}`)
  if (status !== 200) throw new Error(`${query} gave ${status}: ${JSON.stringify(body)}`)
  return { names: body.data.map(({ name }: { name: string }) => name), total: body.pagination.total }
}

t.test('a list is filtered by source, type, schema, tag and name', async t => {
  const app = await startServer(t)
  const tenant = await app.signUp()
  const shop = await addSource(app, tenant, 'shop')
  const lake = await addSource(app, tenant, 'lake')
  await addTables(app, shop, [
    { name: 'Orders', age: 1 },
    { name: 'orders_view', kind: 'view', age: 2 },
    { name: '100%_sure', schema: 'odd', age: 3 },
    { name: '100x_sure', schema: 'odd', age: 4 },
    { name: 'back\\slash', schema: 'odd', age: 5 },
    { name: 'ÄRZTE', age: 6 },
    { name: 'removed_orders', isActive: false },
  ])
  await addTables(app, lake, [{ name: 'orders', schema: 'raw', age: 7 }])
  const found = async (query: string) => (await list(tenant, query)).names

  t.same(
    await found(''),
    ['lake', 'shop', 'Orders', 'orders_view', '100%_sure', '100x_sure', 'back\\slash', 'ÄRZTE', 'orders'],
    'sources first, each newest first, without what is gone',
  )
  t.same(await found('source=lake'), ['lake', 'orders'])
  t.same(await found('source=nowhere'), [])
  t.same(await found('source=mysql'), [], 'an engine without sources')
  t.same(await found('source=postgresql'), await found(''), 'an engine: all its sources and their tables')
  t.same(await found('source=postgresql&search=orders'), ['Orders', 'orders_view', 'orders'])
  const named = await addSource(app, tenant, 'postgresql')
  t.same(await found('source=postgresql'), ['postgresql'], 'the name of a source comes before an engine')
  await app.query(`delete from sources where id = '${named}'`)
  t.same(await found('asset_type=source'), ['lake', 'shop'])
  t.same(await found('asset_type=view'), ['orders_view'])
  t.same(await found('asset_type=source,view'), ['lake', 'shop', 'orders_view'])
  t.same(
    await found('asset_type=table,view,materialized_view,external_table'),
    (await found('')).filter(name => !['lake', 'shop'].includes(name as string)),
  )
  t.same(await found('schema=raw,%20odd'), ['100%_sure', '100x_sure', 'back\\slash', 'orders'])
  t.same(await found('schema=odd&asset_type=source'), [], 'a source has no schema')
  await addTables(app, lake, [{ name: 'plat', schema: 'cre\u0300me', age: 8 }])
  t.same(await found(`schema=${encodeURIComponent('cre\u0300me')}`), ['plat'], 'as its engine writes it')
  await app.query(`delete from tables where name = 'plat'`)

  const searches = {
    orders: ['Orders', 'orders_view', 'orders'],
    ORDERS_: ['orders_view'],
    ärz: ['ÄRZTE'],
    '100%': ['100%_sure'],
    '%': ['100%_sure'],
    _sure: ['100%_sure', '100x_sure'],
    '\\': ['back\\slash'],
    '\\sla': ['back\\slash'],
    hop: ['shop'],
    o: ['shop', 'Orders', 'orders_view', 'orders'],
    nothing: [],
    "'": [],
  }
  const agree = async (how: string) => {
    for (const [term, names] of Object.entries(searches))
      t.same(await found(`search=${encodeURIComponent(term)}`), names, `${term}, ${how}`)
  }
  await agree('by trigrams')
  t.same(await found('search=orders&source=shop&asset_type=table'), ['Orders'])
  await app.query('drop index tables_search')
  await agree('without trigrams')

  await tag(app, 'finance', { sourceId: lake })
  await tag(app, 'core', { sourceId: shop, table: 'Orders' })
  await tag(app, 'pii', { sourceId: shop, table: 'ÄRZTE', column: 'email' })
  await tag(app, 'pii', { sourceId: shop, table: 'removed_orders', column: 'email' })
  t.same(await found('tag=finance'), ['lake', 'orders'], 'a source and what is in it')
  t.same(await found('tag=core'), ['Orders'])
  t.same(await found('tag=pii'), ['ÄRZTE'], 'by its column')
  t.same(await found('tag=pii,core&search=o'), ['Orders'])
  await app.query(`update tags set is_refused = true where name = 'pii'`)
  t.same(await found('tag=pii'), [], 'a tag that was refused is none')

  for (const query of ['tag=,', 'schema=a,,b', 'tag=', 'colour=red', 'asset_type=index'])
    t.equal((await tenant.ask('GET', `/api/v1/assets?${query}`)).status, 422, query)
  t.equal((await tenant.ask('GET', '/api/v1/sdk/assets?tag=,')).status, 400)
  const sdk = await tenant.ask('GET', '/api/v1/sdk/assets?schema=raw')
  t.equal(sdk.body.data.data[0].name, 'orders')
})

t.test('pages follow each other exactly, also while tables come', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  for (const name of ['first', 'second', 'third']) await addSource(app, tenant, name)
  const source = await addSource(app, tenant, 'shop')
  // Tables of one discovery have the same time, so that the id decides.
  const names = Array.from({ length: 600 }, (_, i) => `bulk_${i}`)
  const bulk = names.map(name => ({ name, age: 1 }))
  await addTables(app, source, bulk)
  const walk = async (query: string, afterPage: () => Promise<unknown> = async () => {}) => {
    const seen: string[] = []
    for (let offset = 0; ; offset += 100) {
      const page = await list(tenant, `${query}&limit=100&offset=${offset}`)
      if (page.names.length === 0) return seen
      seen.push(...page.names)
      await afterPage()
    }
  }
  const all = await walk('')
  t.equal(all.length, 604)
  t.equal(new Set(all).size, 604, 'each once')
  t.same(new Set(all.slice(0, 4)), new Set(['first', 'second', 'third', 'shop']))
  t.same(await walk(''), all, 'in the same order again')
  t.same(new Set(await walk('search=bulk')), new Set(names), 'more names than are looked at one by one')
  t.equal((await list(tenant, 'search=BULK_1&limit=1')).total, 111)
  await tag(app, 'core', { sourceId: source })
  // The source is among them, so that a page may have no room for tables, or end where they do.
  for (const [query, total] of [
    ['search=bulk', 600],
    ['tag=core', 601],
    ['tag=core&search=bulk', 600],
  ] as const)
    for (const [limit, offset] of [
      ...([
        [1, 0],
        [2, 0],
        [50, 0],
        [50, total - 50],
        [50, total - 51],
        [50, total - 20],
      ] as const),
      ...([
        [1, total - 1],
        [1, total],
        [50, total + 50],
      ] as const),
    ]) {
      const page = await list(tenant, `${query}&limit=${limit}&offset=${offset}`)
      t.equal(page.total, total, `${query}, ${limit} from ${offset}: the total is exact`)
      t.equal(page.names.length, Math.max(0, Math.min(limit, total - offset)))
    }
  const rare = (most: number) =>
    app.server.db.company(tenant.companyId, trx =>
      rows<{ found: string[] | null }>(trx, `select rare_tables('bulk_59', ?) as found`, [most]),
    )
  t.equal((await rare(11))[0]?.found?.length, 11)
  t.same(await rare(10), [{ found: null }], 'too many to be looked at one by one')

  for (const query of ['', 'search=bulk_7', 'source=shop']) {
    const { total } = await list(tenant, `${query}&limit=1`)
    t.same(await list(tenant, `${query}&offset=100000`), { names: [], total }, `past the end of ${query}`)
  }
  t.same(await list(tenant, 'limit=2&offset=3'), { names: all.slice(3, 5), total: 604 }, 'across the levels')

  let come = 0
  const seen = await walk('', () => addTables(app, source, [{ name: `new_${come++}` }]))
  for (const name of all) if (!seen.includes(name)) t.fail(`${name} was skipped`)
  t.equal((await list(tenant, '')).total, 604 + come)
})

t.test('names of another company never appear, even to a query that forgets to ask for one', async t => {
  const app = await startServer(t, { isOwn: true })
  const mine = await app.signUp('Mine')
  const theirs = await app.signUp('Theirs')
  const [own] = await addTables(app, await addSource(app, mine, 'shop'), [{ name: 'secret_of_mine' }])
  const others = await addSource(app, theirs, 'vault')
  await addTables(app, others, [{ name: 'secret_of_theirs' }, { name: 'hidden' }])
  await tag(app, 'pii', { sourceId: others })

  t.same(await list(mine, 'search=secret'), { names: ['secret_of_mine'], total: 1 })
  t.same(await list(mine, 'search=hidden'), { names: [], total: 0 })
  t.same(await list(mine, 'source=vault'), { names: [], total: 0 })
  t.equal((await list(mine, 'source=postgresql')).total, 2, 'an engine means the own sources')
  t.same(await list(mine, 'tag=pii'), { names: [], total: 0 })

  const { db } = app.server
  await db.company(mine.companyId, async trx => {
    const asked = (statement: string) => rows<{ found: unknown }>(trx, statement)
    t.same(await asked(`select rare_tables('secret', 100) as found`), [{ found: [own] }])
    t.same(await asked(`select rare_tables('hidden', 100) as found`), [{ found: [] }])
    t.same(
      await asked(`select array_agg(name) as found from tables where lower_name like '%secret%'`),
      [{ found: ['secret_of_mine'] }],
      'the policy of the table',
    )
    // A made-up operator that costs nothing is asked first, wherever the policy lets it.
    await trx.raw(
      `create function pg_temp.reveals(name text) returns boolean language plpgsql cost 0.0001 as $$
       begin if name like '%theirs%' then raise exception 'seen %', name; end if; return true; end $$`,
    )
    t.same(await asked('select count(*)::int as found from tables where pg_temp.reveals(name)'), [
      { found: 1 },
    ])
    await trx.raw(`select set_config('app.company', '', true)`)
    t.same(await asked(`select rare_tables('secret', 100) as found`), [{ found: [] }], 'of no company')
  })
})

t.test('a database that has no extensions is searched all the same', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  await addTables(app, await addSource(app, tenant, 'shop'), [{ name: 'orders' }])
  const asOwner = (step: (knex: Knex) => Promise<void>) => app.server.db.system(trx => step(trx))
  const indexes = async () =>
    (await app.query(`select indexname from pg_indexes where schemaname = 'public' order by 1`)).map(
      ({ indexname }) => indexname,
    )
  const before = await indexes()
  t.ok(before.includes('tables_search'))
  await asOwner(dropSearch)
  const [{ owner, name } = {}] = await app.query(
    `select pg_get_userbyid(datdba) as owner, datname as name from pg_database where datname = current_database()`,
  )
  await app.query(`drop extension pg_trgm, btree_gin`)
  await app.query(`grant all on schema public to ${owner as string}`)
  await app.query(`alter database ${name as string} owner to current_user`)
  await asOwner(createSearch)
  t.same(
    await indexes(),
    before.filter(index => index !== 'tables_search'),
  )
  // As `migrate` grants all that there is.
  await app.query(`grant execute on function rare_tables to public`)
  t.same(await list(tenant, 'search=rder'), { names: ['orders'], total: 1 })
})

t.test('the record of a source says what is known of it, and what to do', async t => {
  const app = await startServer(t)
  const tenant = await app.signUp()
  const record = async (id: string) => (await tenant.ask('GET', `/api/v1/assets/${id}`)).body

  const fresh = await addSource(app, tenant, 'fresh')
  t.match(await record(fresh), {
    schema_status: 'unknown',
    schema_message: `Not discovered yet: POST /api/v1/sdk/assets/${fresh}/discover`,
    schema_change_status: 'none',
    connection_message: /test-connection/,
    ssl_enabled: false,
    next_discovery_at: null,
    failed_discoveries: 0,
    unread_count: 0,
    include_patterns: [],
    exclude_patterns: [],
    tags: [],
    tags_status: 'none',
    tags_counts: { tables: 0, columns: 0, by_tag: {} },
    tags_mode: 'manual',
    auto_tag_enabled: false,
    data_quality_status: 'none',
  })

  const stored = {
    last_discovery_at: new Date(),
    discovery_state: 'completed',
    table_count: 1_234,
    column_count: 1,
    schema_count: 5,
    catalog_count: 2,
  }
  const read = await addSource(app, tenant, 'read', { ...stored, auto_tag_enabled: true, tags: ['gold'] })
  await addTables(app, read, [{ name: 'orders' }, { name: 'gone', isActive: false }])
  await tag(app, 'gold', { sourceId: read })
  await tag(app, 'gold', { sourceId: read, table: 'orders' })
  await tag(app, 'pii', { sourceId: read, table: 'orders', column: 'email' })
  await tag(app, 'pii', { sourceId: read, table: 'orders', column: 'phone' })
  await tag(app, 'pii', { sourceId: read, table: 'gone', column: 'phone' })
  t.match(await record(read), {
    schema_status: 'ok',
    schema_message: '1 table and 1 column are known',
    table_count: 1,
    schema_count: 5,
    catalog_count: 2,
    tags: ['gold'],
    tags_status: 'ready',
    tags_message: '1 table and 2 columns carry tags',
    tags_mode: 'auto',
    auto_tag_enabled: true,
  })
  t.same((await record(read)).tags_counts, { tables: 1, columns: 2, by_tag: { gold: 2, pii: 2 } })

  const partly = await addSource(app, tenant, 'partly', { ...stored, unread_count: 3 })
  t.match(await record(partly), { schema_status: 'error', schema_message: /could not read 3 tables.*jobs/ })
  const failed = await addSource(app, tenant, 'failed', { ...stored, discovery_state: 'failed' })
  t.match(await record(failed), { schema_status: 'error', schema_message: /discover/ })

  const soon = new Date(Date.now() + 60_000)
  const later = new Date(Date.now() + 3_600_000)
  const due = { ...stored, next_run_at: later, retry_at: soon, failed_discoveries: 2 }
  t.match(await record(await addSource(app, tenant, 'due', due)), {
    next_discovery_at: soon.toISOString(),
    failed_discoveries: 2,
  })
  t.match(await record(await addSource(app, tenant, 'off', { ...due, is_active: false })), {
    next_discovery_at: null,
  })
})

t.test('ssl_enabled reports whether sessions are really encrypted', async t => {
  const app = await startServer(t)
  const tenant = await app.signUp()
  const encrypted = async (columns: object) => {
    const id = await addSource(app, tenant, randomUUID(), columns)
    return (await tenant.ask('GET', `/api/v1/assets/${id}`)).body.ssl_enabled
  }
  t.equal(await encrypted({ config: { sslmode: 'require' } }), true)
  t.equal(await encrypted({ config: { sslmode: 'prefer' } }), false, 'nothing promises it')
  t.equal(await encrypted({ config: { sslmode: 'prefer' }, is_encrypted: true }), true, 'a test has seen it')
  t.equal(await encrypted({ config: { sslmode: 'prefer' }, is_encrypted: false }), false)
  t.equal(await encrypted({ source_type: 'mysql', config: { ssl: 'verify-full' } }), true)
  t.equal(await encrypted({ source_type: 'mysql', config: { ssl: 'disable' } }), false)
  for (const engine of ['snowflake', 'bigquery', 'databricks'])
    t.equal(await encrypted({ source_type: engine, config: {} }), true, engine)
  t.equal(await encrypted({ source_type: 'taken_away', config: {} }), false)
})

t.test('sources are described by as many statements as one is', async t => {
  const app = await startServer(t)
  const tenant = await app.signUp()
  for (let n = 0; n < 30; n++) await addSource(app, tenant, `source_${n}`)
  const { server } = app
  const facts: Parameters<typeof presentSources>[3] = []
  const statements = (limit: number) =>
    server.db.company(tenant.companyId, async trx => {
      const sources = await Source.query(trx).limit(limit)
      let sent = 0
      trx.on('query', () => sent++)
      t.equal((await presentSources(server.connectors, trx, sources, facts)).length, limit)
      return sent
    })
  t.equal(await statements(30), await statements(1))
})

t.test('the record of a table has its state, key and quality, whatever its name is', async t => {
  const odd = [
    'a.b',
    'two words',
    'qu"ote',
    `qu'ote`,
    'sl/ash',
    '100%',
    '%2F',
    'plus+and?hash#',
    'back\\slash',
    '🐘.🐘',
  ]
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const world = await makeWorld(t, [
    ...odd.map(name => `create table ${quoted(name)} (id int)`),
    'create schema "my.schema"',
    'create table "my.schema"."the table" (b int, a int, note text, primary key (a, b))',
    'insert into "my.schema"."the table" values (1, 1, null)',
  ])
  await discover(world)
  const { tenant, asset, source } = world
  for (const name of odd) {
    const { body } = await tenant.ask('GET', `/api/v1/assets?search=${encodeURIComponent(name)}`)
    const [listed] = body.data.filter((each: { name: string }) => each.name === name)
    const path = encodeURIComponent(listed.qualified_name as string)
    const read = await tenant.ask('GET', `/api/v1/assets/${path}`)
    t.match(read, { status: 200, body: { id: listed.id, name } }, listed.qualified_name)
    const changes = await tenant.ask('GET', `/api/v1/assets/${path}/schema-changes`)
    t.match(changes.body, { data: { asset: listed.qualified_name } })
  }

  const name = `shop.${source.name}."my.schema"."the table"`
  const read = async () => (await tenant.ask('GET', `/api/v1/assets/${encodeURIComponent(name)}`)).body
  const table = await read()
  t.match(table, {
    is_active: true,
    absence: null,
    read_error: null,
    column_count: 3,
    primary_key: ['a', 'b'],
    schema_change_status: 'none',
    quality: { status: 'none', passing: 0, failing: 0, error: 0 },
  })
  const rule = async (column: string) => {
    const asked = {
      name: column,
      rule_type: 'NOT_NULL',
      column_name: column,
      table_path: `${source.name}."my.schema"."the table"`,
    }
    const made = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, asked)
    t.equal(made.status, 201, JSON.stringify(made.body))
    await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}/${made.body.data.uuid}/check`)
  }
  await rule('a')
  t.match(await read(), { quality: { status: 'passing', passing: 1, failing: 0, error: 0 } })
  await rule('note')
  t.match(await read(), { quality: { status: 'failing', passing: 1, failing: 1, error: 0 } })
  const { body } = await tenant.ask('GET', '/api/v1/assets?schema=my.schema')
  t.match(body.data, [
    { id: table.id, quality: { status: 'failing' }, primary_key: ['a', 'b'], column_count: 3 },
  ])
  t.notOk('columns' in body.data[0], 'lists come without columns')
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, { data_quality_status: 'failing' })

  await source.query('drop table "my.schema"."the table"')
  await discover(world)
  for (const id of [table.id, encodeURIComponent(name)])
    t.match((await tenant.ask('GET', `/api/v1/assets/${id}`)).body, {
      id: table.id,
      is_active: false,
      absence: 'removed',
      schema_change_status: 'high',
      columns: [{ name: 'b' }, { name: 'a' }, { name: 'note' }],
    })
  t.equal((await list(tenant, 'schema=my.schema')).total, 0)
})
