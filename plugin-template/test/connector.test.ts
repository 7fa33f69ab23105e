import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import {
  ConnectorError,
  raw,
  sql,
  type Connection,
  type ConnectOptions,
  type TableInfo,
} from 'tidemark/connector'
import { testConnector } from 'tidemark/connector/conformance'
import { sqlite } from '../connector.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sqlite-')))
const databases: DatabaseSync[] = []
t.teardown(() => {
  for (const database of databases) database.close()
  rmSync(folder, { recursive: true })
})

/** A database file with some tables, open for writing. */
function make(name: string, script = ''): { path: string; database: DatabaseSync } {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  databases.push(database)
  database.exec(script)
  return { path, database }
}

const warnings: object[] = []
const options: ConnectOptions = {
  egress: {
    address: () => Promise.reject(new Error('not asked')),
    file: path => Promise.resolve(realpathSync(path)),
  },
  log: { debug: () => {}, warn: fields => warnings.push(fields) },
}
const QUICK = { timeoutMs: 20_000 }

async function withSession<Result>(path: string, use: (connection: Connection) => Promise<Result>) {
  const connection = await sqlite.connect({ path }, options)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

async function failure(doing: Promise<unknown>): Promise<ConnectorError> {
  const error = await doing.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConnectorError) return error
  throw error
}

/** Statements that run now: a reader keeps the process from ending while it works, and only then. */
const running = () => process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length

/** Never ends, and never leaves SQLite's own code. */
const endless = sql`with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n`

t.test('it conforms', async t => {
  const { path, database } = make('conformance.db')
  const broken = join(folder, 'notes.txt')
  writeFileSync(broken, 'This is a text and no database, however long one makes it. '.repeat(100))
  const result = await testConnector(t, {
    connector: sqlite,
    config: { path },
    setup: () => ({
      // A reference stays in its own database file, and SQLite wants no schema there.
      execute: async text => database.exec(text.replace('references "main".', 'references ')),
      catalog: 'main',
      schema: 'main',
      refused: [
        { name: 'a missing file', config: { path: join(folder, 'none.db') }, kind: 'missing-object' },
        { name: 'a folder', config: { path: folder }, kind: 'missing-object' },
        { name: 'a file that is no database', config: { path: broken }, kind: 'other' },
      ],
      slow: endless,
      running: () => Promise.resolve(running()),
      // SQLite has no decimals and no timestamps: columns declared so hold floats and texts.
      types: { decimal: null, timestamp: null },
      // Table names are the same whatever their case.
      refusesNames: ['case twin'],
    }),
  })
  t.same(result, { conforming: true, skipped: [] })
})

t.test('sessions', async t => {
  const { path } = make('sessions.db', `create table t(a, b text); insert into t values (1, 'x')`)

  t.test('a statement that nothing else would end is ended, and the session opens anew', () =>
    withSession(path, async connection => {
      const late = failure(connection.query(endless, { timeoutMs: 200 }))
      const next = connection.query(sql`select a from t`, QUICK)
      t.match(await late, { kind: 'timeout', code: 'TIMEOUT', engine: 'sqlite' })
      t.same(await next, [{ a: 1 }])
      t.equal(running(), 0)
    }),
  )

  t.test('a regular expression that explodes is ended as well', () =>
    withSession(path, async connection => {
      const bomb = sqlite.dialect.matches(sql`${'a'.repeat(60) + '!'}`, '^(a+)+$')
      t.match(await failure(connection.query(sql`select ${bomb} as x`, { timeoutMs: 300 })), {
        kind: 'timeout',
      })
    }),
  )

  t.test('closing ends the statement that runs and refuses those that wait', async t => {
    const connection = await sqlite.connect({ path }, options)
    const both = [endless, sql`select 1 as x`].map(statement => failure(connection.query(statement, QUICK)))
    setTimeout(() => void connection.close(), 100)
    for (const error of await Promise.all(both)) t.match(error, { code: 'CLOSED' })
    t.equal(running(), 0)
  })

  t.test('a lock is reported, and the file can be read when it is gone', async t => {
    const locked = make('locked.db', 'create table t(a)')
    locked.database.exec('begin exclusive')
    const error = await failure(sqlite.connect({ path: locked.path }, { ...options, connectTimeoutMs: 300 }))
    t.match(error, { kind: /timeout|other/ })
    locked.database.exec('rollback')
    t.same(await withSession(locked.path, connection => connection.query(sql`select * from t`, QUICK)), [])
  })

  t.test('a database in WAL mode is read while it is written', async t => {
    const wal = make(
      'wal.db',
      'pragma journal_mode = wal; create table t(a); begin; insert into t values (1)',
    )
    await withSession(wal.path, async connection => {
      t.same(await connection.query(sql`select a from t`, QUICK), [])
      wal.database.exec('commit')
      t.same(await connection.query(sql`select a from t`, QUICK), [{ a: 1 }])
    })
  })

  t.test('nothing but a select runs', () =>
    withSession(path, async connection => {
      const elsewhere = join(folder, 'elsewhere.db')
      const attacks = [
        `attach database '${elsewhere}' as other`,
        `vacuum into '${elsewhere}'`,
        'pragma query_only = off',
        'begin',
        '/* select */ detach main',
        '-- select\nsavepoint s',
        `; attach database '${elsewhere}' as other`,
        'select 1; vacuum',
        'select 1 \0; vacuum',
        `select load_extension('x')`,
        'with x as (select 1) insert into t select 2, 3 from x',
        `with x as (select 1) delete from t`,
        `select 1;${'/**/'.repeat(5000)}${'--'.repeat(5000)}\nx`,
        `${'/**/'.repeat(5000)}1`,
      ]
      for (const text of attacks)
        await t.rejects(connection.query(raw(text), QUICK), { name: 'ConnectorError' }, text)
      t.same(
        await connection.query(
          sql`/* a */ -- b
        select count(*) as n from t; -- c`,
          QUICK,
        ),
        [{ n: 1 }],
      )
      t.match(await failure(connection.query(raw(attacks[10] as string), QUICK)), { kind: 'permission' })
      t.throws(() => realpathSync(elsewhere))
    }),
  )

  t.test('values go in and come out as they are', () =>
    withSession(path, async connection => {
      const moment = new Date('2024-02-29T12:34:56Z')
      const bytes = new Uint8Array([0, 255])
      const [row] = await connection.query(
        sql`select ${5} as whole, cast(${5} as text) as text, ${true} as truth, ${moment} as moment,
          ${bytes} as bytes, ${'a\0b'} as nul, ${2n ** 62n} as big, 9e999 as infinite, ${null} as absent`,
        QUICK,
      )
      t.same(row, {
        whole: 5,
        text: '5',
        truth: 1,
        moment: '2024-02-29 12:34:56',
        bytes,
        nul: 'a\0b',
        big: '4611686018427387904',
        infinite: Infinity,
        absent: null,
      })
      for (const value of [undefined, {}, () => {}]) {
        t.match(await failure(connection.query(sql`select ${value}`, QUICK)), { kind: 'invalid-query' })
      }
      t.match(await failure(connection.query(sql`select ${sqlite.dialect.matches(sql`'x'`, '(')}`, QUICK)), {
        kind: 'invalid-query',
        message: /Invalid regular expression/,
      })
      t.match(
        await failure(
          connection.query(
            raw('select sum(x) from (select 9223372036854775807 x union all select 1)'),
            QUICK,
          ),
        ),
        {
          kind: 'invalid-query',
        },
      )
    }),
  )

  t.test('texts in numeric columns are no numbers, and no zeros', () =>
    withSession(path, async connection => {
      const mixed = sql`(select 1 as x union all select 'many' union all select 4 union all select null)`
      const number = sqlite.dialect.asNumber(sql`x`)
      const half = sqlite.dialect.percentile(sql`x`, 0.5, mixed)
      t.same(
        await connection.query(sql`select avg(${number}) as mean, ${half} as half from ${mixed}`, QUICK),
        [{ mean: 2.5, half: 2.5 }],
      )
    }),
  )

  t.test('the path that the server vets is the one that is opened', async t => {
    const link = join(folder, 'link.db')
    symlinkSync(path, link)
    const asked: string[] = []
    const file = (name: string) => {
      asked.push(name)
      return Promise.resolve(path)
    }
    const connection = await sqlite.connect(
      { path: link },
      { ...options, egress: { ...options.egress, file } },
    )
    t.same(await connection.query(sql`select file from pragma_database_list`, QUICK), [{ file: path }])
    await connection.close()
    t.same(asked, [link])
  })
})

t.test('the catalog', async t => {
  const { path, database } = make(
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

  t.test('tables and views are told, and nothing of SQLite itself', async t => {
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

  t.test('keys are told, also when only some tables are asked for', async t => {
    const [table] = await read(['q'])
    const to = (columns: string[]) => ({ table: { catalog: 'main', schema: 'main', name: 'p' }, columns })
    t.same(table?.constraints, [
      { name: 'q_by_zy', type: 'unique', columns: ['z', 'y'] },
      { name: 'q_x_fkey', type: 'foreign_key', columns: ['x'], references: to(['b']) },
      { name: 'q_y_z_fkey', type: 'foreign_key', columns: ['y', 'z'], references: to(['b', 'a']) },
      { name: 'q_z_y_fkey', type: 'foreign_key', columns: ['z', 'y'], references: to(['b', 'a']) },
    ])
    const [parent] = await read(['p'])
    t.same(parent?.constraints, [
      { name: 'p_c_key', type: 'unique', columns: ['c'] },
      { name: 'p_pkey', type: 'primary_key', columns: ['b', 'a'] },
    ])
  })

  t.test('a broken view hides nothing but its own columns', async t => {
    const before = await read()
    database.exec('create table gone(a); create view broken as select * from gone; drop table gone')
    const tables = await read()
    t.same(byName(tables, 'broken')?.columns, [])
    t.same(
      tables.filter(table => table.name !== 'broken'),
      before,
    )
    t.match(warnings, [{ table: 'broken' }])
  })
})

t.test('the configuration', async t => {
  t.error(sqlite.config.validate({ path: 'a.db', timezone: 'Europe/Berlin' }).error)
  t.match(sqlite.config.validate({ path: 'a.db', timezone: 'Mars/Phobos' }).error, Error)
})
