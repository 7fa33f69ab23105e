import t from 'tap'
import { startServer, type TestServer } from '../../../helpers/server.ts'

const app = await startServer(t, {
  settings: { DEMO_ENABLED: 'true', DEFAULT_PLAN: 'free_trial', DATA_DIR: t.testdir() },
})
const tenant = await app.signUp('Demo')
const session = async (from: TestServer = app) => {
  await app.query('delete from rate_windows')
  return from.ask('POST', '/api/v1/demo/session')
}
const keyOf = async () => (await session()).body.data.api_key as string
/** Asks without any limit counting it. */
const ask: TestServer['ask'] = async (...given) => {
  await app.query('delete from rate_windows')
  return app.ask(...given)
}

t.test('without a demo company there is no session, and neither when it is switched off', async t => {
  const none = await session()
  t.match([none.status, none.body.error], [404, { code: 'NOT_FOUND', message: /DEMO_ENABLED/ }])
  await app.server.plugins.auth.setDemoCompany(tenant.companyId)
  const off = await startServer(t, { settings: { DEMO_ENABLED: 'false' } })
  const their = await off.signUp()
  await off.server.plugins.auth.setDemoCompany(their.companyId)
  t.equal((await off.ask('POST', '/api/v1/demo/session')).status, 404)
})

t.test('a session is a key that reads the demo company for an hour', async t => {
  const { status, body, headers } = await session()
  t.equal(status, 201)
  t.equal(headers['cache-control'], 'no-store')
  t.match(body, { success: true, data: { api_key: /^aa_demo_[\w-]{40}$/, expires_at: /Z$/ }, error: '' })
  const { api_key: key, expires_at: end } = body.data as { api_key: string; expires_at: string }
  const [row] = await app.query(
    `select round(extract(epoch from $1::timestamptz - created_at)) as seconds,
    encode(key_hash, 'escape') as text from demo_sessions`,
    [end],
  )
  t.equal(Number(row?.seconds), 3_600)
  t.notMatch(String(row?.text), key)

  const made = await tenant.ask('POST', '/api/v1/operating-schedules', {
    name: 'office',
    timezone: 'UTC',
    rules: [{ days: [1], start: '08:00', end: '17:00' }],
  })
  t.equal(made.status, 201, JSON.stringify(made.body))
  const seen = await ask('GET', '/api/v1/operating-schedules', undefined, key)
  t.match([seen.status, seen.body.data], [200, [{ name: 'office' }]])
  t.match(seen.headers, { 'x-ratelimit-limit': '2' }, 'by the limits of free_trial')
  const other = await app.signUp('Others')
  const theirs = await ask('GET', '/api/v1/operating-schedules', undefined, other.key)
  t.strictSame(theirs.body.data, [])
})

t.test('it cannot be used for anything but reading', async t => {
  const key = await keyOf()
  const id = '00000000-0000-4000-8000-000000000000'
  for (const route of app.server.table()) {
    const access = route.settings.plugins?.access
    if (!access?.scope && !access?.sessionOnly) continue
    const path = route.path.replaceAll(/\{[^}]*\}/g, id)
    const { status, body } = await ask(route.method, path, route.method === 'get' ? undefined : {}, key)
    const mayRead = route.method === 'get' && access.scope === 'read-only' && !access.sessionOnly
    if (mayRead) t.not(status, 403, `${route.method} ${route.path}`)
    else t.match([status, body.error?.code], [403, 'FORBIDDEN'], `${route.method} ${route.path}`)
  }
})

t.test('it stands beside the keys of the company', async t => {
  await keyOf()
  const { body } = await ask('GET', '/api/v1/api-keys', undefined, tenant.token)
  t.equal(body.data.keys.length, 1)
  const usage = await ask('GET', '/api/v1/api-keys/usage', undefined, tenant.token)
  t.equal(usage.body.data.current_count, 1, 'and is not counted')
})

t.test('it ends: with its hour, with the demo, and when another company is the demo', async t => {
  const key = await keyOf()
  const read = () => ask('GET', '/api/v1/assets', undefined, key)
  t.equal((await read()).status, 200)
  const other = await app.signUp('Other demo')
  await app.server.plugins.auth.setDemoCompany(other.companyId)
  t.equal((await read()).status, 401)
  await app.server.plugins.auth.setDemoCompany(tenant.companyId)
  t.equal((await read()).status, 200)
  app.server.config.demoEnabled = false
  t.equal((await read()).status, 401)
  app.server.config.demoEnabled = true
  await app.query(`update demo_sessions set expires_at = now() - interval '1 second'`)
  const ended = await read()
  t.match([ended.status, ended.body.error], [401, { code: 'UNAUTHORIZED', message: /demo\/session/ }])
  t.equal((await ask('GET', '/api/v1/assets', undefined, 'aa_demo_made-up')).status, 401)
})

t.test('an address gets five a minute', async t => {
  await app.query('delete from rate_windows')
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) statuses.push((await app.ask('POST', '/api/v1/demo/session')).status)
  t.strictSame(statuses, [201, 201, 201, 201, 201, 429])
})
