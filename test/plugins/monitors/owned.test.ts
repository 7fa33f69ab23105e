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

t.test(
  'a rule that was stored with an empty configuration is exported and adopted, not replaced',
  async t => {
    const { ids } = await shop(t, [tenant])
    const [id = ''] = ids
    const own = monitorsOf(tenant, id)
    const rule = { table_path: 'orders', rule_type: 'NOT_NULL', column_name: 'status' }
    t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)).status, 201)
    await query(`update validity_rules set rule_config = '{}' where source_id = $1`, [id])
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
