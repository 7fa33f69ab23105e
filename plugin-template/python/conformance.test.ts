import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sql } from 'tidemark/connector'
import { testConnector } from 'tidemark/connector/conformance'
import { pythonSqlite } from './index.ts'
import { endless, failure, folder, makeDatabase, options } from '../test/databases.ts'

t.setTimeout(600_000)

// As the program is looked for: a python3 elsewhere is named by its path.
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
const found = spawnSync('python3', ['-c', 'import sqlite3; print(sqlite3.sqlite_version)'], {
  encoding: 'utf8',
  env,
})
const [major = 0, minor = 0] = (found.stdout ?? '').split('.').map(Number)
const skip = major * 1_000 + minor >= 3_038 ? false : 'no python3 with SQLite 3.38 or newer'

/** Processes of the program that run a statement: it keeps this process from ending while it does. */
const running = () => process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length

t.test('a connector in Python conforms', { skip }, async t => {
  const { path, database } = makeDatabase('python.db')
  const broken = join(folder, 'python.txt')
  writeFileSync(broken, 'This is a text and no database, however long one makes it. '.repeat(100))
  const result = await testConnector(t, {
    connector: pythonSqlite,
    config: { path },
    setup: () => ({
      execute: async text => database.exec(text.replace('references `main`.', 'references ')),
      catalog: 'main',
      schema: 'main',
      refused: [
        { name: 'a missing file', config: { path: join(folder, 'none.db') }, kind: 'missing-object' },
        { name: 'a file that is no database', config: { path: broken }, kind: 'other' },
      ],
      slow: endless,
      countRunning: () => Promise.resolve(running()),
      types: { decimal: null, boolean: null, binary: 'blob', timestamp: null, timestamptz: null, json: null },
      refusesNames: ['case twin'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

t.test(
  'a statement that is ended takes its process with it, and the next one has another',
  { skip },
  async t => {
    const { path } = makeDatabase('ended.db', 'create table t (a); insert into t values (1)')
    const connection = await pythonSqlite.connect({ path }, options)
    t.teardown(() => connection.close())
    t.match(await failure(connection.query(endless, { timeoutMs: 300 })), { kind: 'timeout' })
    t.equal(running(), 0)
    t.same(await connection.query(sql`select a from t`, { timeoutMs: 5_000 }), [{ a: 1 }])
  },
)

t.test('SQL of users opens no other file', { skip }, async t => {
  const { path } = makeDatabase('one.db')
  const { path: other } = makeDatabase('other.db', 'create table secret (a)')
  const connection = await pythonSqlite.connect({ path }, options)
  t.teardown(() => connection.close())
  for (const statement of [sql`attach database ${other} as x`, sql`pragma query_only = off`])
    t.match(await failure(connection.query(statement, { timeoutMs: 5_000 })), { kind: 'permission' })
})
