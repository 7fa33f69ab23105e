import t, { type Test } from 'tap'
import { formatName } from '../../../../connectors/catalog.ts'
import { sql } from '../../../../connectors/sql.ts'
import { applyJob } from '../../../../plugins/recommendations/watch/jobs.ts'
import { profileJob } from '../../../../plugins/profiles/job.ts'
import { ENGINES, startEngines, type Engine, type Place } from '../../freshness/engines.ts'
import { explicit } from '../../freshness/worlds.ts'

const { server, tenant, query, place } = await startEngines(t)
const [postgresql, mysql] = ENGINES as [Engine, Engine]

const AT = '2025-07-10T12:00:00Z'
const RAISED = /raised an error as if|could not run|its definer/

/** SQLSTATEs that a server also replies with when it ends, refuses or cannot take a session. */
const SQLSTATES = ['08001', '08006', '08p01', '28000', '28p01', '57p01', '57p03', '53300', '25p03', 'xx001']
/** Numbers of errors that MariaDB also replies with when it ends, refuses or cannot take a session. */
const ERRNOS = [1040, 1045, 1053, 1129, 1158, 1203, 1226, 1927, 2006, 2013]

/** Tables that can be read, `orders` and `zebras`, and what raises an error when it is read. */
const TABLES: Record<string, { statements: readonly string[]; broken: readonly string[] }> = {
  postgresql: {
    statements: [
      ...SQLSTATES.flatMap(state => [
        `create function fail_${state}() returns timestamptz language plpgsql stable as
           $$ begin raise exception 'it went wrong' using errcode = '${state.toUpperCase()}'; end $$`,
        `create view raises_${state} as select id, updated_at from orders where fail_${state}() is not null`,
      ]),
      'create extension postgres_fdw',
      `create server away foreign data wrapper postgres_fdw options (host '127.0.0.1', port '1', dbname 'x')`,
      `create user mapping for public server away options (user 'x', password 'x')`,
      'create foreign table remote_events (id int, updated_at timestamptz) server away',
      'create table parted (id int, updated_at timestamptz) partition by range (id)',
      'create table parted_near partition of parted for values from (0) to (10)',
      'insert into parted values (1, now())',
      'create foreign table parted_away partition of parted for values from (10) to (20) server away',
    ],
    broken: [...SQLSTATES.map(state => `raises_${state}`), 'remote_events', 'parted'],
  },
  mysql: {
    statements: ERRNOS.flatMap(errno => [
      // Without the right to execute it, the view is not listed.
      'grant execute on *.* to public',
      `create function fail_${errno}(n int) returns int begin
         signal sqlstate '08S01' set mysql_errno = ${errno}, message_text = 'Lost connection to MySQL server';
         return n;
       end`,
      `create view raises_${errno} as select id, updated_at from orders where fail_${errno}(id) = 1`,
    ]),
    broken: ERRNOS.map(errno => `raises_${errno}`),
  },
}

async function raisingPlace(t: Test, engine: Engine): Promise<Place & { broken: readonly string[] }> {
  const { statements, broken } = TABLES[engine.name]!
  const healthy = ['orders', 'zebras'].flatMap(name => [
    `create table ${name} (id int primary key, updated_at ${engine.type.moment})`,
    `insert into ${name} values (1, ${engine.moment(AT)})`,
  ])
  return { ...(await place(t, engine, [...healthy, ...statements])), broken }
}

for (const engine of [postgresql, mysql])
  void t.test(
    `${engine.name}: an error raised by a table is of that table, whatever its code`,
    { skip: engine.absent },
    async t => {
      const world = await raisingPlace(t, engine)
      const { source, broken, at } = world
      const asset = `/api/v1/sdk/assets/${source.id}`

      const asked = await tenant.ask('POST', `${asset}/profile`, {})
      await server.jobs.settled(profileJob, data => data.run_id === asked.body.data.job_id)
      const job = (await tenant.ask('GET', `/api/v1/sdk/jobs/${asked.body.data.job_id}`)).body.data
      t.match(job, { status: 'completed', error_message: null })
      const findings = job.result.findings as { asset: string; status: string; message: string }[]
      const finding = (table: string) => findings.find(one => one.asset.endsWith(`.${table}`))
      t.match(finding('zebras'), { status: 'profiled' }, 'the healthy table is profiled')
      for (const table of broken) t.match(finding(table), { status: 'error', message: RAISED }, table)

      const ids: string[] = []
      for (const table of ['orders', 'zebras', ...broken])
        ids.push(await world.watch(table, { ...explicit('24h'), freshness_column: 'updated_at' }))
      await world.sweep(ids)
      t.match(
        await world.record('zebras'),
        { status: 'stale', error_message: null },
        'the healthy one is measured',
      )
      for (const table of broken)
        t.match(
          await world.record(table),
          { status: 'unknown', readiness: 'error', error_message: RAISED },
          table,
        )

      for (const table of ['zebras', ...broken]) {
        const { body } = await tenant.ask('POST', '/api/v1/sdk/validity/dry-run', {
          ...{ asset_id: source.id, table_path: formatName([...at, table]) },
          ...{ rule_type: 'NOT_NULL', column_name: 'updated_at' },
        })
        const expected = table === 'zebras' ? { status: 'pass' } : { status: 'error', error_message: RAISED }
        t.match(body.data, expected, `${table}: ${JSON.stringify(body.error ?? '')}`)
      }

      t.match((await tenant.ask('GET', asset)).body.data, { connection_status: 'connected' })
      const [breaker] = await query('select connection_failures, dial_after from sources where id = $1', [
        source.id,
      ])
      t.match(breaker, { connection_failures: 0, dial_after: null }, 'scheduled work of the source goes on')
    },
  )

t.test('a watched source has profiles of all tables but those that raise errors', async t => {
  const { source, broken } = await raisingPlace(t, postgresql)
  const settled = server.jobs.settled(applyJob, data => data.source_id === source.id)
  t.match(await tenant.ask('POST', `/api/v1/sdk/assets/${source.id}/watch`, { level: 'standard' }), {
    status: 200,
  })
  await settled
  const profiled = await query(
    'select distinct t.name from profiles p join tables t on t.id = p.table_id where t.source_id = $1',
    [source.id],
  )
  const names = profiled.map(row => String(row.name))
  t.ok(names.includes('orders') && names.includes('zebras'), names.join())
  t.notOk(
    broken.some(name => names.includes(name)),
    'a table that cannot be read has none',
  )
})

t.test('an error that ends the session is the connection’s', async t => {
  const { source } = await place(t, postgresql, [
    'create table orders (id int primary key)',
    'create view ends as select id from orders where pg_terminate_backend(pg_backend_pid())',
    'insert into orders values (1)',
  ])
  const { catalog } = server.plugins
  const { source: found } = await server.db.company(tenant.companyId, trx =>
    catalog.findAsset(trx, source.id),
  )
  const asked = catalog.withConnection(
    found,
    connection => connection.query(sql`select id from ends`, { timeoutMs: 10_000 }),
    { purpose: 'scan' },
  )
  await t.rejects(asked, { kind: 'network', code: '57P01' })
})
