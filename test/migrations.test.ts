import knexModule from 'knex'
import t from 'tap'
import { manifest } from '../server/manifest.ts'
import { testCluster } from './helpers/cluster.ts'
import { startServer } from './helpers/server.ts'
import { makeWorld } from './plugins/alerts/world.ts'

/** What the tables of the product are made of. */
const SHAPE = `
  select 'column' as what, table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as described
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
  select 'options', relname || ' ' || reloptions::text from pg_class
   where relnamespace = 'public'::regnamespace and reloptions is not null
   order by 1, 2`

const PARTITIONED_TABLES = [
  'validity_results',
  'metric_snapshots',
  'referential_results',
  'freshness_checks',
  'schema_changes',
  'deliveries',
  'delivery_attempts',
]

/** From a year ago to past the end of this month, by a clock that was wrong. */
const AT = `now() + (n - 9000) * interval '55 minutes'`
const FILL = [
  `delete from deliveries`,
  `insert into sources (id, company_id, name, source_type, config)
     select gen_random_uuid(), company_id, 'full', 'postgresql', '{}' from companies limit 1`,
  `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     select gen_random_uuid(), company_id, id, 'c', 's', 't', 'full.c.s.t', 'table', '[]', '[]', '' from sources limit 1`,
  `insert into validity_rules (uuid, company_id, source_id, table_id, rule_type, name, severity, check_interval,
       detection_mode, sensitivity, operating_period_mode)
     select gen_random_uuid(), company_id, source_id, id, 'NOT_NULL', 'r', 'info', 'hourly', 'manual', 2, 'off' from tables`,
  `insert into metrics (id, company_id, source_id, table_id, metric_type, config, check_interval, sensitivity)
     select gen_random_uuid(), company_id, source_id, id, 'row_count', '{}', 'hourly', 2 from tables`,
  `insert into referential_checks (id, company_id, source_id, table_id, child_column_name, parent_table_id,
       parent_column_name, name, severity, check_interval)
     select gen_random_uuid(), company_id, source_id, id, 'a', id, 'b', 'c', 'info', 'hourly' from tables`,
  `insert into freshness_schedules (id, company_id, source_id, table_id, monitoring_mode, check_interval)
     select gen_random_uuid(), company_id, source_id, id, 'auto_learn', '1h' from tables`,
  `insert into validity_results (company_id, validity_rule_id, status, execution_duration_ms, scheduled_for, checked_at)
     select company_id, id, 'pass', 1, ${AT}, ${AT} from validity_rules, generate_series(1, 10000) n`,
  `insert into metric_snapshots (company_id, metric_id, group_values, value, status, scheduled_for, captured_at)
     select company_id, internal_id, '{"a": 1}', n, 'PASS', ${AT}, ${AT} from metrics, generate_series(1, 10000) n`,
  `insert into referential_results (company_id, referential_check_id, status, query_duration_ms, scheduled_for, checked_at)
     select company_id, id, 'pass', 1, ${AT}, ${AT} from referential_checks, generate_series(1, 10000) n`,
  `insert into freshness_checks (company_id, schedule_id, status, checked_at)
     select company_id, id, 'fresh', ${AT} from freshness_schedules, generate_series(1, 10000) n`,
  `insert into schema_changes (id, company_id, source_id, table_id, table_path, change_type, object_name, object_type,
       impact, discovery_id, detected_at)
     select gen_random_uuid(), company_id, source_id, id, 'p', 'column_added', n, 'column', 'low', id, ${AT}
       from tables, generate_series(1, 10000) n`,
  `insert into deliveries (id, company_id, message_id, destination_id, event_type, body)
     select overlay(gen_random_uuid()::text placing overlay(lpad(to_hex((extract(epoch from ${AT}) * 1000)::bigint), 12, '0')
         placing '-' from 9 for 0) || '-7' from 1 for 15)::uuid, company_id, gen_random_uuid(), id, 'alert.test', '{}'
       from destinations, generate_series(1, 10000) n`,
  `insert into delivery_attempts (delivery_id, n, company_id, trigger, started_at, ended_at, latency_ms)
     select id, 1, company_id, 'test', now(), now(), 1 from deliveries`,
]

t.test(
  'what the latest migrations did can be taken back, with rows there, and done again to the same end',
  async t => {
    const app = await startServer(t, { settings: { ROLE: 'web' } })
    const world = await makeWorld(app)
    await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
    await world.raise()
    // Belongs to a source that was removed.
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
      const there = await shape()
      await knex.transaction(trx => migration.down(trx))
      t.notSame(await shape(), there, migration.name)
    }
    for (const migration of taken) await knex.transaction(trx => migration.up(trx))
    t.strictSame(await shape(), before)
    t.match(await app.query('select cause from alerts'), [{ cause: 'of none' }])

    await t.test(
      'tables full of rows are cut by months and put together again without losing any',
      async t => {
        for (const fill of FILL) await app.query(fill)
        const whole = await Promise.all(PARTITIONED_TABLES.map(sumOf))
        t.strictSame(
          whole.map(({ count }) => count),
          PARTITIONED_TABLES.map(() => 10_000),
        )
        const [cut] = manifest.migrations.filter(({ name }) => name === '0015_growth')
        await knex.transaction(trx => cut!.down(trx))
        t.strictSame(await Promise.all(PARTITIONED_TABLES.map(sumOf)), whole, 'together')
        const cuts = `select relname from pg_class where relnamespace = to_regnamespace('partitions') and relkind = 'r'`
        t.strictSame(await app.query(cuts), [])
        await knex.transaction(trx => cut!.up(trx))
        t.strictSame(await Promise.all(PARTITIONED_TABLES.map(sumOf)), whole, 'cut')
        t.equal((await app.query(cuts)).length, 2 * PARTITIONED_TABLES.length)
        const [next] = await app.query(
          `insert into validity_results (company_id, validity_rule_id, status, execution_duration_ms, checked_at)
           select company_id, id, 'pass', 1, now() from validity_rules limit 1
         returning id > (select max(id) from validity_results) as is_new`,
        )
        t.match(next, { is_new: true }, 'numbers go on')
        const [there] = await app.query('select id from deliveries order by id desc offset 5000 limit 1')
        const scan = await app.query('explain select from deliveries where id = $1', [there?.id])
        t.notMatch(JSON.stringify(scan), /deliveries_later/, 'one month is read where it is known')
      },
    )

    await t.test('badges learn their source, and those of removed sources go', async t => {
      const [added] = manifest.migrations.filter(({ name }) => name === '0019_badges')
      await knex.transaction(trx => added!.down(trx))
      await app.query(
        `insert into badges (id, public_id, company_id, asset_id)
           select gen_random_uuid(), 'of a source', company_id, id from sources limit 1`,
      )
      await app.query(
        `insert into badges (id, public_id, company_id, asset_id)
           select gen_random_uuid(), 'of a table', company_id, id from tables limit 1`,
      )
      await app.query(
        `insert into badges (id, public_id, company_id, asset_id)
           select gen_random_uuid(), 'of none', company_id, gen_random_uuid() from companies limit 1`,
      )
      await knex.transaction(trx => added!.up(trx))
      t.match(
        await app.query(
          `select public_id, (select name from sources s where s.id = b.source_id) as source from badges b order by 1`,
        ),
        [
          { public_id: 'of a source', source: 'full' },
          { public_id: 'of a table', source: 'full' },
        ],
      )
      await app.query('delete from sources')
      t.strictSame(await app.query('select 1 from badges'), [])
    })

    async function sumOf(table: string): Promise<{ count: number }> {
      const [found] = await app.query(
        `select count(*)::int as count, md5(string_agg(r::text, '' order by r::text)) from ${table} r`,
      )
      return found as { count: number }
    }
  },
)
