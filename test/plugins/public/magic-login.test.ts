import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireRows } from '../../../server/database/retention.ts'
import { command } from '../../helpers/command.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'

const { server, query, signUp, startTwin } = await startServer(t)
const { auth } = server.plugins
const PATH = '/api/public/magic-login'
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

t.beforeEach(() => query('delete from rate_windows').then(() => undefined))

const emailOf = () => `guest-${randomUUID().slice(0, 8)}@example.com`

async function knock(token: unknown, agent: string | null = BROWSER, on = server) {
  const { statusCode, payload, headers } = await on.inject({
    method: 'POST',
    url: PATH,
    headers: { 'content-type': 'application/json', 'user-agent': agent ?? '' },
    payload: JSON.stringify({ token }),
  })
  return { status: statusCode, body: JSON.parse(payload), headers }
}

async function exchange(ticket: string) {
  const { statusCode, payload } = await server.inject({
    method: 'POST',
    url: '/api/v1/auth/tickets',
    payload: { ticket },
  })
  return { status: statusCode, body: JSON.parse(payload) }
}

/** A row checksum of all that a sign-in may change. */
const state = async () =>
  JSON.stringify([
    await query('select * from prospects order by id'),
    await query('select ticket_hash, used_at from tickets order by ticket_hash'),
    await query('select id, email from users order by id'),
    await query('select count(*) from audit_log'),
  ])

t.test(
  'a token gives a ticket, and the ticket a session of a new user with a company of their own',
  async t => {
    const email = emailOf()
    const { token, company_id: none } = await auth.createProspect({ email: email.toUpperCase() })
    t.equal(none, null)
    t.strictSame(
      await query('select 1 from users where email = $1', [email]),
      [],
      'no user is created before the sign-in',
    )
    const { status, body, headers } = await knock(token)
    t.equal(status, 200)
    t.strictSame(Object.keys(body), ['ticket', 'expires_in', 'redirect_url'])
    t.match(body, { ticket: /^[\w-]{43}$/, expires_in: 300 })
    t.equal(body.redirect_url, `${server.config.baseUrl}/?ticket=${body.ticket}`)
    t.equal(headers['cache-control'], 'no-store')
    const session = await exchange(body.ticket)
    t.equal(session.status, 200)
    t.match(session.body.user, { email, role: 'owner', company: { name: email.split('@')[0] } })
    t.match(await exchange(body.ticket), { status: 401, body: { error: { code: 'INVALID_TOKEN' } } }, 'spent')
    const log = await query('select action, details from audit_log where target_id = $1 order by sequence', [
      session.body.user.id,
    ])
    t.match(log, [
      { action: 'user.registered', details: { method: 'magic_link', role: 'owner' } },
      { action: 'user.signed_in', details: { method: 'magic_link' } },
    ])
    const again = await exchange((await knock(token)).body.ticket)
    t.equal(again.body.user.id, session.body.user.id, 'the token may be used again, by the same user')
  },
)

t.test('they join the company of the invitation, as its owner if it has no user', async t => {
  const { id: companyId } = await auth.createCompany({ name: 'Prepared' })
  const roles: string[] = []
  for (let guest = 0; guest < 2; guest++) {
    const { token, company_id: asked } = await auth.createProspect({ email: emailOf(), company: companyId })
    t.equal(asked, companyId)
    const { user } = (await exchange((await knock(token)).body.ticket)).body
    t.equal(user.company.id, companyId)
    roles.push(user.role)
  }
  t.strictSame(roles, ['owner', 'member'])
  const log = await query(
    `select actor from audit_log where company_id = $1 and action = 'prospect.created'`,
    [companyId],
  )
  t.strictSame(log, [{ actor: 'cli' }, { actor: 'cli' }])
})

t.test(
  'however many come at once with one token, or two of one email, there is one user and one company',
  async t => {
    const twin = await startTwin()
    const email = emailOf()
    const tokens = [
      (await auth.createProspect({ email })).token,
      (await auth.createProspect({ email })).token,
    ]
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, n) => knock(tokens[n % 2], BROWSER, n % 3 ? server : twin)),
    )
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
    t.equal(new Set(replies.map(({ body }) => body.ticket)).size, 16)
    const users = await query('select id, company_id from users where email = $1', [email])
    t.equal(users.length, 1)
    t.equal((await query('select 1 from companies where name = $1', [email.split('@')[0]])).length, 1)
  },
)

t.test('programs that look at links are refused, and use nothing up', async t => {
  const { token } = await auth.createProspect({ email: emailOf() })
  const before = await state()
  for (const agent of [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) BarracudaSentinel (EE)',
    'Proofpoint URL Defense',
    'Mozilla/5.0 mimecast',
    'Outlook-iOS LinkPreview/1.0',
    'SafeLinks URL Scanner',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'facebookexternalhit/1.1',
    'curl/8.5.0',
    'python-requests/2.32',
  ]) {
    for (const sent of [token, 'made-up', 7])
      t.match(await knock(sent, agent), { status: 403, body: { error: { code: 'BOT_REFUSED' } } }, agent)
    await query('delete from rate_windows')
  }
  for (let time = 0; time < 20; time++) {
    for (const method of ['GET', 'HEAD']) {
      const url = `${PATH}?token=${token}`
      const { statusCode, payload } = await server.inject({ method, url, headers: { 'user-agent': BROWSER } })
      t.equal(statusCode, 403)
      if (method === 'GET') t.equal(JSON.parse(payload).error.code, 'BOT_REFUSED')
    }
  }
  t.equal(await state(), before)
  t.equal((await knock(token)).status, 200, 'its owner can still use it')
})

t.test('a field __proto__ is refused as one that is not known, as on all paths', async t => {
  const headers = { 'user-agent': BROWSER, 'content-type': 'application/json' }
  const payload = '{"token":"made-up","__proto__":1}'
  const { statusCode, payload: reply } = await server.inject({ method: 'POST', url: PATH, headers, payload })
  t.equal(statusCode, 422)
  t.match(JSON.parse(reply), { detail: [{ loc: ['body', '__proto__'] }] })
})

t.test('a person who opens the link gets a page with a button, and is signed in by it', async t => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const open = (query: string, headers = { 'user-agent': BROWSER, accept }) =>
    server.inject({ method: 'GET', url: PATH + query, headers })
  const press = (token: string, headers: Record<string, string> = {}) =>
    server.inject({
      method: 'POST',
      url: `${PATH}?`,
      headers: {
        'user-agent': BROWSER,
        accept,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      payload: new URLSearchParams({ token }).toString(),
    })
  const { token } = await auth.createProspect({ email: emailOf() })
  const before = await state()
  const page = await open(`?token=${token}`)
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'content-type': /^text\/html/,
    'cache-control': 'no-store',
    'content-security-policy': /^default-src 'none'; .*form-action 'self'/,
  })
  t.notMatch(page.headers['content-security-policy'], /script|unsafe|https?:/)
  t.match(page.payload, `<input type="hidden" name="token" value="${token}" />`)
  t.notMatch(page.payload, /<script/)
  t.equal(await state(), before, 'opening the link signs in no user')
  t.match((await open('?token="><b>')).payload, 'value="&quot;&gt;&lt;b&gt;"')
  for (const incomplete of ['', '?token=', `?token=${'x'.repeat(201)}`]) {
    const { statusCode, payload } = await open(incomplete)
    t.equal(statusCode, 403)
    t.match(payload, 'not complete')
    t.notMatch(payload, '<button')
  }
  const scanner = await open(`?token=${token}`, { 'user-agent': 'URL Scanner', accept })
  t.match([scanner.statusCode, JSON.parse(scanner.payload).error.code], [403, 'BOT_REFUSED'])
  const elsewhere = await press(token, { 'sec-fetch-site': 'cross-site' })
  t.match([elsewhere.statusCode, JSON.parse(elsewhere.payload).error.code], [403, 'BOT_REFUSED'])
  t.equal(await state(), before)

  const pressed = await press(token, { 'sec-fetch-site': 'same-origin' })
  t.equal(pressed.statusCode, 200, pressed.payload)
  t.match(pressed.headers, {
    'content-type': /^text\/html/,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': page.headers['content-security-policy'],
  })
  const [, next = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(pressed.payload) ?? []
  t.match(pressed.payload, `<a href="${next}">`)
  t.notMatch(pressed.payload, /<script/)
  const to = new URL(next)
  t.equal(to.href.split('?')[0], `${server.config.baseUrl}/`)
  t.equal((await exchange(String(to.searchParams.get('ticket')))).status, 200)
  const wrong = await press('made-up')
  t.equal(wrong.statusCode, 401)
  t.match(wrong.headers['content-type'], /^text\/html/)
  t.match(wrong.payload, /is invalid or has expired/)
  const program = await press('made-up', { accept: 'application/json' })
  t.equal(JSON.parse(program.payload).error.code, 'INVALID_TOKEN')
})

t.test('a token that was made up or has run out, and one changed by a bit, are refused alike', async t => {
  const prospect = await auth.createProspect({ email: emailOf() })
  await query(`update prospects set expires_at = now() - interval '1 second' where id = $1`, [prospect.id])
  const good = await auth.createProspect({ email: emailOf() })
  const flipped = Array.from({ length: 8 }, (_, bit) => {
    const other = Buffer.from(good.token, 'base64url')
    other[bit * 4]! ^= 1 << bit
    return other.toString('base64url')
  })
  const before = await state()
  const answers = new Set<string>()
  for (const token of [prospect.token, 'x'.repeat(43), ...flipped, `${good.token} `]) {
    const { status, body } = await knock(token)
    answers.add(JSON.stringify([status, body]))
    t.match([status, body.error.code], [401, 'INVALID_TOKEN'])
  }
  t.equal(answers.size, 1)
  t.equal(await state(), before)
  t.notOk(before.includes(good.token), 'the token itself is not kept')
  for (const token of [7, '', undefined, 'x'.repeat(201)])
    t.match(await knock(token), { status: 422, body: { detail: [{ loc: ['body', 'token'] }] } })
})

t.test('a disabled user is refused, and the attempt is audited', async t => {
  const { token } = await auth.createProspect({ email: emailOf() })
  const { user } = (await exchange((await knock(token)).body.ticket)).body
  await query('update users set is_active = false where id = $1', [user.id])
  t.match(await knock(token), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  const [entry] = await query(
    `select details from audit_log where target_id = $1 and action = 'user.sign_in_failed'`,
    [user.id],
  )
  t.match(entry, { details: { reason: 'disabled', method: 'magic_link' } })
  await query('delete from users where id = $1', [user.id])
  t.equal((await knock(token)).status, 401, 'one who was removed does not come back by it')
})

t.test('who has a user already signs in as that; one who registered since is not taken for them', async t => {
  const tenant = await signUp()
  const { token, user_id: userId } = await auth.createProspect({ email: tenant.email })
  const { user } = (await exchange((await knock(token)).body.ticket)).body
  t.match(user, { id: userId, email: tenant.email, role: 'owner', company: { id: tenant.companyId } })

  const email = emailOf()
  const asked = await auth.createProspect({ email })
  const registered = await server.inject({
    method: 'POST',
    url: '/api/v1/auth/register',
    payload: { email, password: 'another person was first' },
  })
  t.equal(registered.statusCode, 201)
  const before = await query('select count(*) from tickets')
  t.match(await knock(asked.token), { status: 409, body: { error: { code: 'USER_EXISTS' } } })
  t.strictSame(await query('select count(*) from tickets'), before)
  const { id: elsewhere } = await auth.createCompany({ name: 'Elsewhere' })
  await t.rejects(auth.createProspect({ email, company: elsewhere }), /another company/)
})

t.test('thirty a minute of an address are looked at', async t => {
  const statuses: number[] = []
  for (let n = 0; n < 31; n++) statuses.push((await knock('made-up')).status)
  t.strictSame(statuses, [...Array<number>(30).fill(401), 429])
})

t.test('what ran out a month ago is swept', async t => {
  const [old, kept] = [
    await auth.createProspect({ email: emailOf() }),
    await auth.createProspect({ email: emailOf() }),
  ]
  await query(`update prospects set expires_at = now() - interval '31 days' where id = $1`, [old.id])
  await expireRows(server)
  t.strictSame(await query('select id from prospects where id in ($1, $2)', [old.id, kept.id]), [
    { id: kept.id },
  ])
})

t.test('another identity provider takes the place of our users', async t => {
  const app = await startServer(t)
  const seen: string[] = []
  const provider = {
    name: 'elsewhere',
    async admit(_trx: unknown, { email }: { email: string }) {
      seen.push(email)
      return { ticket: 'theirs', expiresIn: 60, redirectUrl: 'https://id.example.com/?t=theirs' }
    },
  }
  app.server.plugins.auth.useIdentityProvider(provider)
  t.throws(() => app.server.plugins.auth.useIdentityProvider(provider), /elsewhere is in use already/)
  const email = emailOf()
  const { token } = await app.server.plugins.auth.createProspect({ email })
  t.match(await knock(token, BROWSER, app.server), {
    status: 200,
    body: { ticket: 'theirs', expires_in: 60, redirect_url: 'https://id.example.com/?t=theirs' },
  })
  t.strictSame(seen, [email])
  t.strictSame(await app.query('select 1 from users where email = $1', [email]), [])
})

t.test('the command line makes prospects', async t => {
  const settings = { DATABASE_URL: server.config.databaseUrl!, SECRET_KEY, DEMO_ENABLED: 'false' }
  const email = emailOf()
  const { code, out } = await command(['prospects', 'create', '--email', email, '--json'], settings)
  t.equal(code, 0)
  const made = JSON.parse(out)
  t.match(made, { email, token: /^[\w-]{43}$/, company_id: null, user_id: null, expires_at: /Z$/ })
  const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000
  t.ok(days > 6.9 && days < 7.1)
  t.equal((await knock(made.token)).status, 200)
  const shown = await command(['prospects', 'create', '--email', email], settings)
  t.match(
    shown.out,
    new RegExp(`${email}, who has a user already, valid until .*Z, shown once:\\n[\\w-]{43}\\n`),
  )
  t.match(await command(['prospects', 'create', '--email', 'invalid'], settings), {
    code: 2,
    err: /must be an email address/,
  })
  const words = ['prospects', 'create', '--email', email, '--company', 'Nowhere']
  t.match(await command(words, settings), { code: 3, err: /no company "Nowhere"/ })
})
