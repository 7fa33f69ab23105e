import t from 'tap'
import { profileJob } from '../../../../plugins/profiles/job.ts'
import { requireByteLimit } from '../../../../plugins/catalog/sources/byte-limit.ts'
import { openedWith } from '../../../helpers/extensions/limiting-engine.ts'
import { logMariadb, logPostgresql, type StatementLog } from '../../../helpers/statement-log.ts'
import { mariadbAbsent, startShop } from '../../../helpers/mariadb.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t, {
  settings: { EXTENSIONS: new URL('../../../helpers/extensions/limiting-engine.ts', import.meta.url).href },
})

const LIMIT = 10 * 1024 * 1024
const REFUSED =
  /^The statement would read about [\d.]+ MB, and max_bytes_per_statement of the source allows 10\.5 MB; it was not run: read less of the table with a window, or raise the limit/

/** What checks of a source need. */
function checksOf({ tenant, asset }: Pick<World, 'tenant' | 'asset'>) {
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await tenant.ask(method, `/api/v1/sdk/${path}`, body)
    if (reply.status >= 400) throw new Error(JSON.stringify(reply.body))
    return reply.body.data
  }
  const make = (path: 'metrics' | 'validity', body: object) =>
    ask('POST', `${path}/${asset.id}`, { table_path: 'big', ...body })
  return {
    ask,
    make,
    limit: (bytes: number | null) => ask('PATCH', `assets/${asset.id}`, { max_bytes_per_statement: bytes }),
    /** Makes a metric and captures it. @returns the snapshot */
    async capture(body: object) {
      const { id } = await make('metrics', body)
      await ask('POST', `metrics/${asset.id}/${id}/capture`)
      return (await ask('GET', `metrics/${asset.id}/${id}/snapshots`)).items[0]
    },
    runAll: async () => {
      const [table] = await stage.app.query(`select id from tables where source_id = $1 and name = 'big'`, [
        asset.id,
      ])
      return stage.app.server.plugins.checks.runTable(tenant.companyId, String(table?.id), 'active')
    },
  }
}

/** A table of 12 MB, of which one day is small, and a table that is small. */
async function startBig(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, [
    'create table big (created_at timestamp not null, n int, note text) partition by range (created_at)',
    `create table big_old partition of big for values from (minvalue) to ('2026-01-01')`,
    `create table big_new partition of big for values from ('2026-01-01') to (maxvalue)`,
    `insert into big select timestamp '2025-06-01' + i % 100 * interval '1 day', i, repeat('x', 200)
      from generate_series(1, 50000) i`,
    `insert into big select now() at time zone 'utc' - interval '1 day', i, 'x' from generate_series(1, 100) i`,
    'create table small as select 1 as n',
    'analyze big',
    'analyze small',
    `create function tripwire(int) returns boolean language plpgsql immutable as
      $$ begin raise exception 'tripwire was run'; end $$`,
  ])
  await discover(world)
  return { ...world, ...checksOf(world) }
}

/** What was sent of the rows of the big table, without plans. */
async function readings(log: StatementLog): Promise<string[]> {
  const { statements } = await log.take()
  const texts = statements.map(({ text }) => text.trim())
  return texts.filter(
    text => /\bbig\b/.test(text) && !/^explain|pg_catalog|information_schema|where 1 = 0/i.test(text),
  )
}

t.test('a source takes a limit and gives it back', async t => {
  const { ask, asset, limit, tenant } = await startBig(t)
  t.equal((await ask('GET', `assets/${asset.id}`)).max_bytes_per_statement, null)
  t.equal((await limit(LIMIT)).max_bytes_per_statement, LIMIT)
  t.equal((await ask('GET', `assets/${asset.id}`)).max_bytes_per_statement, LIMIT)
  t.equal((await limit(null)).max_bytes_per_statement, null)
  const few = await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { max_bytes_per_statement: 5 })
  t.equal(few.status, 400)
})

t.test('an engine that neither estimates nor limits bytes takes no limit', async t => {
  const limited = { max_bytes_per_statement: LIMIT }
  t.throws(() => requireByteLimit({ label: 'SQLite', capabilities: {} }, limited), /SQLite does not estimate/)
  t.doesNotThrow(() => requireByteLimit({ label: 'SQLite', capabilities: {} }, {}))
  t.doesNotThrow(() => requireByteLimit({ label: 'BigQuery', capabilities: { byteLimit: true } }, limited))
})

t.test('a statement that would read more is not run, and its checks say why', async t => {
  const { capture, limit, source } = await startBig(t)
  await limit(LIMIT)
  const log = await logPostgresql(source)
  t.match(await capture({ metric_type: 'row_count' }), { value: null, error_message: REFUSED })
  t.strictSame(await readings(log), [])
  const windowed = { time_column: 'created_at', window: '1d', revisit: 0 }
  t.match(await capture({ metric_type: 'row_count', ...windowed }), { value: 100, error_message: null })
  t.equal((await readings(log)).length, 1)
  t.match(await capture({ metric_type: 'row_count', table_path: 'small' }), { value: 1 })
  await limit(1_000_000_000)
  t.match(await capture({ metric_type: 'max_value', column_name: 'n' }), { value: 50_000 })
})

t.test('many checks are refused after few estimates; those that read less are measured', async t => {
  const { limit, make, runAll, source, asset } = await startBig(t)
  for (const metric_type of ['min_value', 'max_value', 'mean', 'sum', 'standard_deviation', 'null_percent'])
    await make('metrics', { metric_type, column_name: 'n' })
  for (const metric_type of ['min_length', 'mean_length', 'max_length'])
    await make('metrics', { metric_type, column_name: 'note' })
  const statuses = () =>
    stage.app.query(
      `select type = 'UNIQUE' as is_unique, status, count(*)::int from checks where source_id = $1
       group by 1, 2 order by 1`,
      [asset.id],
    )
  await limit(LIMIT)
  const log = await logPostgresql(source)
  await runAll()
  t.match(await statuses(), [{ status: 'error', count: 9 }])
  const { statements } = await log.take()
  const plans = statements.filter(({ text }) => /^explain/i.test(text))
  t.equal(plans.length, 3, 'of all, and of both halves, which read as much')
  await make('validity', { rule_type: 'UNIQUE', column_name: 'note' })
  await limit(2 * LIMIT)
  await runAll()
  t.match(
    await statuses(),
    [
      { is_unique: false, status: 'pass', count: 9 },
      { is_unique: true, status: 'error', count: 1 },
    ],
    'UNIQUE reads the table once more',
  )
})

t.test('without a limit no statement is sent for it', async t => {
  const { capture, source } = await startBig(t)
  const log = await logPostgresql(source)
  await capture({ metric_type: 'row_count' })
  const { statements } = await log.take()
  t.equal(statements.length, 1)
})

t.test('functions of a user are not called for the estimate', async t => {
  const { capture, limit } = await startBig(t)
  await limit(LIMIT)
  for (const body of [
    { metric_type: 'row_count', filter: 'tripwire(1)' },
    { metric_type: 'custom_sql', sql_expression: 'sum(case when tripwire(1) then 1 else 0 end)' },
    { metric_type: 'custom_sql', sql_expression: 'select count(*) as n from big where tripwire(1)' },
  ])
    t.match(await capture(body), { error_message: REFUSED }, JSON.stringify(body))
})

t.test('dry runs, the past of new checks, profiles and freshness keep to it', async t => {
  const { ask, asset, limit, make, source } = await startBig(t)
  await limit(LIMIT)
  const log = await logPostgresql(source)
  const body = { table_path: 'big', metric_type: 'row_count' }
  const tried = await ask('POST', 'metrics/dry-run', { asset_id: asset.id, ...body })
  t.match(tried, { status: 'ERROR', error_message: REFUSED })
  t.ok(tried.cost.whole_table.bytes > LIMIT, 'and say what it would have cost')
  const { backfill } = await ask('POST', `metrics/${asset.id}`, { ...body, backfill_days: 7 })
  t.match(backfill.message, /^The past could not be read: The statement would read about/)
  await make('validity', { rule_type: 'NOT_NULL', column_name: 'n' })
  const [table] = await stage.app.query(`select id from tables where source_id = $1 and name = 'big'`, [
    asset.id,
  ])
  const { job_id: job } = await ask('POST', `assets/${String(table?.id)}/profile`)
  await stage.app.server.jobs.settled(profileJob, data => data.run_id === job)
  t.match(JSON.stringify(await ask('GET', `jobs/${job}`)), /The statement would read about/)
  await ask('POST', 'freshness/schedules', {
    asset_id: table?.id,
    freshness_column: 'created_at',
    ...{ monitoring_mode: 'explicit', sla_threshold: '24h', check_interval: '1h' },
  })
  t.match(
    JSON.stringify(await ask('GET', `freshness/${String(table?.id)}`)),
    /The statement would read about/,
  )
  const read = await readings(log)
  t.strictSame(
    read.filter(text => !/tablesample system/.test(text)),
    [],
    'a profile reads a sample that is small enough',
  )
})

t.test('an engine that limits bytes itself gets the limit, and estimates nothing', async t => {
  const { source } = await startBig(t)
  const made = await stage.tenant.ask('POST', '/api/v1/sdk/assets', {
    ...{ name: 'limiting', source_type: 'limiting', connection_config: source.config },
    max_bytes_per_statement: LIMIT,
  })
  const asset = made.body.data
  t.teardown(() => stage.tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`))
  await discover({ ...stage, asset })
  const log = await logPostgresql(source)
  t.match(await checksOf({ ...stage, asset }).capture({ metric_type: 'row_count' }), { value: 50_100 })
  t.equal((await log.take()).statements.length, 1)
  t.strictSame([...new Set(openedWith)], [LIMIT])
})

t.test('MariaDB refuses by the rows of its plan', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query(
    `create table big (at datetime, n int, note varchar(300)) partition by range columns (at)
      (partition old values less than ('2026-01-01'), partition new values less than (maxvalue))`,
  )
  await shop.query(
    `insert into big select '2025-06-01' + interval seq % 100 day, seq, repeat('x', 250) from seq_1_to_60000`,
  )
  await shop.query(`insert into big select utc_timestamp() - interval 1 day, seq, 'x' from seq_1_to_100`)
  await shop.query('analyze table big')
  await shop.query(
    `create function tripwire(n int) returns int deterministic no sql
      begin signal sqlstate '45000' set message_text = 'tripwire was run'; return 1; end`,
  )
  await shop.query(`grant execute on ${shop.name}.* to ${shop.config.username}`)
  const { tenant } = stage
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'mariadb',
    source_type: 'mysql',
    connection_config: { ...shop.config, ssl: 'disable' },
  })
  const asset = made.body.data
  t.teardown(() => tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`))
  await discover({ app: stage.app, tenant, asset })
  const { capture, limit } = checksOf({ tenant, asset })
  await limit(LIMIT)
  const log = await logMariadb(t, shop)
  t.match(await capture({ metric_type: 'row_count' }), { value: null, error_message: REFUSED })
  t.match(await capture({ metric_type: 'row_count', filter: 'tripwire(1) = 1' }), {
    error_message: REFUSED,
  })
  t.strictSame(await readings(log), [])
  const windowed = { time_column: 'at', window: '1d', revisit: 0 }
  t.match(await capture({ metric_type: 'row_count', ...windowed }), { value: 100 })
})
