import t from 'tap'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table orders (id int primary key, email text, total numeric, note text)',
  `insert into orders values (1, 'a@x.org', 10, null), (2, null, 20, null)`,
])
await discover(world)
const { tenant, asset, app } = world
const table = { table_path: 'orders' }
const rules = (body: object) => tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}/bulk`, body)

t.test('one request makes a rule for each column, and a refused column fails alone', async t => {
  const { status, body } = await rules({
    ...table,
    rule_type: 'RANGE',
    column_names: ['total', 'email', 'nothing'],
    rule_config: { min: 1 },
    severity: 'critical',
  })
  t.equal(status, 200)
  t.match(body.data, {
    created: 1,
    failed: 2,
    total: 3,
    results: [
      { column_name: 'total', status: 'created', id: /^v_/, error: null },
      { column_name: 'email', status: 'failed', id: null, error: /works on .* columns; email is text/ },
      { column_name: 'nothing', status: 'failed', id: null, error: /nothing/ },
    ],
  })
  const made = await tenant.ask('GET', `/api/v1/sdk/validity/${asset.id}/${body.data.results[0].id}`)
  t.match(made.body.data, {
    name: 'RANGE orders.total',
    column_name: 'total',
    severity: 'critical',
    rule_config: { min: 1 },
  })
  const entries = await app.query(`select details from audit_log where action = 'rule.created'`)
  t.match(entries, [{ details: { name: 'RANGE orders.total', rule_type: 'RANGE' } }], 'each is audited')
})

t.test('what is wrong with all columns is wrong with the request, and nothing is made', async t => {
  const columns = { column_names: ['email', 'note'] }
  t.match(await rules({ ...table, ...columns, rule_type: 'REGEX', rule_config: {} }), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { field: 'rule_config.pattern' } } },
  })
  t.match(await rules({ ...table, ...columns, rule_type: 'NOT_NUL' }), {
    status: 400,
    body: { error: { details: { field: 'rule_type', candidates: ['NOT_NULL'] } } },
  })
  t.match(await rules({ ...table, rule_type: 'NOT_NULL', column_names: [] }), { status: 400 })
  t.match(await rules({ ...table, rule_type: 'NOT_NULL', column_names: ['id'], name: 'Same' }), {
    status: 400,
    body: { error: { details: { field: 'name' } } },
  })
  const unknown = '/api/v1/sdk/validity/11111111-1111-4111-8111-111111111111/bulk'
  t.match(await tenant.ask('POST', unknown, { ...table, ...columns, rule_type: 'NOT_NULL' }), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })
  t.equal((await tenant.ask('GET', `/api/v1/sdk/validity/${asset.id}`)).body.pagination.total, 1)
})

t.test('one request makes a metric for each column, with the fields of its type', async t => {
  const { status, body } = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}/bulk`, {
    ...table,
    metric_type: 'percentile',
    percentile_value: 90,
    sensitivity: 3,
    column_names: ['id', 'total'],
  })
  t.equal(status, 200)
  t.match(body.data, { created: 2, failed: 0, total: 2 })
  const { items } = (await tenant.ask('GET', `/api/v1/sdk/metrics/${asset.id}`)).body.data
  t.strictSame(
    items
      .map(({ column_name: column, percentile_value: value, sensitivity }: Record<string, unknown>) => [
        column,
        value,
        sensitivity,
      ])
      .sort(),
    [
      ['id', 90, 3],
      ['total', 90, 3],
    ],
  )
})
