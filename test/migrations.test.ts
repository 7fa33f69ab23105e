import knexModule, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { manifest } from '../server/manifest.ts'
import { testCluster } from './helpers/cluster.ts'
import { startServer } from './helpers/server.ts'
import { makeWorld } from './plugins/alerts/world.ts'

/** What the tables of the product are made of. */
const SHAPE = `
  select 'column' as what, concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity,
      generation_expression) as described
    from information_schema.columns where table_schema = 'public'
  union all
  select 'index', indexdef from pg_indexes where schemaname = 'public'
  union all
  select 'constraint', conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
   where connamespace = 'public'::regnamespace
  union all
  select 'function', pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f'
     and not exists (select from pg_depend d where d.objid = pg_proc.oid and d.deptype = 'e')
  union all
  select 'trigger', pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid
   where relnamespace = 'public'::regnamespace and not tgisinternal
  union all
  select 'policy', concat_ws(' ', tablename, policyname, cmd, roles, qual, with_check) from pg_policies
   where schemaname = 'public'
  union all
  select 'table', concat_ws(' ', relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions)
    from pg_class where relnamespace = 'public'::regnamespace
  union all
  select 'sequence', pg_get_serial_sequence(quote_ident(table_name), column_name) from information_schema.columns
   where table_schema = 'public' and is_identity = 'YES'
  union all
  select 'partition', concat_ws(' ', relname, reloptions) from pg_class
   where relnamespace = to_regnamespace('partitions') and relkind in ('r', 'i')
   order by 1, 2`

/** What is there without any migration: the list of migrations itself. */
const OWN_TABLES = ['tidemark_migrations', 'tidemark_migrations_lock']

t.test('all migrations can be taken back one by one, and made again to the same shape', async t => {
  const app = await startServer(t, { settings: { ROLE: 'web' }, isOwn: true })
  const { host, port, user, password } = await testCluster()
  const [here] = await app.query('select current_database() as name')
  const knex = knexModule({
    client: 'pg',
    connection: { host, port, user, password, database: String(here?.name) },
  })
  t.teardown(() => knex.destroy())
  const transaction = (step: (trx: Knex) => Promise<void>) => knex.transaction(trx => step(trx))
  const shape = async () => ((await knex.raw(SHAPE)) as { rows: { what: string; described: string }[] }).rows
  await t.test('each takes back what it made, with rows there', async t => {
    const world = await makeWorld(app)
    await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
    await world.raise()
    await takeBack(t)
    const left = await shape()
    t.notSame(left, [])
    t.strictSame(
      left.filter(({ described }) => !OWN_TABLES.some(name => described.includes(name))),
      [],
    )
    const schemas = await app.query(`select nspname from pg_namespace where nspname = 'partitions'`)
    t.strictSame(schemas, [])
  })

  // Without the months that the start has created since.
  for (const { up } of manifest.migrations) await transaction(up)

  await t.test('the second time they make what they made the first time', async t => {
    const shapes = await takeBack(t)
    for (const [index, { name, up }] of manifest.migrations.entries()) {
      await transaction(up)
      t.strictSame(await shape(), shapes[index], name)
    }
  })

  await t.test('the first two partitions of a table take rows of all times', async t => {
    const [{ id: company } = {}] = await app.query(
      `insert into companies (company_id, name, plan) values (gen_random_uuid(), 'c', 'starter') returning company_id as id`,
    )
    await app.query(
      `with source as (insert into sources (id, company_id, name, source_type, config)
           values (gen_random_uuid(), $1, 's', 'postgresql', '{}') returning *),
         "table" as (insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
             columns, constraints, fingerprint)
           select gen_random_uuid(), company_id, id, 'c', 's', 't', 's.c.s.t', 'table', '[]', '[]', '' from source returning *)
       insert into checks (uuid, kind, company_id, source_id, table_id, type, config, check_interval, sensitivity)
         select gen_random_uuid(), 'metric', company_id, source_id, id, 'row_count', '{}', 'hourly', 2 from "table"`,
      [company],
    )
    const snapshots = await app.query(
      `insert into check_results (company_id, check_id, status, at)
         select company_id, id, 'pass', at from checks,
           unnest(array[now() - interval '9 years', now(), now() + interval '9 years']) at
         returning tableoid::regclass::text as place`,
    )
    t.strictSame(
      snapshots.map(({ place }) => place),
      ['past', 'past', 'later'].map(part => `partitions.check_results_${part}`),
    )
    const scan = await app.query(
      `explain select from deliveries where id = '00000000-0000-7000-8000-000000000000'`,
    )
    t.notMatch(JSON.stringify(scan), /deliveries_later/, 'one month is read where the id names it')
  })

  /** @returns the shape after each migration, as it was before that was taken back. */
  async function takeBack(t: Test) {
    const shapes = []
    for (const { name, down } of manifest.migrations.toReversed()) {
      const there = await shape()
      shapes.unshift(there)
      await transaction(down)
      t.notSame(await shape(), there, name)
    }
    return shapes
  }
})
