import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { raw, sql } from 'tidemark/connector'
import { sqlite } from '../connector.ts'
import { endless, failure, folder, makeDatabase, options, running, withSession } from './databases.ts'

const QUICK = { timeoutMs: 20_000 }

t.test('sessions', async t => {
  const { path } = makeDatabase('sessions.db', `create table t(a, b text); insert into t values (1, 'x')`)

  t.test('a statement that nothing else would end is ended, and the session opens anew', () =>
    withSession(path, async connection => {
      const late = failure(connection.query(endless, { timeoutMs: 200 }))
      const next = connection.query(sql`select a from t`, QUICK)
      t.match(await late, { kind: 'timeout', code: 'TIMEOUT', engine: sqlite.name })
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
    const locked = makeDatabase('locked.db', 'create table t(a)')
    locked.database.exec('begin exclusive')
    const error = await failure(sqlite.connect({ path: locked.path }, { ...options, connectTimeoutMs: 300 }))
    t.match(error, { kind: /timeout|other/ })
    locked.database.exec('rollback')
    t.same(await withSession(locked.path, connection => connection.query(sql`select * from t`, QUICK)), [])
  })

  t.test('a database in WAL mode is read while it is written', async t => {
    const wal = makeDatabase(
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
        await t.rejects(connection.query(raw(text), QUICK), { name: 'ConnectorError' }, text.slice(0, 60))
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
        message: /^The pattern is not a regular expression/,
      })
      t.match(
        await failure(
          connection.query(
            raw('select sum(x) from (select 9223372036854775807 x union all select 1)'),
            QUICK,
          ),
        ),
        { kind: 'invalid-query' },
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

t.test('the configuration', async t => {
  t.error(sqlite.config.validate({ path: 'a.db' }).error)
  t.match(sqlite.config.validate({}).error, Error)
  t.match(sqlite.config.validate({ path: 'a.db', mode: 'rwc' }).error, Error)
})
