import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { isIssuerOf } from '../../../../plugins/auth/oauth/providers.ts'
import { startServer } from '../../../helpers/server.ts'
import { authorizeOf, BASE, Browser, callbackOf, newcomer, startIssuer, type Person } from './world.ts'

const issuer = await startIssuer(t, ['local'])
const second = await startIssuer(t, ['second'])
const app = await startServer(t, { settings: { BASE_URL: BASE, ...issuer.settings, ...second.settings } })
const { query } = app
const PASSWORD = 'a long walk at dawn'

interface ErrorBody {
  error: { code: string; message: string; details: Record<string, unknown> }
}
const errorOf = (text: string) => (JSON.parse(text) as ErrorBody).error

async function ask(method: string, path: string, body?: object, token?: string) {
  await query('delete from rate_windows')
  return app.ask(method, `/api/v1${path}`, body, token)
}

/** A user who registered with a password, with their browser, and with an account at the first provider. */
async function registered(more: Person = {}) {
  const { login, email, person } = newcomer(more)
  for (const { people } of [issuer, second]) people.set(login, person)
  const own = `own-${email}`
  const { body: user } = await ask('POST', '/auth/register', { email: own, password: PASSWORD })
  const signIn = async () =>
    String((await ask('POST', '/auth/login', { email: own, password: PASSWORD })).body.access_token)
  return {
    id: String(user.id),
    companyId: String(user.company.id),
    email: own,
    login,
    token: await signIn(),
    signIn,
    hasPassword: true,
    browser: new Browser(app),
  }
}
type User = Awaited<ReturnType<typeof registered>>

/** Begins to link a provider, and signs in there. @returns the address that the provider sends the browser to */
async function begin(
  { browser, token, login, hasPassword }: User,
  name = 'local',
  body?: object,
): Promise<URL> {
  const proof = hasPassword && { old_password: PASSWORD }
  const begun = await browser.call('POST', `/oauth/${name}/link`, token, { ...proof, ...body })
  t.equal(begun.status, 200, JSON.stringify(begun.body))
  const page = await browser.go(String(begun.body?.authorization_url), login, next =>
    next.startsWith(callbackOf(name)),
  )
  return new URL(page.location as string)
}

const linkTo = async (user: User, name = 'local') => user.browser.ask((await begin(user, name)).href)
const linksOf = async ({ token }: User) => (await ask('GET', '/oauth/links', undefined, token)).body
const byProvider = (login: string, name = 'local') => new Browser(app).go(authorizeOf(name), login)
const removePassword = (token: string, password = PASSWORD) =>
  ask('POST', '/auth/remove-password', { old_password: password }, token)
const identitiesOf = ({ id }: User) => query('select * from identities where user_id = $1', [id])
const actionsOf = async ({ companyId }: User) =>
  (
    await query('select action, actor, details from audit_log where company_id = $1 order by sequence', [
      companyId,
    ])
  ).filter(({ action }) => /link|password/.test(String(action)))

t.test('a signed-in user links a provider, and from then on signs in through it', async t => {
  const user = await registered()
  issuer.people.set(user.login, { email: user.email, email_verified: true })
  const refused = await byProvider(user.login)
  t.match(
    [refused.status, errorOf(refused.text)],
    [409, { code: 'USER_EXISTS', message: /link local with POST \/api\/v1\/oauth\/local\/link/ }],
  )
  t.strictSame(await linksOf(user), { has_password: true, links: [], providers: ['local', 'second'] })

  const begun = await user.browser.call('POST', '/oauth/local/link', user.token, {
    old_password: PASSWORD,
  })
  t.equal(begun.status, 200)
  t.equal(begun.headers['cache-control'], 'no-store')
  t.equal(begun.body?.expires_in, 600)
  const to = new URL(String(begun.body?.authorization_url))
  t.equal(to.origin, issuer.issuer)
  t.match(Object.fromEntries(to.searchParams), {
    redirect_uri: callbackOf('local'),
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  })
  t.match(user.browser.set.at(-1), /^__Host-tidemark-oauth-.*HttpOnly/)
  const page = await user.browser.go(to.href, user.login)
  t.equal(page.status, 200, page.text)
  t.match(JSON.parse(page.text), { provider: 'local', linked_at: /Z$/, last_used_at: null })
  t.match(await linksOf(user), { has_password: true, links: [{ provider: 'local' }] })

  const signedIn = await byProvider(user.login)
  t.match([signedIn.status, JSON.parse(signedIn.text).user], [200, { id: user.id, email: user.email }])
  t.match(await linksOf(user), { links: [{ provider: 'local', last_used_at: /Z$/ }] })
  t.strictSame(await actionsOf(user), [
    { action: 'user.linked', actor: `user:${user.id}`, details: { method: 'oauth:local' } },
  ])
})

t.test('with a redirect_uri the browser goes on there, with what became of it', async t => {
  const user = await registered()
  const body = { redirect_uri: `${BASE}/settings?tab=access` }
  const page = await user.browser.ask((await begin(user, 'local', body)).href)
  t.match([page.status, page.location], [302, `${BASE}/settings?tab=access&linked=local`])
  t.equal((await identitiesOf(user)).length, 1)

  const other = await registered()
  Object.assign(other, { login: user.login, browser: new Browser(app, 'text/html') })
  const taken = await other.browser.ask((await begin(other, 'local', body)).href)
  t.equal(taken.status, 302)
  t.match(Object.fromEntries(new URL(taken.location as string).searchParams), {
    tab: 'access',
    error: 'conflict',
    error_description: /another user/,
  })
  const elsewhere = await ask(
    'POST',
    '/oauth/local/link',
    { old_password: PASSWORD, redirect_uri: 'https://evil.example/' },
    user.token,
  )
  t.match(elsewhere, { status: 422, body: { detail: [{ loc: ['body', 'redirect_uri'] }] } })
})

t.test('an attempt belongs to its browser and its session', async t => {
  const user = await registered()
  const victim = new Browser(app)
  const stolen = await victim.ask((await begin(user)).href)
  t.match(
    [stolen.status, errorOf(stolen.text)],
    [401, { code: 'INVALID_TOKEN', message: /start the link again with POST \/api\/v1\/oauth\/local\/link/ }],
    'another browser',
  )

  const back = await begin(user)
  await ask('POST', '/auth/logout', undefined, user.token)
  const late = await user.browser.ask(back.href)
  t.match(
    [late.status, errorOf(late.text)],
    [401, { code: 'INVALID_TOKEN', message: /start the link again with POST \/api\/v1\/oauth\/local\/link/ }],
  )

  user.token = await user.signIn()
  const disabled = await begin(user)
  await query('update users set is_active = false where id = $1', [user.id])
  t.equal((await user.browser.ask(disabled.href)).status, 401, 'a disabled user')
  t.strictSame(await identitiesOf(user), [])
})

t.test('an account is linked to one user, and a user to one account of a provider', async t => {
  const user = await registered()
  t.equal((await linkTo(user)).status, 200)
  t.equal((await linkTo(user)).status, 200, 'a second time is the same')
  t.equal((await actionsOf(user)).length, 1)

  const other = await registered()
  const own = other.login
  other.login = user.login
  const taken = await linkTo(other)
  t.match(
    [taken.status, errorOf(taken.text)],
    [409, { code: 'CONFLICT', message: /another user.*link another provider to that user first.*an admin/ }],
  )
  t.strictSame(await identitiesOf(other), [])

  user.login = own
  user.browser = new Browser(app)
  const more = await linkTo(user)
  t.match([more.status, errorOf(more.text)], [409, { code: 'CONFLICT', message: /unlink it first/ }])
  t.equal((await identitiesOf(user)).length, 1)
})

t.test('an account whose email is not verified is not linked: it could not be signed in with', async t => {
  const user = await registered({ email_verified: false })
  const page = await linkTo(user)
  t.match([page.status, errorOf(page.text)], [403, { code: 'FORBIDDEN', message: /verified/ }])
  t.strictSame(await identitiesOf(user), [])
})

t.test('a link begins with the password of a user who has one: a session alone makes no way in', async t => {
  const user = await registered()
  const attempts = async () => (await query('select from oauth_attempts')).length
  const before = await attempts()
  const link = (body?: object) => ask('POST', '/oauth/local/link', body, user.token)
  for (const body of [undefined, {}, { redirect_uri: `${BASE}/` }])
    t.match(await link(body), { status: 422, body: { detail: [{ loc: ['body', 'old_password'] }] } })
  const change = await ask(
    'POST',
    '/auth/change-password',
    { old_password: 'another password', new_password: 'a longer walk at dusk' },
    user.token,
  )
  const remove = await removePassword(user.token, 'another password')
  t.match(change, { status: 401, body: { error: { code: 'INVALID_PASSWORD' } } })
  for (const { status, body } of [await link({ old_password: 'another password' }), remove])
    t.match(
      { status, ...body.error, request_id: null },
      { status: change.status, ...change.body.error, request_id: null },
      'the same refusal for every use of the old password',
    )
  t.equal(await attempts(), before, 'nothing was begun')
  const failed = () =>
    query(`select actor, target_id, details from audit_log where company_id = $1 and action = $2`, [
      user.companyId,
      'user.link_failed',
    ])
  while ((await failed()).length === 0) await setImmediate()
  t.strictSame(await failed(), [
    {
      actor: 'system',
      target_id: user.id,
      details: { method: 'oauth:local', reason: 'wrong_password' },
    },
  ])
  t.equal((await linkTo(user)).status, 200)
})

t.test('a linked provider is unlinked and no longer signs this user in', async t => {
  const user = await registered()
  await linkTo(user)
  const unlink = (name = 'local') => ask('DELETE', `/oauth/${name}/link`, undefined, user.token)
  t.equal((await unlink()).status, 204)
  t.match(await linksOf(user), { links: [] })
  t.match(await unlink(), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  const page = await byProvider(user.login)
  t.not(JSON.parse(page.text).user?.id, user.id)
  t.match(await actionsOf(user), [{ action: 'user.linked' }, { action: 'user.unlinked' }])
})

t.test('a sign-in that is under way does not undo an unlink', async t => {
  const user = await registered()
  await linkTo(user)
  const browser = new Browser(app)
  const back = await browser.callback('local', user.login)
  const unlinking = new pg.Client({ connectionString: app.server.config.databaseUrl as string })
  await unlinking.connect()
  t.teardown(() => unlinking.end())
  const [{ pid }] = (await unlinking.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
  await unlinking.query('begin')
  await unlinking.query('select from users where id = $1 for no key update', [user.id])
  await unlinking.query('delete from identities where user_id = $1', [user.id])
  const signingIn = browser.ask(back.href)
  const waiting = `select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))`
  while ((await query(waiting, [pid])).length === 0) await setImmediate()
  await unlinking.query('commit')
  const page = await signingIn
  t.equal(page.status, 200, page.text)
  t.not(JSON.parse(page.text).user.id, user.id, 'a user of its own, as one who never was linked')
  t.strictSame(await identitiesOf(user), [])
})

t.test('the password may be removed once a provider is linked, and the last way in stays', async t => {
  const user = await registered()
  t.match(await removePassword(user.token), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: /only way/ } },
  })
  await linkTo(user)
  t.match(await removePassword(user.token, 'another password'), {
    status: 401,
    body: { error: { code: 'INVALID_PASSWORD' } },
  })
  t.equal((await removePassword(user.token)).status, 204)
  t.equal((await ask('GET', '/auth/me', undefined, user.token)).status, 401, 'all sessions end')
  const byPassword = await ask('POST', '/auth/login', { email: user.email, password: PASSWORD })
  t.equal(byPassword.status, 401)

  user.token = String(JSON.parse((await byProvider(user.login)).text).access_token)
  t.match(await linksOf(user), { has_password: false })
  user.hasPassword = false
  t.equal((await removePassword(user.token)).status, 409, 'there is none')
  const unlink = () => ask('DELETE', '/oauth/local/link', undefined, user.token)
  t.match(await unlink(), { status: 409, body: { error: { code: 'CONFLICT', message: /only way/ } } })
  await linkTo(user, 'second')
  t.equal((await unlink()).status, 204)
  t.match(JSON.parse((await byProvider(user.login, 'second')).text).user, { id: user.id })
  t.match(
    (await actionsOf(user)).map(({ action }) => action),
    ['user.linked', 'user.password_removed', 'user.linked', 'user.unlinked'],
  )
})

t.test('a provider that is no longer in the settings is no way in', async t => {
  const user = await registered()
  await linkTo(user)
  await query(
    `update identities set provider = 'former', issuer = 'https://former.example' where user_id = $1`,
    [user.id],
  )
  t.equal((await removePassword(user.token)).status, 409)
  t.match(await linksOf(user), { links: [{ provider: 'former' }] })
  t.equal((await ask('DELETE', '/oauth/former/link', undefined, user.token)).status, 204)
})

t.test('a provider that has another issuer by now is no way in, but for a tenant of Entra', async t => {
  const user = await registered()
  await linkTo(user)
  const setIssuer = (text: string) =>
    query('update identities set issuer = $2 where user_id = $1', [user.id, text])
  const removed = () => removePassword(user.token)
  await setIssuer('https://former.example')
  t.match(await removed(), { status: 409, body: { error: { message: /only way/ } } })
  t.match(await linksOf(user), { has_password: true, links: [{ provider: 'local' }] })
  await setIssuer(`${issuer.issuer}/`)
  t.equal((await removed()).status, 204, 'the same issuer with a slash')

  const tenant = 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0'
  const entra = (name: string) => ({ issuer: `https://login.microsoftonline.com/${name}/v2.0` })
  for (const name of ['common', 'organizations', 'consumers', '{tenantid}'])
    t.ok(isIssuerOf(entra(name), tenant), name)
  t.notOk(isIssuerOf(entra('another'), tenant), 'one tenant is not another')
  t.notOk(isIssuerOf(entra('common'), 'https://former.example/common/v2.0'))
})

t.test('unlinking and removing the password at once leave one way in', async t => {
  for (let round = 0; round < 4; round++) {
    const user = await registered()
    await linkTo(user)
    await query('delete from rate_windows')
    const replies = await Promise.all([
      app.ask('DELETE', '/api/v1/oauth/local/link', undefined, user.token),
      app.ask('POST', '/api/v1/auth/remove-password', { old_password: PASSWORD }, user.token),
    ])
    const [row] = await query(
      `select password_hash is not null as has_password,
         exists (select from identities i where i.user_id = u.id) as is_linked from users u where id = $1`,
      [user.id],
    )
    t.ok(row?.has_password !== row?.is_linked, JSON.stringify([replies.map(({ status }) => status), row]))
  }
})

t.test('a removed password does not make an unproven email a proven one', async t => {
  const victim = newcomer()
  const { token: prospect } = await app.server.plugins.auth.createProspect({ email: victim.email })
  const attacker = await registered()
  await query('update users set email = $2 where id = $1', [attacker.id, victim.email])
  await linkTo(attacker)
  t.equal((await removePassword(attacker.token)).status, 204)

  second.people.set(victim.login, victim.person)
  const page = await byProvider(victim.login, 'second')
  t.match([page.status, errorOf(page.text).code], [409, 'USER_EXISTS'])
  const admitted = app.server.plugins.auth.admitProspect(prospect, {})
  await t.rejects(admitted, { message: /has registered since/ })
})

t.test('who came through a provider before, in a former version, goes on as before', async t => {
  const { login, email, person } = newcomer()
  for (const { people } of [issuer, second]) people.set(login, person)
  const first = JSON.parse((await byProvider(login)).text)
  await query('update identities set provider = null, email = null where user_id = $1', [first.user.id])
  const user = { id: first.user.id, token: first.access_token } as User
  t.match(await linksOf(user), { has_password: false, links: [{ provider: 'local' }] })
  t.equal(JSON.parse((await byProvider(login)).text).user.id, user.id, 'by the subject')
  t.equal(JSON.parse((await byProvider(login, 'second')).text).user.id, user.id, `by the email ${email}`)
  t.match(await linksOf(user), { links: [{ provider: 'local' }, { provider: 'second' }] })
  t.equal((await ask('DELETE', '/oauth/local/link', undefined, user.token)).status, 204)
})

t.test('an unknown provider, an API key, and a caller without a session are refused', async t => {
  const user = await registered()
  t.equal((await ask('POST', '/oauth/unknown/link', undefined, user.token)).status, 404)
  const made = await ask('POST', '/api-keys', { name: randomUUID(), scope: 'admin' }, user.token)
  const key = String(made.body.data.key)
  for (const [method, path, body] of [
    ['GET', '/oauth/links'],
    ['POST', '/oauth/local/link'],
    ['DELETE', '/oauth/local/link'],
    ['POST', '/auth/remove-password', { old_password: PASSWORD }],
  ] as const) {
    t.equal((await ask(method, path, body, key)).status, 403, `${method} ${path}`)
    t.equal((await ask(method, path, body)).status, 401, `${method} ${path}`)
  }
})
