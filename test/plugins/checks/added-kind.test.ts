import t from 'tap'
import { build } from '../../../server/build.ts'
import { openApi } from '../../../server/openapi/openapi.ts'
import { makeLog } from '../../../server/telemetry/log.ts'
import { command } from '../../helpers/command.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'
import { discover, makeWorldOn } from '../../helpers/world.ts'

/** Nothing but this folder makes the kind: the product does not name it. */
const EXTENSIONS = './test/helpers/extensions/row-budget/index.ts'

const app = await startServer(t, { settings: { EXTENSIONS } })
const tenant = await app.signUp()
const { source, asset } = await discovered()
const sdk = '/api/v1/sdk'
const budgets = `${sdk}/row-budgets/${asset.id}`
const database = String(app.server.config.databaseUrl)

/** A source with one table of three rows. */
async function discovered() {
  const world = await makeWorldOn(t, { app, tenant }, [
    'create table orders (id int primary key, email text)',
    `insert into orders values (1, 'ann@x.org'), (2, 'eve@x.org'), (3, 'bob@x.org')`,
  ])
  await discover(world)
  return world
}

async function make(path: string, body: object): Promise<{ id: string; [field: string]: unknown }> {
  const made = await tenant.ask('POST', `${sdk}/${path}/${asset.id}`, { table_path: 'orders', ...body })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data
}

const makeBudget = (body: object) => make('row-budgets', body)

const alertsOf = async (id: string, status: string) => {
  const { body } = await tenant.ask('GET', `${sdk}/alerts?event_type=row_budget_exceeded&status=${status}`)
  return (body.data.data as { rule_id: string; message: string }[]).filter(
    ({ rule_id: cause }) => cause === id,
  )
}

t.test('it has the endpoints of every kind', async t => {
  const trial = { asset_id: asset.id, table_path: 'orders', max_rows: 2 }
  const tried = await tenant.ask('POST', `${sdk}/row-budgets/dry-run`, trial)
  t.match(tried, { status: 200, body: { data: { status: 'fail', rows: 3, sql: [{ text: /count\(\*\)/ }] } } })

  const { id } = await makeBudget({ max_rows: 10, name: 'Few orders', severity: 'critical' })
  t.match(id, /^b_/)
  t.match((await tenant.ask('GET', budgets)).body, {
    data: { items: [{ id, max_rows: 10, name: 'Few orders', check_interval: 'daily', status: null }] },
    pagination: { total: 1 },
  })
  const changed = await tenant.ask('PATCH', `${budgets}/${id}`, { max_rows: 5 })
  t.match(changed, { status: 200, body: { data: { id, max_rows: 5, severity: 'critical' } } })
  t.match((await tenant.ask('PATCH', `${budgets}/${id}`, { max_rows: -1 })).body.error, {
    code: 'VALIDATION_ERROR',
    message: /max_rows/,
  })
  t.match((await tenant.ask('POST', `${budgets}/${id}/check`)).body.data, { status: 'pass', rows: 3 })
  t.match((await tenant.ask('GET', `${budgets}/${id}/results`)).body.data.items, [
    { status: 'pass', rows: 3 },
  ])
  t.match((await tenant.ask('GET', `${budgets}/summary`)).body.data, {
    ...{ total_budgets: 1, active_budgets: 1, failing_budgets: 0 },
  })
  t.match((await tenant.ask('GET', `${budgets}/${id}`)).body.data, { id, max_rows: 5, status: 'pass' })
  t.match(await tenant.ask('DELETE', `${budgets}/${id}`), {
    status: 200,
    body: { data: { message: 'Row budget Few orders was removed' } },
  })
  t.match(await tenant.ask('GET', `${budgets}/${id}`), {
    status: 404,
    body: { error: { code: 'NOT_FOUND' } },
  })
  const { body: log } = await tenant.ask('GET', '/api/v1/audit-log?limit=3')
  t.match(JSON.stringify(log), /row_budget\.removed/)
})

t.test('the sweep measures it in the statement of the other checks of its table', async t => {
  const { id } = await makeBudget({ max_rows: 3 })
  await make('metrics', { metric_type: 'row_count' })
  const [table] = await app.query('select id from tables where source_id = $1', [asset.id])
  t.strictSame(await app.server.plugins.checks.runTable(tenant.companyId, String(table!.id), 'active'), {
    checks: 2,
    statements: 1,
  })
  t.match((await tenant.ask('GET', `${budgets}/${id}`)).body.data, { status: 'pass' })
  t.strictSame(await app.server.plugins.checks.dispatch(), { tables: 0 })
  await app.query(`update checks set next_run_at = now() where kind = 'row_budget'`)
  t.strictSame(await app.server.plugins.checks.dispatch(), { tables: 1 })
  await tenant.ask('DELETE', `${budgets}/${id}`)
})

t.test('it raises its alert and resolves it', async t => {
  const { id } = await makeBudget({ max_rows: 2 })
  await tenant.ask('POST', `${budgets}/${id}/check`)
  t.match(await alertsOf(id, 'triggered'), [
    {
      message: 'orders: 3 rows, expected at most 2',
      severity: 'warning',
    },
  ])
  const { body: rules } = await tenant.ask('GET', `${sdk}/alerts/rules?limit=1`)
  t.match(
    rules.data.event_types.find(
      ({ event_type: type }: { event_type: string }) => type === 'row_budget_exceeded',
    ),
    { alert_type: 'row_budget', label: 'too many rows' },
  )
  await source.query('delete from orders where id = 3')
  await tenant.ask('POST', `${budgets}/${id}/check`)
  t.strictSame(await alertsOf(id, 'triggered'), [])
  t.equal((await alertsOf(id, 'resolved')).length, 1)
  await source.query(`insert into orders values (3, 'bob@x.org')`)
  await tenant.ask('DELETE', `${budgets}/${id}`)
})

t.test('lists, the description of the API and the command line know it', async t => {
  const { id } = await makeBudget({ max_rows: 2, name: 'Few orders' })
  await tenant.ask('POST', `${budgets}/${id}/check`)
  const { body } = await tenant.ask('GET', `${sdk}/checks?kind=row_budget`)
  t.match(body.data.items, [
    {
      kind: 'row_budget',
      id,
      name: 'Few orders',
      status: 'failing',
      open_alert_id: String,
      points: [{ value: 3 }],
    },
  ])
  t.match(
    body.data.kinds.find(({ kind }: { kind: string }) => kind === 'row_budget'),
    { label: 'Row budget' },
  )
  const description = JSON.stringify(openApi(app.server, '/'))
  for (const word of [
    'row_budget_exceeded',
    '/row-budgets/{asset_id}/{budget_id}',
    '"row_budget"',
    '"row-budgets"',
  ])
    t.ok(description.includes(word), word)
  const impact = await tenant.ask('POST', `${sdk}/lineage/impact`, {
    source: asset.id,
    changes: [{ change: 'drop_table', table: 'orders' }],
  })
  t.match(JSON.stringify(impact.body), `"kind":"row_budget"`)
  const { code, out } = await command(['check', 'shop'], {
    TIDEMARK_URL: app.server.info.uri,
    TIDEMARK_API_KEY: tenant.key,
  })
  t.equal(code, 1)
  t.match(out, /^fail +warning +\S+orders +Few orders: 3 rows, expected at most 2$/m)
  await tenant.ask('DELETE', `${budgets}/${id}`)
})

t.test('files declare it beside other checks, and exports have it', async t => {
  const tables = {
    'public.orders': {
      checks: {
        row_budget: [{ key: 'orders.few', max_rows: 7, name: 'Few orders' }],
        validity: [{ key: 'orders.email', rule_type: 'NOT_NULL', column_name: 'email' }],
      },
    },
  }
  const monitors = (what: string, given: object = tables) =>
    tenant.ask('POST', `${sdk}/monitors/${asset.id}/${what}`, {
      files: [{ name: 'shop.yaml', content: { version: 1, source: 'shop', tables: given } }],
      prune: true,
    })
  t.match((await monitors('apply')).body.data.changes, [
    { action: 'create', kind: 'validity' },
    { action: 'create', kind: 'row_budget', key: 'orders.few' },
  ])
  t.strictSame((await monitors('plan')).body.data.changes, [])
  const { body } = await tenant.ask('GET', `${sdk}/checks?kind=row_budget`)
  t.match(body.data.items, [{ name: 'Few orders', managed_by: { key: 'orders.few' } }])
  const exported = await tenant.ask('GET', `${sdk}/monitors/${asset.id}`)
  t.match(Object.values(exported.body.data.tables), [
    { checks: { row_budget: [{ key: 'orders.few', max_rows: 7 }] } },
  ])
  const wrong = { 'public.orders': { checks: { row_budget: [{ key: 'orders.few' }] } } }
  t.match((await monitors('plan', wrong)).body.error, { message: /max_rows/ })
  const unheard = { 'public.orders': { checks: { row_bugdet: [{ key: 'orders.few' }] } } }
  t.match((await monitors('plan', unheard)).body.error, { message: /row_bugdet.*did you mean `row_budget`/ })
  const schema = await tenant.ask('GET', '/api/public/schemas/monitors.json')
  t.match(JSON.stringify(schema.body), '"row_budget":')
  t.equal((await monitors('apply', {})).body.data.changes.length, 2)
})

t.test('without the extension its checks are kept, and the start names their kind', async t => {
  const { id } = await makeBudget({ max_rows: 2, name: 'Few orders' })
  await tenant.ask('POST', `${budgets}/${id}/check`)
  let lines = ''
  const log = makeLog({ logLevel: 'info', logFormat: 'json' }, { write: line => void (lines += line) })
  const config = { ...app.server.config, extensions: [] }
  const bare = await build({ config, log, ownerUrl: database, secretKey: SECRET_KEY, sweeps: false })
  await bare.start()
  t.match(lines, 'no extension provides check kind row_budget, which are in use: add it to EXTENSIONS')
  const ask = async (url: string) => {
    const { statusCode, payload } = await bare.inject({
      url,
      headers: { authorization: `Bearer ${tenant.key}` },
    })
    return { status: statusCode, body: JSON.parse(payload) as unknown }
  }
  for (const path of [`/checks/${asset.id}`, `/assets/${asset.id}`, `/alerts?status=triggered`, '/checks'])
    t.equal((await ask(`${sdk}${path}`)).status, 200, path)
  t.equal((await ask(`${sdk}/checks?kind=row_budget`)).status, 400)
  t.strictSame(await bare.plugins.checks.dispatch(), { tables: 0 })
  await bare.stop({ timeout: 1_000 })
  t.match(
    (await tenant.ask('GET', `${budgets}/${id}`)).body.data,
    { id, status: 'fail' },
    'it is back with it',
  )
})
