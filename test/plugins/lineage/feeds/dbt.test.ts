import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { discover, makeWorld } from '../../../helpers/world.ts'
import { command } from '../../../helpers/command.ts'
import { manifest, model, node, notNull, runResults } from './dbt-project.ts'

const world = await makeWorld(t, [
  'create table raw_payments (id int)',
  'create table orders (id int, amount int)',
  'create table customers (id int)',
])
const { app, tenant, asset, source } = world
const { query, server } = app
await discover(world)
const database = String((source.config as { database: unknown }).database)
const SCHEMA = 'public'

t.beforeEach(() => query('delete from rate_windows'))

const placed = (type: string, name: string, options: Parameters<typeof node>[2] = {}) =>
  node(type, name, { database, schema: SCHEMA, ...options })

const RAW = 'source.jaffle_shop.raw.payments'
const sources = {
  [RAW]: placed('source', 'payments', { identifier: 'raw_payments', meta: { owner: 'raw@example.com' } })[1],
}
const exposures = {
  'exposure.jaffle_shop.board': {
    ...{ resource_type: 'exposure', name: 'board', type: 'dashboard', url: 'https://bi.example.com/1' },
    owner: { name: 'Ann', email: 'ann@example.com' },
    depends_on: { nodes: [model('orders')] },
  },
}
const MODELS = [
  placed('model', 'orders', { dependsOn: [RAW], config: { meta: { owner: 'Finance' } } }),
  placed('model', 'customers', { dependsOn: [model('orders')] }),
  placed('model', 'missing', { dependsOn: [model('customers')] }),
]
const test = notNull('orders', 'amount')

async function send(body: object, status = 200) {
  const reply = await tenant.ask('POST', '/api/v1/sdk/lineage/dbt', { source: 'shop', ...body })
  if (reply.status !== status) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data ?? reply.body.error
}

async function edges() {
  const name = (end: string) =>
    `coalesce((select name from tables where id = e.${end}), (select qualified_name from lineage_nodes where id = e.${end}))`
  const found = await query(
    `select ${name('upstream_id')} || ' > ' || ${name('downstream_id')} as edge from lineage_edges e where company_id = $1
      order by 1`,
    [tenant.companyId],
  )
  return found.map(({ edge }) => edge)
}

const whole = manifest([...MODELS, test], { sources, exposures })

t.test('a project becomes edges, owners and dashboards, and replaces what it reported before', async t => {
  t.match(await send({ manifest: whole }), {
    ...{
      source_id: asset.id,
      project: 'jaffle_shop',
      tables: 3,
      unmatched_count: 1,
      unmatched: [model('missing')],
    },
    ...{ exposures: 1, edges: 4, tests: 1, test_results: 0, model_runs: 0 },
  })
  const [missing] = (await edges()).filter(edge => String(edge).startsWith('customers'))
  t.match(missing, /^customers > postgres:\/\/.*\/\w+\.public\.missing$/)
  t.strictSame(
    (await edges()).filter(edge => edge !== missing),
    ['orders > customers', 'orders > dbt://jaffle_shop/board', 'raw_payments > orders'],
  )
  const reported = (await tenant.ask('GET', '/api/v1/sdk/owners?origin=dbt')).body.data as {
    owners?: unknown
  }
  t.match(JSON.stringify(reported), /Finance/)
  t.match(JSON.stringify(reported), /"reported_by":"jaffle_shop"/)
  t.match(JSON.stringify(reported), /raw@example\.com/)
  t.match(
    await query(`select owners from lineage_nodes where name = 'board' and company_id = $1`, [
      tenant.companyId,
    ]),
    [{ owners: [{ name: 'Ann', email: 'ann@example.com' }] }],
  )
  t.match(await send({ manifest: manifest(MODELS.slice(0, 1), { sources }) }), { removed_edges: 3, tests: 0 })
  t.strictSame(await edges(), ['raw_payments > orders'])
})

t.test(
  'columns of catalog.json lead to lineage of columns, which stays where no SQL can be read',
  async t => {
    const entry = (name: string, ...columns: string[]) => ({
      metadata: { database, schema: SCHEMA, name },
      columns: Object.fromEntries(columns.map((column, index) => [column, { name: column, index }])),
    })
    const catalog = {
      nodes: { [model('orders')]: entry('orders', 'ID', 'AMOUNT') },
      sources: { [RAW]: entry('raw_payments', 'id') },
    }
    const compiled = `select ID, id * 2 as amount from "${database}"."${SCHEMA}"."raw_payments"`
    const orders = placed('model', 'orders', { dependsOn: [RAW], compiled_code: compiled })
    const readColumns = async () => {
      const [raw] = await query(`select id from tables where name = 'raw_payments' and company_id = $1`, [
        tenant.companyId,
      ])
      const reply = await tenant.ask(
        'GET',
        `/api/v1/sdk/lineage/${String(raw!.id)}?direction=downstream&columns=true`,
      )
      return JSON.stringify(reply.body.data)
    }
    t.match(await send({ manifest: manifest([orders], { sources }), catalog }), { columns: 2 })
    t.match(await readColumns(), /"upstream_column":"id"[^}]*"downstream_column":"amount"/)
    const uncompiled = placed('model', 'orders', { dependsOn: [RAW], compiled_code: undefined })
    for (const [sent, why] of [
      [{ manifest: manifest([orders], { sources }) }, 'no catalog.json'],
      [{ manifest: manifest([uncompiled], { sources }), catalog }, 'no SQL'],
      [{ manifest: manifest([uncompiled], { sources }) }, 'neither'],
    ] as const) {
      t.match(await send(sent), { columns: 2, kept_columns: 2 }, why)
      t.match(await readColumns(), /downstream_column":"amount/)
      t.match(await readColumns(), /"id"/)
    }
    t.match(
      await query(
        `select bool_and(has_columns) as has_columns from lineage_edge_origins
        where company_id = $1 and origin = 'dbt'`,
        [tenant.companyId],
      ),
      [{ has_columns: true }],
    )
    const changed = { ...orders[1], compiled_code: compiled.replace('id * 2', '2') }
    t.match(await send({ manifest: manifest([[orders[0], changed]], { sources }), catalog }), {
      columns: 1,
      kept_columns: 0,
    })
    t.notMatch(await readColumns(), /downstream_column":"amount/)
    const unreadable = { ...changed, compiled_code: 'not SQL' }
    t.match(await send({ manifest: manifest([[orders[0], unreadable]], { sources }), catalog }), {
      columns: 0,
    })
  },
)

t.test('a table that is discovered later takes the place of its dataset', async t => {
  await send({ manifest: whole })
  await source.query('create table missing (id int)')
  await discover(world)
  t.ok((await edges()).includes('customers > missing'))
  await send({ manifest: whole })
  t.equal((await edges()).length, 4)
})

t.test('a test that fails raises an alert, which ends when it passes or is gone', async t => {
  const [id] = test
  const alerts = async () =>
    await query(
      `select status, title, severity, event -> 'details' as details from alerts where kind = 'external_check_failed' order by created_at`,
    )
  const results = (at: string, status: string | object) =>
    send({ manifest: whole, run_results: runResults(at, { [id]: status }) })
  t.match(await results('2026-05-04T10:00:00Z', 'fail'), { test_results: 1, failing_tests: 1 })
  t.match(await alerts(), [
    {
      ...{ status: 'triggered', severity: 'critical' },
      title: 'orders.amount: dbt test not_null_orders_amount failed (3 rows)',
      details: { tool: 'dbt', column_name: 'amount', failures: 3, test_type: 'not_null' },
    },
  ])
  t.match(await results('2026-05-04T10:00:00Z', 'fail'), { test_results: 0 }, 'the same again is nothing new')
  t.match(
    await results('2026-05-04T09:00:00Z', 'pass'),
    { test_results: 0 },
    'an older result changes nothing',
  )
  const listed = await tenant.ask('GET', '/api/v1/sdk/lineage/dbt/tests?asset_id=shop&status=fail')
  t.match(listed.body.data, {
    data: [{ name: id.split('.')[2], status: 'fail', failures: 3, column_name: 'amount', severity: 'error' }],
    pagination: { total: 1 },
  })
  await results('2026-05-04T11:00:00Z', { status: 'error', message: 'no such column' })
  t.match(await alerts(), [{ status: 'triggered' }], 'a test that could not run is no proof')
  await results('2026-05-04T12:00:00Z', 'pass')
  t.match(await alerts(), [{ status: 'resolved' }])
  await results('2026-05-04T13:00:00Z', { status: 'warn', failures: 2, message: 'Got 2 results' })
  t.match((await alerts())[1], {
    status: 'triggered',
    severity: 'warning',
    title: /^orders.*: dbt test \w+ warned/,
  })
  await send({ manifest: manifest(MODELS, { sources }) })
  t.match((await alerts())[1], { status: 'resolved' })
  t.match((await tenant.ask('GET', '/api/v1/sdk/lineage/dbt/tests')).body.data, {
    data: [],
    pagination: { total: 0 },
  })
})

t.test('models that fail are failed runs', async t => {
  const at = new Date().toISOString()
  const statuses = {
    [model('orders')]: { status: 'error', message: 'Database Error' },
    [model('customers')]: 'success',
  }
  t.match(await send({ manifest: whole, run_results: runResults(at, statuses, randomUUID()) }), {
    model_runs: 2,
  })
  const { body } = await tenant.ask('GET', '/api/v1/sdk/lineage/runs?asset_id=shop')
  t.match(
    body.data.runs
      .map(({ job_name: job, state, error_message: error }: Record<string, unknown>) => [job, state, error])
      .sort(),
    [
      [model('customers'), 'completed', null],
      [model('orders'), 'failed', 'Database Error'],
    ],
  )
})

t.test('bad artifacts are refused with what is wrong', async t => {
  t.match(await send({ manifest: 'x' }, 400), { details: { field: 'manifest' } })
  t.match(await send({}, 400), { details: { field: 'manifest' } })
  t.match(await send({ manifest: whole, more: 1 }, 400), { details: { field: 'more' } })
  t.match(await send({ source: 'none', manifest: whole }, 404), { code: 'ASSET_NOT_FOUND' })
  const table = `shop.${database}.public.orders`
  t.match(await send({ source: table, manifest: whole }, 400), { details: { field: 'source' } })
  t.match(await send({ manifest: { ...whole, metadata: {} } }, 400), { message: /names no manifest/ })
})

t.test(
  'a large manifest is read without holding up others; one that is too large says what to do',
  async t => {
    const nodes = Array.from({ length: 2_000 }, (_, index) =>
      placed('model', `m${index}`, {
        dependsOn: index ? [model(`m${index - 1}`)] : [],
        raw_code: 'select 1 '.repeat(500),
      }),
    )
    t.match(await send({ manifest: manifest(nodes) }), { edges: 1_999, unmatched_count: 2_000 })
    const reply = await server.inject({
      ...{
        method: 'POST',
        url: '/api/v1/sdk/lineage/dbt',
        payload: `{"source":"${'x'.repeat(65 * 1_048_576)}"}`,
      },
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    })
    t.match(reply, { statusCode: 413, payload: /tidemark lineage dbt/ })
    await send({ manifest: whole })
  },
)

t.test('the command sends what is used of a target folder', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'dbt-target-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await server.start()
  const env = { TIDEMARK_URL: server.info.uri, TIDEMARK_API_KEY: tenant.key }
  const run = (...more: string[]) => command(['lineage', 'dbt', folder, '--source', 'shop', ...more], env)
  t.match(await run(), { code: 2, err: /manifest\.json is not there/ })
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(whole))
  await writeFile(
    join(folder, 'run_results.json'),
    JSON.stringify(runResults('2026-06-01T00:00:00Z', { [test[0]]: 'pass' })),
  )
  t.match(await run(), { code: 0, out: /jaffle_shop is imported[\s\S]*new results +1, of which 0/ })
  t.match(JSON.parse((await run('--json')).out), { project: 'jaffle_shop', edges: 4 })
})

t.test('the address of a dashboard goes when the project has none any more, or no good one', async t => {
  const urlOf = async () =>
    (
      await query(`select url from lineage_nodes where name = 'board' and company_id = $1`, [
        tenant.companyId,
      ])
    )[0]?.url
  const withUrl = (url?: string) => {
    const { url: _former, ...board } = exposures['exposure.jaffle_shop.board']
    return manifest(MODELS, {
      sources,
      exposures: { 'exposure.jaffle_shop.board': { ...board, ...(url !== undefined && { url }) } },
    })
  }
  for (const bad of [undefined, 'javascript:alert(1)', 'http://x\n.example']) {
    await send({ manifest: withUrl('https://bi.example.com/1') })
    t.equal(await urlOf(), 'https://bi.example.com/1')
    await send({ manifest: withUrl(bad) })
    t.equal(await urlOf(), null, String(bad))
  }
})

t.test('results of the future are refused', async t => {
  const run_results = { metadata: { generated_at: '9999-01-01T00:00:00Z' }, results: [] }
  const { details } = await send({ manifest: whole, run_results }, 400)
  t.match(details, { field: 'run_results', error: /more than a day in the future/ })
})
