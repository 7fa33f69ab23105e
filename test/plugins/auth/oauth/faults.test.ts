import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { authorizeOf, BASE, Browser, callbackOf, newcomer, startForger } from './world.ts'

const CLIENT = 'tidemark-forger'
const forger = await startForger(t, CLIENT)
const hub = await startReceiver(t)
const settings = {
  BASE_URL: BASE,
  OAUTH_FORGER_ISSUER: forger.issuer,
  OAUTH_FORGER_CLIENT_ID: CLIENT,
  OAUTH_FORGER_CLIENT_SECRET: 'canary-client-secret',
  OAUTH_GITHUB_ISSUER: `${hub.url}/`,
  OAUTH_GITHUB_CLIENT_ID: 'hub',
  OAUTH_GITHUB_CLIENT_SECRET: 'canary-hub-secret',
}
const lines: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
const app = await startServer(t, { settings, build: { log } })
const errorOf = (text: string) => JSON.parse(text).error as { code: string; message: string }
const countOf = async (table: string) => (await app.query(`select 1 from ${table}`)).length

/** Begins a sign-in, and gives the address that the provider would send the browser to. */
async function begin(browser: Browser, name = 'forger'): Promise<URL> {
  const page = await browser.ask(authorizeOf(name))
  t.equal(page.status, 302, page.text)
  const { searchParams } = new URL(page.location as string)
  forger.nonce = searchParams.get('nonce') ?? ''
  return new URL(`${callbackOf(name)}?code=canary-code&state=${searchParams.get('state')}`)
}

async function signIn(name = 'forger') {
  const browser = new Browser(app)
  return browser.ask((await begin(browser, name)).href)
}

/** Nothing that a provider or a client said in secret stands in a reply. */
function tellsNothing(t: Pick<typeof import('tap').t, 'notMatch'>, text: string) {
  t.notMatch(text, /canary/)
}

t.test('an honest issuer is believed, whatever it writes its booleans as', async t => {
  const { email } = newcomer()
  forger.claims = { email, email_verified: 'true', name: `\u0007Ada${'a'.repeat(400)}` }
  const page = await signIn()
  t.equal(page.status, 200, page.text)
  t.match(JSON.parse(page.text).user, { email, full_name: `Ada${'a'.repeat(197)}` })
  forger.reset()
})

t.test('what does not fit the sign-in is refused: nonce, issuer, audience, signature, time', async t => {
  const users = await countOf('users')
  const wrong: Record<string, () => void> = {
    'another nonce': () => (forger.claims = { nonce: 'x' }),
    'no nonce': () => (forger.claims = { nonce: undefined }),
    'another issuer': () => (forger.claims = { iss: 'https://accounts.google.com' }),
    'another client': () => (forger.claims = { aud: 'tidemark-other' }),
    'a time that is over': () => (forger.claims = { exp: 1 }),
    'a key of another issuer': () => (forger.isOtherKey = true),
  }
  for (const [name, forge] of Object.entries(wrong)) {
    forge()
    forger.claims = { email: newcomer().email, email_verified: true, ...forger.claims }
    const page = await signIn()
    t.match([page.status, errorOf(page.text).code], [401, 'INVALID_TOKEN'], name)
    tellsNothing(t, page.text)
    forger.reset()
  }
  t.equal(await countOf('users'), users)
  t.equal(await countOf('oauth_attempts'), 0)
})

type Answer = (response: ServerResponse) => void
const json =
  (status: number, body: unknown): Answer =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
const nonsense: Record<string, Answer> = {
  'a page': response => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
  'a fault': json(500, { error: 'server_error' }),
  nothing: json(200, {}),
  'a list': json(200, []),
  'half of it': response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_'),
  'a redirect inwards': response =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  'too much': response =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ x: 'x'.repeat(2_000_000) })),
  'a closed line': response => response.destroy(),
}

t.test('a provider that answers nonsense is a clear 503, and nothing is kept', async t => {
  const users = await countOf('users')
  for (const [name, answer] of Object.entries(nonsense)) {
    forger.answers.set('/token', answer)
    const page = await signIn()
    t.match([page.status, errorOf(page.text)], [503, { code: 'UNAVAILABLE', message: /forger/ }], name)
    tellsNothing(t, page.text)
    forger.reset()
  }
  t.equal(await countOf('users'), users)
})

t.test('the log shows when the provider refuses the client', async t => {
  forger.answers.set('/token', json(401, { error: 'invalid_client', error_description: 'canary' }))
  const page = await signIn()
  t.match([page.status, errorOf(page.text)], [503, { message: /invalid_client.*OAUTH_FORGER_/ }])
  tellsNothing(t, page.text)
  forger.reset()
  const browser = new Browser(app)
  const back = await begin(browser)
  back.searchParams.delete('code')
  back.searchParams.set('error', 'unauthorized_client')
  t.match(errorOf((await browser.ask(back.href)).text).message, /unauthorized_client.*OAUTH_FORGER_/)
  const other = await begin(browser)
  other.searchParams.set('error', 'temporarily_unavailable')
  t.equal((await browser.ask(other.href)).status, 503)
})

t.test('an issuer that cannot be asked what it is begins nothing, and is asked again', async t => {
  const of = async (name: string, answer?: Answer, metadata: Record<string, unknown> = {}) => {
    const stage = await startServer(t, { settings })
    forger.metadata = metadata
    if (answer) forger.answers.set('/.well-known/openid-configuration', answer)
    const page = await new Browser(stage).ask(authorizeOf('forger'))
    t.match([page.status, errorOf(page.text).code], [503, 'UNAVAILABLE'], name)
    t.equal(page.headers['set-cookie'], undefined)
    t.equal((await stage.query('select 1 from oauth_attempts')).length, 0)
    forger.reset()
    t.equal((await new Browser(stage).ask(authorizeOf('forger'))).status, 302, 'and then it can')
  }
  await of('nonsense', nonsense['a page'])
  await of('a slow one', () => undefined)
  await of('another issuer', undefined, { issuer: 'https://accounts.google.com' })
  await of('a trap', undefined, { authorization_endpoint: 'javascript:alert(1)' })
})

t.test('only public addresses and those of EGRESS_ALLOW are asked, over TLS alone', async t => {
  let asked = 0
  const plain = createServer((_request, response) => {
    asked++
    response.end()
  })
  await new Promise<void>(done => plain.listen(0, '127.0.0.1', done))
  t.teardown(() => plain.close())
  const { port } = plain.address() as AddressInfo
  const inner = await startReceiver(t)
  const closed = await startServer(t, {
    settings: { ...settings, OAUTH_FORGER_ISSUER: inner.url },
    build: { webhookAllow: [] },
  })
  const page = await new Browser(closed).ask(authorizeOf('forger'))
  t.equal(page.status, 503)
  t.equal(inner.connections, 0, 'loopback is not reached')

  forger.metadata = { token_endpoint: `http://127.0.0.1:${port}/token` }
  const open = await startServer(t, { settings, isOwn: true })
  const browser = new Browser(open)
  const { location = '' } = await browser.ask(authorizeOf('forger'))
  const state = new URL(location).searchParams.get('state')
  t.equal((await browser.ask(`${callbackOf('forger')}?code=x&state=${state}`)).status, 503)
  t.equal(asked, 0, 'no secret goes over plain http')
  forger.reset()
})

t.test('GitHub identifies users by its own API and never links an email', async t => {
  const { email } = newcomer()
  const { email: existing } = await app.signUp()
  let emails: unknown = []
  let user: unknown = { id: 7, login: 'ada', name: null }
  hub.answer(({ path }, response) => {
    const answers: Record<string, unknown> = {
      '/login/oauth/access_token': { access_token: 'canary-token', token_type: 'bearer', scope: 'read:user' },
      '/api/v3/user': user,
      '/api/v3/user/emails': emails,
    }
    json(path in answers ? 200 : 404, answers[path] ?? {})(response)
  })
  const browser = new Browser(app)
  const page = await browser.ask(authorizeOf('github'))
  const to = new URL(page.location as string)
  t.equal(to.origin + to.pathname, `${hub.url}/login/oauth/authorize`)
  t.match(Object.fromEntries(to.searchParams), {
    scope: 'read:user user:email',
    code_challenge_method: 'S256',
    nonce: undefined,
  })

  emails = [
    { email: existing, primary: false, verified: true },
    { email, primary: true, verified: true },
  ]
  const good = await signIn('github')
  t.match(
    [good.status, JSON.parse(good.text).user],
    [200, { email, full_name: 'ada', role: 'owner' }],
    good.text,
  )
  const [, userRequest] = hub.requests.slice(-3)
  t.equal(userRequest?.headers.authorization, 'Bearer canary-token')

  const refused: [string, unknown, unknown, number, string][] = [
    [
      'not verified',
      { id: 8, login: 'eve' },
      [{ email: 'eve@example.com', primary: true, verified: false }],
      403,
      'FORBIDDEN',
    ],
    [
      'no primary one',
      { id: 8, login: 'eve' },
      [{ email: 'eve@example.com', primary: false, verified: true }],
      403,
      'FORBIDDEN',
    ],
    [
      'another user here',
      { id: 8, login: 'eve' },
      [{ email: existing, primary: true, verified: true }],
      409,
      'USER_EXISTS',
    ],
    ['no user', { message: 'Bad credentials' }, [], 503, 'UNAVAILABLE'],
    ['no list', { id: 8, login: 'eve' }, { message: 'Not found' }, 503, 'UNAVAILABLE'],
  ]
  for (const [name, who, addresses, status, code] of refused) {
    user = who
    emails = addresses
    const bad = await signIn('github')
    t.match([bad.status, errorOf(bad.text).code], [status, code], name)
    tellsNothing(t, bad.text)
  }
})

t.test('an issuer with an untrusted certificate is not asked', async t => {
  const fake = await startReceiver(t, { certificate: 'self-signed' })
  const stage = await startServer(t, { settings: { ...settings, OAUTH_FORGER_ISSUER: fake.url } })
  t.equal((await new Browser(stage).ask(authorizeOf('forger'))).status, 503)
  t.equal(fake.requests.length, 0)
})

t.test('over plain http the cookie is one that browsers keep there', async t => {
  const stage = await startServer(t, { settings: { ...settings, BASE_URL: 'http://127.0.0.1:8000' } })
  const { headers } = await stage.ask('GET', '/api/v1/oauth/forger/authorize')
  const cookie = String(headers['set-cookie'])
  t.match(cookie, /^tidemark-oauth-[\w-]{16}=/)
  t.match(cookie, 'HttpOnly; SameSite=Lax')
  t.notMatch(cookie, 'Secure')
})

t.test('the log holds what failed, and no secret', async t => {
  const logged = lines.join('')
  t.match(logged, 'a sign-in through a provider failed')
  t.match(logged, 'invalid_client')
  t.notMatch(logged, /canary/)
})
