import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Connection } from '../../../connectors/connector.ts'
import type { Shop } from '../../helpers/mariadb.ts'
import type { Source } from '../../helpers/source.ts'
import { logMariadb, logPostgresql } from '../../helpers/statement-log.ts'
import { ENGINES, startEngines, table, type Engine } from './engines.ts'
import { explicit } from './worlds.ts'

const { server, place } = await startEngines(t)
const [postgresql, mysql, sqlite] = ENGINES as [Engine, Engine, Engine]

const NOW = '2025-07-10T12:00:00Z'
const AT = '2025-07-10T11:30:00Z'
const half = { status: 'fresh', last_updated: '2025-07-10T11:30:00.000Z', data_age_minutes: 30, note: null }
const unread = { status: 'unknown', sla_status: null, readiness: 'error', data_age_minutes: null }

type Keep = (t: Test, engine: Engine) => Promise<void>

function on(engine: Engine, promise: string, keep: Keep): void {
  void t.test(`${engine.name}: ${promise}`, { skip: engine.absent }, t => keep(t, engine))
}

/** A source with tables of one fresh moment, watched. */
async function watched(t: Test, engine: Engine, names: readonly string[], more: readonly string[] = []) {
  const world = await place(t, engine, [
    ...names.flatMap(name => table(name, engine.type.moment, engine.moment(AT))),
    ...more,
  ])
  const ids: string[] = []
  for (const name of names) ids.push(await world.watch(name, explicit('24h')))
  return { ...world, ids }
}

const many = Array.from({ length: 12 }, (_, index) => `t${index}`)

for (const engine of [postgresql, mysql])
  on(
    engine,
    'all due tables are read in one statement of one session, and what is not due is not',
    async t => {
      const world = await watched(t, engine, [...many, 'idle'])
      const log =
        engine === mysql ? await logMariadb(t, world.own as Shop) : await logPostgresql(world.own as Source)
      await world.change({ statement_timeout_seconds: 7 })
      await log.take()
      await world.sweep(world.ids.slice(0, many.length))
      const { statements, sessions, settings } = await log.take()
      t.equal(sessions.length, 1)
      t.ok(
        sessions.every(({ isReadOnly }) => isReadOnly),
        'the session is read-only',
      )
      t.ok(settings.length <= 1, 'set up with one statement at most')
      t.equal(statements.length, 1, statements.map(({ text }) => text).join('\n'))
      const { text = '' } = statements[0] ?? {}
      t.equal(text.match(/select max\(ts\)/g)?.length, 12)
      t.notMatch(text, /idle/)
      t.match(await world.record('t11'), { status: 'stale', last_updated: half.last_updated })
      t.match(await world.record('idle'), { note: 'Not checked yet' })
    },
  )

on(sqlite, 'all due tables are read in one statement of one session', async (t, engine) => {
  const world = await watched(t, engine, many)
  // SQLite keeps no log, so that its sessions are counted where they are opened.
  const connector = server.connectors.get('sqlite')
  const { connect } = connector
  const texts: string[] = []
  let sessions = 0
  t.teardown(() => (connector.connect = connect))
  connector.connect = async (...input): Promise<Connection> => {
    const connection = await connect(...input)
    sessions += 1
    return {
      ...connection,
      query(statement, options) {
        texts.push(connector.dialect.render(statement).text)
        return connection.query(statement, options)
      },
    }
  }
  await world.sweep(world.ids)
  t.equal(sessions, 1)
  t.equal(texts.length, 1)
  t.equal(texts[0]?.match(/select max\("ts"\)/g)?.length, 12)
})

/** How a table is closed to the reader, and opened again; how another session keeps it to itself. */
const CLOSING = {
  [postgresql.name]: {
    revoke: (reader: string) => [
      `revoke pg_read_all_data from ${reader}`,
      `grant select on well, fine to ${reader}`,
    ],
    grant: (reader: string) => `grant select on taken to ${reader}`,
    lock: 'begin; lock table taken in access exclusive mode',
    unlock: 'rollback',
  },
  [mysql.name]: {
    revoke: (reader: string, name: string) => [
      `revoke select on ${name}.* from ${reader}`,
      `grant select on ${name}.well to ${reader}`,
      `grant select on ${name}.fine to ${reader}`,
    ],
    grant: (reader: string, name: string) => `grant select on ${name}.taken to ${reader}`,
    lock: 'lock tables taken write',
    unlock: 'unlock tables',
  },
} as const

for (const engine of [postgresql, mysql]) {
  const { revoke, grant, lock, unlock } = CLOSING[engine.name] as (typeof CLOSING)['mysql']

  on(engine, 'a table that may no longer be read is an error of its own until it may be again', async t => {
    const world = await watched(t, engine, ['well', 'taken', 'fine'])
    t.match(await world.check(NOW), { measured: 3, statements: 1 })
    const { name, config } = world.own as Shop
    for (const statement of revoke(config.username, name)) await world.run(statement)
    t.match(await world.check(NOW), { measured: 2, fresh: 2, failed: [{ error: { kind: 'permission' } }] })
    t.match(await world.record('taken'), {
      ...unread,
      last_updated: half.last_updated,
      error_message: /grant .*SELECT/,
    })
    for (const table of ['well', 'fine']) t.match(await world.record(table), half)
    await world.run(grant(config.username, name))
    t.match(await world.check(NOW), { measured: 3, failed: [], statements: 1 })
    t.match(await world.record('taken'), { ...half, error_message: null })
  })

  on(engine, 'a locked table costs the others no more than one statement, and then none', async t => {
    const world = await watched(t, engine, ['taken', 'well'])
    await world.change({ statement_timeout_seconds: 1 })
    await world.run(lock)
    t.match(await world.check(NOW), { measured: 1, fresh: 1, failed: [{ error: { kind: 'timeout' } }] })
    t.match(await world.record('well'), half)
    t.match(await world.record('taken'), { ...unread, error_message: String })
    t.match(await world.check(NOW), { measured: 1, statements: 2 }, 'it is read alone from now on')
    await world.run(unlock)
    t.match(await world.check(NOW), { measured: 2, fresh: 2, failed: [] })
    t.match(await world.record('taken'), { ...half, error_message: null })
    t.match(await world.check(NOW), { statements: 1 }, 'and with the others again once it is quick')
  })
}

on(postgresql, 'types and objects of this engine alone are read as well', async (t, engine) => {
  const made = [
    ...table('moments_to_infinity', 'timestamptz', `'${AT}'`, `'infinity'`),
    ...table('days_to_infinity', 'date', `'infinity'`),
    ...table('before_all', 'timestamp', `'-infinity'`),
    ...table('year_20000', 'timestamptz', `'20000-01-01 00:00Z'`),
    ...table('year_276000', 'timestamptz', `'276000-01-01 00:00Z'`),
    ...table('last_year', 'timestamp', `'294276-12-31 23:59:59'`),
    ...table('days_of_20000', 'date', `'20000-01-01'`),
    ...table('days_before_all', 'date', `'-infinity'`),
    ...table('days_of_caesar', 'date', `'0044-03-15 BC'`),
    ...table('words_of_infinity', 'text', `'infinity and beyond'`),
    ...table('caesar', 'timestamp', `'0044-03-15 12:00:00 BC'`),
    ...table('micro', 'timestamp', `'2025-07-10 11:30:00.000999'`),
    'create domain moment as timestamptz',
    ...table('domains', 'moment', `'${AT}'`),
    ...table('moments_as_text', 'text', `'2025-07-10 13:30:00+02'`),
    ...table('numbers', 'numeric', `${Date.parse(AT) / 1000}.5`),
    ...table('orders', 'timestamptz', `'${AT}'`),
    'create materialized view kept as select ts from orders',
    'create materialized view unfilled as select ts from orders with no data',
    'create table parent (ts timestamptz not null) partition by range (ts)',
    `create table p_july partition of parent for values from ('2025-07-01') to ('2025-08-01')`,
    'create table p_other partition of parent default',
    'create index on parent (ts)',
    `insert into parent values ('2025-06-01'), ('${AT}')`,
    'create table bare_parent (id int, ts timestamptz) partition by list (id)',
    'create table bare_part partition of bare_parent for values in (1, 2)',
    `insert into bare_parent values (1, '2025-06-01'), (2, '${AT}')`,
    'create table childless (ts timestamptz) partition by range (ts)',
  ]
  const world = await place(t, engine, made)
  await world.change({ connection_config: { timezone: 'UTC' } })
  const ahead = { status: 'fresh', data_age_minutes: 0, note: /future/ }
  const last = { ...ahead, last_updated: '9999-12-31T23:59:59.999Z', error_message: null }
  const first = { status: 'stale', last_updated: '0001-01-01T00:00:00.000Z', error_message: null }
  const found: Record<string, object> = {
    moments_to_infinity: last,
    days_to_infinity: last,
    before_all: first,
    year_20000: last,
    year_276000: last,
    last_year: last,
    days_of_20000: last,
    caesar: first,
    days_before_all: first,
    days_of_caesar: first,
    words_of_infinity: { ...unread, error_message: /not a date or time/ },
    micro: half,
    domains: half,
    moments_as_text: half,
    numbers: { ...half, last_updated: '2025-07-10T11:30:00.500Z', data_age_minutes: 29 },
    orders: half,
    kept: half,
    unfilled: { ...unread, error_message: /has not been populated/ },
    parent: half,
    bare_parent: half,
    childless: { status: 'unknown', readiness: 'unknown', note: 'No row has a value in ts' },
  }
  for (const name of Object.keys(found))
    await world.watch(name, { ...explicit('24h'), freshness_column: 'ts' })
  await world.check(NOW)
  const records = await world.records()
  for (const [name, expected] of Object.entries(found)) t.match(records.get(name), expected, name)

  await world.change({ connection_config: { timezone: 'Asia/Kolkata' } })
  await world.check(NOW)
  for (const name of ['orders', 'kept', 'parent', 'domains', 'numbers', 'moments_as_text'])
    t.match(
      await world.record(name),
      { last_updated: found[name]?.['last_updated' as never] },
      `${name} is a moment`,
    )
  t.match(
    await world.record('micro'),
    { last_updated: '2025-07-10T06:00:00.000Z' },
    'a wall clock time is not',
  )
  await world.run('insert into orders values (2, now()); refresh materialized view kept')
  await world.check(new Date())
  t.match(await world.record('kept'), { status: 'fresh', data_age_minutes: 0 }, 'a refresh is an update')
})

on(postgresql, 'an unknown error is that of its table while the source still answers', async (t, engine) => {
  const fails = (name: string, code: string) => [
    `create function ${name}() returns boolean language plpgsql as
       $$ begin if exists (select from switch) then raise exception 'odd' using errcode = '${code}'; end if;
         return true; end $$`,
    `create view view_${name} as select ts from t0 where ${name}()`,
  ]
  const world = await watched(t, engine, many, [
    'create table switch ()',
    ...fails('corrupted', 'XX001'),
    ...fails('internal', 'XX000'),
  ])
  for (const name of ['corrupted', 'internal']) await world.watch(`view_${name}`, explicit('24h'))
  t.match(await world.check(NOW), { measured: 14, statements: 1 })
  await world.run('insert into switch default values')
  t.match(await world.check(NOW), { measured: 12, fresh: 12, failed: [{}, {}] })
  for (const name of ['corrupted', 'internal'])
    t.match(await world.record(`view_${name}`), { ...unread, error_message: String })
})

on(mysql, 'types and objects of this engine alone are read as well', async (t, engine) => {
  const zero = `'0000-00-00 00:00:00'`
  const made = [
    ...table('zero', 'datetime', zero),
    ...table('zero_day', 'date', `'0000-00-00'`),
    ...table('zero_stamp', 'timestamp null', zero),
    ...table('zero_beside', 'datetime', zero, `'2025-07-10 11:30:00'`),
    ...table('micro', 'datetime(6)', `'2025-07-10 11:30:00.000999'`),
    ...table('last_stamp', 'timestamp null', `'2038-01-19 03:14:07'`),
    ...table('decimals', 'decimal(20,6)', `${Date.parse(AT) / 1000}.5`),
    `create table parts (id int, ts datetime, key (ts)) partition by range (to_days(ts))
       (partition early values less than (to_days('2025-07-01')), partition late values less than maxvalue)`,
    `insert into parts values (1, '2025-06-01 00:00:00'), (1, '2025-07-10 11:30:00')`,
    `create table hashed (id int, ts timestamp null) partition by hash (id) partitions 4`,
    `insert into hashed values (1, '2025-06-01 00:00:00'), (2, '2025-07-10 11:30:00')`,
    ...table('seen', 'datetime', `'2025-07-10 11:30:00'`),
    'create view seen_by as select max(ts) as ts from seen group by id',
  ]
  const world = await place(t, engine, made)
  await world.change({ connection_config: { timezone: 'UTC' } })
  const none = { ...unread, error_message: /not a date or time/ }
  const found: Record<string, object> = {
    zero: none,
    zero_day: none,
    zero_stamp: none,
    zero_beside: half,
    micro: half,
    last_stamp: {
      status: 'fresh',
      data_age_minutes: 0,
      note: /future/,
      last_updated: '2038-01-19T03:14:07.000Z',
    },
    decimals: { ...half, last_updated: '2025-07-10T11:30:00.500Z', data_age_minutes: 29 },
    parts: half,
    hashed: half,
    seen_by: half,
  }
  for (const name of Object.keys(found))
    await world.watch(name, { ...explicit('24h'), freshness_column: 'ts' })
  t.match(await world.check(NOW), { statements: 1 })
  const records = await world.records()
  for (const [name, expected] of Object.entries(found)) t.match(records.get(name), expected, name)
  await world.change({ connection_config: { timezone: 'Asia/Kolkata' } })
  await world.check(NOW)
  t.match(await world.record('hashed'), { last_updated: half.last_updated }, 'a TIMESTAMP is a moment')
  t.match(await world.record('parts'), { last_updated: '2025-07-10T06:00:00.000Z' }, 'a DATETIME is none')
})

on(mysql, 'a damaged table is an error of its own', async (t, engine) => {
  const world = await watched(
    t,
    engine,
    ['well'],
    [...table('hurt', engine.type.moment, engine.moment(AT)), 'alter table hurt engine = myisam'],
  )
  await world.watch('hurt', explicit('24h'))
  t.match(await world.check(NOW), { measured: 2, statements: 1 })
  await world.run('flush tables hurt')
  const { name } = world.own as Shop
  const [{ folder }] = (await (world.own as Shop).query('select @@datadir as folder')) as [{ folder: string }]
  await writeFile(join(folder, name, 'hurt.MYI'), 'no index')
  t.match(await world.check(NOW), { measured: 1, fresh: 1, failed: [{}] })
  t.match(await world.record('well'), half)
  t.match(await world.record('hurt'), { ...unread, error_message: String })
})
