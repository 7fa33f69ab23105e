/** SQL of a caller reads whatever the login of a source may read, so that it takes more than a credential that reads. */
import t from 'tap'
import { discover, makeWorld } from '../helpers/world.ts'

const world = await makeWorld(t, [
  'create table customers (id int primary key, ssn text, seen_at timestamptz)',
])
await discover(world)
const { app, tenant, asset } = world
const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
const reader = body.data.key as string

const rule = (more: object) => ({ asset_id: asset.id, table_path: 'public.customers', ...more })
const oracle = {
  rule_type: 'CUSTOM_SQL',
  rule_config: { sql_expression: `select id from customers where ssn like '1%'` },
}
const file = (kind: string, check: object) => ({
  files: [
    {
      name: 'a.yaml',
      content: { version: 1, source: asset.name, tables: { customers: { checks: { [kind]: [check] } } } },
    },
  ],
})
const PLAN = `/api/v1/sdk/monitors/${asset.id}/plan`
const DRY_RUN = '/api/v1/sdk/validity/dry-run'

const needsWrite = {
  status: 403,
  body: {
    error: { code: 'FORBIDDEN', details: { current_scope: 'read-only', required_scope: 'read-write' } },
  },
}

t.test('a credential that only reads tries no SQL of its own', async t => {
  t.match(await app.ask('POST', DRY_RUN, rule(oracle), reader), needsWrite)
  t.match(await app.ask('POST', PLAN, file('validity', { key: 'oracle', ...oracle }), reader), needsWrite)
  const expression = { key: 'late', freshness_expression: 'max(seen_at)', sla_threshold: '24h' }
  t.match(await app.ask('POST', PLAN, file('freshness', expression), reader), needsWrite)
})

t.test('it tries everything else, and who may write tries all', async t => {
  const ours = { rule_type: 'NOT_NULL', column_name: 'id' }
  t.equal((await app.ask('POST', DRY_RUN, rule(ours), reader)).status, 200)
  t.equal((await app.ask('POST', PLAN, file('validity', { key: 'ours', ...ours }), reader)).status, 200)
  t.equal((await tenant.ask('POST', DRY_RUN, rule(oracle))).status, 200)
  t.equal((await tenant.ask('POST', PLAN, file('validity', { key: 'oracle', ...oracle }))).status, 200)
})
