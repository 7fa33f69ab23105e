import { createHmac, randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import t from 'tap'
import { expireRows } from '../../../server/database/retention.ts'
import { startServer, type TestServer } from '../../helpers/server.ts'

const PASSWORD = 'a long walk at dawn'
const started = await startServer(t)

/** A registered owner of their own company, and requests that no rate limit counts. */
async function world() {
  const email = `ada-${randomUUID().slice(0, 8)}@example.com`
  const ask: TestServer['ask'] = async (...given) => {
    await started.query('delete from rate_windows')
    return started.ask(...given)
  }
  const login = (password = PASSWORD, who = email) =>
    ask('POST', '/api/v1/auth/login', { email: who, password })
  const me = (token: string) => ask('GET', '/api/v1/auth/me', undefined, token)
  const refresh = (token: string) => ask('PUT', '/api/v1/auth/tokens/current', { refresh_token: token })
  const registered = await ask('POST', '/api/v1/auth/register', {
    email: email.toUpperCase(),
    password: PASSWORD,
    full_name: 'Ada',
    company_name: 'Engines',
  })
  return { ...started, ask, email, login, me, refresh, registered }
}

t.test('registering makes a company and its owner, once for an email', async t => {
  const { ask, email, registered, login } = await world()
  t.equal(registered.status, 201)
  t.match(registered.body, {
    id: /^[0-9a-f-]{36}$/,
    email,
    full_name: 'Ada',
    role: 'owner',
    company: { name: 'Engines', plan: 'enterprise' },
    is_active: true,
    timezone: 'UTC',
    created_at: /Z$/,
    last_login_at: null,
  })
  const again = await ask('POST', '/api/v1/auth/register', { email, password: PASSWORD })
  t.match([again.status, again.body.error.code], [409, 'USER_EXISTS'])
  t.equal((await login()).body.user.email, email, 'the email is the same in any case')

  const [composed, decomposed] = ['zo\u00eb@example.com', 'zoe\u0308@example.com']
  await ask('POST', '/api/v1/auth/register', { email: decomposed, password: PASSWORD })
  t.equal((await login(PASSWORD, composed)).body.user.email, composed, 'and in any encoding of its letters')
})

t.test('names hold nothing that a terminal would obey', async t => {
  const { ask, login } = await world()
  const { access_token: token } = (await login()).body
  for (const bad of ['a\u001b[2J', 'a\u009b2J', 'two\nlines']) {
    const body = { email: `${randomUUID()}@example.com`, password: PASSWORD }
    const replies = [
      await ask('POST', '/api/v1/auth/register', { ...body, company_name: bad }),
      await ask('POST', '/api/v1/auth/register', { ...body, full_name: bad }),
      await ask('PATCH', '/api/v1/auth/me', { full_name: bad }, token),
      await ask('POST', '/api/v1/api-keys', { name: bad, scope: 'read-only' }, token),
    ]
    t.strictSame(
      replies.map(({ status }) => status),
      [422, 422, 422, 400],
    )
    for (const { body } of replies) t.match(JSON.stringify(body), /name must not hold control characters/)
  }
})

t.test('weak passwords are refused with a reason', async t => {
  const { ask } = await world()
  const email = 'grace.hopper@example.com'
  const weak: Record<string, RegExp> = {
    'eleven char': /12 characters/,
    [`${'x y'.repeat(43)}`]: /128 characters/,
    password1234: /common/,
    PassWord123456: /common/,
    'me grace.hopper@example.com': /email/,
    'Grace.Hopper 1906': /before the @/,
    abcdabcdabcdabcd: /common|repeated/,
    'xy!xy!xy!xy!': /repeated/,
  }
  for (const [password, reason] of Object.entries(weak)) {
    const { status, body } = await ask('POST', '/api/v1/auth/register', { email, password })
    t.match(
      [status, body.error.code, body.error.message],
      [400, 'WEAK_PASSWORD', reason],
      password.slice(0, 30),
    )
  }
  const emoji = await ask('POST', '/api/v1/auth/register', { email, password: '🌊🐚🦀🐙🦑🐠🐡🦈🐳🐋🐬🦭' })
  t.equal(emoji.status, 201, 'twelve code points are twelve characters')
  const invited = await ask('POST', '/api/v1/auth/register', {
    email,
    password: PASSWORD,
    invitation_token: 'x',
  })
  t.match([invited.status, invited.body.error.code], [400, 'INVALID_INVITATION'])
})

t.test('signing in gives tokens, and a wrong password and an unknown email are answered alike', async t => {
  const { login, me } = await world()
  const { status, body, headers } = await login()
  t.equal(status, 200)
  t.match(body, {
    access_token: String,
    refresh_token: String,
    token_type: 'bearer',
    expires_in: 900,
    user: { role: 'owner' },
  })
  t.equal(headers['cache-control'], 'no-store')
  t.equal((await me(body.access_token)).body.last_login_at, body.user.last_login_at)

  const wrong = await login('a long walk at dusk')
  const unknown = await login(PASSWORD, 'unknown@example.com')
  t.match([wrong.status, wrong.body.error.code], [401, 'INVALID_CREDENTIALS'])
  t.strictSame(wrong.body, unknown.body)
  t.equal(unknown.status, 401)
})

t.test('ten failures lock an email for 15 minutes, whether or not there is such a user', async t => {
  const { server, login, email, query } = await world()
  const counted = () =>
    query('select * from login_failures where email_hash = $1', [server.vault.hmac('login failures', email)])
  for (const who of [email, 'someone@example.com']) {
    const answers = []
    for (let attempt = 0; attempt < 10; attempt++) answers.push((await login('a wrong password', who)).status)
    t.strictSame(answers, Array(10).fill(401))
    const locked = await login(PASSWORD, who)
    t.match([locked.status, locked.body.error.code], [403, 'ACCOUNT_LOCKED'])
  }
  await query(`update login_failures set locked_until = now() - interval '1 second'`)
  t.equal((await login()).status, 200, 'the lock ends by itself')
  t.strictSame(await counted(), [], 'and success clears the count')
})

t.test('many guesses at once are not more guesses', async t => {
  const { server, email, query } = await world()
  const payload = JSON.stringify({ email, password: 'a wrong password' })
  const guess = (_: unknown, index: number) =>
    server.inject({
      method: 'POST',
      url: '/api/v1/auth/login',
      remoteAddress: `10.1.0.${index}`,
      headers: { 'content-type': 'application/json' },
      payload,
    })
  const replies = await Promise.all(Array.from({ length: 40 }, guess))
  const count = (status: number) => replies.filter(reply => reply.statusCode === status).length
  t.equal(count(401), 10)
  t.equal(count(403), 30)
  const hash = server.vault.hmac('login failures', email)
  t.match(await query('select failures from login_failures where email_hash = $1', [hash]), [
    { failures: 40 },
  ])
})

t.test('sign-ins beyond the waiting limit are asked to retry', async t => {
  const { server } = await world()
  const replies = await Promise.all(
    Array.from({ length: 80 }, (_, index) =>
      server.inject({
        method: 'POST',
        url: '/api/v1/auth/login',
        remoteAddress: `10.2.0.${index}`,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ email: `user-${index}@example.com`, password: PASSWORD }),
      }),
    ),
  )
  const refused = replies.filter(reply => reply.statusCode === 429)
  t.ok(refused.length > 0)
  t.equal(replies.filter(reply => reply.statusCode === 401).length, 80 - refused.length)
  t.match(refused[0]?.headers['retry-after'], /^\d+$/)
})

t.test('a refresh token is good once, and its reuse ends the session', async t => {
  const { login, me, refresh, query } = await world()
  const first = (await login()).body
  const second = await refresh(first.refresh_token)
  t.equal(second.status, 200)
  t.strictSame(Object.keys(second.body).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type'])
  t.match(second.headers, { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' })
  t.equal((await me(second.body.access_token)).status, 200)

  const repeated = await refresh(first.refresh_token)
  t.equal(repeated.body.refresh_token, second.body.refresh_token, 'a client that asks twice gets the same')
  const third = await refresh(second.body.refresh_token)
  t.equal(third.status, 200)

  await query(`update sessions set rotated_at = now() - interval '11 seconds'`)
  const reused = await refresh(second.body.refresh_token)
  t.match([reused.status, reused.body.error.code], [401, 'UNAUTHORIZED'])
  t.equal((await refresh(third.body.refresh_token)).status, 401, 'the newest token ended too')
  t.equal((await me(third.body.access_token)).status, 401, 'and the access tokens')
})

t.test('a refresh token of long ago ends the session, one made up does not', async t => {
  const { login, refresh } = await world()
  const first = (await login()).body
  const second = (await refresh(first.refresh_token)).body
  const third = (await refresh(second.refresh_token)).body
  const bytes = Buffer.from(first.refresh_token, 'base64url')
  bytes[20] = (bytes[20] ?? 0) ^ 1
  for (const madeUp of [bytes.toString('base64url'), 'x', `${first.refresh_token}A`]) {
    t.equal((await refresh(madeUp)).status, 401)
  }
  const fourth = await refresh(third.refresh_token)
  t.equal(fourth.status, 200)
  t.equal((await refresh(first.refresh_token)).status, 401)
  t.equal((await refresh(fourth.body.refresh_token)).status, 401)
})

t.test('tokens of an ended session do not block another session of the user', async t => {
  const { login, refresh, query, ask, server } = await world()
  const stolen = (await login()).body
  await ask('POST', '/api/v1/auth/logout', undefined, stolen.access_token)
  const { refresh_token } = (await login()).body
  await query('delete from rate_windows')
  const again = (text: string) =>
    server.inject({ method: 'PUT', url: '/api/v1/auth/tokens/current', payload: { refresh_token: text } })
  for (let time = 0; time < 6; time++) t.equal((await again(stolen.refresh_token)).statusCode, 401)
  t.equal((await again(refresh_token)).statusCode, 200)
  t.equal((await refresh(stolen.refresh_token)).status, 401)
})

t.test('refreshing many times at once gives one successor', async t => {
  const { login, ask, query, server, email } = await world()
  const { refresh_token } = (await login()).body
  await ask('GET', '/api/v1/auth/me')
  const replies = await Promise.all(
    Array.from({ length: 5 }, () =>
      server.inject({
        method: 'PUT',
        url: '/api/v1/auth/tokens/current',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ refresh_token }),
      }),
    ),
  )
  t.strictSame(
    replies.map(reply => reply.statusCode),
    [200, 200, 200, 200, 200],
  )
  t.equal(new Set(replies.map(reply => JSON.parse(reply.payload).refresh_token)).size, 1)
  const sessions = 'select * from sessions s join users u on u.id = s.user_id where u.email = $1'
  t.equal((await query(sessions, [email])).length, 1)
})

t.test('what ends a session ends it at once', async t => {
  const { ask, login, me, refresh, query, email } = await world()
  const [one, two] = [(await login()).body, (await login()).body]
  const out = await ask('POST', '/api/v1/auth/logout', undefined, one.access_token)
  t.strictSame([out.status, out.body], [204, ''])
  t.equal((await me(one.access_token)).status, 401)
  t.equal((await refresh(one.refresh_token)).status, 401)
  t.equal((await me(two.access_token)).status, 200, 'only its own')

  const key = (await ask('POST', '/api/v1/api-keys', { name: 'k', scope: 'admin' }, two.access_token)).body
    .data.key
  const change = (old_password: string, new_password: string, token = two.access_token) =>
    ask('POST', '/api/v1/auth/change-password', { old_password, new_password }, token)
  t.match((await change('not this one!', 'a new long password')).body.error.code, 'INVALID_PASSWORD')
  t.match((await change(PASSWORD, 'short')).body.error.code, 'WEAK_PASSWORD')
  t.equal((await change(PASSWORD, 'a new long password')).status, 204)
  t.equal((await me(two.access_token)).status, 401)
  t.equal((await refresh(two.refresh_token)).status, 401)
  t.equal((await login()).status, 401)
  t.equal((await ask('GET', '/api/v1/api-keys', undefined, key)).status, 200, 'keys live on')

  const three = (await login('a new long password')).body
  await query(`update users set is_active = false where email = $1`, [email])
  t.equal((await me(three.access_token)).status, 401, 'a disabled user')
  t.equal((await login('a new long password')).body.error.code, 'INVALID_CREDENTIALS')
})

t.test('a change of role counts on the next request', async t => {
  const { ask, login, query, email } = await world()
  const { access_token } = (await login()).body
  t.equal((await ask('GET', '/api/v1/api-keys', undefined, access_token)).status, 200)
  await query(`update users set role = 'viewer' where email = $1`, [email])
  const refused = await ask('GET', '/api/v1/api-keys', undefined, access_token)
  t.match(
    [refused.status, refused.body.error.details],
    [403, { current_scope: 'read-only', required_scope: 'admin' }],
  )
})

t.test('a profile is changed field by field', async t => {
  const { ask, login } = await world()
  const { access_token } = (await login()).body
  const patch = (body: unknown) => ask('PATCH', '/api/v1/auth/me', body, access_token)
  t.match((await patch({ timezone: 'Europe/Berlin' })).body, { full_name: 'Ada', timezone: 'Europe/Berlin' })
  t.match((await patch({ full_name: null })).body, { full_name: null, timezone: 'Europe/Berlin' })
  for (const bad of [{}, { timezone: 'Mars/Base' }, { email: 'x@example.com' }, { full_name: '' }]) {
    const { status, body } = await patch(bad)
    t.match([status, body.detail[0].loc[0]], [422, 'body'], JSON.stringify(bad))
  }
})

t.test('only our own access tokens are taken', async t => {
  const { login, me, ask, server } = await world()
  const token = (await login()).body.access_token as string
  const key = server.vault.derive('access tokens')
  const claims = jwt.decode(token) as Record<string, unknown>
  const forge = (changes: object, { header = {}, secret = key }: { header?: object; secret?: Buffer } = {}) =>
    jwt.sign(JSON.parse(JSON.stringify({ ...claims, ...changes })), secret, {
      header: { alg: 'HS256', typ: 'at+jwt', ...header },
    })
  t.equal((await me(forge({}))).status, 200)
  const [head, body] = token.split('.')
  const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${body}.`
  const bad: Record<string, string> = {
    'another key': forge({}, { secret: Buffer.alloc(32, 1) }),
    'no signature': unsigned,
    'another algorithm': forge({}, { header: { alg: 'HS512' } }),
    'another type': forge({}, { header: { typ: 'JWT' } }),
    'another issuer': forge({ iss: 'x' }),
    'another audience': forge({ aud: 'x' }),
    'no end': forge({ exp: undefined }),
    'no session': forge({ sid: undefined }),
    'another session': forge({ sid: randomUUID() }),
    'another user': forge({ sub: randomUUID() }),
    'a cut signature': token.slice(0, -2),
    'a foreign signature': `${head}.${body}.${createHmac('sha256', 'x').update(`${head}.${body}`).digest('base64url')}`,
    'no token at all': 'a.b.c',
  }
  for (const [what, forged] of Object.entries(bad)) {
    const { status, body: answer, headers } = await me(forged)
    t.match([status, answer.error.code], [401, 'UNAUTHORIZED'], what)
    t.match(headers['www-authenticate'], /Bearer/, what)
  }
  const expired = await me(forge({ exp: Math.floor(Date.now() / 1000) - 60 }))
  t.match(expired.body.error.message, /expired.*tokens\/current/)
  for (const place of [`/api/v1/auth/me?token=${token}`, `/api/v1/auth/me?access_token=${token}`]) {
    t.equal((await ask('GET', place)).status, 401, 'not in the address')
  }
  const cookie = await server.inject({ url: '/api/v1/auth/me', headers: { cookie: `token=${token}` } })
  t.equal(cookie.statusCode, 401, 'not in a cookie')
})

t.test('what has run out is swept away', async t => {
  const { server, query, login } = await world()
  await login('a wrong password')
  await login()
  await query(
    `insert into rate_windows values ('x', 1, now() - interval '1 s', 1, now() - interval '1 s', true)`,
  )
  await query(`insert into login_failures values ('x', 3, now() - interval '16 minutes', null)`)
  await query(`update sessions set ended_at = now() - interval '8 days'`)
  await expireRows(server)
  t.strictSame(await query(`select name from rate_windows where name = 'x'`), [])
  t.strictSame(await query(`select * from login_failures where email_hash = 'x'`), [])
  t.strictSame(await query('select * from sessions'), [])
})
