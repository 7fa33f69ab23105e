import t from 'tap'
import { access } from '../../../server/http/access.ts'
import { addressOf } from '../../../server/http/limits.ts'
import { PLANS } from '../../../server/settings/config.ts'
import { startServer } from '../../helpers/server.ts'

const json = { 'content-type': 'application/json' }
const started = await startServer(t)
const { server, ask, query, signUp } = started

t.beforeEach(() => query('delete from rate_windows'))

/** Lets the windows of a name, or all, begin anew. */
const pass = (name = '%') =>
  query(`update rate_windows set ends_at = now(), burst_ends_at = now() where name like $1`, [name])

t.test('exactly the allowed number passes, however many ask at once', async t => {
  const takes = Array.from({ length: 400 }, () =>
    server.limits.take('many', 5, 60).then(
      () => true,
      () => false,
    ),
  )
  t.equal((await Promise.all(takes)).filter(Boolean).length, 5)
  t.match(
    await query(`select used from rate_windows where name = 'many'`),
    [{ used: 5 }],
    'refused ones do not count',
  )
})

t.test('a window ends, and the next one begins whole', async t => {
  await server.limits.take('ending', 1, 3_600)
  const refused = await server.limits.take('ending', 1, 3_600).catch((error: unknown) => error)
  t.match(refused, {
    data: { code: 'RATE_LIMITED' },
    output: { headers: { 'Retry-After': /^3(600|59\d)$/ } },
  })
  await pass('ending')
  await server.limits.take('ending', 1, 3_600)
  await t.rejects(server.limits.take('ending', 1, 3_600))
})

t.test('each plan has the limits of the table, by the minute and by the second', async t => {
  const allowed = {
    free_trial: [20, 2],
    starter: [30, 3],
    growth: [500, 25],
    professional: [1_000, 50],
    enterprise: [5_000, 100],
  }
  const { key, companyId } = await signUp()
  // The keys of the company alone are what this path needs; any path of the class will do.
  server.route({
    method: 'GET',
    path: '/limited',
    options: access.read,
    handler: () => 'ok',
  })
  for (const plan of PLANS) {
    await server.plugins.auth.setPlan(companyId, plan)
    await query(`delete from rate_windows`)
    const [perMinute, burst] = allowed[plan] as [number, number]
    const first = await ask('GET', '/limited', undefined, key)
    t.match(
      first.headers,
      { 'x-ratelimit-limit': String(burst), 'x-ratelimit-remaining': String(burst - 1) },
      plan,
    )
    await query(`update rate_windows set burst_used = $1, burst_ends_at = now() + interval '1 minute'`, [
      burst - 1,
    ])
    t.equal((await ask('GET', '/limited', undefined, key)).status, 200)
    t.equal((await ask('GET', '/limited', undefined, key)).status, 429, `${plan} burst`)
    t.match(
      await query('select used from rate_windows'),
      [{ used: 2 }],
      'neither window counts what one refuses',
    )

    await query(`update rate_windows set used = $1, burst_ends_at = now()`, [perMinute - 1])
    const last = await ask('GET', '/limited', undefined, key)
    t.match(
      last.headers,
      { 'x-ratelimit-limit': String(perMinute), 'x-ratelimit-remaining': '0' },
      'the nearest window',
    )
    const over = await ask('GET', '/limited', undefined, key)
    t.match([over.status, over.body.error.code], [429, 'RATE_LIMITED'], `${plan} minute`)
    const wait = Number(over.headers['retry-after'])
    t.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60)
    const reset = Number(over.headers['x-ratelimit-reset']) - Date.now() / 1_000
    t.ok(reset > 0 && reset <= 61, 'epoch seconds')
  }
})

t.test('sign-ins are limited by address, unreadable ones too; registrations only when readable', async t => {
  const post = (path: string, payload: string, remoteAddress: string) =>
    server.inject({ method: 'POST', url: `/api/v1/auth/${path}`, headers: json, payload, remoteAddress })
  const login = JSON.stringify({ email: 'a@example.com', password: 'x' })
  const statuses = []
  for (const body of [login, '{', '{}', login, login, login])
    statuses.push((await post('login', body, '10.0.0.1')).statusCode)
  t.strictSame(statuses, [401, 400, 422, 401, 401, 429])
  const elsewhere = await post('login', '{', '10.0.0.2')
  t.match([elsewhere.statusCode, elsewhere.headers['x-ratelimit-remaining']], [400, '4'])

  const register = JSON.stringify({ email: 'a@example.com', password: 'short' })
  const answers = []
  for (const body of ['{', register, register, '{', register, register])
    answers.push(await post('register', body, '10.0.0.3'))
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [400, 400, 400, 400, 400, 429],
  )
  t.strictSame(
    answers.map(({ headers }) => headers['x-ratelimit-remaining']),
    ['3', '2', '1', '1', '0', '0'],
  )
})

t.test('a route without a caller states its own limit, as those of extensions do', async t => {
  server.route({
    method: 'GET',
    path: '/limited-by-address',
    options: access.byAddress({ name: 'of-an-extension', perMinute: 2 }),
    handler: () => 'ok',
  })
  const statuses: number[] = []
  for (let asked = 0; asked < 3; asked++) {
    const { statusCode, headers } = await server.inject('/limited-by-address')
    statuses.push(statusCode)
    t.equal(headers['x-ratelimit-limit'], '2')
  }
  t.strictSame(statuses, [200, 200, 429])
})

t.test('users are limited in their own affairs, not in looking at them', async t => {
  const { token } = await signUp()
  const patch = () => ask('PATCH', '/api/v1/auth/me', { full_name: 'X' }, token)
  for (let index = 0; index < 5; index++) t.equal((await patch()).status, 200)
  t.equal((await patch()).status, 429)
  const passwords = { old_password: 'x', new_password: 'y' }
  const password = await ask('POST', '/api/v1/auth/change-password', passwords, token)
  t.equal(password.status, 429, 'all of them together')
  const me = await ask('GET', '/api/v1/auth/me', undefined, token)
  t.match([me.status, me.headers['x-ratelimit-limit']], [200, undefined])
  const out = await ask('POST', '/api/v1/auth/logout', undefined, token)
  t.match([out.status, out.headers['x-ratelimit-limit']], [204, undefined], 'signing out is always possible')
})

t.test('the order is 401, 429, 403, 400 or 422', async t => {
  const { token, key } = await signUp()
  const patch = (body: unknown, credential?: string) => ask('PATCH', '/api/v1/auth/me', body, credential)
  t.equal((await patch({ x: 1 }, 'nonsense')).status, 401)
  t.equal((await patch({ x: 1 }, key)).status, 403)
  for (let index = 0; index < 5; index++) t.equal((await patch({ x: 1 }, token)).status, 422)
  t.equal((await patch({ x: 1 }, token)).status, 429)
})

t.test('an address is the one that the outermost trusted proxy saw, IPv6 by /64', async t => {
  const of = (remoteAddress: string, hops: number, forwarded?: string) =>
    addressOf(
      { info: { remoteAddress }, headers: { ...(forwarded && { 'x-forwarded-for': forwarded }) } } as never,
      hops,
    )
  t.equal(of('10.0.0.1', 0, '1.2.3.4'), '10.0.0.1', 'no proxy is trusted by default')
  t.equal(of('10.0.0.1', 1, '6.6.6.6, 1.2.3.4'), '1.2.3.4', 'what the client itself wrote is not looked at')
  t.equal(of('10.0.0.1', 2, '6.6.6.6, 1.2.3.4, 10.0.0.2'), '1.2.3.4')
  t.equal(of('10.0.0.1', 3, '1.2.3.4'), '1.2.3.4')
  t.equal(of('10.0.0.1', 1), '10.0.0.1')
  t.equal(of('10.0.0.1', 1, 'nonsense'), '10.0.0.1')
  t.equal(of('10.0.0.1', 1, '1.2.3.4:5678'), '1.2.3.4', 'some proxies write the port too')
  t.equal(of('10.0.0.1', 1, '[2001:db8:1:2::1]:5678'), of('2001:db8:1:2::9', 0))
  t.equal(of('::ffff:10.0.0.1', 0), '10.0.0.1')
  t.equal(of('2001:db8:1:2:3:4:5:6', 0), of('2001:db8:1:2::1', 0))
  t.not(of('2001:db8:1:2::1', 0), of('2001:db8:1:3::1', 0))
})

t.test('an unreadable request is not counted, and its reply carries the limit all the same', async t => {
  const { key, token } = await signUp()
  const post = (headers: object, payload: string, credential: string) =>
    server.inject({
      method: 'POST',
      url: '/api/v1/sdk/tags',
      headers: { authorization: `Bearer ${credential}`, ...headers },
      payload,
    })
  for (const [credential, limit] of [
    [key, '100'],
    [token, '100'],
  ] as const) {
    await query('delete from rate_windows')
    for (const [headers, payload, status] of [
      [json, '{', 400],
      [{ 'content-type': 'text/plain' }, 'x', 415],
      [json, `"${'x'.repeat(1_100_000)}"`, 413],
    ] as const) {
      const reply = await post(headers, payload, credential)
      t.equal(reply.statusCode, status)
      t.match(reply.headers, { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': limit }, String(status))
      t.ok(Number(reply.headers['x-ratelimit-reset']) > 0)
    }
    const bad = await post(json, '{}', credential)
    t.match([bad.statusCode, bad.headers['x-ratelimit-remaining']], [400, '99'], 'what is only wrong counts')
  }
})

t.test('a client behind a trusted proxy is limited by its own address, an IPv6 network as one', async t => {
  const behind = await startServer(t, { settings: { TRUST_PROXY: '1' } })
  const login = async (forwarded: string, remoteAddress = '10.0.0.9') => {
    const { statusCode } = await behind.server.inject({
      method: 'POST',
      url: '/api/v1/auth/login',
      headers: { ...json, 'x-forwarded-for': forwarded },
      payload: '{}',
      remoteAddress,
    })
    return statusCode
  }
  for (const [one, same, other] of [
    ['1.2.3.4', '9.9.9.9, 1.2.3.4', '1.2.3.5'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ] as const) {
    for (let n = 0; n < 5; n++) t.equal(await login(n % 2 ? same : one), 422)
    t.equal(await login(same), 429, 'what a client writes before its address does not make it another')
    t.equal(await login(other), 422)
  }
  t.equal(await login('1.2.3.4', '10.0.0.10'), 429, 'whichever proxy it comes by')
})
