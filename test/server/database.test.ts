import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { Model } from 'objection'
import pg from 'pg'
import { pino } from 'pino'
import t from 'tap'
import { Source } from '../../plugins/catalog/models.ts'
import { openPool, rows } from '../../server/database.ts'
import { testCluster } from '../helpers/cluster.ts'
import { startServer } from '../helpers/server.ts'

const { server, query, signUp } = await startServer(t)
const { db } = server
const ours = await signUp('Ours')
const theirs = await signUp('Theirs')

const [{ name, role }] = (await query(
  `select current_database() as name, current_database() || '_app' as role`,
)) as [{ name: string; role: string }]
const tables = await companyTables()
await fill()
/** Has nothing made up, so that requests work. */
const plain = await signUp('Plain')

/** Every table with a `company_id`, also those of features to come. */
async function companyTables(): Promise<string[]> {
  const found = await query(
    `select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and column_name = 'company_id' and table_type = 'BASE TABLE' order by 1`,
  )
  return found.map(({ table_name: table }) => String(table))
}

/** Gives both companies a row in every table: made up, as only who may see it matters here. */
async function fill(): Promise<void> {
  await query(`set session_replication_role = replica`)
  for (const table of tables.filter(each => each !== 'companies')) {
    const checks = await query(
      `select format('alter table %I drop constraint %I', $1::text, conname) as command
       from pg_constraint where conrelid = $1::regclass and contype = 'c'`,
      [table],
    )
    for (const { command } of checks) await query(String(command))
    const columns = await query(
      `select quote_ident(column_name) as name, case
         when data_type = 'uuid' then 'gen_random_uuid()'
         when data_type = 'text' then 'gen_random_uuid()::text'
         when data_type = 'jsonb' then $$'{}'$$
         when data_type = 'ARRAY' then $$'{}'$$
         when data_type = 'bytea' then $$decode(md5(random()::text), 'hex')$$
         when data_type like 'timestamp%' then 'now()'
         when data_type = 'boolean' then 'true'
         else '(random() * 1e9)::integer' end as value
       from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_nullable = 'NO' and column_default is null
         and is_identity = 'NO' and is_generated = 'NEVER' and column_name <> 'company_id'`,
      [table],
    )
    const names = ['company_id', ...columns.map(column => column.name)].join(', ')
    const values = ['$1', ...columns.map(column => column.value)].join(', ')
    for (const { companyId } of [ours, theirs])
      await query(`insert into ${table} (${names}) values (${values})`, [companyId])
  }
  await query(`set session_replication_role = origin`)
}

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

t.test(
  'every table with a company is isolated, also from its owner, and no other table is unknown',
  async t => {
    t.ok(tables.length >= 18, `${tables.length} tables`)
    for (const table of tables) {
      const [isolation] = await query(
        `select relrowsecurity, relforcerowsecurity,
         (select array_agg(policyname::text order by policyname) from pg_policies
          where schemaname = 'public' and tablename = relname) as policies,
         (select array_agg(permissive order by policyname) from pg_policies
          where schemaname = 'public' and tablename = relname) as kinds
       from pg_class where oid = $1::regclass`,
        [table],
      )
      t.strictSame(
        isolation,
        {
          relrowsecurity: true,
          relforcerowsecurity: true,
          policies: ['company', 'owner'],
          kinds: ['PERMISSIVE', 'PERMISSIVE'],
        },
        table,
      )
    }
    const others = await query(
      `select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
       and table_name <> all($1) order by 1`,
      [tables],
    )
    t.strictSame(
      others.map(({ table_name: table }) => table),
      ['login_failures', 'rate_windows', 'tidemark_migrations', 'tidemark_migrations_lock'],
      'a table without company_id holds nothing of a company',
    )
    const views = await query(`select from information_schema.views where table_schema = 'public'`)
    t.strictSame(views, [], 'a view would be read with the rights of its owner')
  },
)

t.test('without our condition, the database still hides and keeps what is of another company', async t => {
  for (const table of tables) {
    await db.company(ours.companyId, async trx => {
      const seen = await rows<{ companyId: string }>(trx, `select * from ${table}`)
      t.ok(seen.length > 0, `${table} shows our own`)
      t.ok(
        seen.every(({ companyId }) => companyId === ours.companyId),
        `${table} shows only our own`,
      )
      const updated = await rows(
        trx,
        `update ${table} set company_id = company_id where company_id = ? returning 1 as one`,
        [theirs.companyId],
      )
      t.strictSame(updated, [], `${table} updates nothing of theirs`)
      const deleted = await rows(trx, `delete from ${table} where company_id = ? returning 1 as one`, [
        theirs.companyId,
      ])
      t.strictSame(deleted, [], `${table} deletes nothing of theirs`)
    })
    const refused = { code: '42501', message: /violates row-level security policy/ }
    await t.rejects(
      db.company(ours.companyId, trx =>
        rows(trx, `insert into ${table} (company_id) values (?)`, [theirs.companyId]),
      ),
      refused,
      `${table} takes no row for them`,
    )
    await t.rejects(
      db.company(ours.companyId, trx => rows(trx, `update ${table} set company_id = ?`, [theirs.companyId])),
      refused,
      `${table} gives none of our rows to them`,
    )
    const left = await query(`select from ${table} where company_id = $1`, [theirs.companyId])
    t.ok(left.length > 0, `${table} still has theirs`)
  }
})

t.test('a model that forgot to be a company row is held by the database as well', async t => {
  class Bare extends Model {
    static override tableName = 'sources'
    declare id: string
    declare companyId: string
    declare name: string
  }
  await db.company(ours.companyId, async trx => {
    const seen = await Bare.query(trx)
    t.strictSame(
      seen.map(({ companyId }) => companyId),
      [ours.companyId],
    )
    t.strictSame(await Bare.query(trx).where({ companyId: theirs.companyId }), [])
    t.equal(await Bare.query(trx).patch({ name: 'x' }).where({ companyId: theirs.companyId }), 0)
  })
  await t.rejects(
    db.company(ours.companyId, async trx => Bare.query(trx).patch({ companyId: theirs.companyId })),
    { message: /row-level security policy/ },
  )
})

t.test('the application role may not step around it', async t => {
  const [who] = await db.company(ours.companyId, trx =>
    rows<{ role: string }>(trx, 'select current_user as role'),
  )
  t.equal(who?.role, role)
  const [rights] = await query(
    `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
       (select count(*)::int from pg_tables where tableowner = rolname) as owned,
       (select count(*)::int from pg_auth_members where member = pg_roles.oid) as memberships
     from pg_roles where rolname = $1`,
    [role],
  )
  t.strictSame(rights, {
    rolsuper: false,
    rolbypassrls: false,
    rolcreaterole: false,
    rolcreatedb: false,
    owned: 0,
    memberships: 0,
  })
  for (const statement of [
    'alter table sources disable row level security',
    'drop policy company on sources',
    'create policy mine on sources using (true)',
    'set role tidemark_test',
    'truncate sources',
  ]) {
    await t.rejects(
      db.company(ours.companyId, trx => rows(trx, statement)),
      { code: '42501' },
      statement,
    )
  }
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

t.test('a connection that is terminated while it works fails that request only', async t => {
  const working = db.company(ours.companyId, trx => rows(trx, 'select pg_sleep(10) as stuck'))
  const failed = t.rejects(working, { message: /terminating connection|terminated/ })
  const stuck = () => query(`select ${backends} and query like '%as stuck%' and state = 'active'`)
  while ((await stuck()).length === 0) await wait(10)
  await terminate()
  await failed
  t.equal((await plain.ask('GET', '/api/v1/assets')).status, 200)
})

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
  } finally {
    await admin.query(`alter database ${name} connection limit -1`)
  }
  t.equal((await plain.ask('GET', '/api/v1/assets')).status, 200)
})
