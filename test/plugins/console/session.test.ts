import t from 'tap'
import { startServer, type TestServer } from '../../helpers/server.ts'

const PATH = '/console/session'
const app = await startServer(t, { settings: { DEMO_ENABLED: 'true' } })
const tenant = await app.signUp()
const { email, password } = tenant

interface Reply {
  status: number
  body: { token: string; user: { email: string } | null; preferences: object | null; error: { code: string } }
  /** The `Set-Cookie` header. */
  set: string
  /** Name and value, as a browser sends it back. */
  cookie: string
}

/** Each test asks from an address of its own: an address signs in five times a minute. */
let address = '127.0.0.1'
let tests = 0
t.beforeEach(() => {
  address = `192.0.2.${++tests}`
})

/** Asks as a browser does. */
async function send(
  { server }: Pick<TestServer, 'server'>,
  method: 'POST' | 'PUT' | 'DELETE',
  { cookie, body, site = 'same-origin' }: { cookie?: string; body?: object; site?: string } = {},
): Promise<Reply> {
  const reply = await server.inject({
    method,
    url: PATH,
    remoteAddress: address,
    headers: { 'sec-fetch-site': site, ...(cookie && { cookie }) },
    ...(body && { payload: body }),
  })
  const [set = ''] = [reply.headers['set-cookie'] ?? []].flat()
  return {
    status: reply.statusCode,
    body: (reply.payload ? JSON.parse(reply.payload) : null) as Reply['body'],
    set,
    cookie: set.split(';')[0] ?? '',
  }
}

t.test('a sign-in keeps the refresh token in a cookie that no script and no other site gets', async t => {
  const { status, body, set } = await send(app, 'POST', { body: { email, password } })
  t.equal(status, 200)
  t.match(body, { user: { email }, preferences: { theme: 'system' } })
  t.notOk(JSON.stringify(body).includes('refresh'), 'the page does not see it')
  t.match(set, /^tidemark_\d+=[^;]+;/)
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) t.match(set, part)
  t.equal((await app.ask('GET', '/api/v1/auth/me', undefined, body.token)).status, 200)
})

t.test('over HTTPS the cookie is bound to this host', async t => {
  const { server, signUp } = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })
  const other = await signUp()
  const { set } = await send({ server }, 'POST', { body: { email: other.email, password: other.password } })
  t.match(set, /^__Host-tidemark=/)
  t.match(set, 'Secure')
  t.notMatch(set, 'Domain')
})

t.test('a wrong password is refused with the sentence of the API, and sets no cookie', async t => {
  const { status, body, set } = await send(app, 'POST', { body: { email, password: 'not this one' } })
  t.match([status, body.error.code], [401, 'INVALID_CREDENTIALS'])
  t.equal(set, '')
})

t.test('a session survives reloads and tabs: the refresh token stays the same for ten minutes', async t => {
  const { cookie } = await send(app, 'POST', { body: { email, password } })
  for (const { status, body, cookie: next } of await Promise.all(
    Array.from({ length: 8 }, () => send(app, 'PUT', { cookie })),
  )) {
    t.equal(status, 200)
    t.equal(next, cookie)
    t.equal((await app.ask('GET', '/api/v1/auth/me', undefined, body.token)).status, 200)
  }
})

t.test(
  'then it is exchanged, once for all tabs that ask at the same time; a copy used later ends all',
  async t => {
    const { cookie } = await send(app, 'POST', { body: { email, password } })
    await app.query(`update sessions set created_at = created_at - interval '11 minutes'`)
    const tabs = await Promise.all([1, 2, 3].map(() => send(app, 'PUT', { cookie })))
    t.strictSame(
      tabs.map(({ status }) => status),
      [200, 200, 200],
    )
    t.equal(new Set(tabs.map(tab => tab.cookie)).size, 1)
    t.not(tabs[0]!.cookie, cookie)
    await app.query(`update sessions set rotated_at = rotated_at - interval '1 minute'`)
    const thief = await send(app, 'PUT', { cookie })
    t.equal(thief.status, 401)
    t.match(thief.set, /Max-Age=0/, 'the browser forgets it')
    t.equal((await send(app, 'PUT', { cookie: tabs[0]!.cookie })).status, 401)
  },
)

t.test('without a session there is no error, with a made-up one there is', async t => {
  t.equal((await send(app, 'PUT')).status, 204)
  const { cookie } = await send(app, 'POST', { body: { email, password } })
  const [name] = cookie.split('=')
  t.equal((await send(app, 'PUT', { cookie: `${name}=made-up` })).status, 401)
  t.equal((await send(app, 'PUT', { cookie: 'other="broken' })).status, 204, 'a cookie of another program')
})

t.test('a signed-out session cannot be resumed', async t => {
  const { cookie, body } = await send(app, 'POST', { body: { email, password } })
  t.equal((await app.ask('POST', '/api/v1/auth/logout', undefined, body.token)).status, 204)
  t.match(await send(app, 'DELETE', { cookie }), { status: 204, set: /Max-Age=0/ })
  t.equal((await send(app, 'PUT', { cookie })).status, 401)
})

t.test('other sites can neither use a session nor sign a visitor in', async t => {
  const { cookie } = await send(app, 'POST', { body: { email, password } })
  for (const site of ['cross-site', 'same-site'])
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const { status, set } = await send(app, method, { cookie, site, body: { email, password } })
      t.match([status, set], [403, ''], `${method} ${site}`)
    }
})

t.test('a browser that does not name the site of a page is judged by its origin', async t => {
  const post = (headers: Record<string, string>) =>
    app.server.inject({
      method: 'POST',
      url: PATH,
      remoteAddress: address,
      headers: { host: 'observe.example.com', 'content-type': 'application/json', ...headers },
      payload: JSON.stringify({ email, password }),
    })
  for (const origin of ['https://evil.example', 'https://observe.example.com.evil.example', 'null']) {
    const { statusCode, headers } = await post({ origin })
    t.match([statusCode, headers['set-cookie']], [403, undefined], origin)
  }
  t.equal((await post({ origin: 'https://observe.example.com' })).statusCode, 200)
  t.equal((await post({ origin: new URL(app.server.config.baseUrl).origin })).statusCode, 200)
  t.equal((await post({})).statusCode, 200, 'a program sends none')
  for (const type of ['text/plain', ''])
    t.equal((await post({ 'content-type': type })).statusCode, 415, 'a form of another site can send no JSON')
})

t.test('a ticket names its account without being used', async t => {
  const { createSignInLink } = app.server.plugins.auth
  const link = await createSignInLink({ companyId: tenant.companyId, email, seconds: 60 })
  const ticket = new URL(link).searchParams.get('ticket')!
  const read = (site: string, given = ticket) =>
    app.server.inject({
      ...{ method: 'POST', url: '/console/tickets', remoteAddress: address },
      ...{ headers: { 'sec-fetch-site': site }, payload: { ticket: given } },
    })
  const { statusCode, payload, headers } = await read('same-origin')
  t.equal(statusCode, 200)
  t.match(JSON.parse(payload), { email, company: String })
  t.equal(headers['set-cookie'], undefined)
  t.equal((await read('cross-site')).statusCode, 403)
  t.equal((await read('same-origin', 'made-up')).statusCode, 401)
  t.equal((await send(app, 'POST', { body: { ticket } })).status, 200)
  t.equal((await read('same-origin')).statusCode, 401, 'once it was used, it names none')
})

t.test('a sign-in link works once', async t => {
  const link = await app.server.plugins.auth.createSignInLink({
    companyId: tenant.companyId,
    email,
    seconds: 60,
  })
  const ticket = new URL(link).searchParams.get('ticket')!
  t.match(await send(app, 'POST', { body: { ticket } }), { status: 200, body: { user: { email } } })
  t.match(await send(app, 'POST', { body: { ticket } }), {
    status: 401,
    body: { error: { code: 'INVALID_TOKEN' } },
  })
})

t.test('the demo is looked at with a key that reads, also after a reload', async t => {
  await app.server.plugins.auth.setDemoCompany(tenant.companyId)
  const { status, body, cookie } = await send(app, 'POST', { body: { demo: true } })
  t.match([status, body.user], [200, null])
  t.equal((await app.ask('GET', '/api/v1/sdk/alerts', undefined, body.token)).status, 200)
  t.equal((await send(app, 'PUT', { cookie })).body.token, body.token)
})

t.test('what is no sign-in is refused', async t => {
  for (const body of [
    {},
    { email },
    { ticket: 'x', demo: true },
    { email, password, ticket: 'x' },
    { demo: false },
  ])
    t.ok([400, 422].includes((await send(app, 'POST', { body })).status), JSON.stringify(body))
})
