import { mkdtemp, realpath, rm, chmod } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Model } from 'objection'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { build } from '../../../server/build.ts'
import { packageRoot, readConfig } from '../../../server/settings/config.ts'
import { CompanyRow, rows, type Transaction } from '../../../server/database/database.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { startEmbedded } from '../../../server/embedded/embedded.ts'
import { watchedLog } from '../../helpers/log-watch.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { share } from '../../helpers/share.ts'
import { makeMatrix } from './matrix-world.ts'

const { app, ours, theirs } = await makeMatrix(t)
const { query } = app
const { db } = app.server

/** Tables that only a function of the database writes: a company reads its own. */
const READ_ONLY = ['audit_heads', 'audit_log']
/** Tables of no company. The first two hold counts by key, the rest what the owner alone may see. */
const NOBODYS = [
  'login_failures',
  'rate_windows',
  'installation',
  'oauth_attempts',
  'unsubscribed',
  'anonymous_events',
  'beta_signups',
  'tidemark_migrations',
  'tidemark_migrations_lock',
]

const TABLES = `
  select c.relname as name, c.relrowsecurity as is_enabled, c.relforcerowsecurity as is_forced,
    exists (select from information_schema.columns i
      where i.table_schema = 'public' and i.table_name = c.relname and i.column_name = 'company_id') as is_of_companies,
    coalesce((select json_agg(json_build_object('name', policyname, 'command', cmd, 'roles', roles, 'using', qual, 'check', with_check)
      order by policyname) from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname), '[]') as policies
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`

interface Table {
  name: string
  is_enabled: boolean
  is_forced: boolean
  is_of_companies: boolean
  policies: { name: string; command: string; roles: string; using: string; check: string | null }[]
}

const all = (await query(TABLES)) as unknown as Table[]
const tables = all.filter(table => table.is_of_companies)
const filled: string[] = []
for (const { name } of tables)
  if ((await query(`select from ${name} where company_id = $1 limit 1`, [theirs.companyId])).length)
    filled.push(name)

/** By which tables are cut, with a value: a row without one would be refused for that alone. */
const cut = new Map(
  (
    await query(
      `select relname as name, attname as column, atttypid = 'uuid'::regtype as is_uuid from pg_partitioned_table
         join pg_class c on c.oid = partrelid join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
        where relnamespace = 'public'::regnamespace`,
    )
  ).map(({ name, column, is_uuid: isUuid }) => [
    name,
    { column: String(column), value: isUuid ? leastUuid(new Date()) : new Date() },
  ]),
)

const OWN = `(company_id = (NULLIF(current_setting('app.company'::text, true), ''::text))::uuid)`

/** That each table of companies is held, of one database. */
function areHeld(t: Test, found: readonly Table[], owner: string): void {
  for (const { name, policies, ...table } of found) {
    if (!table.is_of_companies) {
      t.ok(NOBODYS.includes(name), `${name} has no company_id: say in this test why it needs none`)
      continue
    }
    t.ok(table.is_enabled, `${name} has row-level security`)
    const company = policies.find(policy => policy.name === 'company')
    if (READ_ONLY.includes(name)) {
      t.strictSame(policies.length, 1, `${name} has one policy`)
      t.match(company, { command: 'SELECT', using: OWN, check: null }, name)
      continue
    }
    t.ok(table.is_forced, `${name} has it forced on its owner too`)
    t.match(company, { command: 'ALL', using: OWN, check: OWN }, `${name} shows a company its own`)
    const others = policies.filter(policy => policy !== company)
    t.match(others, [{ name: 'owner', roles: [owner] }], `${name} shows more to its owner alone`)
  }
}

t.test(
  'every table of companies has row-level security, forced, by policies of its company alone',
  async t => {
    t.ok(tables.length >= 30, `${tables.length} tables`)
    areHeld(t, all, 'tidemark_test')
    const views = await query(
      `select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
    )
    t.strictSame(views, [], 'a view is read with the rights of its owner')
  },
)

t.test('the world of these tests fills most tables, for both companies', async t => {
  const empty = tables.map(({ name }) => name).filter(name => !filled.includes(name))
  t.ok(filled.length >= 18, `nothing of theirs is in ${empty.join(', ')}`)
})

/** What is done to a table without any condition on the company, by a transaction of ours. */
async function withoutCondition(t: Test, name: string): Promise<void> {
  const count = async () =>
    (
      await query(
        `select count(*)::int as count, md5(string_agg(x::text, '|' order by x::text)) as sum
      from ${name} x where company_id = $1`,
        [theirs.companyId],
      )
    )[0]
  const before = await count()
  const inOurs = <R extends object>(text: string, values: unknown[] = []) =>
    undone(trx => rows<R>(trx, text, values))
  const seen = await inOurs<{ companyId: string }>(`select company_id from ${name}`)
  t.ok(
    seen.every(row => row.companyId === ours.companyId),
    `${name}: only our own rows are read`,
  )
  const [counted] = await inOurs<{ count: number }>(`select count(*)::int as count from ${name}`)
  const [truth] = await query(`select count(*)::int as count from ${name} where company_id = $1`, [
    ours.companyId,
  ])
  t.equal(counted?.count, truth?.count, `${name}: all of our own are`)
  const theirsIn = await inOurs(`select 1 as one from ${name} where company_id = ?`, [theirs.companyId])
  t.strictSame(theirsIn, [], `${name}: theirs are not read when they are asked for`)
  if (READ_ONLY.includes(name)) return
  const changed = await inOurs(
    `with changed as (update ${name} set company_id = company_id returning company_id)
     select company_id from changed where company_id <> ?`,
    [ours.companyId],
  )
  t.strictSame(changed, [], `${name}: no row of theirs is changed`)
  const refused = { code: '42501' }
  const give = inOurs(`update ${name} set company_id = ?`, [theirs.companyId])
  if (Number(truth?.count) > 0) await t.rejects(give, refused, `${name}: none of ours becomes theirs`)
  else await give
  const { column, value } = cut.get(name) ?? {}
  await t.rejects(
    inOurs(
      `insert into ${name} (company_id${column ? `, ${column}` : ''}) values (?${column ? ', ?' : ''})`,
      [theirs.companyId, ...(column ? [value] : [])],
    ),
    refused,
    `${name}: no row is added to theirs`,
  )
  await undone(async trx => {
    // With what hangs on it; where that keeps a row from going, nothing goes.
    await rows(trx, `delete from ${name}`).catch((error: { code?: string }) => {
      if (error.code !== '23503') throw error
    })
  })
  t.strictSame(await count(), before, `${name}: theirs are as they were`)
}

class Undo extends Error {}

/** Runs as the application does for our company, and takes all of it back. */
async function undone<R>(work: (trx: Transaction) => Promise<R>): Promise<R> {
  let result: R | undefined
  await db
    .company(ours.companyId, async trx => {
      result = await work(trx)
      throw new Undo()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error
    })
  return result as R
}

t.test('statements without a condition read and change our own rows only', async t => {
  for (const { name } of share(tables, 'tables of companies')) await withoutCondition(t, name)
})

t.test('models without their condition read and change our own rows only', async t => {
  const models: (typeof Model)[] = []
  for (const file of globSync('plugins/*/models.ts', { cwd: packageRoot })) {
    const module = (await import(join(packageRoot, file))) as Record<string, unknown>
    for (const each of Object.values(module))
      if (typeof each === 'function' && each.prototype instanceof CompanyRow)
        models.push(each as typeof Model)
  }
  t.ok(models.length >= 24, `${models.length} models`)
  for (const { tableName, name, idColumn } of models) {
    // The same table without what CompanyRow adds to each query.
    class Bare extends Model {
      static override tableName = tableName
      static override idColumn = idColumn
      declare companyId: string
    }
    const held = await query(`select from ${tableName} where company_id = $1`, [theirs.companyId])
    await undone(async trx => {
      const seen = await Bare.query(trx)
      t.ok(
        seen.every(({ companyId }) => companyId === ours.companyId),
        `${name} reads our own`,
      )
      t.equal(await Bare.query(trx).where({ companyId: theirs.companyId }).resultSize(), 0, name)
      t.equal(await Bare.query(trx).delete().where({ companyId: theirs.companyId }), 0, name)
      t.equal(
        await Bare.query(trx).patch({ companyId: ours.companyId }).where({ companyId: theirs.companyId }),
        0,
        `${name} takes none of theirs`,
      )
    })
    const { column = '', value } = cut.get(tableName) ?? {}
    const keyed = column
      ? { [column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())]: value }
      : {}
    await t.rejects(
      undone(async trx => Bare.query(trx).insert({ companyId: theirs.companyId, ...keyed })),
      { message: /row-level security policy|permission denied/ },
      `${name} adds none to theirs`,
    )
    const left = await query(`select from ${tableName} where company_id = $1`, [theirs.companyId])
    t.equal(left.length, held.length, `${name} leaves theirs`)
  }
})

t.test('functions that run with the rights of the owner know the company too', async t => {
  const found = await query(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by 1`,
  )
  t.strictSame(
    found.map(({ name }) => name),
    ['admit_key', 'audit_append', 'rare_tables', 'tables_with_columns'],
    'each of them needs a look of its own here',
  )
  const append = `select audit_append(?, 'system', 'x.y', null, null, '{}', null, null)`
  await t.rejects(
    undone(trx => rows(trx, append, [theirs.companyId])),
    { message: /another company/ },
  )
  const [seen] = await undone(trx =>
    rows<{ ids: string[] | null }>(trx, `select rare_tables('orders', 10) as ids`),
  )
  t.notOk(seen?.ids?.includes(theirs.ids.table))
  const columns = `select tables_with_columns('id', 100) as ids`
  const [named] = await undone(trx => rows<{ ids: string[] }>(trx, columns))
  t.ok(named?.ids.length, 'there are columns of the name')
  t.notOk(named?.ids.includes(theirs.ids.table))
  // It finds no key but by the hash of the whole secret, which no row shows.
  for (const hash of [null, Buffer.alloc(0), Buffer.alloc(32)]) {
    const admit = `select company_id, id from admit_key(?, false, '{enterprise}', '{1}', '{1}')`
    t.strictSame(await undone(trx => rows(trx, admit, [hash])), [{ companyId: null, id: null }])
  }
  for (const text of [
    'update audit_log set actor = actor',
    'delete from audit_log',
    'delete from audit_heads',
  ]) {
    const done = await undone(trx => rows(trx, `${text} returning 1 as one`)).catch(
      (error: { code?: string }) => error.code,
    )
    t.ok(done === '42501' || (Array.isArray(done) && done.length === 0), text)
  }
})

/** That the application role of a database is an ordinary one, and sees nothing unless a company is named. */
async function isHeld(t: Test, appUrl: string, names: readonly string[]): Promise<void> {
  const client = new pg.Client(appUrl)
  await client.connect()
  try {
    const { rows: found } = await client.query(
      `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
         (select count(*)::int from pg_class where relowner = r.oid) as owned,
         (select count(*)::int from pg_auth_members where member = r.oid) as memberships
       from pg_roles r where rolname = current_user`,
    )
    t.match(found, [
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owned: 0,
        memberships: 0,
      },
    ])
    for (const round of ['never named', 'named before']) {
      for (const name of names) {
        const { rowCount } = await client.query(`select from ${name}`)
        t.equal(rowCount, 0, `${name} shows nothing while a company is ${round}`)
      }
      await t.rejects(
        client.query(`select audit_append($1, 'system', 'x.y', null, null, '{}', null, null)`, [
          ours.companyId,
        ]),
        { message: 'the log of another company' },
        `no log is written to while a company is ${round}`,
      )
      await client.query('begin')
      await client.query(`select set_config('app.company', $1, true)`, [ours.companyId])
      await client.query('commit')
    }
    for (const statement of [
      'alter table sources disable row level security',
      'alter table sources no force row level security',
      'drop policy company on sources',
      'create policy mine on sources using (true)',
      'truncate sources',
      'drop trigger audit_log_append_only on audit_log',
      `set session_replication_role = replica`,
    ])
      await t.rejects(client.query(statement), { code: '42501' }, statement)
    await client.query('set row_security = off')
    await t.rejects(client.query('select from sources'), { code: '42501' }, 'nor may it switch that off')
  } finally {
    await client.end()
  }
}

t.test(
  'the application role may not step around it, and without a company sees nothing and raises nothing',
  async t => {
    const [{ name }] = (await query('select current_database() as name')) as [{ name: string }]
    const { host, port } = await testCluster()
    const role = `${name}_app`
    // A password of the test's own: the application holds its connections open meanwhile.
    await query(`alter role ${role} password 'a-look'`)
    await isHeld(
      t,
      `postgres://${role}:a-look@${host}:${port}/${name}`,
      tables.map(table => table.name),
    )
  },
)

t.test('in the embedded database too', async t => {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'tidemark-isolation-')))
  await chmod(dataDir, 0o755)
  const log = { info: () => undefined, warn: () => undefined }
  const embedded = await startEmbedded({ dataDir, log })
  t.teardown(async () => {
    await embedded.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const server = await build({
    config,
    ownerUrl: embedded.url,
    secretKey: SECRET_KEY,
    log: watchedLog(t),
    sweeps: false,
  })
  await server.initialize()
  t.teardown(() => server.stop())
  const client = new pg.Client(embedded.url)
  await client.connect()
  const { rows: found } = await client.query(TABLES)
  areHeld(t, found as Table[], new URL(embedded.url).username)
  const { rows: roles } = await client.query(
    `select rolname from pg_roles where rolname like '%\\_app' escape '\\'`,
  )
  t.equal(roles.length, 1)
  await client.query(`alter role ${roles[0].rolname} password 'a-look'`)
  await client.end()
  const url = new URL(embedded.url)
  url.username = roles[0].rolname
  url.password = 'a-look'
  const names = (found as Table[]).filter(table => table.is_of_companies).map(({ name }) => name)
  await isHeld(t, url.toString(), names)
})
