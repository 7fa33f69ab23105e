import { randomUUID } from 'node:crypto'
import t from 'tap'
import { refreshJob } from '../../../plugins/freshness/jobs.ts'
import { sentDuring } from '../../helpers/sent-statements.ts'
import { explicit, startWorlds } from './worlds.ts'

const { server, tenant, stranger, query, world } = await startWorlds(t)

type Record = { asset: string; table_path?: string; [field: string]: unknown }

const namesOf = (records: Record[]) => records.map(({ asset }) => asset.split('.').at(-1))
const get = (path: string) => tenant.ask('GET', `/api/v1${path}`)
const param = encodeURIComponent

t.test('schemas and tags are matched whatever their names contain', async t => {
  const { watch, source } = await world(
    t,
    `create schema "a,b"; create schema "say ""hi"""; create schema "école";
     create table "a,b".one (ts timestamptz); create table "say ""hi""".two (ts timestamptz);
     create table "école".three (ts timestamptz); create table public.four (ts timestamptz)`,
  )
  for (const table of ['one', 'two', 'three', 'four']) await watch(table)
  const named = async (schema: string) => {
    const { body } = await get(`/assets/${source.id}/freshness?schema=${param(schema)}`)
    return namesOf(body.data.tables).sort()
  }
  t.same(await named('"a,b"'), ['one'])
  t.same(await named('"a,b", public'), ['four', 'one'])
  t.same(await named('"say ""hi"""'), ['two'])
  t.same(await named('école,public,public'), ['four', 'three'])
  t.same(await named('A'), [], 'names are case-sensitive')

  for (const bad of ['a,,b', 'a,', ',', ' ', '"a', '"a"b', '"a']) {
    const { status, body } = await get(`/assets/${source.id}/freshness?schema=${param(bad)}`)
    t.match(
      { status, body },
      { status: 422, body: { detail: [{ loc: ['query', 'schema'], msg: /comma-separated/ }] } },
      bad,
    )
  }
})

t.test('every list of a source takes the same filters and pages, in one stable order', async t => {
  const tables = Array.from({ length: 7 }, (_, index) => `t${index}`)
  const { watch, source } = await world(
    t,
    tables.map(name => `create table ${name} (ts timestamptz default now());`).join('') +
      tables
        .slice(0, 5)
        .map(name => `insert into ${name} default values;`)
        .join(''),
  )
  for (const table of tables) await watch(table, explicit('1h'))
  const paths = [
    `/freshness?asset=${source.name}&`,
    `/assets/${source.name}/freshness?`,
    `/sdk/freshness/${source.id}?`,
  ]
  for (const path of paths) {
    const page = async (rest: string) => (await get(path + rest)).body.data
    const seen: unknown[] = []
    for (let offset = 0; offset < 7; offset += 3) {
      const part = await page(`limit=3&offset=${offset}`)
      t.match(part, { total: 7, limit: 3, offset, has_more: offset < 6 })
      seen.push(...namesOf(part.tables))
    }
    t.same(seen, tables.toReversed(), `${path} shows each once, the newest schedule first`)
    t.match(await page('status=ready&limit=2'), {
      asset: source.name,
      summary: { ready: 5, not_ready: 0, unknown: 2, error: 0 },
      total: 5,
      has_more: true,
    })
    t.match(await page('status=unknown,error&search=T6'), { total: 1, tables: [{ readiness: 'unknown' }] })
    t.match(await page('status=ready,ready'), { total: 5 }, 'a value given twice counts once')
    t.match(await page('offset=100'), { total: 7, tables: [], has_more: false })
  }
  t.equal((await get(`/freshness?asset=${source.name}`)).body.data.limit, 50)
  const { body } = await get(`/sdk/freshness?asset_id=${source.name}&status=unknown&limit=1`)
  t.match(body.data, {
    data: [{ table_path: /t6$/ }],
    pagination: { total: 2, limit: 1, offset: 0, has_more: true },
  })
})

t.test('invalid parameters are rejected by name, in the format of the path', async t => {
  const { watch, source, database } = await world(t, 'create table orders (ts timestamptz)')
  await watch('orders')
  const table = `${source.name}.${database.name}.public.orders`
  const framework = [`/freshness?asset=${source.name}&`, `/assets/${source.id}/freshness?`]
  for (const path of framework) {
    const { status, body } = await get(`${path}status=ready,fine`)
    t.equal(status, 422)
    t.match(body.detail, [
      { loc: ['query', 'status'], msg: /ready, not_ready, unknown, error/, type: 'any.only' },
    ])
    t.match((await get(`${path}limit=0`)).body.detail, [{ loc: ['query', 'limit'], msg: /at least 1/ }])
  }
  const sdk = [`/sdk/freshness?`, `/sdk/freshness/${source.id}?`]
  for (const path of sdk) {
    const { status, body } = await get(`${path}status=fine`)
    t.equal(status, 400)
    t.match(body.error.details, { field: 'status', error: /ready, not_ready, unknown, error/ })
    t.match((await get(`${path}limit=101`)).body.error.details, { field: 'limit', error: /at most 100/ })
    t.equal((await get(`${path}colour=red`)).body.error.details.field, 'colour')
  }

  // A table is not chosen from: a filter that did nothing would look like an answer.
  for (const path of [`/freshness?asset=${table}&`, `/assets/${table}/freshness?`]) {
    const { status, body } = await get(`${path}status=ready&search=x&limit=1`)
    t.equal(status, 422)
    t.match(body.detail, [{ loc: ['query', 'status'], msg: /source/ }, { loc: ['query', 'search'] }])
    t.equal((await get(`${path}limit=1`)).body.data.asset, table, 'a page of one table is that table')
  }
  const detail = await get(`/sdk/freshness/${table}?schema=public`)
  t.match(detail, { status: 400, body: { error: { details: { field: 'schema', error: /source/ } } } })
  const listed = await get(`/sdk/freshness?asset_id=${table}&status=error`)
  t.match(listed.body.data, { data: [], pagination: { total: 0 } }, 'a list of one table may be empty')

  for (const id of [randomUUID(), 'nonsense', 'a"b', '.', `${source.name}.x`, table.toUpperCase()]) {
    const encoded = param(id)
    for (const path of [
      `/freshness?asset=${encoded}`,
      `/assets/${encoded}/freshness`,
      `/sdk/freshness/${encoded}`,
      `/sdk/freshness/${encoded}/history`,
      `/sdk/freshness?asset_id=${encoded}`,
      `/sdk/freshness/summary?asset_id=${encoded}`,
      `/sdk/freshness/schedules?asset_id=${encoded}`,
    ]) {
      // A URL that is `.` is another path.
      if (id === '.' && !path.includes('=')) continue
      const { status, body } = await get(path)
      t.match(
        { status, body },
        { status: 404, body: { error: { code: 'ASSET_NOT_FOUND', details: { asset_id: id } } } },
        path,
      )
    }
  }
})

t.test('the lists of a company hold its own tables only', async t => {
  const { watch } = await world(t, 'create table orders (ts timestamptz)')
  const { id } = await watch('orders')
  for (const path of ['/sdk/freshness', '/sdk/freshness/schedules']) {
    const { body } = await stranger.ask('GET', `/api/v1${path}`)
    t.match(
      body,
      { data: { data: [], pagination: { total: 0, limit: 50, offset: 0, has_more: false } } },
      path,
    )
    const own = (await get(`${path}?limit=100`)).body.data
    t.ok(own.data.some((record: Record) => [record.id, record.schedule_id].includes(id)))
    t.equal(own.pagination.total, own.data.length)
  }
  const { body } = await stranger.ask('GET', '/api/v1/sdk/freshness/summary')
  t.same(body.data, {
    ...{ total_tables: 0, fresh: 0, stale: 0, unknown: 0, error: 0, warning: 0, violated: 0, paused: 0 },
    last_check_at: null,
    ...{ total_assets: 0, fresh_count: 0, stale_count: 0, unknown_count: 0, disabled_count: 0 },
    freshness_rate: 0,
  })
})

t.test('each table counts once in the counts of the summary, and status takes their names', async t => {
  const { watch, source } = await world(
    t,
    `create table new (ts timestamptz default now()); insert into new default values;
     create table old (ts timestamptz); insert into old values (now() - interval '3 days');
     create table empty (ts timestamptz); create table off (ts timestamptz)`,
  )
  await watch('new', explicit('90m'))
  await watch('old', explicit('1d'))
  await watch('empty')
  const paused = await watch('off', { is_active: false })
  const { body: summary } = await get(`/sdk/freshness/summary?asset_id=${source.id}`)
  t.match(summary.data, {
    ...{ total_assets: 4, fresh_count: 1, stale_count: 1, unknown_count: 1, disabled_count: 1 },
    freshness_rate: 33.3,
  })
  const named = async (status: string) => {
    const { body } = await get(`/sdk/freshness?asset_id=${source.id}&status=${status}`)
    t.equal(body.data.pagination.total, body.data.data.length)
    return namesOf(body.data.data)
  }
  t.same(await named('fresh'), ['new'])
  t.same(await named('stale'), ['old'])
  t.same(await named('disabled'), ['off'])
  t.same(await named('unknown,disabled'), ['off', 'empty'], 'a paused table that is unknown is listed once')
  t.same(await named('stale,not_ready,disabled'), ['off', 'old'])

  const { body: list } = await get(`/sdk/freshness?asset_id=${source.id}`)
  const [off, empty, old, fresh] = list.data.data
  t.match(fresh, { is_stale: false, staleness_threshold_hours: 2, qualified_name: fresh.asset })
  t.match(old, { is_stale: true, staleness_threshold_hours: 24, last_update_time: old.last_updated })
  t.ok(old.hours_since_update >= 72 && old.hours_since_update < 72.1)
  t.match(empty, { is_stale: false, hours_since_update: null, staleness_threshold_hours: null })
  t.match(off, { last_check_at: null, checked_at: paused.updated_at }, 'known since the schedule is there')

  const { body: whole } = await get(`/sdk/freshness/${source.id}`)
  t.match(whole.data, {
    ...{ asset_id: source.id, qualified_name: source.name, status: 'stale', is_stale: true },
    ...{ last_update_time: old.last_updated, staleness_threshold_hours: 24 },
    hours_since_update: Number,
    checked_at: String,
  })
  const { body: none } = await get(`/sdk/freshness/${source.id}?search=nothing`)
  t.match(none.data, { status: 'unknown', is_stale: false, checked_at: null, total: 0 })

  const schedules = async (rest: string) => get(`/sdk/freshness/schedules?asset_id=${source.id}&${rest}`)
  t.equal((await schedules('active_only=true')).body.data.pagination.total, 3)
  t.equal((await schedules('active_only=false')).body.data.pagination.total, 4)
  t.match(await schedules('active_only=true&is_active=false'), {
    status: 400,
    body: { error: { details: { field: 'active_only' } } },
  })
})

t.test('a paused table is neither fresh nor stale in any reply', async t => {
  const { watch, source, database, freshness, check } = await world(
    t,
    `create table old (ts timestamptz); insert into old values (now() - interval '3 days');
     create table new (ts timestamptz default now()); insert into new default values;
     create table broken (ts timestamptz)`,
  )
  const old = await watch('old', explicit('1d'))
  const fresh = await watch('new', explicit('1d'))
  const broken = await watch('broken', explicit('1d'))
  await database.query('drop table broken')
  await check()
  const everywhere = async () => {
    const { body: asset } = await get(`/assets/${source.id}`)
    const { body: list } = await get(`/assets/${source.id}/freshness`)
    const { body: summary } = await get(`/sdk/freshness/summary?asset_id=${source.id}`)
    return {
      status: asset.freshness_status,
      message: asset.freshness_message,
      counts: list.data.summary,
      summary: summary.data,
    }
  }
  t.match(await everywhere(), {
    status: 'stale',
    message: /1 of 3 .* stale, 1 could not be checked/,
    counts: { ready: 1, not_ready: 1, unknown: 0, error: 1 },
    summary: { total_tables: 3, fresh: 1, stale: 1, unknown: 0, error: 1, violated: 1, paused: 0 },
  })
  const pause = (id: string) =>
    tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { is_active: false })
  await pause(old.id)
  t.match(await freshness('old'), {
    data: { status: 'unknown', sla_status: null, last_updated: String, checked_at: String },
    meta: { error_message: null, note: /schedule is paused.*it was stale/ },
  })
  t.match(await everywhere(), {
    status: 'unknown',
    message: /1 of 3 .* could not be checked/,
    counts: { ready: 1, not_ready: 0, unknown: 1, error: 1 },
    summary: { total_tables: 3, fresh: 1, stale: 0, unknown: 1, error: 1, violated: 0, paused: 1 },
  })
  await pause(broken.id)
  t.match(await everywhere(), {
    status: 'fresh',
    counts: { ready: 1, unknown: 2, error: 0 },
    summary: { paused: 2 },
  })
  t.match(await freshness('broken'), { meta: { error_message: null, note: /could not be read \(.+\)/ } })

  const { body: list } = await get(`/sdk/freshness?asset_id=${source.id}&status=unknown`)
  t.match(list.data, {
    data: [
      { readiness: 'unknown', is_active: false },
      { readiness: 'unknown', is_active: false },
    ],
    pagination: { total: 2 },
  })
  const { body: table } = await get(`/assets/${source.name}.${database.name}.public.old`)
  t.match(table.freshness, { status: 'unknown', last_updated: String })

  await t.test('a requested refresh is valid as long as a check would be', async t => {
    const { body: asked } = await tenant.ask(
      'POST',
      `/api/v1/sdk/freshness/${list.data.data[1].asset_id}/refresh`,
    )
    await server.jobs.settled(refreshJob, data => data.run_id === asked.data.job_id)
    t.match(await freshness('old'), {
      data: { status: 'stale' },
      meta: { note: /paused; a refresh is valid for 1h/ },
    })
    t.match(await everywhere(), { status: 'stale', summary: { stale: 1, paused: 2 } })
    await query(
      `update checks set last_checked_at = now() - interval '61 minutes', updated_at = now() - interval '1 day'
       where uuid = $1`,
      [old.id],
    )
    t.match(await freshness('old'), { data: { status: 'unknown' } })
  })

  await t.test('a source of which all is paused has nothing to refresh, and says so', async t => {
    await pause(fresh.id)
    t.match(await everywhere(), { status: 'unknown', message: /paused/, summary: { unknown: 3, paused: 3 } })
    const { status, body } = await tenant.ask('POST', `/api/v1/sdk/freshness/${source.id}/refresh`)
    t.match(
      { status, body },
      { status: 422, body: { detail: [{ loc: ['path', 'asset_id'], msg: /is_active/ }] } },
    )
    await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${fresh.id}`, { is_active: true })
    t.match(await freshness('new'), { data: { status: 'fresh' }, meta: { note: null } })
  })

  await t.test('the tables of a paused source are known for one interval more', async t => {
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { is_active: false })
    t.match(await freshness('new'), { data: { status: 'fresh' }, meta: { note: /source is paused/ } })
    const { body: known } = await get(`/sdk/freshness?asset_id=${source.id}&search=new`)
    for (const asset of [source.id, known.data.data[0].asset_id])
      t.match(
        await tenant.ask('POST', `/api/v1/sdk/freshness/${asset}/refresh`),
        { status: 409, body: { error: { code: 'CONFLICT', message: /switched off/ } } },
        'it is not asked at all',
      )
    await query(`update checks set last_checked_at = now() - interval '61 minutes' where uuid = $1`, [
      fresh.id,
    ])
    t.match(await freshness('new'), { data: { status: 'unknown' }, meta: { note: /source is paused/ } })
    t.match(await everywhere(), { status: 'unknown', summary: { fresh: 0, unknown: 3, paused: 3 } })
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, { is_active: true })
    const again = await freshness('new')
    t.equal(again.data.status, 'fresh')
    t.notMatch(again.meta, { note: /paused/ })
  })
})

t.test('a removed source leaves nothing, and the record of a removed table names the reason', async t => {
  const { watch, source, database, freshness, check } = await world(t, 'create table orders (ts timestamptz)')
  const schedule = await watch('orders', explicit('1d'))
  const [{ table_id: tableId }] = (await query('select table_id from checks where uuid = $1', [
    schedule.id,
  ])) as [{ table_id: string }]
  await query('update tables set is_active = false where id = $1', [tableId])
  await check()
  t.match(await freshness('orders'), {
    data: { status: 'unknown' },
    meta: { error_message: /did not find the table/ },
  })
  for (const filter of ['', '?search=RDE', '?schema=public'])
    t.match((await get(`/assets/${source.id}/freshness${filter}`)).body.data.summary, { error: 1 }, filter)

  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${source.id}`)).status, 200)
  const table = `${source.name}.${database.name}.public.orders`
  for (const path of [
    `/freshness?asset=${table}`,
    `/assets/${source.id}/freshness`,
    `/sdk/freshness/${tableId}`,
    `/sdk/freshness/${tableId}/history`,
  ])
    t.match(await get(path), { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } }, path)
  const { body } = await tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${schedule.id}`, {
    is_active: true,
  })
  t.equal(body.error.code, 'SCHEDULE_NOT_FOUND')
})

t.test('a list of many tables takes as many statements as one of a few', async t => {
  const { watch, source } = await world(t, 'create table orders (ts timestamptz)')
  // Its first check might still go on while statements are counted.
  await watch('orders', { is_active: false })
  const summary = `/sdk/freshness/summary?asset_id=${source.id}`
  const paths = [
    `/freshness?asset=${source.name}&limit=100`,
    `/assets/${source.id}/freshness?limit=100&status=unknown&schema=public&tag=x&search=o`,
    `/sdk/freshness?asset_id=${source.id}&limit=100`,
    `/sdk/freshness/${source.id}`,
    summary,
    `/sdk/freshness/schedules?asset_id=${source.id}&limit=100`,
    `/assets/${source.id}`,
  ]
  /** The fewest of three times: jobs of the server add statements of their own while it runs. */
  const statements = async () => {
    const counts: { [path: string]: number } = {}
    for (const path of [...paths, ...paths, ...paths]) {
      const sent = await sentDuring(() => get(path))
      const count = sent.filter(({ text }) => /\bchecks\b/.test(text)).length
      counts[path] = Math.min(counts[path] ?? Infinity, count)
    }
    return counts
  }
  const few = await statements()
  await query(
    `with made as (
       insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
         constraints, column_count, fingerprint)
       select gen_random_uuid(), company_id, source_id, catalog_name, schema_name, 'o' || n, qualified_name || n, kind,
         columns, constraints, column_count, fingerprint
       from tables, generate_series(1, 500) n where source_id = $1 and name = 'orders' returning *)
     insert into checks (uuid, company_id, source_id, table_id, kind, type, settings, check_interval)
     select gen_random_uuid(), company_id, source_id, id, 'freshness', 'freshness', '{"monitoringMode": "auto_learn"}', '1h'
     from made`,
    [source.id],
  )
  const { body } = await get(`/sdk/freshness/${source.id}?offset=450`)
  t.match(body.data, { total: 501, tables: Array.from({ length: 51 }, () => ({ readiness: 'unknown' })) })
  t.same(await statements(), few)
  for (const [path, count] of Object.entries(few)) t.ok(count <= 5, `${path}: ${count}`)
  t.equal(few[summary], 1, 'one counts all')
})
