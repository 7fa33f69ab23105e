import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'

const KEYS = '/api/v1/api-keys'
const { ask, signUp, query } = await startServer(t)

t.beforeEach(() => query('delete from rate_windows'))

t.test('a key is shown once, listed without itself, and revoked for good', async t => {
  const { token } = await signUp()
  const make = (body: unknown) => ask('POST', KEYS, body, token)
  const made = await make({ name: 'ci', scope: 'read-write' })
  t.equal(made.status, 201)
  const { key, ...record } = made.body.data
  t.match(key, /^aa_live_[A-Za-z0-9]{40}$/)
  t.match(record, {
    id: String,
    name: 'ci',
    scope: 'read-write',
    key_prefix: key.slice(0, 12),
    key_suffix: key.slice(-4),
    display_key: `${key.slice(0, 12)}...${key.slice(-4)}`,
    rate_limit_per_min: 5_000,
    burst_limit: 100,
    created_at: /Z$/,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    is_active: true,
  })
  const [stored] = await query('select * from api_keys where id = $1', [record.id])
  t.notMatch(JSON.stringify(stored), key, 'only its hash is stored')

  const one = `${KEYS}/${record.id}`
  t.strictSame((await ask('GET', one, undefined, token)).body, { data: record })
  const list = await ask('GET', `${KEYS}?limit=1`, undefined, token)
  t.strictSame(list.body.data.keys, [record], 'newest first')
  t.match(list.body.data.pagination, { total: 2, limit: 1, offset: 0, has_more: true })

  const revoked = await ask('DELETE', one, undefined, token)
  t.match([revoked.status, revoked.body.data], [200, { id: record.id, is_active: false, revoked_at: /Z$/ }])
  t.strictSame((await ask('DELETE', one, undefined, token)).body, revoked.body, 'revoking twice is the same')
  const names = async (query: string) => {
    const { keys, pagination } = (await ask('GET', `${KEYS}${query}`, undefined, token)).body.data
    t.equal(pagination.total, keys.length)
    return keys.map(({ name }: { name: string }) => name)
  }
  const all = await names('')
  t.strictSame(await names('?include_revoked=true'), all)
  t.strictSame(
    await names('?include_revoked=false'),
    all.filter((name: string) => name !== 'ci'),
  )
  t.equal((await ask('GET', `${KEYS}?include_revoked=1`, undefined, token)).status, 400)
  const refused = await ask('GET', KEYS, undefined, key)
  t.match([refused.status, refused.body.error], [401, { code: 'UNAUTHORIZED', message: /revoked/ }])
})

t.test('bad input is answered with the field', async t => {
  const { token } = await signUp()
  const bad: [unknown, string][] = [
    [{ scope: 'admin' }, 'name'],
    [{ name: 'x', scope: 'root' }, 'scope'],
    [{ name: 'x', scope: 'admin', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'x', scope: 'admin', expires_at: 'soon' }, 'expires_at'],
    [{ name: 'x', scope: 'admin', expires_at: '+275760-09-13T00:00:00.000Z' }, 'expires_at'],
    [{ name: 'x', scope: 'admin', expires_at: '+010000-01-01T00:00:00.000Z' }, 'expires_at'],
    [{ name: 'x', scope: 'admin', extra: 1 }, 'extra'],
  ]
  for (const [body, field] of bad) {
    const { status, body: answer } = await ask('POST', KEYS, body, token)
    t.match([status, answer.error.code, answer.error.details.field], [400, 'VALIDATION_ERROR', field])
  }
  for (const id of [randomUUID(), 'x', 'aa_live_x']) {
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await ask(method, `${KEYS}/${id}`, undefined, token)
      t.match([status, body.error.code], [404, 'API_KEY_NOT_FOUND'])
    }
  }
})

t.test('a key expires as requested and shows its last use', async t => {
  const { token } = await signUp()
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const { id, key } = (await ask('POST', KEYS, { name: 'x', scope: 'admin', expires_at: inAnHour }, token))
    .body.data
  t.equal((await ask('GET', KEYS, undefined, key)).status, 200)
  const used = async () => (await ask('GET', `${KEYS}/${id}`, undefined, token)).body.data.last_used_at
  const first = await used()
  t.match(first, /Z$/)
  await ask('GET', KEYS, undefined, key)
  t.equal(await used(), first, 'written once a minute at most')
  await query(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [id])
  const refused = await ask('GET', KEYS, undefined, key)
  t.match([refused.status, refused.body.error.message], [401, /expired/])
  t.equal((await ask('GET', `${KEYS}/${id}`, undefined, token)).body.data.is_active, false)
})

t.test('a plan allows so many keys, also to several who ask at once', async t => {
  const { ask, query, server } = await startServer(t, { settings: { DEFAULT_PLAN: 'growth' } })
  const email = 'owner@example.com'
  const password = 'a long walk at dawn'
  await ask('POST', '/api/v1/auth/register', { email, password })
  const token = (await ask('POST', '/api/v1/auth/login', { email, password })).body.access_token
  const make = () => ask('POST', KEYS, { name: 'x', scope: 'read-only' }, token)
  const made = await Promise.all(Array.from({ length: 12 }, make))
  t.equal(made.filter(({ status }) => status === 201).length, 10)
  t.match(made.find(({ status }) => status === 409)?.body.error, {
    code: 'KEY_LIMIT',
    details: { max_keys: 10 },
  })
  const usage = async () => (await ask('GET', `${KEYS}/usage`, undefined, token)).body
  t.strictSame(await usage(), {
    data: { current_count: 10, max_keys: 10, rate_limit_per_min: 500, burst_limit: 25, can_create: false },
  })
  await query(`update api_keys set revoked_at = now() where id = (select id from api_keys limit 1)`)
  t.match((await usage()).data, { current_count: 9, can_create: true })
  await server.plugins.auth.setPlan('owner', 'enterprise')
  t.match((await usage()).data, { max_keys: null, rate_limit_per_min: 5_000, can_create: true })
})

t.test("another company's key answers as one that never was", async t => {
  const [one, two] = [await signUp('One'), await signUp('Two')]
  const { id } = (await one.ask('GET', KEYS)).body.data.keys[0]
  for (const method of ['GET', 'DELETE']) {
    const foreign = await ask(method, `${KEYS}/${id}`, undefined, two.key)
    const random = randomUUID()
    const unknown = await ask(method, `${KEYS}/${random}`, undefined, two.key)
    t.equal(foreign.status, 404)
    t.equal(JSON.stringify(foreign.body).replace(id, ''), JSON.stringify(unknown.body).replace(random, ''))
  }
  t.equal((await two.ask('GET', KEYS)).body.data.pagination.total, 1)
  t.equal((await one.ask('GET', `${KEYS}/${id}`)).body.data.is_active, true)
})

t.test('the command line makes companies, users and keys by the same rules', async t => {
  const { server, ask } = await startServer(t)
  const { auth } = server.plugins
  await t.rejects(auth.findCompany(), { message: /no company yet/ })
  const one = await auth.createCompany({ name: 'One', plan: 'starter' })
  t.strictSame(await auth.findCompany(), one)
  await auth.createCompany({ name: 'Two' })
  t.equal(await auth.countCompanies(), 2)
  await t.rejects(auth.findCompany(), { message: /--company.*One.*Two/ })
  await t.rejects(auth.findCompany('Three'), { message: /no company "Three"/ })
  t.strictSame(await auth.findCompany(one.id), await auth.findCompany('One'))
  const squatter = await auth.createCompany({ name: one.id })
  t.strictSame(await auth.findCompany(one.id), one, 'a company that is named after its id does not hide it')
  t.strictSame(await auth.findCompany(one.id.toUpperCase()), one)
  t.strictSame(await auth.findCompany(squatter.id), squatter)
  const owner = {
    companyId: one.id,
    email: 'Owner@Example.com',
    password: 'a long walk at dawn',
    role: 'owner' as const,
  }
  t.match(await auth.createUser(owner), { email: 'owner@example.com' })
  await t.rejects(auth.createUser(owner), { message: /with this email/ })
  await t.rejects(auth.createUser({ ...owner, email: 'second@example.com' }), {
    message: /already has an owner/,
  })
  await t.rejects(auth.createUser({ ...owner, email: 'nonsense' }), {
    message: /email must be an email address, not "nonsense"/,
  })
  await t.rejects(auth.createUser({ ...owner, email: 'third@example.com', password: 'short' }), {
    message: /12 characters/,
  })
  const { key, record } = await auth.createKey({ companyId: one.id, name: 'cli', scope: 'admin' })
  await t.rejects(auth.createKey({ companyId: one.id, name: 'more', scope: 'admin' }), {
    message: /starter allows 1/,
  })
  t.strictSame((await auth.listKeys(one.id)).length, 1)
  t.equal((await ask('GET', KEYS, undefined, key)).status, 200)
  await auth.revokeKey(one.id, (record as { id: string }).id)
  t.equal((await ask('GET', KEYS, undefined, key)).status, 401)
})
