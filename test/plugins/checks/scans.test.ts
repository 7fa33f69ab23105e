import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { withSlot } from '../../../plugins/catalog/sources/session-slots.ts'
import { sourceJobKind } from '../../../plugins/checks/source-jobs.ts'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { running } from '../../helpers/source.ts'
import { jobContext, workOf } from '../../helpers/job-context.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const checkJob = sourceJobKind('freshness')

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const ORDERS = [
  `create table orders (id int primary key, email text, total int)`,
  `insert into orders values (1, 'ann@x.org', 10), (2, null, -5), (3, 'bad', 20)`,
  `create view visits as select timestamptz '2025-01-01' as updated_at`,
  // Each row takes a while, so that a scan is there to be seen.
  `create view slow as select o.*, pg_sleep(0.2) is null as waited from orders o`,
]

const holding = { purpose: 'scan', takeUse: () => null, outcome: () => undefined } as const
const IMPATIENT = { waitMs: 0, reservedSlots: 0, isScheduled: false, holding } as const

async function ordersWorld(t: Parameters<typeof makeWorldOn>[0], on = stage) {
  const world = await makeWorldOn(t, on, ORDERS)
  await discover(world)
  const { tenant, asset } = world
  const rules = `/api/v1/sdk/validity/${asset.id}`
  return {
    ...world,
    rules,
    /** Waits for the first scan of the rules’ table by the clock, and gives how it ended. */
    async scanned() {
      const [row] = await world.app.query('select table_id from checks')
      return world.app.server.jobs.settled(scanJob, ({ table_id }) => table_id === row?.table_id)
    },
    async make(body: object): Promise<string> {
      const made = await tenant.ask('POST', rules, {
        rule_type: 'NOT_NULL',
        table_path: 'orders',
        column_name: 'email',
        ...body,
      })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.data.uuid as string
    },
    check: (rule: string, body: object = {}) => tenant.ask('POST', `${rules}/${rule}/check`, body),
    change: (body: object) => tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, body),
  }
}

t.test(
  'no more sessions are open at a source than its max_concurrency, for all callers together',
  async t => {
    const { make, check, change, source, app } = await ordersWorld(t)
    const rule = await make({ table_path: 'slow', column_name: 'waited' })
    t.match((await change({ max_concurrency: 2 })).body.data, { max_concurrency: 2 })
    const asked = Promise.all(Array.from({ length: 6 }, () => check(rule)))
    let most = 0
    let isDone = false
    void asked.finally(() => (isDone = true))
    while (!isDone) {
      most = Math.max(most, await running(source))
      await wait(20)
    }
    for (const { status, body } of await asked) t.match([status, body.data?.status], [200, 'pass'])
    t.equal(most, 2, 'two at once and never three')
    t.same(await app.query('select * from source_sessions'), [], 'all places are given back')
  },
)

t.test('the place of a process that died is free when its lease has ended', async t => {
  const { make, check, change, app, asset, tenant } = await ordersWorld(t)
  const rule = await make({})
  await change({ max_concurrency: 1 })
  await app.query(
    `insert into source_sessions select $1, $2, 1, gen_random_uuid(), now() + interval '1 second'`,
    [tenant.companyId, asset.id],
  )
  t.match((await check(rule)).body.data, { status: 'fail', invalid_count: 1 })
})

t.test('a source that is switched off is not asked, and what was missed runs once it is on', async t => {
  const { make, check, change, scanned, app } = await ordersWorld(t)
  const rule = await make({ check_interval: 'hourly' })
  const { checks } = app.server.plugins
  t.same(await checks.dispatch(), { tables: 1 })
  t.equal(await scanned(), 'completed')
  await app.query(`update checks set next_run_at = now() - interval '1 minute'`)
  await change({ is_active: false })
  t.same(await checks.dispatch(), { tables: 0 }, 'nothing is claimed')
  const refused = await check(rule)
  t.match(
    [refused.status, refused.body.error],
    [409, { code: 'CONFLICT', message: /switched off.*is_active/ }],
  )

  await change({ is_active: true })
  // Switched off between the claim and the job.
  await app.query(`update checks set running_slot = next_run_at, next_run_at = now() + interval '59 min'`)
  await change({ is_active: false })
  const [{ table_id: tableId, company_id: companyId } = {}] = await app.query(
    'select table_id, company_id from checks',
  )
  t.same(await checks.runTable(String(companyId), String(tableId), 'claimed'), { checks: 0, statements: 0 })
  await change({ is_active: true })
  t.same(await checks.dispatch(), { tables: 1 }, 'its slot was handed back')
  const recorded = () => app.query('select from check_results where scheduled_for is not null')
  while ((await recorded()).length < 2) await wait(50)
  t.equal((await recorded()).length, 2)
})

t.test('while all sessions of a source are in use, what is due waits and nothing is lost', async t => {
  const { make, check, app, asset, tenant } = await ordersWorld(t)
  const rule = await make({ check_interval: 'weekly' })
  await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: asset.id,
    table_path: 'visits',
    check_interval: '1w',
  })
  const [{ table_id: tableId } = {}] = await app.query(`select table_id from checks where kind = 'validity'`)
  const slot = new Date(Date.now() - 3_600_000)
  const next = `next_run_at = cast($1 as timestamptz) + interval '7 days'`
  await app.query(`update checks set running_slot = $1, ${next}`, [slot])
  // A sweep that came first may have checked the new schedule.
  const takeFree = () =>
    app.query(
      `insert into source_sessions select $1, $2, n, '00000000-0000-4000-8000-000000000000', now() + interval '10 min'
       from generate_series(1, 2) n on conflict do nothing returning 1`,
      [tenant.companyId, asset.id],
    )
  for (let taken = 0; taken < 2; taken += (await takeFree()).length) await wait(50)
  const { server } = app
  const slots = { from: slot.toISOString(), to: slot.toISOString() }
  const ids = { company_id: tenant.companyId, source_id: asset.id, slots }
  const [refused, untested, made] = await Promise.all([
    check(rule),
    tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`),
    make({ rule_type: 'REGEX', rule_config: { pattern: '@' }, name: 'made meanwhile' }),
    server.plugins.checks.runTable(tenant.companyId, String(tableId), 'claimed'),
    workOf(server, checkJob)(ids, jobContext(server)),
  ])
  t.match(refused, {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: { code: 'UNAVAILABLE', message: /All 2 sessions of shop are in use.*max_concurrency/ } },
  })
  t.match(untested, { status: 503, body: { error: { code: 'UNAVAILABLE' } } }, 'a test is a session too')
  const results = await app.query('select c.kind from check_results r join checks c on c.id = r.check_id')
  t.same(
    results,
    [{ kind: 'freshness' }],
    'but for the first check of the schedule, nothing is said of the tables',
  )
  t.match(made, /^v_/, 'what the engine was to be asked is found out at the first check')
  await app.query(`delete from checks where name = 'made meanwhile'`)
  const due = { claimed: null, next_run_at: slot }
  t.same(await app.query('select running_slot as claimed, next_run_at from checks'), [due, due])
})

t.test('a source whose max_concurrency was lowered opens none before enough have ended', async t => {
  const { change, app, asset, tenant } = await ordersWorld(t)
  await change({ max_concurrency: 3 })
  await app.query(
    `insert into source_sessions select $1, $2, n, gen_random_uuid(), now() + interval '10 min'
     from generate_series(2, 3) n`,
    [tenant.companyId, asset.id],
  )
  await change({ max_concurrency: 2 })
  const { server } = app
  const { source } = await server.db.company(tenant.companyId, trx =>
    server.plugins.catalog.findAsset(trx, asset.id),
  )
  await t.rejects(
    withSlot(server, source, async () => t.fail('a third session'), IMPATIENT),
    /All 2 sessions/,
  )
  await app.query('delete from source_sessions where place = 3')
  t.equal(await withSlot(server, source, async () => 'done', IMPATIENT), 'done')
})

t.test(
  'a rule that is switched off closes its alert, and what is being measured is not recorded',
  async t => {
    const { make, check, rules, app, source, tenant } = await ordersWorld(t)
    const kept = await make({ table_path: 'slow', column_name: 'waited' })
    const rule = await make({ table_path: 'slow' })
    t.match((await check(rule)).body.data, { status: 'fail' })
    await app.query('update checks set running_slot = next_run_at, next_run_at = now() + $1', ['1 day'])
    const [{ table_id: tableId } = {}] = await app.query('select table_id from checks')
    const scanned = app.server.plugins.checks.runTable(tenant.companyId, String(tableId), 'claimed')
    while ((await running(source)) === 0) await wait(10)
    await tenant.ask('PATCH', `${rules}/${rule}`, { is_active: false })
    t.match(await app.query('select status from alerts'), [{ status: 'resolved' }])
    await scanned
    const recorded = await app.query(
      `select 'v_' || uuid as rule from check_results join checks r on r.id = check_id
       order by check_results.id`,
    )
    t.same(recorded, [{ rule }, { rule: kept }], 'the one by hand, and the one of the rule that is on')
    t.match(await app.query('select status, occurrences from alerts'), [
      { status: 'resolved', occurrences: 1 },
    ])
  },
)

t.test('scans missed while no process ran are made up for once, and the interval keeps its grid', async t => {
  const { make, scanned, app } = await ordersWorld(t)
  await make({ check_interval: 'hourly' })
  await make({ check_interval: 'weekly', name: 'weekly' })
  await app.query(`update checks set next_run_at = case check_interval
    when 'hourly' then date_trunc('hour', now()) - interval '3 hours' + interval '7 minutes'
    else date_trunc('week', now()) - interval '3 weeks' + interval '7 minutes' end`)
  const { checks } = app.server.plugins
  t.same(await checks.dispatch(), { tables: 1 })
  t.same(await checks.dispatch(), { tables: 0 })
  t.equal(await scanned(), 'completed')
  t.equal((await app.query('select from check_results')).length, 2, 'once each')
  const [grid] =
    await app.query(`select bool_and(next_run_at > now() and extract(minute from next_run_at) = 7) as kept,
    bool_and(next_run_at <= now() + case check_interval when 'hourly' then interval '1 hour' else interval '7 days' end) as next
    from checks`)
  t.match(grid, { kept: true, next: true })
})

t.test('three processes run every due check once a slot, however they meet', async t => {
  const { make, app, source, asset, tenant } = await ordersWorld(t, await makeStage(t))
  for (const n of [1, 2, 3, 4]) await source.query(`create table part${n} as select * from orders`)
  await discover({ app, tenant, asset })
  for (const n of [1, 2, 3, 4]) {
    for (const type of ['NOT_NULL', 'UNIQUE'])
      await make({ table_path: `part${n}`, rule_type: type, check_interval: 'hourly' })
  }
  const servers = [app.server, await app.startTwin(), await app.startTwin()]
  // Two months may each have a row of the same slot: no index prevents such duplicates.
  await app.query('drop index partitions.check_results_past_check_id_series_scheduled_for_idx')
  for (const hours of [5, 2]) {
    await app.query(`update checks set next_run_at = now() - $1 * interval '1 hour'`, [hours])
    const sent = await Promise.all(
      servers.flatMap(({ plugins: { checks } }) => [checks.dispatch(), checks.dispatch()]),
    )
    t.ok(sent.reduce((sum, { tables }) => sum + tables, 0) >= 4)
    for (let isDone = false; !isDone; await wait(50)) {
      const [waiting] = await app.query(
        'select count(*)::int as n from checks where running_slot is not null',
      )
      isDone = waiting?.n === 0
    }
  }
  const [counted] = await app.query(
    `select count(*)::int as results, count(distinct (check_id, scheduled_for))::int as slots,
       count(distinct check_id)::int as rules from check_results`,
  )
  t.same(counted, { results: 16, slots: 16, rules: 8 })
})

t.test('a source lets itself be asked no more than its access level says', async t => {
  const { make, check, change, tenant, asset, app } = await ordersWorld(t)
  const rule = await make({})
  t.match((await check(rule)).body.data.invalid_samples.samples, [{ row_id: 2 }])
  t.match((await change({ query_access_level: 'aggregates' })).body.data, {
    query_access_level: 'aggregates',
    effective_access_level: 'aggregates',
  })
  t.match((await check(rule)).body.data, { invalid_count: 1, invalid_samples: { samples: [] } })
  await change({ query_access_level: 'schema_only' })
  t.match((await check(rule)).body.data, {
    status: 'error',
    error_message: /schema_only.*aggregates or full/,
  })
  t.equal((await change({ query_access_level: 'all' })).status, 400)
  const schedule = { asset_id: asset.id, table_path: 'visits', freshness_column: 'updated_at' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', schedule)).status, 201)
  t.match(
    await app.query(`select settings ->> 'lastError' as last_error, settings ->> 'lastUpdated' as last_updated
       from checks where kind = 'freshness'`),
    [{ last_error: /schema_only.*updated_at needs aggregates or full/, last_updated: null }],
  )
})

t.test('a source has a statement timeout of its own, and the engine keeps it', async t => {
  const { make, check, change, source } = await ordersWorld(t)
  await source.query(
    `create or replace view slow as select o.*, pg_sleep(30) is null as waited from orders o`,
  )
  const rule = await make({ table_path: 'slow', column_name: 'waited' })
  await change({ statement_timeout_seconds: 1 })
  t.match((await check(rule)).body.data, { status: 'error', total_rows: 0, error_message: /time/ })
  t.equal(await running(source), 0, 'nothing is left running')
  for (const wrong of [0, 3601, 1.5]) {
    t.match((await change({ statement_timeout_seconds: wrong })).body.error, {
      details: { field: 'statement_timeout_seconds' },
    })
  }
  await source.query(`create or replace view slow as select o.*, false as waited from orders o`)
  t.match((await change({ statement_timeout_seconds: null })).body.data, { statement_timeout_seconds: null })
  t.match((await check(rule)).body.data, { status: 'pass' })
})

t.test('a table that vanished makes its checks an error with that sentence', async t => {
  const world = await ordersWorld(t)
  const { make, check, source } = world
  const rule = await make({})
  await source.query('drop table orders cascade')
  t.match((await check(rule)).body.data, { status: 'error', error_message: /orders/ })
  await discover(world)
  t.match((await check(rule)).body.data, {
    status: 'error',
    error_message: /no longer in the source: the last discovery did not find it/,
  })
})

t.test('work that can wait leaves the last session to others', async t => {
  const { app, tenant, asset } = await ordersWorld(t)
  const { server } = app
  const { source } = await server.db.company(tenant.companyId, trx =>
    server.plugins.catalog.findAsset(trx, asset.id),
  )
  const waits = { ...IMPATIENT, reservedSlots: 1 } as const
  await withSlot(
    server,
    source,
    async () => {
      await t.rejects(
        withSlot(server, source, async () => t.fail('the last session'), waits),
        /in use/,
      )
      t.equal(await withSlot(server, source, async () => 'done', IMPATIENT), 'done')
    },
    waits,
  )
})

t.test('waiting for a source that is removed ends with an error', async t => {
  const { app, tenant, asset } = await ordersWorld(t)
  const { server } = app
  const { source } = await server.db.company(tenant.companyId, trx =>
    server.plugins.catalog.findAsset(trx, asset.id),
  )
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)
  await t.rejects(
    withSlot(server, source, async () => t.fail('a session'), { ...IMPATIENT, waitMs: 60_000 }),
    /removed/,
  )
})

t.test('columns tagged as personal data are in no sample, no group and no SELECT of the source', async t => {
  const { make, check, app, source, tenant, asset } = await ordersWorld(t)
  await source.query(`create table cards (id int primary key, order_id int)`)
  await source.query(`insert into cards values (1, 1)`)
  await discover({ app, tenant, asset })
  const plain = await make({ rule_type: 'REGEX', rule_config: { pattern: '^never$' } })
  const select = await make({
    table_path: 'cards',
    column_name: undefined,
    rule_type: 'CUSTOM_SQL',
    rule_config: { sql_expression: 'select email as x from orders' },
  })
  const metrics = `/api/v1/sdk/metrics/${asset.id}`
  const grouped = { metric_type: 'row_count', table_path: 'orders', group_by_columns: ['email'] }
  const metric = await tenant.ask('POST', metrics, grouped)
  t.match(JSON.stringify((await check(select)).body), /ann@x\.org/, 'before it is tagged')
  const tag = { asset_id: asset.id, name: 'pii.email', object_path: 'orders.email', object_type: 'column' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/tags', tag)).status, 201)

  const samples = async (rule: string) => (await check(rule)).body.data.invalid_samples.samples
  t.same(await samples(plain), [
    { row_id: 1, value: null, is_hidden: true },
    { row_id: 2, value: null },
    { row_id: 3, value: null, is_hidden: true },
  ])
  const hidden = { value: null, is_hidden: true }
  t.match(await samples(select), [hidden, hidden, hidden])
  t.match(await tenant.ask('POST', metrics, grouped), {
    status: 400,
    body: { error: { details: { field: 'group_by_columns', error: /personal data/ } } },
  })
  const captured = await tenant.ask('POST', `${metrics}/${metric.body.data.id}/capture`)
  t.match(captured.body.data.snapshots, [
    { status: 'ERROR', error_message: /email is tagged as personal data/ },
  ])
})
