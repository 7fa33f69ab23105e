import t from 'tap'
import { formatName, tablePath, type TableInfo } from '../../connectors/catalog.ts'
import { testConnector } from '../../connectors/conformance.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { join, sql } from '../../connectors/sql.ts'
import { startProxy } from '../helpers/proxy.ts'
import {
  connectOptions,
  executeCounted,
  failure,
  partitionedTable,
  running,
  settings,
  startSource,
  withSession,
  type Source,
} from '../helpers/source.ts'

const QUICK = { timeoutMs: 20_000 }

t.test('it conforms', async t => {
  const source = await startSource(t)
  // It reads along, to count statements.
  const proxy = await startProxy(t, source.config)
  const config = { ...source.config, port: proxy.port }
  const result = await testConnector(t, {
    connector: postgresql,
    config,
    setup: () => ({
      execute: text => executeCounted(source, text),
      catalog: source.name,
      schema: 'public',
      refused: [
        { name: 'a wrong password', config: { ...config, password: 'not-this-one' }, kind: 'credentials' },
        { name: 'no password', config: { ...config, password: '' }, kind: 'credentials' },
        { name: 'a wrong user', config: { ...config, username: 'no_such_user' }, kind: 'credentials' },
        { name: 'a missing database', config: { ...config, database: 'nothing' }, kind: 'missing-object' },
        { name: 'a closed port', config: { ...config, port: 1 }, kind: 'network' },
      ],
      slow: sql`select pg_sleep(60)`,
      partitioned: partitionedTable,
      countRunning: () => running(source),
      countSessions: () => sessions(source),
      countTransactions: () => sessions(source, 'idle in transaction%'),
      countStatements: () => proxy.statements.length,
      async revokeAccess() {
        const limited = `${source.name}_stranger`
        await source.query(`create role ${limited} login password 'stranger-1'`)
        t.teardown(() => source.query(`drop role ${limited}`))
        return {
          statement: sql`select * from conformance_texts`,
          config: { ...config, username: limited, password: 'stranger-1' },
        }
      },
      async hideColumns() {
        await source.query(
          'create table partly (id int primary key, secret int unique, a int references partly)',
        )
        const username = `${source.name}_partly`
        await source.query(`create role ${username} login password 'partly-1'`)
        t.teardown(() => source.query(`drop owned by ${username}; drop role ${username}`))
        await source.query(`grant select (id, a) on partly to ${username}`)
        return {
          table: { catalog: source.name, schema: 'public', name: 'partly' },
          config: { ...config, username, password: 'partly-1' },
        }
      },
      partitionedTable: (table, column) => [
        `create table ${table} (${column} date) partition by range (${column})`,
      ],
      types: { binary: 'bytea' },
      literals: { binary: `'\\x00ff10'` },
      // It keeps the first 63 bytes.
      refusesNames: ['64 characters'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

/** How many of the connector's sessions are in a state. */
async function sessions(source: Source, state = '%'): Promise<number> {
  const rows = await source.query(
    `select from pg_stat_activity where application_name = 'tidemark' and datname = $1 and state like $2`,
    [source.name, state],
  )
  return rows.length
}

t.test('the configuration says what is wrong with it', async t => {
  const good = { host: 'db.example.com', database: 'shop', user: 'reader', password: 'x' }
  t.same(settings(good), {
    host: 'db.example.com',
    port: 5432,
    database: 'shop',
    username: 'reader',
    password: 'x',
    sslmode: 'prefer',
  })
  const refused = (changes: object) =>
    postgresql.config.validate({ ...good, ...changes }).error?.message ?? ''
  t.match(refused({ host: '/var/run/postgresql' }), /host must be a host name or an address, not a path/)
  t.match(refused({ host: 'postgres://a@b' }), /not a path or URL/)
  t.match(refused({ username: 'both' }), /user/)
  t.match(refused({ sslmode: 'no-verify' }), /sslmode/)
  t.match(refused({ ssl_ca: '/etc/passwd' }), /certificate in PEM form/)
  // The server would read on, and take the last database that is named.
  t.match(refused({ database: 'shop\0database\0other' }), /database.* must not hold a NUL/)
  t.match(refused({ user: 'reader\0statement_timeout\x000' }), /username.* must not hold a NUL/)
  for (const key of ['options', 'ssl', 'socketPath', 'connectionString', 'stream']) {
    t.match(refused({ [key]: 'x' }), /is not allowed/, key)
  }
})

t.test('statements are counted', async t => {
  const source = await startSource(t)
  await source.query('create table a (id int primary key)')
  const proxy = await startProxy(t, source.config)
  const config = { ...source.config, port: proxy.port }

  await withSession(config, async connection => {
    t.same(proxy.statements, [], 'connecting sends none')
    await connection.introspect()
    t.equal(proxy.statements.length, 1, 'reading the catalog sends one')
    await connection.estimates?.([])
    t.equal(proxy.statements.length, 2)

    proxy.statements.length = 0
    for (const timeoutMs of [5000, 5000, 5000, 6000, 6000])
      await connection.query(sql`select 1 as one`, { timeoutMs })
    t.same(
      proxy.statements.filter(text => text.startsWith('set')),
      ['set statement_timeout = 5000', 'set statement_timeout = 6000'],
      'a timeout is set only when it changes',
    )
  })

  proxy.statements.length = 0
  const stages = await postgresql.test(settings(config), connectOptions)
  t.same(
    stages.map(stage => stage.status),
    ['passed', 'skipped', 'passed', 'passed'],
    'the connection is not encrypted',
  )
  t.equal(proxy.statements.filter(text => !text.startsWith('set')).length, 1, 'a connection test sends one')
})

t.test('failures name their cause', async t => {
  const source = await startSource(t)
  await source.query('create table private (id int)')
  const limited = `${source.name}_limited`
  await source.query(`create role ${limited} login password 'x' connection limit 1`)
  t.teardown(() => source.query(`drop role ${limited}`))
  const config = { ...source.config, username: limited, password: 'x' }

  await withSession(config, async connection => {
    t.match(await failure(connection.query(sql`select * from private`, QUICK)), {
      kind: 'permission',
      code: '42501',
      message: /^The account may not read "\S*private" \(42501\): grant .* SELECT/,
    })
    t.match(await failure(connection.query(sql`select 1/0 as v`, QUICK)), {
      kind: 'invalid-query',
      message: 'The SQL divides by zero (22012).',
    })
    t.match(await failure(postgresql.connect(settings(config), connectOptions)), {
      kind: 'network',
      code: '53300',
    })
  })

  await withSession(source.config, async connection => {
    await source.query('begin')
    await source.query('lock table private')
    t.match(await failure(connection.query(sql`select * from private`, QUICK)), {
      kind: 'timeout',
      code: '55P03',
    })
    await source.query('rollback')
    t.same(await connection.query(sql`select * from private`, QUICK), [])

    await source.query(`revoke pg_read_all_data from ${source.config.username}`)
    t.match(
      await failure(connection.query(sql`select * from private`, QUICK)),
      { kind: 'permission', code: '42501', message: /grant/ },
      'a right that is taken away meanwhile',
    )
  })
})

t.test('a role with too many rights is pointed out', async t => {
  const source = await startSource(t)
  const catalogMessage = async () =>
    (await postgresql.test(settings(source.config), connectOptions)).at(-1)?.message
  t.equal(await catalogMessage(), 'The catalog has 0 tables and views.')
  await source.query(`grant pg_execute_server_program to ${source.config.username}`)
  t.match(await catalogMessage(), /files or programs of the server: use a role with only SELECT/)
  await source.query(`alter role ${source.config.username} superuser`)
  t.match(await catalogMessage(), /is a superuser: use a role with only SELECT/)
})

t.test('a domain over timestamps holds moments as what is under it does', async t => {
  const source = await startSource(t)
  for (const statement of [
    'create schema app',
    'create domain moment as timestamptz(3)',
    'create domain app.written as moment not null',
    'create domain timestamptz_local as timestamp',
    'create table t (at moment, written app.written, clock timestamptz_local, tz timestamptz(0), naive timestamp(3))',
    `insert into t values ${`(${Array(5).fill(`'2024-07-01 12:00:00+02'`).join(', ')})`}`,
    'create view seen as select * from t',
  ])
    await source.query(statement)
  await withSession(source.config, async connection => {
    for (const { name, columns } of await connection.introspect()) {
      t.same(
        columns.map(column => [column.type, column.base, postgresql.dialect.isInstant(column)]),
        [
          ['moment', 'timestamptz(3)', true],
          ['app.written', 'timestamptz(3)', true],
          ['timestamptz_local', 'timestamp', false],
          ['timestamptz(0)', undefined, true],
          ['timestamp(3)', undefined, false],
        ],
        name,
      )
      const newest = columns.map(
        column =>
          sql`max(${postgresql.dialect.quote(column.name)}) as ${postgresql.dialect.quote(column.name)}`,
      )
      const [row] = await connection.query(
        sql`select ${join(newest)} from ${postgresql.dialect.table({ catalog: source.name, schema: 'public', name })}`,
        { timeoutMs: 10_000 },
      )
      const [moment, clock] = [new Date('2024-07-01T10:00:00Z'), new Date('2024-07-01T12:00:00Z')]
      t.same(row, { at: moment, written: moment, clock, tz: moment, naive: clock }, name)
    }
  })
})

t.test('the catalog', async t => {
  const source = await startSource(t)
  for (const statement of `
    create schema sales
    create schema "Odd ""schema"""
    create type sales.mood as enum ('sad', 'ok')
    create domain sales.cents as bigint not null
    create domain sales.price as sales.cents check (value > 0)
    create type public.shade as enum ('light', 'dark')
    create table sales.kinds (i2 smallint, i4 int, i8 bigserial, n numeric(10,2), n0 numeric, f4 real, f8 float8, v varchar(20), vn varchar, c char(3), tx text, b boolean, d date, ts timestamp, ts3 timestamp(3), tz timestamptz, tz0 timestamptz(0), tm time, tmz timetz, by bytea, js json, jb jsonb, u uuid, ar int[], va varchar(5)[], m sales.mood, cu sales.price, iv interval, bits bit varying(5), money money, sh public.shade default 'dark', ms sales.mood[])
    create table sales.parent (id int generated always as identity primary key, a int, b int, total int generated always as (a + b) stored, gone int, last text default 'it''s'::text, constraint ab unique (b, a))
    alter table sales.parent drop column gone
    create table sales.child (id int, pa int, pb int, constraint to_parent foreign key (pb, pa) references sales.parent (b, a), constraint to_self_parent foreign key (id) references sales.parent)
    create unique index by_index on sales.child (pb, pa) include (id)
    create unique index partial on sales.child (id) where pa > 0
    create unique index expression on sales.child ((id + 1))
    create index plain on sales.child (pa)
    create table sales.parts (id int, at date, primary key (id, at)) partition by range (at)
    create table sales.parts_2023 partition of sales.parts for values from ('2023-01-01') to ('2024-01-01')
    create table sales.parts_2024 partition of sales.parts for values from ('2024-01-01') to ('2025-01-01') partition by range (at)
    create table sales.parts_2024_1 partition of sales.parts_2024 for values from ('2024-01-01') to ('2024-07-01')
    create table sales.to_parts (id int, at date, constraint to_partitioned foreign key (id, at) references sales.parts)
    create view sales.seen as select id, last from sales.parent
    create materialized view sales.kept as select 1 as one
    create table "Odd ""schema"""."t.""x" ("Col.""1" int)
    create table empty ()
    create temporary table hidden (id int)
    insert into sales.parts select n, '2023-05-05' from generate_series(1, 30) n
    insert into sales.parts select n, '2024-05-05' from generate_series(1, 12) n
    analyze sales.parts_2023
    analyze sales.parts_2024_1
    comment on table sales.parent is 'The parents'
    comment on column sales.parent.last is 'The last one'
    comment on constraint ab on sales.parent is 'not a table comment'`.split('\n')) {
    if (statement.trim()) await source.query(statement)
  }
  const tables = await withSession(source.config, connection => connection.introspect())
  const find = (name: string) => tables.find(table => table.name === name) as TableInfo

  t.same(
    tables.map(table => `${table.kind} ${formatName([table.schema, table.name])}`),
    [
      'table "Odd ""schema"""."t.""x"',
      'table public.empty',
      'table sales.child',
      'materialized_view sales.kept',
      'table sales.kinds',
      'table sales.parent',
      'table sales.parts',
      'view sales.seen',
      'table sales.to_parts',
    ],
    'no partitions, no temporary tables, no system schemas',
  )
  t.ok(tables.every(table => table.catalog === source.name))

  t.same(
    find('kinds').columns.map(column => `${column.name} ${column.type} ${column.kind}`),
    [
      'i2 smallint integer',
      'i4 integer integer',
      'i8 bigint integer',
      'n numeric(10,2) decimal',
      'n0 numeric decimal',
      'f4 real float',
      'f8 double precision float',
      'v varchar(20) text',
      'vn varchar text',
      'c char(3) text',
      'tx text text',
      'b boolean boolean',
      'd date date',
      'ts timestamp timestamp',
      'ts3 timestamp(3) timestamp',
      'tz timestamptz timestamp',
      'tz0 timestamptz(0) timestamp',
      'tm time time',
      'tmz timetz time',
      'by bytea binary',
      'js json json',
      'jb jsonb json',
      'u uuid other',
      'ar integer[] other',
      'va varchar(5)[] other',
      'm sales.mood other',
      'cu sales.price integer',
      'iv interval other',
      'bits varbit(5) other',
      'money money other',
      'sh shade other',
      'ms sales.mood[] other',
    ],
  )
  t.equal(find('kinds').columns.find(column => column.name === 'v')?.rawType, 'character varying(20)')
  t.match(find('kinds').columns.find(column => column.name === 'i8')?.default, /^nextval\(/)
  t.equal(
    find('kinds').columns.find(column => column.name === 'cu')?.nullable,
    false,
    'a domain refuses NULL when the domain under it does',
  )

  t.match(find('parent'), {
    comment: 'The parents',
    columns: [
      { name: 'id', ordinal: 1, nullable: false, default: null, identity: '1' },
      { name: 'a', ordinal: 2, nullable: true, default: null },
      { name: 'b', ordinal: 3 },
      { name: 'total', ordinal: 4, default: '(a + b)' },
      { name: 'last', ordinal: 6, default: `'it''s'::text`, comment: 'The last one', identity: '6' },
    ],
  })
  t.same(find('parent').constraints, [
    { name: 'parent_pkey', type: 'primary_key', columns: ['id'], properties: {} },
    { name: 'ab', type: 'unique', columns: ['b', 'a'], properties: {} },
  ])
  const parent = { catalog: source.name, schema: 'sales', name: 'parent' }
  t.same(find('child').constraints, [
    {
      name: 'to_parent',
      type: 'foreign_key',
      columns: ['pb', 'pa'],
      references: { table: parent, columns: ['b', 'a'] },
      properties: {},
    },
    {
      name: 'to_self_parent',
      type: 'foreign_key',
      columns: ['id'],
      references: { table: parent, columns: ['id'] },
      properties: {},
    },
    { name: 'by_index', type: 'unique', columns: ['pb', 'pa'], properties: {} },
  ])
  t.same(
    find('to_parts').constraints.map(constraint => constraint.name),
    ['to_partitioned'],
    'a foreign key to a partitioned table is listed once',
  )
  t.equal(find('parts').estimatedRows, 42, 'the estimate of a partitioned table is that of its partitions')
  t.equal(find('parent').estimatedRows, undefined, 'a table that was never analysed has no estimate')
  t.equal(find('seen').estimatedRows, undefined)
  t.same(find('empty').columns, [])

  await withSession(source.config, async connection => {
    t.same([...((await connection.estimates?.(tables)) ?? [])], [[tablePath(find('parts')), 42]])
    const [alone] = await connection.introspect({ tables: [find('child')] })
    t.same(alone, find('child'), 'what a foreign key refers to is named though it is outside the scope')
    const elsewhere = { ...parent, catalog: 'another' }
    t.same(await connection.introspect({ tables: [elsewhere] }), [])
  })
})

t.test('the catalog is the same whatever the search path of the role', async t => {
  const source = await startSource(t)
  for (const statement of [
    'create schema sales',
    `create type sales.mood as enum ('sad', 'ok')`,
    `create type shade as enum ('light')`,
    `create table sales.orders (id serial, m sales.mood default 'ok', s shade default 'light')`,
  ]) {
    await source.query(statement)
  }
  const read = () => withSession(source.config, connection => connection.introspect())
  const before = await read()
  t.match(before[0]?.columns, [
    { default: /sales\.orders_id_seq/ },
    { type: 'sales.mood' },
    { type: 'shade' },
  ])
  for (const path of ['sales, public', 'sales', `''`]) {
    await source.query(`alter role ${source.config.username} set search_path = ${path}`)
    t.same(await read(), before, path)
    await withSession(source.config, async connection => {
      await connection.introspect()
      const [row] = await connection.query(sql`select current_setting('search_path') as path`, QUICK)
      t.equal(row?.path, path === `''` ? '""' : path, 'which is left as it was')
    })
  }
})

t.test('the catalog is the same whatever the role may read', async t => {
  const source = await startSource(t)
  const role = source.config.username
  for (const statement of [
    'create schema closed',
    `create table closed.kept (id int primary key, label text default 'none', at timestamptz default now())`,
    'create view closed.seen as select id from closed.kept',
    'create table kept (id int references closed.kept, total numeric(10, 2) check (total > 0))',
    `grant usage on schema closed to ${role}`,
    `grant select on all tables in schema closed, public to ${role}`,
  ]) {
    await source.query(statement)
  }
  const read = () => withSession(source.config, connection => connection.introspect())
  const before = await read()
  t.equal(before.length, 3)
  await source.query(`revoke pg_read_all_data from ${role}`)
  await source.query(`revoke all on all tables in schema closed, public from ${role}, public`)
  await source.query(`revoke all on schema closed, public from ${role}, public`)
  t.match(
    await failure(
      withSession(source.config, connection => connection.query(sql`select * from closed.kept`, QUICK)),
    ),
    {
      kind: 'permission',
    },
  )
  t.same(await read(), before)
  await withSession(source.config, async ({ findHiddenTables: hidden }) =>
    t.equal(hidden, undefined, 'so that nothing is hidden'),
  )
})

t.test('conditions', async t => {
  const source = await startSource(t)
  await source.query(`create type mood as enum ('sad', 'ok')`)
  await source.query(
    `create table odd (i2 int2, i4 int4, f float8, n numeric, e mood, c char(5), x text, ts timestamp, d date)`,
  )
  await source.query(
    `insert into odd values (1, 1, 'NaN', 'NaN', 'ok', 'ab', '2024-02-30', '2024-01-01', '2024-01-01')`,
  )
  const { dialect } = postgresql
  await withSession(source.config, async connection => {
    const count = async (condition: ReturnType<typeof sql>) => {
      const rows = await connection.query(sql`select ${dialect.countIf(condition)} as n from odd`, QUICK)
      return rows[0]?.n
    }
    t.equal(
      await count(sql`i2 <= ${70000} and i4 <= ${1e12} and i4 >= ${0.5}`),
      1,
      'limits beyond the column type',
    )
    t.equal(await count(sql`n >= ${0} and f >= ${0}`), 1, 'NaN is above every number')
    t.equal(await count(sql`f between ${0} and ${1e308}`), 0)
    t.equal(await count(sql`ts = ${new Date('2024-01-01T00:00:00Z')} and d = ${'2024-01-01'}`), 1)
    t.equal(await count(sql`e = ${'ok'} and ${dialect.asText(sql`e`)} in (${'ok'}, ${'never'})`), 1)
    t.equal(await count(dialect.matches(sql`e`, '^o')), 1)
    t.equal(await count(dialect.matches(sql`c`, '^ab$')), 1, 'char(n) is compared without its padding')
    t.equal(await count(dialect.parsesAsDate(sql`x`, '%Y-%m-%d')), 0)
    t.equal(await count(dialect.parsesAsDate(sql`d`, '%Y-%m-%d')), 1)
    t.match(await failure(count(dialect.matches(sql`x`, '(')) as Promise<unknown>), {
      kind: 'invalid-query',
      code: '2201B',
    })
  })
  t.throws(() => dialect.percentile(sql`x`, 95, sql`odd`), /fraction from 0 to 1/)
})
