/** How often a request by API key waits for the database, and that a refused one reads nothing of its company. */
import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import t from 'tap'
import { Batch } from '../../../server/database/batch.ts'
import { startServer } from '../../helpers/server.ts'

/** The statements of each round trip, of the request that runs. */
const trips = new AsyncLocalStorage<number[]>()
const prototype = pg.Client.prototype as unknown as { query(...input: unknown[]): unknown }
const { query: send } = prototype
prototype.query = function (...input) {
  trips.getStore()?.push(input[0] instanceof Batch ? input[0].size : 1)
  return send.apply(this, input)
}
t.teardown(() => (prototype.query = send))

// Its code is altered, so that no other test may get it.
const app = await startServer(t, { isOwn: true, settings: { ROLE: 'web' } })
const { server, ask, query, signUp } = app
const tenant = await signUp()
const [table] = (await query(
  `with source as (
     insert into sources (id, company_id, name, source_type, config, connection_status, discovery_state, table_count)
     values (gen_random_uuid(), $1, 'warehouse', 'postgresql', '{}', 'connected', 'completed', 1) returning id
   ), made as (
     insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count)
     select gen_random_uuid(), $1, id, 'shop', 'public', 'orders', 'warehouse.shop.public.orders', 'table', '[]', '[]',
       'f', 0 from source returning id, source_id
   ), rule as (
     insert into validity_rules (uuid, company_id, source_id, table_id, column_name, rule_type, name, severity,
       check_interval, detection_mode, sensitivity, operating_period_mode, latest_status)
     select gen_random_uuid(), $1, source_id, id, 'a', 'NOT_NULL', 'Rule', 'warning', 'daily', 'manual', 3, 'off', 'pass'
     from made
   ) select id from made`,
  [tenant.companyId],
)) as [{ id: string }]
const RULES = `/api/v1/sdk/validity/${table.id}`
const ASSET = `/api/v1/assets/${table.id}`

const makeKey = async (scope = 'read-only') => {
  const { body } = await ask('POST', '/api/v1/api-keys', { name: scope, scope }, tenant.token)
  return body.data as { id: string; key: string }
}

/** Asks, and counts the statements of each round trip that the request waited for. */
async function count(url: string, key: string) {
  const sent: number[] = []
  const headers = { authorization: `Bearer ${key}` }
  const { statusCode } = await trips.run(sent, () => server.inject({ url, headers }))
  return { status: statusCode, sent }
}

t.beforeEach(() => query('delete from rate_windows'))

t.test('a read by key waits for the database twice: who asks and how often, then what is read', async t => {
  const { key } = await makeKey()
  // A connection's first request opens it.
  await Promise.all([RULES, ASSET].map(path => count(path, key)))
  t.strictSame(await count(RULES, key), { status: 200, sent: [1, 3] })
  t.match(await count(ASSET, key), { status: 200, sent: { length: 2, 0: 1 } })
  t.equal((await query('select used from rate_windows')).length, 1)
})

t.test('a refused key costs one round trip of one statement, and reads nothing', async t => {
  const revoked = await makeKey()
  t.equal((await count(RULES, revoked.key)).status, 200)
  await query('update api_keys set revoked_at = now() where id = $1', [revoked.id])
  t.strictSame(await count(RULES, revoked.key), { status: 401, sent: [1] }, 'from the next request on')

  const expired = await makeKey()
  t.equal((await count(RULES, expired.key)).status, 200)
  await query(`update api_keys set expires_at = now() where id = $1`, [expired.id])
  t.strictSame(await count(RULES, expired.key), { status: 401, sent: [1] })

  t.strictSame(await count(RULES, `aa_live_${'x'.repeat(40)}`), { status: 401, sent: [1] })

  const busy = await makeKey()
  t.equal((await count(RULES, busy.key)).status, 200)
  await query(
    `update rate_windows set used = 1000000, ends_at = now() + interval '1 hour' where name = 'key:' || $1`,
    [busy.id],
  )
  t.strictSame(await count(RULES, busy.key), { status: 429, sent: [1] })
})

t.test('a key without the scope is refused before anything of its company is read', async t => {
  const { key } = await makeKey()
  t.strictSame(await count('/api/v1/api-keys/usage', key), { status: 403, sent: [1] })
})
