import { createHash, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { expireRows } from '../../../../server/database/retention.ts'
import { addCredential } from '../../../helpers/log-watch.ts'
import { startMailServer } from '../../../helpers/mail-server.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'

const BASE_URL = 'https://watch.example.com'
const NEW_PASSWORD = 'a longer walk at dusk'
const mailServer = await startMailServer(t)
const app = await startServer(t, { settings: { SMTP_URL: mailServer.url, BASE_URL } })

t.beforeEach(() => {
  mailServer.mails.length = 0
})

/** Requests that no rate limit counts. */
const ask: TestServer['ask'] = async (...given) => {
  await app.query('delete from rate_windows')
  return app.ask(...given)
}
const request = (email: string) => ask('POST', '/api/v1/auth/password-resets', { email })
const reset = (token: string, password = NEW_PASSWORD) =>
  ask('POST', '/api/v1/auth/reset-password', { token, new_password: password })
const login = (email: string, password: string) => ask('POST', '/api/v1/auth/login', { email, password })

async function signUp(company = 'Engines') {
  await app.query('delete from rate_windows')
  return app.signUp(company)
}

const linksTo = (email: string) =>
  mailServer.mails
    .filter(({ to }) => to.includes(email))
    .flatMap(({ text }) => /\/reset\?token=([\w-]+)/.exec(text)?.[1] ?? [])

/** The token of the newest of so many links to an address; mails of the test before may come in between. */
async function tokenOf(email: string, links = 1): Promise<string> {
  while (linksTo(email).length < links) await mailServer.received(mailServer.mails.length + 1)
  const token = linksTo(email)[links - 1] as string
  addCredential(token, 'token of a reset')
  return token
}

const audited = (companyId: string) =>
  app.query(
    `select actor, action, target_id, details from audit_log
     where company_id = $1 and action like 'user.password%' order by sequence`,
    [companyId],
  )

t.test('a link that is mailed sets a new password and ends all sessions, but nothing else', async t => {
  const { email, password, companyId, token: session, key } = await signUp()
  const [user] = await app.query('select id from users where email = $1', [email])
  await app.query(
    `insert into identities (issuer, subject, company_id, user_id, provider, email)
     values ('https://accounts.google.com', $1, $2, $3, 'google', $4)`,
    [randomUUID(), companyId, user?.id, email],
  )
  const asked = await request(email.toUpperCase())
  t.strictSame([asked.status, asked.body], [204, ''])
  const token = await tokenOf(email)
  const mailsTo = () => mailServer.mails.filter(({ to }) => to.includes(email))
  const [mail] = mailsTo()
  t.match(mail?.text, 'within one hour')
  t.match(mail?.text, 'at most 3 an hour')
  t.match(mail?.html, `href="${BASE_URL}/reset?token=${token}"`)
  t.ok(Buffer.from(token, 'base64url').length >= 32)
  const [stored] = await app.query('select * from password_resets where user_id = $1', [user?.id])
  t.strictSame(stored?.token_hash, createHash('sha256').update(token).digest(), 'only its hash is stored')

  const done = await reset(token)
  t.strictSame([done.status, done.body], [200, { email }])
  t.equal(done.headers['cache-control'], 'no-store')
  t.equal((await login(email, password)).status, 401, 'the old password')
  t.equal((await ask('GET', '/api/v1/auth/me', undefined, session)).status, 401, 'the old session')
  t.equal((await login(email, NEW_PASSWORD)).status, 200)
  t.equal((await ask('GET', '/api/v1/assets', undefined, key)).status, 200, 'API keys stay')
  const linked = await app.query('select provider from identities where user_id = $1', [user?.id])
  t.strictSame(linked, [{ provider: 'google' }], 'and so do providers')

  const notice = (await mailServer.received(2))[1]
  t.strictSame(notice?.to, [email])
  t.match(notice?.headers.subject, 'Your Tidemark password was changed')
  t.match(notice?.text, 'still linked to your user: google')
  t.notMatch(notice?.raw, NEW_PASSWORD)
  const about = { target_id: user?.id, details: {} }
  const entries = await audited(companyId)
  t.strictSame(entries, [
    { actor: 'system', action: 'user.password_reset_requested', ...about },
    { actor: `user:${user?.id}`, action: 'user.password_reset', ...about },
  ])
})

t.test(
  'a token is no good when made up, used, replaced, expired, or of a disabled user, all alike',
  async t => {
    const used = await signUp()
    await request(used.email)
    const usedToken = await tokenOf(used.email)
    t.equal((await reset(usedToken)).status, 200)

    const replaced = await signUp()
    mailServer.mails.length = 0
    await request(replaced.email)
    const replacedToken = await tokenOf(replaced.email)
    await request(replaced.email)
    const newToken = await tokenOf(replaced.email, 2)
    t.not(newToken, replacedToken)

    const expired = await signUp()
    mailServer.mails.length = 0
    await request(expired.email)
    const expiredToken = await tokenOf(expired.email)
    await app.query(
      `update password_resets set expires_at = now() - interval '1 second' where company_id = $1`,
      [expired.companyId],
    )

    const disabled = await signUp()
    mailServer.mails.length = 0
    await request(disabled.email)
    const disabledToken = await tokenOf(disabled.email)
    await app.query('update users set is_active = false where email = $1', [disabled.email])

    const replies = []
    for (const token of ['made up', usedToken, replacedToken, expiredToken, disabledToken])
      replies.push(await reset(token, 'yet another long sentence'))
    for (const { status, body } of replies) {
      t.match([status, body.error.code], [401, 'INVALID_TOKEN'])
      t.strictSame(body, replies[0]?.body)
    }
    t.equal((await login(used.email, NEW_PASSWORD)).status, 200, 'nothing was changed')
    t.equal((await reset(newToken)).status, 200, 'the newest works')
    await expireRows(app.server)
    t.strictSame(await app.query('select company_id from password_resets'), [
      { company_id: disabled.companyId },
    ])
  },
)

t.test('a weak password is refused, and the link works again', async t => {
  const { email } = await signUp('Engines and sons')
  await request(email)
  const token = await tokenOf(email)
  for (const weak of ['short', 'engines and sons 1', email]) {
    const { status, body } = await reset(token, weak)
    t.match([status, body.error.code, body.error.details.field], [400, 'WEAK_PASSWORD', 'new_password'])
  }
  t.equal((await reset(token)).status, 200)
})

t.test('of several who use one token at once, one wins', async t => {
  const { email, companyId } = await signUp()
  await request(email)
  const token = await tokenOf(email)
  const passwords = [1, 2, 3].map(number => `sentence number ${number} is long`)
  const replies = await Promise.all(
    passwords.map((password, index) =>
      app.server.inject({
        method: 'POST',
        url: '/api/v1/auth/reset-password',
        remoteAddress: `10.3.0.${index}`,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ token, new_password: password }),
      }),
    ),
  )
  t.strictSame(replies.map(({ statusCode }) => statusCode).sort(), [200, 401, 401])
  const winner = passwords[replies.findIndex(({ statusCode }) => statusCode === 200)]
  t.equal((await login(email, winner as string)).status, 200)
  t.equal((await audited(companyId)).length, 2, 'one request and one change')
})

t.test('a change of the password and the end of all sessions make the link useless', async t => {
  const { email, password, token: session } = await signUp()
  await request(email)
  const token = await tokenOf(email)
  const change = { old_password: password, new_password: 'a short swim at noon' }
  t.equal((await ask('POST', '/api/v1/auth/change-password', change, session)).status, 204)
  t.equal((await reset(token)).status, 401)
})

t.test('a reset opens an account that failed sign-ins have locked', async t => {
  const { email } = await signUp()
  for (let attempt = 0; attempt < 11; attempt++) await login(email, 'wrong wrong wrong')
  t.match((await login(email, 'wrong wrong wrong')).body.error.code, 'ACCOUNT_LOCKED')
  await request(email)
  t.equal((await reset(await tokenOf(email))).status, 200)
  t.equal((await login(email, NEW_PASSWORD)).status, 200)
})

t.test('neither reply nor statements before it show whether there is a user', async t => {
  const { email } = await signUp()
  const disabled = await signUp()
  await app.query('update users set is_active = false where email = $1', [disabled.email])
  const visible = async (address: string) => {
    const { status, body, headers } = await request(address)
    const { date: _date, 'x-request-id': _id, 'x-ratelimit-reset': _reset, ...others } = headers
    return { status, body, others }
  }
  const known = await visible(email)
  t.strictSame(await visible('no-such-user@example.com'), known)
  t.strictSame(await visible(disabled.email), known)
  await tokenOf(email)
  // What was asked for before has been sent by then.
  const other = await signUp()
  await request(other.email)
  await tokenOf(other.email)
  t.strictSame([linksTo('no-such-user@example.com'), linksTo(disabled.email)], [[], []])
})

t.test('the reply does not wait for the user to be looked for', async t => {
  const { email } = await signUp()
  const { statement } = app.server.db
  t.teardown(() => Object.assign(app.server.db, { statement }))
  let release = () => {}
  const replied = new Promise<void>(resolve => (release = resolve))
  Object.assign(app.server.db, {
    statement: async (text: string, ...rest: unknown[]) => {
      if (/from users/.test(text)) await replied
      return (statement as (...given: unknown[]) => unknown)(text, ...rest)
    },
  })
  t.equal((await request(email)).status, 204)
  t.strictSame(linksTo(email), [])
  release()
  await tokenOf(email)
})

t.test('three mails an hour are sent to one address, which the refusal says', async t => {
  await app.query('delete from rate_windows')
  for (const email of [(await signUp()).email, 'no-such-user@example.com']) {
    await app.query('delete from rate_windows')
    const send = () => app.ask('POST', '/api/v1/auth/password-resets', { email })
    for (const expected of [204, 204, 204]) t.equal((await send()).status, expected)
    const refused = await send()
    t.equal(refused.status, 429)
    t.match(refused.body.error.message, /^At most 3 mails an hour are sent to one address: .* 60 min/)
    t.match(refused.headers['retry-after'], /^3[56]\d\d$/)
  }
})

t.test('ten requests an hour are taken from one client address', async t => {
  await app.query('delete from rate_windows')
  const send = () => app.ask('POST', '/api/v1/auth/password-resets', { email: `${randomUUID()}@example.com` })
  for (let count = 0; count < 10; count++) t.equal((await send()).status, 204)
  const refused = await send()
  t.match([refused.status, refused.headers['retry-after']], [429, /^3[56]\d\d$/])
  await app.query('delete from rate_windows')
})

t.test('the link leads to the address of the settings, whatever the request calls the host', async t => {
  const { email } = await signUp()
  await app.query('delete from rate_windows')
  const { statusCode } = await app.server.inject({
    method: 'POST',
    url: '/api/v1/auth/password-resets',
    headers: {
      'content-type': 'application/json',
      host: 'evil.example.org',
      origin: 'https://evil.example.org',
      'x-forwarded-host': 'evil.example.org',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example.org',
    },
    payload: JSON.stringify({ email }),
  })
  t.equal(statusCode, 204)
  const token = await tokenOf(email)
  const mail = mailServer.mails.find(({ to }) => to.includes(email))
  t.notMatch(mail?.raw, /evil/)
  t.match(mail?.text, `${BASE_URL}/reset?token=${token}`)
})

t.test('an address cannot add headers or recipients', async t => {
  for (const email of ['ada@example.com\r\nBcc: eve@example.com', 'ada@example.com, eve@example.com'])
    t.equal((await request(email)).status, 422)
})

t.test('without a mail server the reply says what to set', async t => {
  const bare = await startServer(t)
  const tenant = await bare.signUp()
  for (const email of [tenant.email, 'no-such-user@example.com']) {
    const { status, body } = await bare.ask('POST', '/api/v1/auth/password-resets', { email })
    t.match([status, body.error.code], [409, 'CONFLICT'])
    t.match(body.error.message, /SMTP_URL/)
  }
  await expectNone(t, bare)
})

async function expectNone(t: Test, { query }: TestServer) {
  t.strictSame(await query('select * from password_resets'), [])
}
