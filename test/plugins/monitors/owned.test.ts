import t from 'tap'
import { monitorsOf, startMonitors } from './stages.ts'

const { signUp, query, shop } = await startMonitors(t)
const tenant = await signUp()

t.test('checks of contracts are neither exported nor taken over', async t => {
  const { ids, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const own = monitorsOf(tenant, id)
  const contract = {
    ...{ apiVersion: 'v3.1.0', kind: 'DataContract', id: 'c', version: '1.0.0', status: 'active' },
    schema: [{ name: 'orders', properties: [{ name: 'status', required: true }] }],
    slaProperties: [{ property: 'latency', value: 1, unit: 'd', element: 'orders' }],
  }
  const path = '/api/v1/sdk/contracts/c'
  t.equal((await tenant.ask('PUT', path, { contract, source: id })).status, 201)
  t.strictSame((await own.export()).tables, {})
  const document = (checks: object) => ({ version: 1, source: name, tables: { orders: { checks } } })
  const { clauses } = (await tenant.ask('GET', path)).body.data as {
    clauses: { kind: string; title: string; severity: string }[]
  }
  const required = clauses.find(({ kind }) => kind === 'required')!
  const equal = document({
    validity: [
      {
        key: 'status',
        rule_type: 'NOT_NULL',
        column_name: 'status',
        name: `c: ${required.title}`,
        severity: required.severity,
      },
    ],
  })
  t.match((await own.plan(equal)).body.data, { create: 1, adopt: 0 })
  t.match((await own.plan(document({ freshness: [{ key: 'f', sla_threshold: '24h' }] }))).body.error, {
    code: 'VALIDATION_ERROR',
    message: /the table has the freshness schedule of the contract c/,
  })
})

t.test('lists of checks name the file or the contract that manages a check', async t => {
  const { ids, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const own = monitorsOf(tenant, id)
  const rule = { table_path: 'orders', rule_type: 'UNIQUE', column_name: 'status' }
  t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)).status, 201)
  const checks = { metric: [{ key: 'rows', metric_type: 'row_count' }] }
  const file = { version: 1, source: name, tables: { orders: { checks } } }
  t.match(await own.apply(file), { status: 200 })
  const contract = {
    ...{ apiVersion: 'v3.1.0', kind: 'DataContract', id: 'l', version: '1.0.0', status: 'active' },
    schema: [{ name: 'orders', properties: [{ name: 'status', required: true }] }],
  }
  t.equal((await tenant.ask('PUT', '/api/v1/sdk/contracts/listed', { contract, source: id })).status, 201)
  for (const path of [`/api/v1/sdk/checks/${id}`, '/api/v1/sdk/checks?limit=50']) {
    const { body } = await tenant.ask('GET', path)
    const items =
      (body.data.items as { kind: string; type: string; managed_by?: object; table_path: string }[]) ?? []
    const ownerOf = (type: string) => items.find(each => each.type === type)?.managed_by
    t.match(ownerOf('row_count'), { file: /./, key: 'rows' })
    t.match(ownerOf('NOT_NULL'), { file: 'the contract listed', key: String })
    t.equal(ownerOf('UNIQUE'), undefined, 'nothing manages what was made by hand')
  }
})

t.test(
  'a rule that was stored with an empty configuration is exported and adopted, not replaced',
  async t => {
    const { ids } = await shop(t, [tenant])
    const [id = ''] = ids
    const own = monitorsOf(tenant, id)
    const rule = { table_path: 'orders', rule_type: 'NOT_NULL', column_name: 'status' }
    t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)).status, 201)
    await query(`update checks set config = '{}' where source_id = $1`, [id])
    const document = await own.export()
    t.match((await own.apply(document)).body.data, { adopt: 1, replace: 0 })
    t.match((await own.plan(document)).body.data, { unchanged: 1 })
  },
)

t.test('what the database does not hold is refused at its place', async t => {
  const { ids, name } = await shop(t, [tenant])
  const own = monitorsOf(tenant, ids[0]!)
  // Written with the escapes of YAML: in JSON, a request is refused as a whole.
  for (const bad of [String.raw`"a\0b"`, String.raw`"a\ud800"`]) {
    const text = `version: 1
source: ${name}
tables:
  orders:
    checks:
      validity:
        - {key: a, rule_type: ENUM, column_name: status, rule_config: {allowed_values: [x, ${bad}]}}
  ${bad}: {}
`
    const { status, body } = await own.apply(text)
    t.equal(status, 400)
    t.match(
      (body.error.details.errors as { error: string }[]).map(({ error }) => error),
      [/^monitors\/shop\.yaml:7:\d+: holds a NUL/, /^monitors\/shop\.yaml:8:3: holds a NUL/],
    )
  }
})

t.test('one check is exported with the key that it has in the whole file', async t => {
  const { ids, name } = await shop(t, [tenant])
  const [id = ''] = ids
  const rules = `/api/v1/sdk/validity/${id}?if_equal=create`
  for (const column of ['status', 'status', 'total']) {
    const rule = { table_path: 'orders', rule_type: 'NOT_NULL', column_name: column }
    t.equal((await tenant.ask('POST', rules, rule)).status, 201)
  }
  const { items } = (await tenant.ask('GET', `/api/v1/sdk/checks/${id}`)).body.data as {
    items: { id: string }[]
  }
  const whole = await monitorsOf(tenant, id).export()
  const [path = '', { checks = {} }] = Object.entries(whole.tables)[0]!
  const exported = await Promise.all(
    items.map(async check => {
      const { body } = await tenant.ask('GET', `/api/v1/sdk/monitors/${id}?check_id=${check.id}`)
      const { tables, ...head } = body.data as typeof whole
      t.strictSame(head, { version: 1, source: name })
      t.strictSame(Object.keys(tables), [path])
      return tables[path]!.checks!.validity!
    }),
  )
  t.strictSame(new Set(exported.flat()), new Set(checks.validity))
  t.equal((await tenant.ask('GET', `/api/v1/sdk/monitors/${id}?check_id=v_1`)).status, 404)
})
