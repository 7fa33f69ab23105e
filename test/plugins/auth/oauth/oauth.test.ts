import { createHash } from 'node:crypto'
import t from 'tap'
import { makeStage } from '../../../helpers/world.ts'
import { authorizeOf, BASE, Browser, callbackOf, newcomer, startIssuer, type Person } from './world.ts'

const issuer = await startIssuer(t, ['local', 'other'])
const { app, tenant } = await makeStage(t, { settings: { BASE_URL: BASE, ...issuer.settings } })
const query = app.query

/** A new person at the provider, and their browser. */
function visitor(more: Person = {}) {
  const { login, email, person } = newcomer(more)
  issuer.people.set(login, person)
  return { login, email, browser: new Browser(app) }
}

const errorOf = (text: string) => JSON.parse(text).error as { code: string; message: string }
const exchange = async (ticket: string) => {
  await query('delete from rate_windows')
  return app.ask('POST', '/api/v1/auth/tickets', { ticket })
}
const actionsOf = async (email: string) =>
  (
    await query(
      `select l.action, l.details, l.actor, l.address from audit_log l join users u on u.company_id = l.company_id
         and l.target_id = cast(u.id as text)
       where u.email = $1 order by l.sequence`,
      [email],
    )
  ).map(row => row as { action: string; details: Record<string, unknown>; actor: string; address: string })
const usersOf = (email: string) => query('select * from users where email = $1', [email])

t.test(
  'signing in leads to the provider with all that protects it, and keeps no secret readable',
  async t => {
    const { browser } = visitor()
    const page = await browser.ask(authorizeOf('local'))
    t.equal(page.status, 302)
    t.equal(page.headers['cache-control'], 'no-store')
    const to = new URL(page.location as string)
    t.equal(to.origin, issuer.issuer)
    const asked = Object.fromEntries(to.searchParams)
    t.match(asked, {
      response_type: 'code',
      client_id: 'tidemark-local',
      redirect_uri: callbackOf('local'),
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    })
    const [cookie = ''] = browser.set
    t.match(cookie, /^__Host-tidemark-oauth-[\w-]{16}=[\w-]{43}; Max-Age=600;/)
    for (const part of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']) t.match(cookie, part)
    t.notMatch(cookie, /domain/i)
    t.notMatch(cookie, String(asked.state))
    const kept = JSON.stringify(
      await query("select *, encode(state_hash, 'escape') as text from oauth_attempts"),
    )
    for (const secret of [asked.state, asked.nonce, asked.code_challenge]) t.notMatch(kept, String(secret))
  },
)

t.test('a newcomer becomes the owner of a company, and signs in again as the same user', async t => {
  const { browser, login, email } = visitor()
  const page = await browser.go(authorizeOf('local'), login)
  t.equal(page.status, 200, page.text)
  t.equal(page.headers['cache-control'], 'no-store')
  const reply = JSON.parse(page.text)
  t.match(reply, {
    access_token: String,
    refresh_token: String,
    token_type: 'bearer',
    expires_in: 900,
    user: {
      email,
      full_name: 'Ada Lovelace',
      role: 'owner',
      company: { name: 'Ada Lovelace' },
      last_login_at: /Z$/,
    },
  })
  const me = await app.ask('GET', '/api/v1/auth/me', undefined, reply.access_token)
  t.equal(me.body.email, email)
  t.match(browser.set.at(-1), /Max-Age=0/, 'the cookie is taken back')

  issuer.people.set(login, { email: `new-${email}`, email_verified: true })
  const again = await new Browser(app).go(authorizeOf('other'), login)
  t.equal(JSON.parse(again.text).user.id, reply.user.id, 'by the subject, whatever became of the email')
  t.strictSame((await usersOf(`new-${email}`)).length, 0)
  t.match(await actionsOf(email), [
    {
      action: 'user.registered',
      actor: `user:${reply.user.id}`,
      address: '127.0.0.1',
      details: { method: 'oauth:local', email, role: 'owner' },
    },
    { action: 'user.signed_in', details: { method: 'oauth:local' } },
    { action: 'user.signed_in', details: { method: 'oauth:other' } },
  ])
  const [user] = await usersOf(email)
  t.equal(user?.password_hash, null)
  await query('delete from rate_windows')
  const byPassword = await app.ask('POST', '/api/v1/auth/login', { email, password: 'a long walk at dawn' })
  t.match([byPassword.status, byPassword.body.error.code], [401, 'INVALID_CREDENTIALS'])
})

t.test('with a redirect_uri the browser goes on with a ticket, which opens one session', async t => {
  const { browser, login, email } = visitor()
  const target = encodeURIComponent(`${BASE}/console/in?then=%2Fassets#top`)
  const page = await browser.go(`${authorizeOf('local')}?redirect_uri=${target}`, login, next =>
    next.startsWith(`${BASE}/console`),
  )
  t.equal(page.status, 302)
  t.equal(page.headers['cache-control'], 'no-store')
  const to = new URL(page.location as string)
  const ticket = String(to.searchParams.get('ticket'))
  t.match(ticket, /^[\w-]{43}$/)
  to.searchParams.delete('ticket')
  t.equal(to.href, `${BASE}/console/in?then=%2Fassets#top`)
  t.notMatch(
    JSON.stringify(await query(`select *, encode(ticket_hash, 'escape') as text from tickets`)),
    ticket,
  )

  const both = await Promise.all([exchange(ticket), exchange(ticket)])
  t.strictSame(both.map(({ status }) => status).sort(), [200, 401])
  const good = both.find(({ status }) => status === 200)
  t.match(good?.body.user, { email, role: 'owner' })
  t.equal(both.find(({ status }) => status === 401)?.body.error.code, 'INVALID_TOKEN')
  const sessions = await query(
    'select 1 from sessions s join users u on u.id = s.user_id where u.email = $1',
    [email],
  )
  t.equal(sessions.length, 1)
})

t.test('a redirect_uri elsewhere is refused before anything is kept', async t => {
  const before = await query('select 1 from oauth_attempts')
  const elsewhere = [
    'https://evil.example/',
    `${BASE}@evil.example/`,
    `${BASE}:443@evil.example/`,
    'https://user@tidemark.example.com/',
    'https://user:word@tidemark.example.com/',
    `${BASE}.evil.example/`,
    'https://tidemark.example.com:8443/',
    'http://tidemark.example.com/',
    '//evil.example/',
    '/console',
    'console',
    '',
    'javascript:alert(1)',
    'data:text/html,x',
    `blob:${BASE}/x`,
    'https:\\\\evil.example\\',
    'https://evil.example\\@tidemark.example.com/',
    'https://tidemark%2Eexample.com.evil.example/',
    'https://evil.example/?x=https://tidemark.example.com/',
  ]
  for (const uri of elsewhere) {
    const { status, text } = await new Browser(app).ask(
      `${authorizeOf('local')}?redirect_uri=${encodeURIComponent(uri)}`,
    )
    t.equal(status, 422, uri)
    t.match(JSON.parse(text).detail, [{ loc: ['query', 'redirect_uri'], msg: String }], uri)
  }
  t.equal((await query('select 1 from oauth_attempts')).length, before.length)
  for (const uri of [
    `${BASE}`,
    `${BASE}:443/x`,
    'HTTPS://TIDEMARK.EXAMPLE.COM/x',
    `${BASE}/\\evil.example`,
  ]) {
    const { status } = await new Browser(app).ask(
      `${authorizeOf('local')}?redirect_uri=${encodeURIComponent(uri)}`,
    )
    t.equal(status, 302, uri)
  }
  const kept = await query('select redirect_uri from oauth_attempts where redirect_uri is not null')
  for (const { redirect_uri: uri } of kept) t.equal(new URL(String(uri)).origin, BASE)
})

t.test('an unknown provider is 404, and so is a preset without settings', async t => {
  for (const name of ['google', 'github', 'slack', 'unknown', 'constructor', 'LOCAL', '__proto__']) {
    for (const url of [authorizeOf(name), `${callbackOf(name)}?state=x&code=y`]) {
      const { status, text } = await new Browser(app).ask(url)
      t.match([status, errorOf(text).code], [404, 'NOT_FOUND'], url)
    }
  }
})

t.test('a state is good once, for the browser and the provider that it was made for', async t => {
  const { browser, login, email } = visitor()
  const back = await browser.callback('local', login)
  const refused = async (message: string, asked: Promise<{ status: number; text: string }>) => {
    const { status, text } = await asked
    t.match(
      [status, errorOf(text)],
      [401, { code: 'INVALID_TOKEN', message: /start the sign-in again at GET .*authorize/ }],
      message,
    )
  }
  const changed = (change: (url: URL) => void) => {
    const url = new URL(back)
    change(url)
    return url.href
  }
  await refused('another browser', new Browser(app).ask(back.href))
  await refused('a wrong state', browser.ask(changed(url => url.searchParams.set('state', 'x'.repeat(43)))))
  await refused('another provider', browser.ask(back.href.replace('/local/', '/other/')))
  const absent = await browser.ask(changed(url => url.searchParams.delete('state')))
  t.equal(absent.status, 422, 'no state')
  const twice = await browser.ask(`${back.href}&state=y`)
  t.equal(twice.status, 422, 'two states')

  const foreign = new Browser(app)
  const theirs = visitor()
  await foreign.callback('local', theirs.login)
  foreign.cookies = foreign.cookies.filter(({ name }) => name.startsWith('__Host-'))
  foreign.cookies.push(...browser.cookies.map(cookie => ({ ...cookie, value: 'x'.repeat(43) })))
  await refused('a cookie of another value', foreign.ask(back.href))

  t.equal((await usersOf(email)).length, 0, 'none of these created a user')
  const good = await browser.ask(back.href)
  t.equal(good.status, 200, 'and none of them spoiled it')
  browser.cookies = []
  await refused('again', browser.ask(back.href))
})

t.test('two callbacks at once give one session', async t => {
  const { browser, login, email } = visitor()
  const back = await browser.callback('local', login)
  const cookies = [...browser.cookies]
  const pages = await Promise.all(
    [1, 2, 3].map(async () => {
      const tab = new Browser(app)
      tab.cookies = cookies
      return tab.ask(back.href)
    }),
  )
  t.strictSame(pages.map(({ status }) => status).sort(), [200, 401, 401])
  const sessions = await query(
    'select 1 from sessions s join users u on u.id = s.user_id where u.email = $1',
    [email],
  )
  t.equal(sessions.length, 1)
})

t.test('two tabs of one browser do not disturb each other, and make one user', async t => {
  const { browser, login, email } = visitor()
  const first = await browser.callback('local', login)
  const second = await browser.callback('other', login)
  const pages = await Promise.all([browser.ask(first.href), browser.ask(second.href)])
  t.strictSame(
    pages.map(({ status }) => status),
    [200, 200],
  )
  t.equal((await usersOf(email)).length, 1)
})

t.test('a sign-in that took too long is refused', async t => {
  const { browser, login, email } = visitor()
  const back = await browser.callback('local', login)
  await query(`update oauth_attempts set expires_at = now() - interval '1 second'`)
  const page = await browser.ask(back.href)
  t.match([page.status, errorOf(page.text).code], [401, 'INVALID_TOKEN'])
  t.equal((await usersOf(email)).length, 0)
})

t.test('a code is good once, and with its own verifier and nonce', async t => {
  const { browser, login, email } = visitor()
  const reseal = async (state: string, changes: Record<string, string>) => {
    const hash = createHash('sha256').update(state).digest()
    const place = `oauth:${hash.toString('hex')}`
    const [row] = await query('select sealed from oauth_attempts where state_hash = $1', [hash])
    const opened = JSON.parse(app.server.vault.open(String(row?.sealed), place))
    const sealed = app.server.vault.seal(JSON.stringify({ ...opened, ...changes }), place)
    await query('update oauth_attempts set sealed = $1 where state_hash = $2', [sealed, hash])
  }
  const wrong: Record<string, string>[] = [{ verifier: 'x'.repeat(43) }, { nonce: 'x'.repeat(43) }]
  for (const changes of wrong) {
    const back = await browser.callback('local', login)
    await reseal(String(back.searchParams.get('state')), changes)
    const page = await browser.ask(back.href)
    t.match([page.status, errorOf(page.text).code], [401, 'INVALID_TOKEN'], Object.keys(changes).join())
  }
  const first = await browser.callback('local', login)
  const code = String(first.searchParams.get('code'))
  const second = await browser.callback('local', login)
  t.equal((await browser.ask(first.href)).status, 200)
  second.searchParams.set('code', code)
  const replayed = await browser.ask(second.href)
  t.match([replayed.status, errorOf(replayed.text).code], [401, 'INVALID_TOKEN'], 'a code of another sign-in')
  const none = await browser.callback('local', login)
  none.searchParams.delete('code')
  const empty = await browser.ask(none.href)
  t.match([empty.status, errorOf(empty.text).code], [401, 'INVALID_TOKEN'], 'no code')
  t.equal((await usersOf(email)).length, 1)
})

t.test('an answer in the name of another issuer, or of none, is refused', async t => {
  const { browser, login, email } = visitor()
  for (const iss of ['https://accounts.google.com', `${issuer.issuer}/`, null]) {
    const back = await browser.callback('local', login)
    t.equal(back.searchParams.get('iss'), issuer.issuer)
    if (iss === null) back.searchParams.delete('iss')
    else back.searchParams.set('iss', iss)
    const page = await browser.ask(back.href)
    t.match([page.status, errorOf(page.text).code], [401, 'INVALID_TOKEN'], String(iss))
  }
  t.equal((await usersOf(email)).length, 0)
})

t.test('a cancelled sign-in is reported: to a program by the reply, to a browser by a redirect', async t => {
  const cancel = async (browser: Browser, suffix = '') => {
    const form = await browser.go(authorizeOf('local') + suffix, '', next => next.includes('/interaction/'))
    await browser.ask(form.location as string)
    return browser.go(`${form.location}/abort`, '', next => next.startsWith(`${BASE}/console`))
  }
  const plain = await cancel(visitor().browser)
  t.match(
    [plain.status, errorOf(plain.text)],
    [403, { code: 'FORBIDDEN', message: /cancelled/, details: { reason: 'access_denied' } }],
  )
  const suffix = `?redirect_uri=${encodeURIComponent(`${BASE}/console`)}`
  const program = await cancel(visitor().browser, suffix)
  t.equal(program.status, 403)
  const person = await cancel(new Browser(app, 'text/html,*/*;q=0.8'), suffix)
  t.equal(person.status, 302)
  const { searchParams } = new URL(person.location as string)
  t.match(Object.fromEntries(searchParams), { error: 'forbidden', error_description: /cancelled/ })
})

t.test('an email that the provider has not verified is refused, also one of a user', async t => {
  const unverified: Person[] = [
    { email_verified: false },
    { email_verified: undefined },
    { email_verified: 'false' },
    { email: undefined },
    { email: 'no address' },
    { email: tenant.email, email_verified: false },
  ]
  const before = await query('select count(*) from users')
  for (const more of unverified) {
    const { browser, login } = visitor(more)
    const page = await browser.go(authorizeOf('local'), login)
    t.match(
      [page.status, errorOf(page.text)],
      [403, { code: 'FORBIDDEN', message: /verified/ }],
      JSON.stringify(more),
    )
  }
  t.strictSame(await query('select count(*) from users'), before)
  t.equal(
    (
      await query('select 1 from identities i join users u on u.id = i.user_id where u.email = $1', [
        tenant.email,
      ])
    ).length,
    0,
  )
})

t.test(
  'a user who has a password is not linked: another person may have taken the address first',
  async t => {
    const { browser, login } = visitor({ email: tenant.email.toUpperCase() })
    const page = await browser.go(authorizeOf('local'), login)
    t.match([page.status, errorOf(page.text).code], [409, 'USER_EXISTS'])
    t.same(
      await query('select 1 from identities i join users u on u.id = i.user_id where u.email = $1', [
        tenant.email,
      ]),
      [],
    )
  },
)

t.test('the user of a verified email is linked once, and not to a second account of the issuer', async t => {
  const { browser, login } = visitor({ email: 'Elsewhere@Example.com' })
  await query(
    `insert into users (id, company_id, email, role) values (gen_random_uuid(), $1, 'elsewhere@example.com', 'viewer')`,
    [tenant.companyId],
  )
  const page = await browser.go(authorizeOf('local'), login)
  t.match(
    [page.status, JSON.parse(page.text).user],
    [200, { email: 'elsewhere@example.com', company: { id: tenant.companyId } }],
  )
  const logged = (await actionsOf('elsewhere@example.com')).filter(
    ({ details }) => details.method === 'oauth:local',
  )
  t.match(logged, [{ action: 'user.linked' }, { action: 'user.signed_in' }])

  const later = visitor({ email: 'elsewhere@example.com' })
  const taken = await later.browser.go(authorizeOf('local'), later.login)
  t.match(
    [taken.status, errorOf(taken.text).code],
    [409, 'USER_EXISTS'],
    'the address has changed hands there',
  )
})

t.test('a sign-in with an invitation joins its company, and no sign-in joins another', async t => {
  const { browser, login, email } = visitor()
  const invite = async (to: string) => {
    const body = { email: to, role: 'member' }
    const made = await app.ask('POST', '/api/v1/invitations', body, tenant.token)
    t.equal(made.status, 201)
    return String(made.body.token)
  }
  const token = await invite(email)
  const other = visitor()
  const stolen = await other.browser.go(`${authorizeOf('local')}?invitation_token=${token}`, other.login)
  t.match([stolen.status, errorOf(stolen.text).code], [400, 'INVALID_INVITATION'], 'of another email')
  const page = await browser.go(`${authorizeOf('local')}?invitation_token=${token}`, login)
  t.match(JSON.parse(page.text).user, { email, role: 'member', company: { id: tenant.companyId } })
  const [invitation] = await query('select * from invitations where email = $1', [email])
  t.ok(invitation?.accepted_at)

  const unaware = visitor()
  await invite(unaware.email)
  const own = await unaware.browser.go(authorizeOf('local'), unaware.login)
  t.match(JSON.parse(own.text).user, { role: 'owner' })
  t.not(JSON.parse(own.text).user.company.id, tenant.companyId)
})

t.test('many who were invited may come at once', async t => {
  const comers = []
  for (let count = 0; count < 8; count++) {
    const { browser, login, email } = visitor()
    const body = { email, role: 'viewer' }
    const { token } = (await app.ask('POST', '/api/v1/invitations', body, tenant.token)).body
    comers.push({ browser, address: await browser.callback('local', login, `?invitation_token=${token}`) })
  }
  const pages = await Promise.all(comers.map(({ browser, address }) => browser.ask(address.href)))
  t.strictSame(
    pages.map(({ status }) => status),
    Array(8).fill(200),
  )
})

t.test('a disabled user is refused, with a ticket too', async t => {
  const { browser, login, email } = visitor()
  const suffix = `?redirect_uri=${encodeURIComponent(`${BASE}/console`)}`
  const page = await browser.go(authorizeOf('local') + suffix, login, next =>
    next.startsWith(`${BASE}/console`),
  )
  const ticket = String(new URL(page.location as string).searchParams.get('ticket'))
  await query('update users set is_active = false where email = $1', [email])
  const exchanged = await exchange(ticket)
  t.match([exchanged.status, exchanged.body.error.code], [401, 'INVALID_TOKEN'])
  const again = await browser.go(authorizeOf('local'), login)
  t.match([again.status, errorOf(again.text)], [403, { code: 'FORBIDDEN', message: /disabled/ }])
  t.match((await actionsOf(email)).at(-1), {
    action: 'user.sign_in_failed',
    details: { reason: 'disabled', method: 'oauth:local' },
  })
  t.equal(
    (await query('select 1 from sessions s join users u on u.id = s.user_id where u.email = $1', [email]))
      .length,
    0,
  )
})
