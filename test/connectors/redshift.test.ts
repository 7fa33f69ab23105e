import { randomUUID } from 'node:crypto'
import t from 'tap'
import { formatName, tablePath, type TableInfo } from '../../connectors/catalog.ts'
import { testConnector } from '../../connectors/conformance.ts'
import type { Connection } from '../../connectors/connector.ts'
import { redshift } from '../../connectors/redshift/index.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { withoutComparison } from '../helpers/without-comparison.ts'
import { redshiftSettings, startRedshift, type Cluster } from '../helpers/redshift.ts'
import { connectOptions, failure } from '../helpers/source.ts'

const QUICK = { timeoutMs: 20_000 }

async function withSession<Result>(
  config: object,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await redshift.connect(redshiftSettings(config), connectOptions)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** How many sessions of the connector the server has in a state. */
async function backends({ query, name }: Cluster, condition = 'true'): Promise<number> {
  const text = `select from pg_stat_activity where application_name = 'tidemark' and datname = $1 and ${condition}`
  return (await query(text, [name])).length
}

t.test('it conforms, against an emulation', async t => {
  const cluster = await startRedshift(t)
  const result = await testConnector(t, {
    connector: withoutComparison(redshift),
    config: cluster.config,
    setup: () => ({
      execute: text => cluster.query(text),
      catalog: cluster.name,
      schema: 'public',
      refused: [
        {
          name: 'a wrong password',
          config: { ...cluster.config, password: randomUUID() },
          kind: 'credentials',
        },
        {
          name: 'a wrong user',
          config: { ...cluster.config, username: 'no_such_user' },
          kind: 'credentials',
        },
        {
          name: 'a missing database',
          config: { ...cluster.config, database: 'nothing' },
          kind: 'missing-object',
        },
        { name: 'a closed port', config: { ...cluster.config, port: 1 }, kind: 'network' },
      ],
      slow: sql`select pg_sleep(60)`,
      countRunning: () => backends(cluster, `state = 'active'`),
      countSessions: () => backends(cluster),
      countTransactions: () => backends(cluster, `state like 'idle in transaction%'`),
      countStatements: () => cluster.statements.length,
      async revokeAccess() {
        await cluster.query('create schema closed')
        await cluster.query('create table closed.secrets (id int)')
        await cluster.query(`create role ${cluster.name}_none login password 'none'`)
        t.teardown(() => cluster.query(`drop role ${cluster.name}_none`))
        return {
          statement: sql`select id from closed.secrets`,
          config: { ...cluster.config, username: `${cluster.name}_none`, password: 'none' },
        }
      },
      async hideColumns() {
        const username = `${cluster.name}_partly`
        await cluster.query('create table partly (id int primary key, secret int unique)')
        await cluster.query(`create role ${username} login password 'partly'`)
        await cluster.query(`alter role ${username} set search_path = pg_emulated, pg_catalog, public`)
        await cluster.query(`alter role ${username} set standard_conforming_strings = off`)
        t.teardown(() => cluster.query(`drop owned by ${username}; drop role ${username}`))
        await cluster.query(`grant usage on schema pg_emulated to ${username}`)
        await cluster.query(`grant select on all tables in schema pg_emulated to ${username}`)
        await cluster.query(`grant select (id) on partly to ${username}`)
        return {
          table: { catalog: cluster.name, schema: 'public', name: 'partly' },
          config: { ...cluster.config, username, password: 'partly' },
        }
      },
      partitionedTable: (table, column) => [
        `create table ${table} (${column} date)`,
        `insert into pg_emulated.sort_keys values ('${table}'::regclass, '${column.replaceAll('"', '')}', 1)`,
      ],
      types: { binary: 'varbyte', json: 'super' },
      literals: { binary: `'\\x00ff10'` },
      refusesNames: ['64 characters'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
  t.same(cluster.refused, [], 'nothing was sent that Redshift does not take')
})

t.test('the configuration has defaults of its own', async t => {
  const good = { host: 'x.redshift.amazonaws.com', database: 'dev', user: 'reader', password: 'x' }
  t.match(redshiftSettings(good), { port: 5439, sslmode: 'require', username: 'reader' })
  t.match(redshift.config.validate({ ...good, options: '-c x=y' }).error?.message, /is not allowed/)
})

t.test('a session', async t => {
  const cluster = await startRedshift(t)
  await cluster.query('create table sales (id int)')
  await cluster.query('insert into sales values (1), (2)')

  t.test('is tested stage by stage, and warned that only rights keep it from writing', async t => {
    const stages = await redshift.test(redshiftSettings(cluster.config), connectOptions)
    t.same(
      stages.map(stage => [stage.name, stage.status]),
      ['reach', 'tls', 'sign_in', 'read_catalog'].map(name => [name, 'passed']),
    )
    t.match(stages[2]?.message, /to Amazon Redshift 8\.0\.2/)
    t.match(
      stages[3]?.message,
      /The catalog has 1 tables? .* make sure that the user has only USAGE and SELECT/,
    )
    t.notOk(redshift.capabilities.readOnly)
  })

  t.test('binds fractions as doubles and larger integers by their place', async t => {
    await withSession(cluster.config, async connection => {
      const ids = async (condition: ReturnType<typeof sql>) =>
        (await connection.query(sql`select id from sales where ${condition}`, QUICK)).map(row => row.id)
      t.same(await ids(sql`id > ${1.5}`), [2])
      t.same(await ids(sql`id < ${1e300} and id < ${12345678901234567890n}`), [1, 2])
      const type = await connection.query(sql`select pg_typeof(${0.5}) as v`, QUICK)
      t.match(type, [{ v: 'double precision' }])
    })
  })

  t.test('reads SUPER as JSON and VARBYTE as bytes', async t => {
    const { OID, findParser: parserOf } = await import('../../connectors/postgresql/values.ts')
    t.same(parserOf(OID.super)('{"a":[1,null]}'), { a: [1, null] })
    t.same(parserOf(OID.varbyte)('00ff10'), Uint8Array.of(0, 255, 16))
  })

  t.test('takes only TLS by default', async t => {
    const [, stage] = await redshift.test(
      redshiftSettings(cluster.config, { sslmode: 'verify-full' }),
      connectOptions,
    )
    t.equal(stage?.message, 'The connection is encrypted.', 'the certificate is for localhost')
    const wrong = redshift.test(
      redshiftSettings(cluster.config, { sslmode: 'verify-full', host: 'elsewhere.test' }),
      connectOptions,
    )
    t.equal((await wrong)[1]?.error?.kind, 'tls')
  })
})

t.test('errors are read as Redshift words them', async t => {
  const cluster = await startRedshift(t)
  await withSession(cluster.config, async connection => {
    const classified = async (code: string, message: string) => {
      cluster.fail({ code, message })
      return failure(connection.query(sql`select wlm_queue from sales`, QUICK))
    }
    for (const [code, message, kind, say] of [
      ['57014', "Query (4711) cancelled on user's request", 'timeout', /allow more time/],
      [
        '57014',
        'Query (1) cancelled by WLM abort action of Query Monitoring Rule "x"',
        'timeout',
        /workload manager/,
      ],
      ['XX000', 'Disk Full', 'other', /ran out of disk/],
      ['XX000', 'Spectrum Scan Error: Forbidden: HTTP response error code: 403', 'permission', /IAM role/],
      ['XX000', 'Spectrum Scan Error', 'other', /files of the external table/],
      ['XX000', 'S3 Query Exception (Fetch)', 'other', /files of the external table/],
      ['XX000', 'User: arn:aws:sts::1:x is not authorized to perform: glue:GetTable', 'permission', /Glue/],
      ['XX000', '1023 Serializable isolation violation on table - 1', 'timeout', /try again/],
      ['53300', 'connection limit "500" exceeded for non-bootstrap users', 'network', /no connection free/],
      ['42501', 'permission denied for relation sales', 'permission', /"sales".*SELECT on the table/],
      ['42P01', 'relation "x" does not exist', 'missing-object', /^A table that/],
      // AWS's own examples name their external schema so.
      ['42P01', 'relation "spectrum.clicks" does not exist', 'missing-object', /discovery/],
      ['42501', 'permission denied for schema spectrum', 'permission', /grant/],
      ['42703', 'column "wlm_queue" does not exist', 'missing-object', /wlm_queue/],
      ['25P02', 'current transaction is aborted', 'invalid-query', /\(25P02\)/],
      [
        '0A000',
        'Specified types or functions (one per INFO message) not supported on Redshift tables.',
        'invalid-query',
        /not supported/,
      ],
      [
        'XX000',
        "Invalid digit, Value 'a', Pos 0, Type: Integer",
        'invalid-query',
        /^A value cannot be converted/,
      ],
    ] as const) {
      t.match(await classified(code, message), { kind, message: say, engine: 'redshift' }, message)
    }
    t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }], 'the session goes on')
    const late = await failure(connection.query(sql`select pg_sleep(60)`, { timeoutMs: 200 }))
    t.match(late, { kind: 'timeout', code: '57014' })
  })
})

t.test('the catalog', async t => {
  const cluster = await startRedshift(t)
  for (const statement of `
    create schema sales
    create table sales.kinds (i2 smallint, i4 int not null, i8 bigint, n numeric(18,4), f4 real, f8 float8, v varchar(20) default 'none', c char(3), b boolean, d date, ts timestamp, tz timestamptz, tm time, tmz timetz, su super, vb varbyte, g geometry, h hllsketch, iv interval)
    create table sales.parent (a int, b int, code varchar(10), primary key (b, a), unique (code))
    create table sales.child (id int primary key, pa int, pb int, constraint to_parent foreign key (pb, pa) references sales.parent (b, a))
    create table sales.unanalyzed (id int)
    create view sales.seen as select id from sales.child
    insert into sales.child select n from generate_series(1, 30) n
    analyze sales.child
    comment on table sales.child is 'The children'
    comment on column sales.child.pa is 'Half of it'`.split('\n')) {
    if (statement.trim()) await cluster.query(statement)
  }
  await cluster.lateBinding('sales', 'late', [
    'id integer',
    'label character varying(256)',
    'at timestamp without time zone',
  ])
  await cluster.lateBinding('sales', 'broken', [])
  await cluster.materialized('sales', 'kept', 'select 1 as one')
  await cluster.external('lake', 'clicks', [
    'id int',
    'url string',
    'price decimal(10,2)',
    'tags array<string>',
    'day date',
  ])
  await cluster.external('lake', 'other', ['id int'], 'another')

  await withSession(cluster.config, async connection => {
    const tables = await connection.introspect()
    const find = (name: string) => tables.find(table => table.name === name) as TableInfo
    t.equal(cluster.statements.length, 5, 'five statements, whatever there is')
    t.same(
      tables.map(table => `${table.kind} ${formatName([table.schema, table.name])}`),
      [
        'external_table lake.clicks',
        'view sales.broken',
        'table sales.child',
        'materialized_view sales.kept',
        'table sales.kinds',
        'view sales.late',
        'table sales.parent',
        'view sales.seen',
        'table sales.unanalyzed',
      ],
      'no table of a materialized view, no other database',
    )
    t.same(
      find('kinds').columns.map(column => `${column.name} ${column.type} ${column.kind}`),
      [
        'i2 smallint integer',
        'i4 integer integer',
        'i8 bigint integer',
        'n numeric(18,4) decimal',
        'f4 real float',
        'f8 double precision float',
        'v varchar(20) text',
        'c char(3) text',
        'b boolean boolean',
        'd date date',
        'ts timestamp timestamp',
        'tz timestamptz timestamp',
        'tm time time',
        'tmz timetz time',
        'su super json',
        'vb varbyte binary',
        'g geometry other',
        'h hllsketch other',
        'iv interval other',
      ],
    )
    t.match(find('kinds').columns[1], { nullable: false, default: null, identity: '2' })
    t.match(find('kinds').columns[6], { nullable: true, default: /none/, rawType: 'character varying(20)' })
    t.same(
      find('late').columns.map(column => `${column.ordinal} ${column.name} ${column.type} ${column.kind}`),
      ['1 id integer integer', '2 label varchar(256) text', '3 at timestamp timestamp'],
    )
    t.match(
      find('broken'),
      {
        kind: 'view',
        columns: [],
        columnsError: { kind: 'invalid-query', engine: 'redshift', message: /make the view anew/ },
      },
      'a view whose tables are gone says why it has no columns',
    )
    t.same(
      find('clicks').columns.map(column => `${column.name} ${column.type} ${column.kind} ${column.nullable}`),
      [
        'id integer integer false',
        'url varchar text true',
        'price numeric(10,2) decimal true',
        'tags array<string> other true',
        'day date date true',
      ],
    )
    t.match(find('child'), { comment: 'The children', estimatedRows: 30 })
    t.equal(find('child').columns[1]?.comment, 'Half of it')
    t.equal(find('unanalyzed').estimatedRows, undefined)
    const parent = { catalog: cluster.name, schema: 'sales', name: 'parent' }
    t.match(find('child').constraints, [
      {
        name: 'to_parent',
        type: 'foreign_key',
        columns: ['pb', 'pa'],
        references: { table: parent, columns: ['b', 'a'] },
      },
      { type: 'primary_key', columns: ['id'] },
    ])
    t.match(find('parent').constraints, [
      { type: 'primary_key', columns: ['b', 'a'] },
      { type: 'unique', columns: ['code'] },
    ])

    const scoped = await connection.introspect({ tables: [find('child'), find('clicks'), find('late')] })
    t.same(
      scoped.map(table => [table.name, table.columns.length, table.constraints.length]),
      [
        ['clicks', 5, 0],
        ['child', 3, 2],
        ['late', 3, 0],
      ],
      'what a foreign key refers to is named though it is outside the scope',
    )
    t.same([...((await connection.estimates?.(tables)) ?? [])], [[tablePath(find('child')), 30]])
    t.same(await connection.introspect({ tables: [{ ...parent, catalog: 'another' }] }), [])
  })
  t.same(cluster.refused, [])
})

t.test(
  'external tables of a schema that may not be used are distinguished from what was dropped',
  async t => {
    const cluster = await startRedshift(t)
    for (const schema of ['lake', 'sales']) await cluster.query(`create schema ${schema}`)
    await cluster.query(`revoke pg_read_all_data from ${cluster.config.username}`)
    await cluster.query(`grant usage on schema lake to ${cluster.config.username}`)
    await cluster.query('create table sales.orders (id int)')
    await cluster.external('lake', 'clicks', ['id int'])
    const ref = (schema: string, name: string) => ({ catalog: cluster.name, schema, name })
    await withSession(cluster.config, async connection => {
      const shown = async () => (await connection.introspect()).map(({ name }) => name)
      const hidden = async (...tables: ReturnType<typeof ref>[]) => {
        const found = (await connection.findHiddenTables?.(tables)) ?? new Map()
        return tables.map(table => found.get(tablePath(table))?.kind ?? 'gone').join(' ')
      }
      t.same(await shown(), ['clicks', 'orders'], 'the tables of a schema that may not be used are shown')
      t.equal(await hidden(ref('lake', 'dropped'), ref('sales', 'dropped')), 'gone gone')
      await cluster.query(`revoke usage on schema lake from ${cluster.config.username}`)
      t.same(await shown(), ['orders'])
      const before = cluster.statements.length
      const gone = [ref('sales', 'dropped'), ref('nothing', 'dropped')]
      t.equal(await hidden(ref('lake', 'clicks'), ...gone), 'permission gone gone')
      t.equal(cluster.statements.length - before, 1)
      t.same(
        await connection.findHiddenTables?.([{ ...ref('lake', 'clicks'), catalog: 'another' }]),
        new Map(),
      )
    })
    t.same(cluster.refused, [])
  },
)

t.test('columns that a right hides are distinguished from those that were dropped', async t => {
  const cluster = await startRedshift(t)
  await cluster.query('create table base (id int, secret int, gone int)')
  await cluster.lateBinding('public', 'late', ['id integer', 'secret integer', 'gone integer'])
  await cluster.query('create or replace view public.late as select id, secret from base')
  const reader = cluster.config.username
  await cluster.query(`revoke pg_read_all_data from ${reader}`)
  await cluster.query(`grant select (id) on late, base to ${reader}`)
  const ref = { catalog: cluster.name, schema: 'public', name: 'late' }
  await withSession(cluster.config, async connection => {
    const base = (await connection.introspect()).find(({ name }) => name === 'base')
    t.same(
      base?.columns.map(({ name }) => name),
      ['id', 'secret', 'gone'],
      'the columns of a table are shown to every user',
    )
    const found = await connection.findHiddenParts?.([{ ...ref, missingColumns: ['secret', 'gone'] }])
    t.same(
      [...(found ?? [])].map(([path, parts]) => [path, parts.columns, parts.reason.kind]),
      [[tablePath(ref), ['secret'], 'permission']],
    )
    const before = cluster.statements.length
    const elsewhere = { ...ref, catalog: 'another', missingColumns: ['id'] }
    t.same(await connection.findHiddenParts?.([elsewhere]), new Map())
    t.equal(cluster.statements.length, before)
  })
  t.same(cluster.refused, [])
})

t.test('conditions and measures', async t => {
  const cluster = await startRedshift(t)
  await cluster.query('create table odd (a int, b float8)')
  await cluster.query(`insert into odd values (1, 10), (2, 20), (4, null)`)
  const { dialect } = redshift
  const from = raw('odd')
  await withSession(cluster.config, async connection => {
    const half = (column: string) => dialect.percentile(raw(column), 0.5, from)
    const rows = await connection.query(
      sql`select ${half('a')} as a, ${half('b')} as b, count(distinct a) as n, avg(${dialect.asNumber(raw('a'))}) as m from odd`,
      QUICK,
    )
    t.match(
      rows,
      [{ a: 2, b: 15, n: 3, m: 7 / 3 }],
      'two percentiles share a statement with a distinct count',
    )
    t.match(
      await failure(connection.query(sql`select count(*) filter (where a > 1) as n from odd`, QUICK)),
      { kind: 'invalid-query' },
      'the emulation refuses what Redshift has not',
    )
    t.equal(cluster.refused.length, 1)
  })
})
