import pg from 'pg'
import { pino } from 'pino'
import t from 'tap'
import { migrate } from '../../../server/database/database.ts'
import { manifest } from '../../../server/manifest.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { command } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'

/** Some of the migrations before the first release. Two have names of today, and others are later than all of today. */
const UNRELEASED = ['0001_accounts', '0002_catalog', '0003_checks', '0004_freshness', '0040_personal_flow']

const cluster = await testCluster()
const admin = new pg.Client({ ...cluster, database: 'postgres' })
await admin.connect()
await admin.query('create database unreleased_test')
const client = new pg.Client({ ...cluster, database: 'unreleased_test' })
await client.connect()
t.teardown(async () => {
  await client.end()
  await admin.query('drop database unreleased_test with (force)')
  await admin.query('drop role if exists unreleased_test_app')
  await admin.end()
})
await client.query(`
  create table tidemark_migrations (id serial primary key, name text, batch integer, migration_time timestamptz);
  create table tidemark_migrations_lock (index serial primary key, is_locked integer);
  insert into tidemark_migrations_lock (is_locked) values (0);
  create table companies (company_id uuid primary key, name text not null);
  insert into companies values ('00000000-0000-7000-8000-000000000000', 'Acme')`)
await client.query(
  `insert into tidemark_migrations (name, batch, migration_time) select name, 1, now() from unnest($1::text[]) name`,
  [UNRELEASED],
)

/** Everything in the database, and the roles of the server that are named after it. */
async function contents(): Promise<unknown[]> {
  const { rows } = await client.query(`
    select 'relation' as what, concat_ws(' ', oid, relname, relfilenode, relnatts, relacl) as described from pg_class
     where relnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
    union all select 'schema', concat_ws(' ', nspname, nspacl) from pg_namespace
    union all select 'function', oid::regprocedure::text from pg_proc
    union all select 'role', rolname from pg_roles where rolname like 'unreleased_test%'
    union all select 'migration', concat_ws(' ', m.xmin, m.*) from tidemark_migrations m
    union all select 'lock', concat_ws(' ', l.xmin, l.*) from tidemark_migrations_lock l
    union all select 'company', concat_ws(' ', c.xmin, c.*) from companies c
     order by 1, 2`)
  return rows
}

t.test('a database of an unreleased version ends the start with a sentence, and stays as it was', async t => {
  const before = await contents()
  const { host, port, user, password } = cluster
  const DATABASE_URL = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/unreleased_test`
  for (const words of [['start'], ['migrate'], ['companies', 'create', 'Two']]) {
    const { code, out, err } = await command(words, { DATABASE_URL, SECRET_KEY, PORT: '0' })
    t.match({ code, out }, { code: 1, out: '' }, words.join(' '))
    t.match(
      err,
      /^The database unreleased_test at \S+:\d+ is of an earlier, unreleased version .* create an empty database and name it in DATABASE_URL; to keep its checks, .*\n$/,
    )
    t.strictSame(await contents(), before)
  }

  await t.rejects(
    migrate({
      ownerUrl: DATABASE_URL,
      dataDir: '/srv/tidemark/.data',
      appPassword: async () => 'unused',
      migrations: manifest.migrations,
      prepareJobs: async () => undefined,
      log: pino({ level: 'silent' }),
    }),
    { name: 'StartError', message: /^The folder \/srv\/tidemark\/\.data is of .* rename it, or .* DATA_DIR/ },
    'the embedded database is known by its folder',
  )
  t.strictSame(await contents(), before)
})
