import knexModule from 'knex'
import t from 'tap'
import { manifest } from '../server/manifest.ts'
import { testCluster } from './helpers/cluster.ts'
import { startServer } from './helpers/server.ts'
import { makeWorld } from './plugins/alerts/world.ts'

/** What the tables of the product are made of. */
const SHAPE = `
  select 'column' as what, table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as told
    from information_schema.columns where table_schema = 'public'
  union all
  select 'index', indexdef from pg_indexes where schemaname = 'public'
  union all
  select 'constraint', conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
   where connamespace = 'public'::regnamespace
  union all
  select 'options', relname || ' ' || reloptions::text from pg_class
   where relnamespace = 'public'::regnamespace and reloptions is not null
   order by 1, 2`

t.test(
  'what the latest migrations did can be taken back, with rows there, and done again to the same end',
  async t => {
    const app = await startServer(t, { settings: { ROLE: 'web' } })
    const world = await makeWorld(app)
    await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
    await world.raise()
    // Of a source that was removed.
    await app.query('delete from sources where id = $1', [world.sourceId])
    await world.raise({ cause: 'of none', sourceId: null })
    const { host, port, user, password } = await testCluster()
    const [here] = await app.query('select current_database() as name')
    const knex = knexModule({
      client: 'pg',
      connection: { host, port, user, password, database: String(here?.name) },
    })
    t.teardown(() => knex.destroy())
    const shape = async () => ((await knex.raw(SHAPE)) as { rows: object[] }).rows
    const before = await shape()
    const names = manifest.migrations.map(({ name }) => name)
    const taken = manifest.migrations.slice(names.indexOf('0013_deliveries'))
    for (const migration of [...taken].reverse()) {
      const there = (await shape()).length
      await knex.transaction(trx => migration.down(trx))
      t.not((await shape()).length, there, migration.name)
    }
    for (const migration of taken) await knex.transaction(trx => migration.up(trx))
    t.strictSame(await shape(), before)
    t.match(await app.query('select cause from alerts'), [{ cause: 'of none' }])
  },
)
