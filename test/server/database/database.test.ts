import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import t from 'tap'
import { Source } from '../../../plugins/catalog/models.ts'
import { isAway, migrate, rows } from '../../../server/database/database.ts'
import { manifest } from '../../../server/manifest.ts'
import { askTogether } from '../../../server/database/pipeline.ts'
import { hasRefusedWrites, openPool } from '../../../server/database/pool.ts'
import { startBlackhole } from '../../chaos/blackhole.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { startServer } from '../../helpers/server.ts'

const app = await startServer(t)
const { server, query, signUp } = app
const { db } = server
const ours = await signUp('Ours')
const theirs = await signUp('Theirs')

const [{ name, role }] = (await query(
  `select current_database() as name, current_database() || '_app' as role`,
)) as [{ name: string; role: string }]
for (const { companyId } of [ours, theirs])
  await query(
    `insert into sources (id, company_id, name, source_type, config)
     values (gen_random_uuid(), $1, 'shop', 'postgresql', '{}')`,
    [companyId],
  )
/** Has nothing made up, so that requests work. */
const plain = await signUp('Plain')

t.test('a row of a company needs a transaction of that company', async t => {
  const message = /needs a transaction of one company: use db\.company/
  await t.rejects(async () => Source.query(), { message: /no database connection available/ })
  await t.rejects(
    db.system(async trx => Source.query(trx)),
    { message },
  )
  await t.rejects(
    db.system(async trx => Source.query(trx).insert({ name: 'stray' })),
    { message },
  )
  const seen = await db.company(ours.companyId, async trx => Source.query(trx))
  t.strictSame(
    seen.map(({ companyId }) => companyId),
    [ours.companyId],
  )
  const [their] = await query('select id from sources where company_id = $1', [theirs.companyId])
  await db.company(ours.companyId, async trx => {
    t.equal(await Source.query(trx).findById(String(their?.id)), undefined)
    t.equal(
      await Source.query(trx)
        .patch({ name: 'taken' })
        .where({ id: String(their?.id) }),
      0,
    )
    t.equal(await Source.query(trx).deleteById(String(their?.id)), 0)
  })
})

t.test('a connection without a company sees nothing, whether it ever had one or not', async t => {
  const { host, port } = await testCluster()
  const password = server.vault.derive('app role').toString('base64url')
  const pool = openPool(
    `postgres://${role}:${password}@${host}:${port}/${name}`,
    'test',
    1,
    pino({ level: 'silent' }),
  )
  t.teardown(() => pool.destroy())
  const look = () =>
    rows(
      pool,
      `select pg_backend_pid() as pid, current_setting('app.company', true) as company, (select count(*)::int from sources) as seen`,
    )
  const [fresh] = await look()
  t.match(fresh, { company: null, seen: 0 })
  await pool.transaction(async trx => {
    await trx.raw(`select set_config('app.company', ?, true)`, [ours.companyId])
    t.match(await rows(trx, 'select count(*)::int as seen from sources'), [{ seen: 1 }])
  })
  const [reused] = await look()
  t.match(reused, { pid: (fresh as { pid: number }).pid, company: '', seen: 0 })
})

t.test('one company after the other on the same connections see their own', async t => {
  const companies = Array.from({ length: 40 }, (_, n) => (n % 2 ? ours : theirs).companyId)
  const seen = await Promise.all(
    companies.map(companyId =>
      db.company(companyId, trx => rows<{ companyId: string }>(trx, 'select company_id from sources')),
    ),
  )
  t.strictSame(
    seen.map(([row]) => row?.companyId),
    companies,
  )
})

/** What reads the companies that sources are seen of, beside a text. */
const seen = (text = 'ours') => ({
  name: 'seen',
  text: 'select company_id, cast(:text as text) as given_text from sources',
  bindings: { text },
})

t.test('statements read together see one company, whichever company used the connection before', async t => {
  const companies = Array.from({ length: 40 }, (_, n) => (n % 2 ? ours : theirs).companyId)
  const found = await Promise.all(
    companies.map(companyId =>
      db.read<[{ companyId: string; givenText: string }, { sum: number }]>(companyId, [
        seen(companyId),
        { name: 'sum', text: 'select cast(:one as int) + :two as sum', bindings: { one: 1, two: 2 } },
      ]),
    ),
  )
  t.strictSame(
    found,
    companies.map(companyId => [[{ companyId, givenText: companyId }], [{ sum: 3 }]]),
  )
  t.strictSame(await db.read(ours.companyId, []), [])
})

t.test('statements read together report the first error, and their connection stays usable', async t => {
  const { host, port } = await testCluster()
  const password = server.vault.derive('app role').toString('base64url')
  const url = `postgres://${role}:${password}@${host}:${port}/${name}`
  const pool = openPool(url, 'test', 1, pino({ level: 'silent' }))
  t.teardown(() => pool.destroy())
  const pid = { text: 'select pg_backend_pid() as pid', values: [] }
  const company = {
    text: `select set_config('app.company', $1, true)`,
    values: [ours.companyId],
  }
  const nonsense = { name: 'nonsense', text: 'select from where', values: [] }
  const divide = (by: number) => ({ name: 'divide', text: 'select 1 / $1::int as quotient', values: [by] })
  t.match(await askTogether(pool, [company, divide(1), pid]), [{}, [{ quotient: 1 }], [{ pid: Number }]])
  for (let again = 0; again < 2; again++)
    await t.rejects(askTogether(pool, [company, divide(0), pid]), { message: /division by zero/ })
  const look = `select pg_backend_pid() as pid, current_setting('app.company', true) as company,
    (select count(*)::int from sources) as seen`
  t.match(await rows(pool, look), [{ company: '', seen: 0 }], 'no transaction is left open')
  for (let again = 0; again < 2; again++)
    await t.rejects(askTogether(pool, [company, nonsense, divide(0)]), { message: /syntax error/ })
  const unsendable: { self?: unknown } = {}
  unsendable.self = unsendable
  await askTogether(pool, [divide(1)])
  await t.rejects(askTogether(pool, [company, { ...divide(1), values: [unsendable] }]), {
    message: /circular/i,
  })
  const other = { ...divide(1), text: 'select $1::int as other' }
  t.strictSame(await askTogether(pool, [divide(1)]), [[{ quotient: 1 }]], 'its name is there again')
  await t.rejects(askTogether(pool, [other]), { message: /must be unique/ })
  await t.rejects(
    askTogether(pool, [
      { ...other, name: 'new' },
      { ...divide(1), name: 'new' },
    ]),
    {
      message: /must be unique/,
    },
  )
  t.match(await rows(pool, look), [{ seen: 0 }])
  const names = { text: 'select name from sources', values: [] }
  t.strictSame((await askTogether(pool, [company, names, divide(1)])).slice(1), [
    [{ name: 'shop' }],
    [{ quotient: 1 }],
  ])

  t.notOk(hasRefusedWrites(pool, 60_000))
  const write = { name: 'write', text: `update sources set name = 'taken'`, bindings: {} }
  await t.rejects(db.read(ours.companyId, [write]), { message: /read-only transaction/ })
  t.match(await db.read(ours.companyId, [{ name: 'names', text: names.text, bindings: {} }]), [
    [{ name: 'shop' }],
  ])
})

const backends = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`

/** Ends every connection but our own and waits until both sides know. */
async function terminate(): Promise<number> {
  const ended = await query(`select pid, pg_terminate_backend(pid) ${backends}`)
  const pids = ended.map(({ pid }) => pid)
  while ((await query(`select ${backends} and pid = any($1)`, [pids])).length > 0) await wait(10)
  for (let n = 0; n < 5; n++) await turn()
  return ended.length
}

t.test('terminated connections do not end the process, and the next request works', async t => {
  await Promise.all(
    Array.from({ length: 8 }, () => db.company(ours.companyId, trx => rows(trx, 'select pg_sleep(0.05)'))),
  )
  t.ok((await terminate()) >= 8)
  const { status, body } = await plain.ask('GET', '/api/v1/assets')
  t.equal(status, 200, JSON.stringify(body))
})

const LOST = new Error('the database counts as away')

/** Replaces errors of a lost database with `LOST`: either the database or only the network reports the reason. */
async function replaceLostErrors(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    throw isAway(error) ? LOST : error
  })
}

t.test('a connection that is terminated while it works fails that request only', async t => {
  const failed = t.rejects(
    replaceLostErrors(db.company(ours.companyId, trx => rows(trx, 'select pg_sleep(10) as stuck'))),
    LOST,
  )
  const stuck = () => query(`select ${backends} and query like '%as stuck%' and state = 'active'`)
  while ((await stuck()).length === 0) await wait(10)
  await terminate()
  await failed
  t.equal((await plain.ask('GET', '/api/v1/assets')).status, 200)
})

t.test('statements read together on a connection that is terminated fail, and the next do not', async t => {
  const stuck = { name: 'stuck', text: 'select pg_sleep(10) as stuck', bindings: {} }
  const failed = t.rejects(replaceLostErrors(db.read(ours.companyId, [stuck, seen()])), LOST)
  while ((await query(`select ${backends} and query like '%as stuck%' and state = 'active'`)).length === 0)
    await wait(10)
  await terminate()
  await failed
  t.match(await db.read(ours.companyId, [seen()]), [[{ companyId: ours.companyId }]])
})

t.test(
  'connections that fell silent are not asked again, neither the one that was nor those beside it',
  async t => {
    const { host, port, user, password } = await testCluster()
    const hole = await startBlackhole({ host, port })
    t.teardown(() => hole.close())
    const url = `postgres://${user}:${password}@127.0.0.1:${hole.port}/postgres?query_timeout=500`
    const pool = openPool(url, 'silent', 3, pino({ level: 'silent' }))
    t.teardown(() => pool.destroy())
    const askAll = () =>
      Promise.all([1, 2, 3].map(() => rows(pool, 'select pg_backend_pid() as pid, pg_sleep(0.1)')))
    await askAll()
    hole.silence()
    await t.rejects(rows(pool, 'select 1'), { message: /Query read timeout/ })
    hole.heal()
    t.equal((await askAll()).length, 3)
    hole.silence()
    const one = { text: 'select 1 as one', values: [] }
    await t.rejects(askTogether(pool, [one, one]), { message: /Query read timeout/ })
    hole.heal()
    t.strictSame(await askTogether(pool, [one]), [[{ one: 1 }]])
    t.equal((await askAll()).length, 3)
  },
)

t.test('while the database refuses connections the answer is 503, and 200 again after', async t => {
  const { host, port, user, password } = await testCluster()
  const admin = new pg.Client({ host, port, user, password, database: 'postgres' })
  await admin.connect()
  t.teardown(() => admin.end())
  await admin.query(`alter database ${name} connection limit 0`)
  try {
    await terminate()
    const { status, body } = await plain.ask('GET', '/api/v1/assets')
    t.match({ status, body }, { status: 503, body: { error: { code: 'UNAVAILABLE', message: /\w/ } } })
    t.notMatch(JSON.stringify(body), name, 'what the database said stays in the log')
    const { email, password } = plain
    const signIn = await app.ask('POST', '/api/v1/auth/login', { email, password })
    t.match([signIn.status, signIn.body.access_token], [503, undefined], 'no sign-in succeeds uncounted')
  } finally {
    await admin.query(`alter database ${name} connection limit -1`)
  }
  t.equal((await plain.ask('GET', '/api/v1/assets')).status, 200)
})

t.test('a database that takes a connection and then says nothing is away', async t => {
  const { host, port } = await testCluster()
  const hole = await startBlackhole({ host, port })
  t.teardown(() => hole.close())
  hole.silence()
  const client = new pg.Client({ host: '127.0.0.1', port: hole.port, connectionTimeoutMillis: 50 })
  const error = await client.connect().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  t.ok(isAway(error), String(error))
})

t.test(
  'a database of a newer version, and a role that lacks a right, end the start with a sentence',
  async t => {
    const start = (ownerUrl: string) =>
      migrate({
        ownerUrl,
        appPassword: async () => 'unused',
        migrations: manifest.migrations,
        prepareJobs: async () => undefined,
        log: pino({ level: 'silent' }),
      })
    const url = new URL(server.config.databaseUrl as string)
    await query(
      `insert into tidemark_migrations (name, batch, migration_time) values ('9999_future', 99, now())`,
    )
    await t.rejects(start(url.href), {
      name: 'StartError',
      message: /newer version .*\(it has 9999_future\): /,
    })
    await query(`delete from tidemark_migrations where name = '9999_future'`)

    const weak = `${name}_weak`
    await query(`create role ${weak} login password 'weak'`)
    t.teardown(() => query(`drop role ${weak}`))
    ;[url.username, url.password] = [weak, 'weak']
    await t.rejects(start(url.href), {
      name: 'StartError',
      message: /^The role \w+_weak of DATABASE_URL lacks a right \(permission denied for .*\): it has to own/,
    })
  },
)

t.test('when the application role cannot be given its password, the error does not contain it', async t => {
  const other = `${name}_other`
  await query(`create database ${other} owner tidemark_test`)
  // Created by another user, who alone may alter it.
  await query(`create role ${other}_app`)
  t.teardown(async () => {
    await query(`drop database ${other} with (force)`)
    await query(`drop role ${other}_app`)
  })
  const url = new URL(server.config.databaseUrl as string)
  url.pathname = other
  const migrating = migrate({
    ownerUrl: url.href,
    appPassword: async () => 'a-canary-of-the-role',
    migrations: [],
    prepareJobs: async () => undefined,
    log: pino({ level: 'silent' }),
  })
  const error = (await migrating.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as Error | undefined
  t.match(error?.message, /permission denied to alter role/)
  t.notMatch(`${error?.message} ${error?.stack}`, /a-canary/)
})
