import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import { duckdb } from '../../../connectors/duckdb/index.ts'
import { raw, sql } from '../../../connectors/sql.ts'
import { configOf, folder, options, withSession, write } from './databases.ts'

const LIMITS = { timeoutMs: 20_000 }
const instance = await DuckDBInstance.create(':memory:')
const writer = await instance.connect()

/** Writes the rows of a SELECT into a data file. */
async function copy(path: string, select: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  await writer.run(`copy (${select}) to '${path}'`)
}

const refOf = (name: string, schema = 'lake') => ({ catalog: 'files', schema, name })
const lake = join(folder, 'lake')
const columnsOf = ({ columns }: TableInfo) => columns.map(({ name, type, kind }) => `${name} ${type} ${kind}`)

async function makeLake(): Promise<void> {
  for (const day of [1, 2, 3])
    await copy(
      join(lake, `events/day=2024-01-0${day}/part-0.parquet`),
      `select range as id, 'e' || range as label, range / 2 as ratio from range(${day * 10})`,
    )
  await copy(join(lake, 'orders_2024-01.csv'), `select range as id, 'o' || range as code from range(5)`)
  await copy(join(lake, 'orders_2024-02.csv'), `select range as id, 'o' || range as code from range(7)`)
  await copy(join(lake, 'people.json'), `select range as id, {'city': 'Ulm'} as address from range(4)`)
  await copy(join(lake, 'logs/2024/01/a.parquet'), 'select 1 as line')
  await copy(join(lake, 'logs/2024/02/a.parquet'), 'select 2 as line')
  writeFileSync(join(lake, '_SUCCESS'), '')
  writeFileSync(join(lake, 'README.txt'), 'no data')
}

t.test('a folder is a schema, and the files of one layout are a table', async t => {
  await makeLake()
  await withSession(lake, async connection => {
    const tables = await connection.introspect()
    t.same(
      tables.map(tablePath),
      ['events', 'logs', 'orders', 'people'].map(name => `files.lake.${name}`),
    )
    const [events, logs, orders, people] = tables as [TableInfo, TableInfo, TableInfo, TableInfo]
    t.same(columnsOf(events), [
      'id bigint integer',
      'label varchar text',
      'ratio double float',
      'day date date',
    ])
    t.match(events, { kind: 'external_table', estimatedRows: 60 })
    t.match(events.partitioning, { columns: [{ name: 'day', method: 'list' }] })
    t.same(columnsOf(orders), ['id bigint integer', 'code varchar text'])
    t.equal(orders.estimatedRows, undefined, 'a text says nothing of its rows')
    t.same(columnsOf(people), ['id bigint integer', 'address struct(city varchar) other'])
    t.equal(logs.estimatedRows, 2)
    const count = async (select: string) =>
      (await connection.query(raw(`select count(*) as n from ${select}`), LIMITS))[0]?.n
    t.equal(await count(`"files"."lake"."events" where day = date '2024-01-02'`), 20)
    t.equal(await count('orders'), 12, 'a user may leave quotes and schema out')
    t.equal(await count(`people where address.city = 'Ulm'`), 4)
    t.same(
      await connection.estimates?.([refOf('events'), refOf('orders')]),
      new Map([['files.lake.events', 60]]),
    )
  })
})

t.test('a pattern and a single file are sources too', async t => {
  const names = async (path: string) =>
    withSession(path, async each => (await each.introspect()).map(tablePath))
  t.same(await names(join(lake, '*.csv')), ['files.lake.orders'])
  t.same(await names(join(lake, '**/*.parquet')), ['files.lake.events', 'files.lake.logs'])
  t.same(await names(join(lake, 'events/**')), ['files.events.events'])
  t.same(await names(join(lake, 'orders_2024-02.csv')), ['files.lake.orders'])
})

t.test('the files of a table are its parts, each with a version', async t => {
  const parts = async () => {
    const found = await withSession(lake, async connection => connection.listParts?.(refOf('events'), LIMITS))
    return found ?? []
  }
  const before = await parts()
  t.same(
    before.map(({ name, rows }) => [name, rows]),
    [1, 2, 3].map(day => [`events/day=2024-01-0${day}/part-0.parquet`, day * 10]),
  )
  await withSession(lake, async connection => {
    const days = []
    for (const { from } of before)
      days.push(...(await connection.query(sql`select max(day) as day, count(*) as n from ${from}`, LIMITS)))
    t.same(
      days,
      [1, 2, 3].map(day => ({ day: `2024-01-0${day}`, n: day * 10 })),
    )
    const [orders] = (await connection.listParts?.(refOf('orders'), LIMITS)) ?? []
    t.same(await connection.query(sql`select max(id) as id from ${orders?.from}`, LIMITS), [{ id: 4 }])
    t.equal(await connection.listParts?.(refOf('none'), LIMITS), null)
  })
  t.same(await parts(), before, 'nothing has changed')
  const path = join(lake, 'events/day=2024-01-02/part-0.parquet')
  const size = readFileSync(path).length
  writeFileSync(path, readFileSync(path))
  const after = await parts()
  t.equal(size, readFileSync(path).length)
  t.same(
    after.filter(({ version }, index) => version !== before[index]?.version).map(({ name }) => name),
    ['events/day=2024-01-02/part-0.parquet'],
  )
})

t.test('a folder without data files is no source, so that tables are not taken for gone', async t => {
  const path = join(folder, 'empty')
  mkdirSync(path)
  await t.rejects(duckdb.connect(configOf(path), options), {
    kind: 'missing-object',
    message: /There are no/,
  })
})

t.test('the time of the newest file is when a table changed', async t => {
  const path = join(lake, 'events/day=2024-01-03/part-0.parquet')
  const time = new Date('2030-01-02T03:04:05.500Z')
  utimesSync(path, time, time)
  await withSession(lake, async connection => {
    const found = await connection.lastModified?.([refOf('events'), refOf('none')])
    t.same(found, new Map([['files.lake.events', time]]))
  })
})

t.test('a table that cannot be read is listed with the reason, and the others are read', async t => {
  const bad = join(folder, 'bad')
  await copy(join(bad, 'good/a.parquet'), 'select 1 as a')
  await copy(join(bad, 'types/a.parquet'), 'select 1 as a')
  await copy(join(bad, 'types/b.parquet'), `select 'x' as a`)
  await copy(join(bad, 'names/a.csv'), 'select 1 as a')
  await copy(join(bad, 'names/b.csv'), 'select 1 as b')
  await copy(join(bad, 'formats/a.csv'), 'select 1 as a')
  await copy(join(bad, 'formats/a.parquet'), 'select 1 as a')
  await copy(join(bad, 'keys/day=1/a.parquet'), 'select 1 as a')
  await copy(join(bad, 'keys/hour=1/a.parquet'), 'select 1 as a')
  await copy(join(bad, 'half/a.parquet'), 'select range as a from range(1000)')
  const half = join(bad, 'half/b.parquet')
  writeFileSync(half, readFileSync(join(bad, 'half/a.parquet')).subarray(0, 300))
  const outside = join(folder, 'outside.parquet')
  await copy(outside, 'select 42 as secret')
  mkdirSync(join(bad, 'links'))
  symlinkSync(outside, join(bad, 'links/a.parquet'))
  symlinkSync(folder, join(bad, 'around'))
  await withSession(bad, async connection => {
    const tables = new Map((await connection.introspect()).map(table => [table.name, table]))
    t.same(columnsOf(tables.get('good') as TableInfo), ['a integer integer'])
    for (const [name, reason] of [
      [
        'types',
        /do not have one layout: a is INTEGER in "types\/a.parquet" and VARCHAR in "types\/b.parquet"/,
      ],
      ['names', /"names\/b.csv" lacks the column a of "names\/a.csv"/],
      ['formats', /are of two formats/],
      ['keys', /lie in folders of different keys/],
      ['half', /"half\/b.parquet" is not a whole file: it is being written, or was cut off/],
      ['links', /"links\/a.parquet" is a link to somewhere else, which is not followed/],
      ['around', /"around" is a link to a folder, which is not followed/],
    ] as const) {
      t.match(tables.get(name)?.columnsError, { kind: 'missing-object', message: reason }, name)
      await t.rejects(
        connection.query(sql`select 1 from ${duckdb.dialect.table(refOf(name, 'bad'))}`, LIMITS),
        { kind: 'missing-object', message: reason },
        name,
      )
    }
    t.same(await connection.query(sql`select a from good`, LIMITS), [{ a: 1 }])
  })
  copyFileSync(join(bad, 'half/a.parquet'), half)
  await withSession(bad, async connection => {
    const [table] = await connection.introspect({ tables: [refOf('half', 'bad')] })
    t.match(table, { estimatedRows: 2000, columns: [{ name: 'a' }] }, 'when it is whole it is read')
  })
})

t.test('nothing outside of the source can be reached', async t => {
  for (const [path, reason] of [
    [`file://${lake}`, /without a scheme/],
    ['s3://bucket/lake', /without a scheme/],
    [`${lake}/../secret`, /must not hold \.\./],
  ] as const)
    t.match(duckdb.config.validate({ path }).error, { message: reason }, path)
  const secret = join(folder, 'secret.csv')
  writeFileSync(secret, 'a\n1\n')
  const attacks = [
    `select * from read_csv('${secret}')`,
    `select * from '${secret}'`,
    `select * from read_text('/etc/passwd')`,
    `select * from read_parquet('http://127.0.0.1:1/x.parquet')`,
    `select * from glob('${folder}/*')`,
    `attach '${join(folder, 'x.duckdb')}' as x`,
    `copy (select 1) to '${join(folder, 'y.csv')}'`,
    'install httpfs',
    'load httpfs',
    'set enable_external_access = true',
    'pragma enable_profiling',
    'create table t as select 1 as a',
    'select 1; drop view orders',
  ]
  const tryAll = (path: string) =>
    withSession(path, async connection => {
      for (const text of attacks)
        await t.rejects(connection.query(raw(text), LIMITS), { name: 'ConnectorError' }, text)
    })
  await tryAll(lake)
  const path = join(folder, 'attacked.duckdb')
  await write(path, 'create table orders as select 1 as a')
  await tryAll(path)
})

t.test('a database that is being written is busy, and a session keeps no writer out', async t => {
  const path = join(folder, 'busy.duckdb')
  await write(path, 'create table t as select 1 as a')
  await withSession(path, async connection => {
    const read = () => connection.query(sql`select count(*) as n from t`, LIMITS)
    t.same(await read(), [{ n: 1 }])
    await write(path, 'insert into t values (2)')
    t.same(await read(), [{ n: 2 }])
    const other = await hold(path)
    await t.rejects(read(), { kind: 'busy', message: /open for writing/ })
    other()
    t.same(await read(), [{ n: 2 }])
  })
  const release = await hold(path)
  await t.rejects(duckdb.connect(configOf(path), options), { message: /open for writing/ })
  const stages = await duckdb.test(configOf(path), options)
  t.match(
    stages.find(({ status }) => status === 'failed'),
    { error: { kind: 'busy' } },
  )
  release()
})

t.test('a statement takes no more memory than it may', async t => {
  const path = join(folder, 'small.duckdb')
  await write(path, 'create table t as select range as a from range(10)')
  const connection = await duckdb.connect(configOf(path, { memory_mb: 64 }), options)
  t.teardown(() => connection.close())
  const large = sql`select count(*) as n from (select md5(range::varchar) as x from range(10000000) group by x)`
  await t.rejects(connection.query(large, LIMITS), { kind: 'invalid-query', message: /raise memory_mb/ })
  t.same(await connection.query(sql`select count(*) as n from t`, LIMITS), [{ n: 10 }])
})

t.test('files may come and go while a session is open', async t => {
  const path = join(folder, 'moving')
  await copy(join(path, 'a/1.parquet'), 'select 1 as x')
  await withSession(path, async (connection: Connection) => {
    const sum = async () => (await connection.query(sql`select sum(x) as s from a`, LIMITS))[0]?.s
    t.equal(await sum(), 1)
    await copy(join(path, 'new.parquet'), 'select 2 as x')
    renameSync(join(path, 'new.parquet'), join(path, 'a/2.parquet'))
    await connection.introspect()
    t.equal(await sum(), 3)
    rmSync(join(path, 'a/1.parquet'))
    await connection.introspect()
    t.equal(await sum(), 2)
  })
})

/** Opens a database for writing in a process of its own, as another program does; gives what ends it. */
async function hold(path: string): Promise<() => void> {
  await write(path)
  const other = await DuckDBInstance.create(path)
  return () => other.closeSync()
}
