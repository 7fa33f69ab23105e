import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { maintainPartitions } from '../../../server/database/partitions.ts'
import { leastUuid } from '../../../server/database/months.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { startServer } from '../../helpers/server.ts'
import { makeWorld } from '../../plugins/alerts/world.ts'

const app = await startServer(t)
const { query, server } = app
const TABLES = server.partitions.all().flatMap(({ tables }) => tables)

const now = new Date()
/** The beginning of the month so many after this one. */
const month = (after: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + after, 1))
const suffix = (after: number) => month(after).toISOString().slice(0, 7).replace('-', '_')
const DAY = 86_400_000

/** What a row of each table needs besides the time that it is of. */
async function makeRows() {
  const world = await makeWorld(app)
  const { id: destination } = await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
  const [table] = await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint)
     values (gen_random_uuid(), $1, $2, 'shop', 'public', 'orders', 'shop.shop.public.orders', 'table', '[]', '[]', '')
     returning id`,
    [world.companyId, world.sourceId],
  )
  const of = [world.companyId, world.sourceId, table?.id]
  const [rule] = await query(
    `insert into checks (uuid, company_id, source_id, table_id, type, name, severity, check_interval,
       kind, sensitivity, settings, is_active)
     values (gen_random_uuid(), $1, $2, $3, 'NOT_NULL', 'r', 'info', 'hourly', 'validity', 2, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', false) returning id`,
    of,
  )
  /** One row of each table. @returns the id of the delivery */
  async function add(at: Date, status = 'delivered'): Promise<string> {
    const id = leastUuid(at).slice(0, 24) + randomUUID().slice(24)
    const company = world.companyId
    const times = [company, at]
    await query(
      `insert into check_results (company_id, at, check_id, status, duration_ms) values ($1, $2, $3, 'pass', 1)`,
      [...times, rule?.id],
    )
    await query(
      `insert into schema_changes (company_id, detected_at, id, source_id, table_id, table_path, change_type, object_name,
         object_type, impact, discovery_id)
       values ($1, $2, gen_random_uuid(), $3, $4, 'p', 'column_added', 'c', 'column', 'low', gen_random_uuid())`,
      [...times, world.sourceId, table?.id],
    )
    await query(
      `insert into deliveries (id, company_id, message_id, destination_id, event_type, body, status)
       values ($1, $2, gen_random_uuid(), $3, 'alert.test', '{}', $4)`,
      [id, company, destination, status],
    )
    await query(
      `insert into delivery_attempts (delivery_id, n, company_id, trigger, started_at, ended_at, latency_ms)
       values ($1, 1, $2, 'test', now(), now(), 1)`,
      [id, company],
    )
    return id
  }
  return { add, companyId: world.companyId, ruleId: rule?.id }
}

/** Rows of each table by the partition that they are in, without the table's name: `past`, `2026_11`, `later`. */
async function places(): Promise<Record<string, Record<string, number>>> {
  const found: Record<string, Record<string, number>> = {}
  for (const { table } of TABLES) {
    const counts = await query(
      `select replace(tableoid::regclass::text, 'partitions.${table}_', '') as place, count(*)::int as count
         from ${table} group by 1 order by 1`,
    )
    found[table] = Object.fromEntries(counts.map(({ place, count }) => [place, count]))
  }
  return found
}
const everywhere = (counts: Record<string, number>) =>
  Object.fromEntries(TABLES.map(({ table }) => [table, counts]))
const named = (...ends: string[]) => TABLES.flatMap(({ table }) => ends.map(end => `${table}_${end}`)).sort()
const parts = async () =>
  (
    await query(
      `select relname as name from pg_class where relnamespace = 'partitions'::regnamespace and relkind = 'r' order by 1`,
    )
  ).map(({ name }) => name)

/** Gives each table one more partition: the last but one, or one before all others, in whose place `past` shrinks. */
async function put(name: string, from: Date | null, to: Date | null): Promise<void> {
  for (const { table, isUuid, unique, parent } of TABLES) {
    const bound = (at: Date) => `'${isUuid ? leastUuid(at) : at.toISOString()}'`
    await query(
      `create table partitions.${table}_${name} partition of ${table}
         for values from (${from ? bound(from) : 'minvalue'}) to (${to ? bound(to) : 'maxvalue'})`,
    )
    if (unique) await query(`create unique index on partitions.${table}_${name} (${unique})`)
    await query(`alter table partitions.${table}_${name} owner to tidemark_test`)
    if (parent)
      await query(
        `alter table partitions.${table}_${name} add foreign key (${parent.column}) references partitions.${parent.table}_${name} on delete cascade`,
      )
  }
}
async function remove(name: string): Promise<void> {
  for (const { table } of [...TABLES].reverse()) await query(`drop table partitions.${table}_${name}`)
}

const { add, companyId, ruleId } = await makeRows()

t.test('the coming months are there, and what comes after them is stored too', async t => {
  t.strictSame(await parts(), named('past', suffix(1), suffix(2), 'later'))
  for (const after of [0, 1, 2, 3, 40]) await add(month(after))
  await add(new Date('1999-01-01'))
  t.strictSame(await places(), everywhere({ past: 2, [suffix(1)]: 1, [suffix(2)]: 1, later: 2 }))
})

t.test('a company reads its rows of any month, and no partition by itself', async t => {
  const other = await makeWorld(app)
  const read = (id: string, from: string) =>
    server.db.company(id, async trx => {
      const { rows } = (await trx.raw(`select count(*)::int as count from ${from}`)) as {
        rows: { count: number }[]
      }
      return rows[0]?.count
    })
  for (const { table } of TABLES) {
    t.equal(await read(companyId, table), 6)
    t.equal(await read(other.companyId, table), 0)
    for (const end of ['past', suffix(1), 'later'])
      await t.rejects(read(companyId, `partitions.${table}_${end}`), { code: '42501' }, `${table}_${end}`)
  }
})

t.test('what a restore without privileges lets others do is taken back at the next start', async t => {
  await query(`grant usage on schema partitions to public; grant select on partitions.deliveries_past to public;
    grant execute on function rare_tables to public`)
  await app.startTwin()
  const rights = await query(
    `select nspacl::text as text from pg_namespace where nspname = 'partitions' union all
     select relacl::text from pg_class where relname = 'deliveries_past' union all
     select proacl::text from pg_proc where proname = 'rare_tables'`,
  )
  t.equal(rights.length, 3)
  for (const { text } of rights) t.notMatch(text, /[{,]=/)
})

t.test('a month that has come near is cut out of the last partition, with the rows in it, once', async t => {
  for (const end of [suffix(1), suffix(2), 'later']) await remove(end)
  await put('later', month(1), null)
  await query('delete from check_results')
  for (const after of [1, 2, 2, 3]) await add(month(after))
  const before = await places()
  t.match(before, { deliveries: { past: 2, later: 4 } })
  const twin = await app.startTwin()
  t.strictSame(
    await parts(),
    named('past', suffix(1), suffix(2), 'later'),
    'a process that starts sees to it',
  )
  t.match(await places(), {
    ...everywhere({ past: 2, [suffix(1)]: 1, [suffix(2)]: 2, later: 1 }),
    check_results: { [suffix(1)]: 1, [suffix(2)]: 2, later: 1 },
  })
  const [made] = await query(
    `insert into check_results (company_id, check_id, status, duration_ms, at)
     values ($1, $2, 'pass', 1, now()) returning id > all(select r.id from check_results r) as is_new`,
    [companyId, ruleId],
  )
  t.match(made, { is_new: true }, 'and numbers go on')

  for (const end of [suffix(2), 'later']) await remove(end)
  await put('later', month(2), null)
  const [one, other] = await Promise.all([
    maintainPartitions(server, { tries: 9 }),
    maintainPartitions(twin, { tries: 9 }),
  ])
  t.strictSame([...one.made, ...other.made].sort(), named(suffix(2)), 'of two at once, one does it')
})

t.test('a server starts although partitions cannot be made, and reads bounds in any style', async t => {
  for (const end of [suffix(2), 'later']) await remove(end)
  await put('later', month(2), null)
  await query(`create table partitions.check_results_${suffix(2)} ()`)
  await app.startTwin()
  await query(`drop table partitions.check_results_${suffix(2)}`)
  const [{ name }] = (await query('select current_database() as name')) as [{ name: string }]
  await query(`alter database ${name} set datestyle = 'SQL, DMY'`)
  const twin = await app.startTwin()
  await query(`alter database ${name} reset datestyle`)
  t.strictSame(await parts(), named('past', suffix(1), suffix(2), 'later'))
  t.strictSame((await maintainPartitions(twin)).dropped, [])
})

const since = (days: number) => new Date(now.getTime() - days * DAY)

/** As of an installation that is older: with months from one on, after what was there before. */
async function age(first: number): Promise<void> {
  await remove('past')
  await put('past', null, month(first))
  for (let after = first; after <= 0; after += 1) await put(suffix(after), month(after), month(after + 1))
}

t.test('what is older than is kept goes, months as a whole, and nothing younger', async t => {
  await age(-20)
  const old = month(-21)
  for (const at of [old, month(-20), since(440), since(401), since(399), now]) await add(at)
  const held = await add(month(-19), 'pending')
  const twin = await app.startTwin()
  const upkeeps = await Promise.all([
    maintainPartitions(server, { batch: 1, tries: 9 }),
    maintainPartitions(twin, { batch: 1, tries: 9 }),
  ])
  const gone = Array.from({ length: 30 }, (_, index) => index - 20).filter(
    after => month(after + 1) <= since(400),
  )
  const whole = named('past', ...gone.map(suffix)).filter(
    name => !/^deliver/.test(name) || !name.endsWith(suffix(-19)),
  )
  t.strictSame(upkeeps.flatMap(({ dropped }) => dropped).sort(), whole)
  const counts = await query(`select count(*)::int as count, min(at) >= $1 as is_young from check_results`, [
    month(gone.at(-1)! + 1),
  ])
  t.match(counts, [{ is_young: true }])
  for (const { table, by } of TABLES.filter(({ isUuid }) => !isUuid)) {
    const [left] = await query(`select count(*)::int as count from ${table} where ${by} = any($1)`, [
      [since(399), now],
    ])
    t.match(left, { count: 2 }, `${table} has what is younger`)
  }
  const kept = await query(`select id from deliveries where status = 'pending' order by id`)
  t.match(kept, [{ id: held }], 'what is on its way stays, however old it is')
  t.match(await query('select delivery_id from delivery_attempts where delivery_id = $1', [held]), [{}])
})

t.test('rows from before the first month go one by one once they are too old', async t => {
  for (const end of (await parts()).flatMap(
    name => /^check_results_(\d+_\d+)$/.exec(String(name))?.[1] ?? [],
  ))
    if (end <= suffix(0))
      for (const { table } of [...TABLES].reverse())
        await query(`drop table if exists partitions.${table}_${end}`)
  for (const { table } of [...TABLES].reverse())
    await query(`drop table if exists partitions.${table}_${suffix(-19)}`)
  await put('past', null, month(1))
  for (const days of [500, 402, 401]) await add(since(days))
  for (const days of [399, 30]) await add(since(days))
  const held = await add(since(450), 'pending')
  const { deleted, dropped } = await maintainPartitions(server, { batch: 2 })
  t.strictSame(dropped, [])
  t.match(deleted, { check_results: 4, schema_changes: 4, deliveries: 3 })
  t.match(await places(), {
    ...everywhere({ past: 2 }),
    deliveries: { past: 3 },
    delivery_attempts: { past: 3 },
  })
  t.match(await query(`select id from deliveries where status = 'pending'`), [{ id: held }])
  const again = await maintainPartitions(server, { signal: AbortSignal.abort() })
  t.match(again, { made: [], dropped: [], deleted: {}, waiting: [] })
})

t.test('who is at a table for long is not waited for, and the next time does it', async t => {
  for (const end of [suffix(2), 'later']) await remove(end)
  await put('later', month(2), null)
  const { host, port, user, password } = await testCluster()
  const [here] = await query('select current_database() as name')
  const client = new pg.Client({ host, port, user, password, database: String(here?.name) })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin; select count(*) from check_results; select count(*) from checks')
  const busy = await maintainPartitions(server, { tries: 1 })
  t.strictSame(busy.waiting, ['check_results'])
  t.strictSame(
    busy.made.toSorted(),
    named(suffix(2)).filter(name => !name.startsWith('check_results')),
  )
  await client.query('commit')
  t.strictSame((await maintainPartitions(server, { tries: 1 })).made, [`check_results_${suffix(2)}`])
})
