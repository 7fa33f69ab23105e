import t from 'tap'
import { sql, type TableInfo } from 'tidemark/connector'
import { sqlite } from '../connector.ts'
import { makeDatabase, withSession } from './databases.ts'

t.test('the catalog', async t => {
  const { path, database } = makeDatabase(
    'catalog.db',
    `create table "we ird.""x"(a integer primary key, b varchar (20) not null default 'x',
       c text as (b || '1') stored, d any, e, f "double  precision", g decimal(10, 2), h datetime, i time,
       j bool, k json, l blob, m uuid);
     create table p(a int, b int, c text collate nocase unique, primary key (b, a));
     create table q(x int references p, y int, z int, foreign key (y, z) references P, foreign key (z, y) references p(b, a));
     create unique index some_of_q on q(x) where x > 1;
     create unique index lower_of_q on q(lower(y));
     create unique index q_by_zy on q(z, y);
     create table w(k text primary key, v text unique) without rowid;
     create table descending(id integer primary key desc);
     create table counted(id integer primary key autoincrement);
     create virtual table words using fts5(body);
     create view "view" as select a, 1 + 1 as two from p;
     create temp table elsewhere(a)`,
  )
  const read = (names?: string[]) =>
    withSession(path, connection =>
      connection.introspect(
        names && { tables: names.map(name => ({ catalog: 'main', schema: 'main', name })) },
      ),
    )
  const byName = (tables: TableInfo[], name: string) => tables.find(table => table.name === name)

  t.test('tables and views are listed, and nothing of SQLite itself', async t => {
    const tables = await read()
    t.same(
      tables.map(table => [table.name, table.kind]),
      [
        ['counted', 'table'],
        ['descending', 'table'],
        ['p', 'table'],
        ['q', 'table'],
        ['view', 'view'],
        ['w', 'table'],
        ['we ird."x', 'table'],
        ['words', 'table'],
      ],
    )
    t.same(
      byName(tables, 'words')?.columns.map(column => column.name),
      ['body'],
    )
    t.same(
      byName(tables, 'view')?.columns.map(column => [column.name, column.type]),
      [
        ['a', 'integer'],
        ['two', 'any'],
      ],
    )
  })

  t.test('declared types are canonical, and their kinds follow the affinity', async t => {
    const [table] = await read(['we ird."x'])
    t.same(
      table?.columns.map(({ type, rawType, kind }) => [type, rawType, kind]),
      [
        ['integer', 'INTEGER', 'integer'],
        ['varchar(20)', 'varchar (20)', 'text'],
        ['text', 'TEXT', 'text'],
        ['any', 'ANY', 'other'],
        ['any', 'ANY', 'other'],
        ['double', 'double  precision', 'float'],
        ['decimal(10,2)', 'decimal(10, 2)', 'decimal'],
        ['datetime', 'datetime', 'timestamp'],
        ['time', 'time', 'time'],
        ['boolean', 'bool', 'boolean'],
        ['json', 'json', 'json'],
        ['blob', 'BLOB', 'binary'],
        ['uuid', 'uuid', 'other'],
      ],
    )
    t.match(table?.columns[1], { nullable: false, default: "'x'", ordinal: 2 })
  })

  t.test('only a key that is the row id, or of a table without one, excludes NULL', async t => {
    const tables = await read()
    const nullable = (name: string) => byName(tables, name)?.columns[0]?.nullable
    t.same(['counted', 'descending', 'p', 'w', 'we ird."x'].map(nullable), [false, true, true, false, false])
  })

  t.test('keys are listed, also when only some tables are requested', async t => {
    const [table] = await read(['q'])
    const to = (columns: string[]) => ({ table: { catalog: 'main', schema: 'main', name: 'p' }, columns })
    t.same(table?.constraints, [
      { name: 'q_x_fkey', type: 'foreign_key', columns: ['x'], references: to(['b']), properties: {} },
      {
        name: 'q_y_z_fkey',
        type: 'foreign_key',
        columns: ['y', 'z'],
        references: to(['b', 'a']),
        properties: {},
      },
      {
        name: 'q_z_y_fkey',
        type: 'foreign_key',
        columns: ['z', 'y'],
        references: to(['b', 'a']),
        properties: {},
      },
      { name: 'q_by_zy', type: 'unique', columns: ['z', 'y'], properties: {} },
    ])
    const [parent] = await read(['p'])
    t.same(parent?.constraints, [
      { name: 'p_pkey', type: 'primary_key', columns: ['b', 'a'], properties: {} },
      { name: 'p_c_key', type: 'unique', columns: ['c'], properties: {} },
    ])
  })

  t.test('a broken view hides nothing but its own columns', async t => {
    const before = await read()
    database.exec('create table gone(a); create view broken as select * from gone; drop table gone')
    const tables = await read()
    t.match(byName(tables, 'broken'), {
      kind: 'view',
      columns: [],
      columnsError: { kind: 'missing-object', message: /^A table that the SQL needs does not exist/ },
    })
    t.same(
      tables.filter(table => table.name !== 'broken'),
      before,
    )
  })
})

t.test('the newest value of a column is the text that was stored, whatever it was declared as', async t => {
  const { path } = makeDatabase(
    'moments.db',
    `create table t(naive datetime, zoned timestamptz, standard timestamp with time zone);
     insert into t values ('2024-02-29 12:34:56', '2024-02-29 12:34:56+01:00', '2024-02-29T12:34:56Z'), (null, null, null)`,
  )
  await withSession(path, async connection => {
    const [table] = await connection.introspect()
    t.same(
      table?.columns.map(column => [column.type, column.kind, sqlite.dialect.isInstant(column)]),
      [
        ['datetime', 'timestamp', false],
        ['timestamp with time zone', 'timestamp', false],
        ['timestamp with time zone', 'timestamp', false],
      ],
    )
    const newest = sql`select (select max(naive) from t) as a, (select max(zoned) from t) as b, (select max(standard) from t) as c`
    t.same(await connection.query(newest, { timeoutMs: 10_000 }), [
      { a: '2024-02-29 12:34:56', b: '2024-02-29 12:34:56+01:00', c: '2024-02-29T12:34:56Z' },
    ])
  })
})
