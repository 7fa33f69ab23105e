import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { parseDuration } from '../../../server/settings/durations.ts'
import { explicit, startWorlds } from './worlds.ts'

const folder = await mkdtemp(join(tmpdir(), 'tidemark-journal-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, tenant, query, addSource } = await startWorlds(t, {
  settings: {
    FILE_SOURCES: folder,
    EXTENSIONS: new URL('../../helpers/extensions/journal-engine.ts', import.meta.url).href,
  },
})

/** A source whose engine keeps a journal of changes, with one table that was changed and read at midnight. */
async function journalWorld(fields: object = {}) {
  const path = join(folder, `${randomUUID()}.db`)
  const database = new DatabaseSync(path)
  database.exec(`create table journal (name text, at text);
    create table orders (id integer, updated_at timestamp);
    create view latest as select * from orders;
    insert into orders values (1, '2025-03-10 00:00:00');
    insert into journal values ('orders', '2025-03-10T00:00:00Z'), ('latest', '2020-01-01T00:00:00Z');`)
  t.teardown(() => database.close())
  const source = await addSource('journal', { path })
  const watch = (table: string, more: object = {}) =>
    tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: table,
      ...explicit('10h'),
      is_active: false,
      ...more,
    })
  const made = await watch('orders', fields)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  // Not checked before the day that is lived again.
  await query(`update checks set is_active = true, next_run_at = now() + interval '1 day' where uuid = $1`, [
    made.body.data.id,
  ])
  /** Checks `orders` at an hour of the day, and gives the statements that were sent and the record. */
  const check = async (hour: number) => {
    const at = new Date(Date.UTC(2025, 2, 10) + hour * 3_600_000)
    const scheduleIds = [made.body.data.id as string]
    const ids = { companyId: tenant.companyId, sourceId: source.id }
    const { statements } = await server.plugins.freshness.checkSource({ ...ids, scheduleIds, at })
    const { body } = await tenant.ask('GET', `/api/v1/freshness?asset=${source.name}.main.main.orders`)
    return { statements, ...body.data, meta: body.meta }
  }
  const change = (hour: string, journal = hour) =>
    database.exec(`insert into orders values (2, '2025-03-10 ${hour}');
      update journal set at = '2025-03-10T${journal}Z' where name = 'orders'`)
  return { database, source, schedule: made.body.data, watch, check, change }
}

t.test('a column is read again only after its table has changed', async t => {
  const { check, change } = await journalWorld()
  t.match(await check(1), {
    statements: 1,
    status: 'fresh',
    data_age_minutes: 60,
    meta: { signal: 'column' },
  })
  t.match(
    await check(2),
    { statements: 0, status: 'fresh', data_age_minutes: 120 },
    'it is older, all the same',
  )
  change('02:30:00')
  t.match(await check(3), { statements: 1, data_age_minutes: 30 })
  t.match(await check(4), { statements: 0, data_age_minutes: 90 })
})

t.test('a column is read again when its clock turns out to stand in another zone', async t => {
  const { check, source } = await journalWorld()
  await check(1)
  const config = { connection_config: { timezone: 'Asia/Kolkata' } }
  t.equal((await tenant.ask('PATCH', `/api/v1/sdk/assets/${source.id}`, config)).status, 200)
  t.match(await check(2), { statements: 1, last_updated: '2025-03-09T18:30:00.000Z' })
  t.match(await check(2.1), { statements: 0 })
})

t.test(
  'a status changes only after the column was read, because engines may report a change late',
  async t => {
    const { check, change, database } = await journalWorld()
    await check(1)
    change('06:00:00', '00:00:00')
    t.match(await check(7), { statements: 0, sla_status: 'within_sla', data_age_minutes: 420 })
    t.match(
      await check(8),
      { statements: 1, sla_status: 'within_sla', data_age_minutes: 120 },
      'no false warning',
    )
    t.match(await check(9), { statements: 1 }, 'a modification time that was late once is not trusted')
    database.exec(`update journal set at = '2025-03-10T09:30:00Z' where name = 'orders'`)
    t.match(await check(10), { statements: 1, data_age_minutes: 240 }, 'before it reports a change')
    t.match(await check(11), { statements: 0 })
    t.match(await check(14), { statements: 1, sla_status: 'warning' })
    t.match(await check(15), { statements: 0, sla_status: 'warning' })
    t.match(await check(16), { statements: 1, status: 'stale' })
    t.match(await check(30), { statements: 0, status: 'stale' })
    database.exec(`drop table journal`)
    t.match(
      await check(31),
      { statements: 1, status: 'stale' },
      'an engine without modification times is no reason to guess',
    )
  },
)

t.test('a learned deadline warns of nothing that was not read', async t => {
  const { check, database, schedule } = await journalWorld({
    monitoring_mode: 'auto_learn',
    sla_threshold: undefined,
  })
  const alerts = () => query('select severity from alerts where cause = $1', [schedule.id])
  const hours = (hour: number) =>
    new Date(Date.UTC(2025, 2, 10) + hour * 3_600_000).toISOString().slice(0, 19)
  const put = (hour: number, journal = hour) => {
    database.exec(`insert into orders values (2, '${hours(hour).replace('T', ' ')}');
      update journal set at = '${hours(journal)}Z' where name = 'orders'`)
  }
  await check(0.5)
  for (let day = 1; day < 9; day++) {
    put(24 * day)
    await check(24 * day + 0.5)
  }
  const known = await check(24 * 8 + 1)
  const threshold = (parseDuration(known.sla_threshold) ?? 0) / 3600
  const [warned, late] = [0.8 * threshold, 24 + 0.8 * (threshold - 24)]
  t.match(await check(24 * 8 + warned + 0.1), { sla_status: 'warning', statements: 1 })
  t.match(await check(24 * 8 + late - 0.1), { sla_status: 'warning', statements: 0 })
  put(24 * 9, 24 * 8)
  t.match(await check(24 * 8 + late + 0.1), { sla_status: 'within_sla', statements: 1 })
  t.same(await alerts(), [])
})

t.test('after an error, and after another column was chosen, the column is read', async t => {
  const { check, database, schedule } = await journalWorld()
  await check(1)
  database.exec('alter table orders rename to away')
  database.exec(`update journal set at = '2025-03-10T01:30:00Z' where name = 'orders'`)
  t.match(await check(2), { statements: 1, status: 'unknown' })
  database.exec('alter table away rename to orders')
  t.match(await check(3), { statements: 1, status: 'fresh' })
  const path = `/api/v1/sdk/freshness/schedules/${schedule.id}`
  const { body } = await tenant.ask('PATCH', path, { freshness_column: 'id' })
  t.match(body.data, { freshness_column: 'id', freshness_signal: 'column' })
  t.match(await check(4), { timestamp_column: 'id', last_updated: /^1970/ })
})

t.test('freshness_signal last_modified reads no column, and its note names the signal', async t => {
  const { check, change, schedule, watch } = await journalWorld({ freshness_signal: 'last_modified' })
  t.match(schedule, { freshness_column: null, freshness_signal: 'last_modified' })
  t.match(await check(1), {
    statements: 0,
    status: 'fresh',
    timestamp_column: null,
    last_updated: '2025-03-10T00:00:00.000Z',
    meta: { signal: 'last_modified', note: /as requested/ },
  })
  change('02:30:00', '02:31:00')
  t.match(await check(3), { statements: 0, last_updated: '2025-03-10T02:31:00.000Z' })
  const path = `/api/v1/sdk/freshness/schedules/${schedule.id}`
  const changed = await tenant.ask('PATCH', path, { freshness_signal: 'column' })
  t.match(changed.body.data, { freshness_column: 'updated_at', freshness_signal: 'column' })
  t.match(await check(4), { statements: 1, last_updated: '2025-03-10T02:30:00.000Z' })

  const view = await watch('latest', { freshness_signal: 'last_modified' })
  t.match(view, {
    status: 400,
    body: { error: { details: { field: 'freshness_signal' }, message: /of a view/ } },
  })
  await query(`update tables set kind = 'external_table' where name = 'latest'`)
  const foreign = await watch('latest', { freshness_signal: 'last_modified' })
  t.match(foreign, { status: 400, body: { error: { message: /of an external table/ } } })
  const both = await watch('latest', { freshness_signal: 'last_modified', freshness_column: 'updated_at' })
  t.match(both, { status: 400, body: { error: { details: { field: 'freshness_signal' } } } })
  const none = await watch('journal', { freshness_signal: 'column' })
  t.match(none, { status: 400, body: { error: { details: { field: 'freshness_column' } } } })
})

t.test(
  'freshness_signal last_modified is rejected where the engine reports no modification time',
  async t => {
    const path = join(folder, `${randomUUID()}.db`)
    const database = new DatabaseSync(path)
    database.exec('create table orders (updated_at timestamp)')
    database.close()
    const source = await addSource('sqlite', { path })
    const refused = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
      asset_id: source.id,
      table_path: 'orders',
      freshness_signal: 'last_modified',
    })
    t.match(refused, {
      status: 400,
      body: {
        error: {
          details: { field: 'freshness_signal' },
          message: /SQLite does not report.*freshness_column/,
        },
      },
    })
  },
)
