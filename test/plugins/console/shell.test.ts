/** What the server writes into the page of a signed-in user, before any script runs. */
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const app = await startServer(t, { settings: { DEMO_ENABLED: 'true' } })
const tenant = await app.signUp()
const HOSTILE = `"><img src=x onerror=alert(1)> & 'Ada'`
await app.query('update users set full_name = $1 where email = $2', [HOSTILE, tenant.email])

/** Signs in to the console. @returns its cookie, as a browser sends it */
async function signIn(payload: object): Promise<string> {
  await app.query('delete from rate_windows')
  const reply = await app.server.inject({ method: 'POST', url: '/console/session', payload })
  t.equal(reply.statusCode, 200, reply.payload)
  return String([reply.headers['set-cookie']].flat()[0]).split(';')[0]!
}

const get = (url: string, cookie = '') =>
  app.server.inject({ url, headers: { accept: 'text/html', ...(cookie && { cookie }) } })
const credentials = { email: tenant.email, password: tenant.password }

t.test(
  'the page of a signed-in user has the frame and their name, escaped, and no cache keeps it',
  async t => {
    const cookie = await signIn(credentials)
    const { payload, headers } = await get('/tables/some.table', cookie)
    t.match(payload, 'aria-label="Account: &quot;&gt;&lt;img src=x onerror=alert(1)&gt; &amp; &#39;Ada&#39;"')
    t.notMatch(payload, '<img src=x')
    t.match(payload, /<a href="\/catalog"[^>]* aria-current="page">/, 'a table belongs to the catalog')
    t.match(payload, '<noscript>')
    t.notMatch(payload, /style=|<script>/)
    t.equal(headers['cache-control'], 'no-store')
    t.match(headers.vary, /cookie/i)
    const visitor = await get('/')
    t.equal(headers['content-security-policy'], visitor.headers['content-security-policy'])
    t.notMatch(visitor.payload, /Account|<nav/)
  },
)

t.test('a user without a name is shown by their email', async t => {
  await app.query(`update users set full_name = '' where email = $1`, [tenant.email])
  t.match((await get('/', await signIn(credentials))).payload, `title="${tenant.email}"`)
})

t.test('looking at a page neither exchanges nor ends the session', async t => {
  const cookie = await signIn(credentials)
  await app.query(`update sessions set created_at = created_at - interval '11 minutes'`)
  for (let n = 0; n < 3; n++) {
    const { headers, payload } = await get('/alerts', cookie)
    t.match(payload, '<nav')
    t.equal(headers['set-cookie'], undefined)
  }
  const resumed = await app.server.inject({ method: 'PUT', url: '/console/session', headers: { cookie } })
  t.equal(resumed.statusCode, 200)
})

t.test('a cookie that opens nothing gives the page of a visitor', async t => {
  const plain = (await get('/')).payload
  const cookie = await signIn(credentials)
  const [name] = cookie.split('=')
  const isPlain = async (sent: string, what: string) => t.equal((await get('/', sent)).payload, plain, what)
  await isPlain(`${name}=made-up`, 'made up')
  await isPlain(`${cookie}x`, 'changed')
  await isPlain(`other="broken; ${name}="`, 'broken')
  t.equal((await get('/invitation', cookie)).payload, plain, 'an invitation is no screen of the session')
  await app.query('update users set is_active = false where email = $1', [tenant.email])
  await isPlain(cookie, 'of a disabled user')
  await app.query('update users set is_active = true where email = $1', [tenant.email])
  t.not((await get('/', cookie)).payload, plain)
  await app.query(`update sessions set expires_at = now() - interval '1 second'`)
  await isPlain(cookie, 'expired')
  const other = await signIn(credentials)
  await app.query('update sessions set ended_at = now()')
  await isPlain(other, 'ended')
})

t.test('a database that is away gives the page of a visitor, which says so by itself', async t => {
  const plain = (await get('/')).payload
  const cookie = await signIn(credentials)
  const { statement } = app.server.db
  t.teardown(() => (app.server.db.statement = statement))
  app.server.db.statement = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const { statusCode, payload } = await get('/', cookie)
  t.equal(statusCode, 200)
  t.equal(payload, plain)
})

t.test('the demo has the frame too, under its notice', async t => {
  await app.server.plugins.auth.setDemoCompany(tenant.companyId)
  const cookie = await signIn({ demo: true })
  const { payload } = await get('/', cookie)
  t.match(payload, 'This is the demo. It is read-only.')
  t.match(payload, 'aria-label="Account"')
})
