import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { sweepJob } from '../../../../plugins/checks/jobs.ts'
import { sourceJobKind } from '../../../../plugins/checks/source-jobs.ts'
import { sentDuring } from '../../../helpers/sent-statements.ts'
import { explicit, startWorlds } from '../worlds.ts'

const checkJob = sourceJobKind('freshness')

const folder = await mkdtemp(join(tmpdir(), 'tidemark-bulk-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, tenant, stranger, query, addSource, world } = await startWorlds(t, {
  settings: {
    FILE_SOURCES: folder,
    EXTENSIONS: new URL('../../../helpers/extensions/journal-engine.ts', import.meta.url).href,
  },
})

const BULK = '/api/v1/sdk/freshness/schedules/bulk'
const bulk = (body: object) => tenant.ask('POST', BULK, body)

/** The schedules of a source by table, as they are stored. */
const stored = (sourceId: string) =>
  query(
    `select t.name, f.settings -> 'timestampColumn' as column, f.settings -> 'usesLastModified' as modified,
       f.settings -> 'monitoringMode' as mode, f.settings -> 'slaThreshold' as threshold, f.check_interval as every,
       f.is_active
     from checks f join tables t on t.id = f.table_id where f.source_id = $1 order by t.name, t.schema_name`,
    [sourceId],
  )
const namesOf = async (sourceId: string) => (await stored(sourceId)).map(({ name }) => name)

const SHOP = `create table orders (id int, created_at timestamptz, updated_at timestamptz);
  create table visits (id int, loaded_at timestamp); create table odd (id int, saved timestamptz);
  create view plain as select id from orders; create view latest as select updated_at from orders;
  create schema stage; create table stage.orders (ts timestamptz); create table stage.tmp_load (ts timestamptz)`

// First: after the many tables of the tests below, no kept plan would be a bad one.
t.test(
  'a stored check reads its own table alone, also where plans were kept from when there were few',
  async t => {
    const { source } = await world(t, 'create table orders (ts timestamptz)')
    const copies = (from: number, to: number) => `
    insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
      constraints, column_count, fingerprint)
    select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 'copy' || n, 'copy' || n, kind, columns,
      constraints, column_count, fingerprint
    from tables, generate_series(${from}, ${to}) n where source_id = '${source.id}' and name = 'orders'`
    const schedule = (name: string) => `
    insert into checks (uuid, company_id, source_id, table_id, kind, type, settings, check_interval, is_active)
    select gen_random_uuid(), company_id, source_id, id, 'freshness', 'freshness', '{}', '1h', true
    from tables where source_id = '${source.id}' and name ${name}`
    const readRows = `select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'tables'`
    await server.db.company(tenant.companyId, async trx => {
      await trx.raw(copies(1, 20))
      for (let n = 1; n <= 20; n++) await trx.raw(schedule(`= 'copy${n}'`))
      await trx.raw(copies(21, 1020))
      const [before] = (await trx.raw(readRows)).rows
      await trx.raw(`${schedule(`like 'copy%'`)} on conflict do nothing`)
      const [after] = (await trx.raw(readRows)).rows
      // One for the statement itself, for the name, and for each of two foreign keys.
      t.ok(after.count - before.count <= 4 * 1020, `${after.count - before.count} rows`)
    })
  },
)

t.test('one request schedules all tables of a source, and names those without a signal', async t => {
  const { source, database } = await world(t, SHOP)
  const named = [`${database.name}.public.odd`, `${database.name}.public.plain`]
  const counts = {
    ...{ existing: 0, without_signal: 2, matched: 7, tables_without_signal: named },
    reasons_without_signal: [
      `${named[0]}: it was not profiled, and saved is not named like a time of loading`,
      `${named[1]}: it has no date or timestamp column`,
    ],
  }
  const tried = await bulk({ asset_id: source.id, dry_run: true, ...explicit('1d') })
  t.match(tried, {
    status: 200,
    body: {
      data: {
        ...counts,
        created: 5,
        dry_run: true,
        statements_per_day: 24,
        signals: { column: 5, last_modified: 0 },
      },
    },
  })
  t.same(await stored(source.id), [], 'a dry run creates nothing')

  const { body } = await bulk({ asset_id: source.name, ...explicit('1d'), check_interval: '15m' })
  t.same(
    body.data,
    { ...tried.body.data, dry_run: false, statements_per_day: 96 },
    'and returns what would be created',
  )
  const terms = { modified: false, mode: 'explicit', threshold: '1d', every: '15m', is_active: true }
  t.same(await stored(source.id), [
    { name: 'latest', column: 'updated_at', ...terms },
    { name: 'orders', column: 'updated_at', ...terms },
    { name: 'orders', column: 'ts', ...terms },
    { name: 'tmp_load', column: 'ts', ...terms },
    { name: 'visits', column: 'loaded_at', ...terms },
  ])
  const { body: again } = await bulk({ asset_id: source.id })
  t.match(again.data, { ...counts, created: 0, existing: 5 }, 'repeated, it creates and changes nothing')
  const { body: all } = await bulk({ asset_id: source.id, only_with_signal: false, is_active: false })
  t.match(all.data, { ...counts, created: 2, existing: 5 })
  t.match(
    (await stored(source.id)).filter(({ is_active: isActive }) => !isActive),
    [
      { name: 'odd', column: null, mode: 'auto_learn', threshold: null, every: '1h' },
      { name: 'plain', column: null },
    ],
  )
  const { body: list } = await tenant.ask(
    'GET',
    `/api/v1/sdk/freshness/schedules?asset_id=${source.id}&limit=2`,
  )
  t.match(
    list.data.data,
    [{ table_path: named[0] }, { table_path: named[1] }],
    'listed newest first, then by name',
  )
})

t.test('patterns select tables as those of a source do', async t => {
  const { source } = await world(t, SHOP)
  const matched = async (patterns: object) =>
    (await bulk({ asset_id: source.id, dry_run: true, ...patterns })).body.data.matched
  t.equal(await matched({ include_patterns: ['orders'] }), 2)
  t.equal(await matched({ include_patterns: ['STAGE.*'] }), 2)
  t.equal(await matched({ include_patterns: ['public.*'], exclude_patterns: ['o*', 'public.v*'] }), 2)
  t.equal(await matched({ include_patterns: [], exclude_patterns: ['*.stage.*'] }), 5)
  t.equal(await matched({ include_patterns: ['nothing'] }), 0)
  await bulk({ asset_id: source.id, include_patterns: ['stage.*'], exclude_patterns: ['tmp_*'] })
  t.same(await namesOf(source.id), ['orders'])
  await query(`update tables set is_active = false where source_id = $1 and schema_name = 'stage'`, [
    source.id,
  ])
  t.equal(await matched({}), 5, 'inactive tables are left out')
})

t.test('schedules get the defaults of the source, and no column tagged as personal data', async t => {
  const { source } = await world(t, SHOP)
  const defaults = { sla_threshold: '6h', check_interval: '30m', freshness_columns: ['saved'] }
  await query('update sources set freshness_defaults = $2 where id = $1', [
    source.id,
    JSON.stringify(defaults),
  ])
  const hide = { asset_id: source.id, object_path: 'visits.loaded_at', object_type: 'column', name: 'pii' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/tags', hide)).status, 201)
  const { body } = await bulk({
    asset_id: source.id,
    include_patterns: ['public.*'],
    expected_interval_hours: 12,
  })
  t.match(body.data, { created: 3, without_signal: 2, tables_without_signal: [/plain$/, /visits$/] })
  const terms = { mode: 'explicit', threshold: '12h', every: '30m' }
  t.match(await stored(source.id), [
    { name: 'latest', ...terms },
    { name: 'odd', column: 'saved', ...terms },
    { name: 'orders', ...terms },
  ])

  await query(`update sources set query_access_level = 'schema_only' where id = $1`, [source.id])
  const { body: closed } = await bulk({ asset_id: source.id })
  t.match(
    closed.data,
    { created: 0, existing: 3, without_signal: 4 },
    'no row may be read, so no column is a signal',
  )
})

t.test(
  'without a timestamp column, the modification time is the signal where the engine reports it',
  async t => {
    const path = join(folder, 'journal.db')
    const database = new DatabaseSync(path)
    database.exec(`create table journal (name text, at text); create table orders (id integer, updated_at timestamp);
    create table bare (id integer); create view seen as select id from bare;
    insert into journal values ('bare', '2025-03-10T00:00:00Z')`)
    t.teardown(() => database.close())
    const source = await addSource('journal', { path })
    const { body } = await bulk({ asset_id: source.id, exclude_patterns: ['journal'], ...explicit('1d') })
    t.match(body.data, {
      created: 2,
      signals: { column: 1, last_modified: 1 },
      tables_without_signal: ['main.main.seen'],
    })
    t.match(await stored(source.id), [
      { name: 'bare', column: null, modified: false },
      { name: 'orders', column: 'updated_at' },
    ])
    await query('delete from checks where source_id = $1', [source.id])
    await query(`update sources set query_access_level = 'schema_only' where id = $1`, [source.id])
    const { body: closed } = await bulk({
      asset_id: source.id,
      exclude_patterns: ['journal'],
      ...explicit('1d'),
    })
    t.match(closed.data, { created: 2, signals: { column: 0, last_modified: 2 } })
    const { companyId } = tenant
    const checked = await server.plugins.freshness.checkSource({ companyId, sourceId: source.id })
    t.match(checked, { measured: 2, failed: [], stale: 1 }, 'and can be checked without reading a row')
  },
)

t.test('created schedules are due at once, and are read together', async t => {
  const { source } = await world(
    t,
    Array.from(
      { length: 30 },
      (_, n) => `create table t${n} (ts timestamptz default now()); insert into t${n} default values;`,
    ).join(''),
  )
  await bulk({ asset_id: source.id, ...explicit('1d') })
  await server.jobs.send(sweepJob, {})
  await server.jobs.settled(sweepJob, () => true)
  await server.jobs.settled(checkJob, data => data.source_id === source.id)
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/summary?asset_id=${source.id}`)
  t.match(body.data, { total_tables: 30, fresh: 30 })
})

t.test('invalid requests are rejected, and the message says what to do', async t => {
  const { source, database } = await world(t, SHOP)
  const refusals: [object, string, RegExp][] = [
    [
      { asset_id: `${source.name}.${database.name}.public.orders` },
      'asset_id',
      /POST \/api\/v1\/sdk\/freshness\/schedules/,
    ],
    [{ monitoring_mode: 'explicit' }, 'sla_threshold', /required/],
    [{ sla_threshold: '1d', expected_interval_hours: 4 }, 'sla_threshold', /together/],
    [{ include_patterns: 'orders' }, 'include_patterns', /must be a list, not text/],
    [{ include_patterns: ['orders', 'a.b.c.d'] }, 'include_patterns', /catalog\.schema\.table/],
    [{ exclude_patterns: ['"open'] }, 'exclude_patterns', /catalog\.schema\.table/],
    [{ exclude_patterns: Array.from({ length: 201 }, () => 'a') }, 'exclude_patterns', /200/],
    [{ check_interval: '1m' }, 'check_interval', /5m/],
    [{ dry_run: 'yes' }, 'dry_run', /true or false, not "yes"/],
    [{ freshness_column: 'ts' }, 'freshness_column', /unknown field `freshness_column`/],
  ]
  for (const [body, field, error] of refusals)
    t.match(
      await bulk({ asset_id: source.id, ...body }),
      { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: { field, error } } } },
      JSON.stringify(body).slice(0, 80),
    )
  t.match(await bulk({ asset_id: 'nowhere' }), { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  t.equal((await stranger.ask('POST', BULK, { asset_id: source.id })).status, 404)
  const { body: key } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const reader = await server.inject({
    ...{ method: 'POST', url: BULK, payload: { asset_id: source.id } },
    headers: { authorization: `Bearer ${key.data.key}` },
  })
  t.equal(reader.statusCode, 403)
  await query('update sources set last_discovery_at = null where id = $1', [source.id])
  t.match((await bulk({ asset_id: source.id })).body.error.details, { field: 'asset_id', error: /discover$/ })
  t.same(await stored(source.id), [])

  const { body } = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', { asset_id: source.id })
  t.match(
    body.error.details,
    { field: 'table_path', error: /schedules\/bulk/ },
    'the message points to the bulk endpoint',
  )
})

t.test(
  'ten thousand tables take a few statements, and two concurrent requests create each schedule once',
  async t => {
    const { source } = await world(
      t,
      'create table orders (ts timestamptz); create view bare as select 1 as id',
    )
    await query(
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, column_count, fingerprint)
     select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, name || n, qualified_name || n, kind,
       columns, constraints, column_count, fingerprint
     from tables, generate_series(1, 5000) n where source_id = $1`,
      [source.id],
    )
    const statements = async (body: object) => {
      const sent = await sentDuring(async () => void (await bulk({ asset_id: source.id, ...body })))
      return sent.filter(({ text }) => /into checks|from tables/.test(text)).length
    }
    t.equal(
      await statements({ dry_run: true, include_patterns: ['orders1'] }),
      4,
      'one for all, one for each 4,000',
    )
    t.ok((await statements({ dry_run: true })) <= 5)
    const replies = await Promise.all([bulk({ asset_id: source.id }), bulk({ asset_id: source.id })])
    const data = replies.map(({ body }) => body.data)
    t.equal(data[0].created + data[1].created, 5001)
    for (const {
      matched,
      without_signal: withoutSignal,
      tables_without_signal: named,
      created,
      existing,
    } of data) {
      t.same([matched, withoutSignal, named.length], [10_002, 5001, 100])
      t.equal(created + existing + withoutSignal, matched)
    }
    const [{ count }] = (await query('select count(*)::int from checks where source_id = $1', [
      source.id,
    ])) as [{ count: number }]
    t.equal(count, 5001)
  },
)

t.test('listed tables get schedules of their own, and one that is refused fails alone', async t => {
  const { source, database } = await world(t, SHOP)
  const { status, body } = await bulk({
    asset_id: source.name,
    sla_threshold: '2d',
    schedules: [
      { table_path: 'public.orders', check_interval: '15m' },
      { table_path: 'visits', monitoring_mode: 'explicit', expected_interval_hours: 24 },
      { table_path: 'visits' },
      { table_path: 'public.missing' },
      { table_path: 'odd', freshness_column: 'saved', monitoring_mode: 'auto_learn', is_active: false },
    ],
  })
  t.equal(status, 200)
  t.match(body.data, {
    ...{ created: 3, failed: 2, total: 5 },
    results: [
      { table_path: 'public.orders', status: 'created', schedule_id: String, error: null },
      { status: 'created' },
      { status: 'failed', schedule_id: null, error: /already has/ },
      { status: 'failed', error: /.+/ },
      { status: 'created' },
    ],
  })
  t.match(await stored(source.id), [
    { name: 'odd', column: 'saved', mode: 'auto_learn', is_active: false },
    { name: 'orders', mode: 'explicit', threshold: '2d', every: '15m' },
    { name: 'visits', mode: 'explicit', threshold: '24h', every: '1h' },
  ])
  const listed = [{ table_path: 'orders' }]
  for (const more of [{ include_patterns: ['*'] }, { dry_run: true }, { only_with_signal: false }]) {
    const refused = await bulk({ asset_id: source.id, schedules: listed, ...more })
    t.match(refused, { status: 400, body: { error: { details: { field: Object.keys(more)[0] } } } })
  }
  t.equal((await bulk({ asset_id: 'nowhere', schedules: listed })).status, 404)
  const foreign = await stranger.ask('POST', BULK, { asset_id: source.id, schedules: listed })
  t.equal(foreign.status, 404, `${database.name} is not theirs`)
})
