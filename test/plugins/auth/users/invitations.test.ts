import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer, type TestServer } from '../../../helpers/server.ts'

const INVITATIONS = '/api/v1/invitations'
const PASSWORD = 'a long walk at dawn'
const started = await startServer(t)
const { server, query } = started

/** Requests that no rate limit counts. */
const ask: TestServer['ask'] = async (...given) => {
  await query('delete from rate_windows')
  return started.ask(...given)
}

const someone = () => `someone-${randomUUID().slice(0, 8)}@example.com`
const register = (email: string, token: string, more: object = {}) =>
  ask('POST', '/api/v1/auth/register', { email, password: PASSWORD, invitation_token: token, ...more })

/** A company whose owner is signed in and invites. */
async function world(name = 'Engines') {
  await query('delete from rate_windows')
  const tenant = await started.signUp(name)
  const invite = (email: string, role = 'member') => ask('POST', INVITATIONS, { email, role }, tenant.token)
  const list = (page = '') => ask('GET', INVITATIONS + page, undefined, tenant.token)
  const revoke = (id: string) => ask('DELETE', `${INVITATIONS}/${id}`, undefined, tenant.token)
  return { ...tenant, invite, list, revoke }
}

t.test('who is invited joins the company in the role they were invited to', async t => {
  const { invite, companyId, list } = await world()
  const email = someone()
  const before = Date.now()
  const { status, body, headers } = await invite(email.toUpperCase(), 'admin')
  t.equal(status, 201)
  t.strictSame(Object.keys(body).sort(), [
    ...['email', 'expires_at', 'id', 'is_mailed', 'mail_problem', 'role', 'token', 'url'],
  ])
  t.match(body, { email, role: 'admin', token: /^[\w-]{43}$/ })
  t.equal(body.url, `${server.config.baseUrl}/invitation?token=${body.token}`)
  t.equal(headers['cache-control'], 'no-store')
  const days = (new Date(body.expires_at).getTime() - before) / 86_400_000
  t.ok(Math.abs(days - 7) < 0.01, 'it is good for a week')
  const [stored] = await query('select * from invitations where id = $1', [body.id])
  t.notMatch(JSON.stringify(stored), body.token, 'only its hash is stored')
  t.strictSame(stored?.token_hash, createHash('sha256').update(body.token).digest())

  const joined = await register(email.toUpperCase(), body.token, { full_name: 'Grace' })
  t.equal(joined.status, 201)
  t.match(joined.body, {
    email,
    full_name: 'Grace',
    role: 'admin',
    company: { id: companyId, name: 'Engines' },
  })
  t.match((await list()).body.data, [{ id: body.id, status: 'accepted', accepted_at: /Z$/ }])
  const logged = await query(
    `select actor, action, target_id, details from audit_log where company_id = $1 order by sequence desc limit 1`,
    [companyId],
  )
  t.strictSame(logged, [
    {
      actor: `user:${joined.body.id}`,
      action: 'user.registered',
      target_id: joined.body.id,
      details: { email, role: 'admin', invitation_id: body.id },
    },
  ])
})

t.test('a token is no good when made up, used, expired, revoked or of another email, all alike', async t => {
  const { invite, revoke } = await world()
  const used = someone()
  const { token: usedToken } = (await invite(used)).body
  t.equal((await register(used, usedToken)).status, 201)
  const expired = someone()
  const { id, token: expiredToken } = (await invite(expired)).body
  await query(`update invitations set expires_at = now() - interval '1 second' where id = $1`, [id])
  const revoked = someone()
  const { id: revokedId, token: revokedToken } = (await invite(revoked)).body
  t.equal((await revoke(revokedId)).status, 204)
  const { token } = (await invite(someone())).body
  const answers = [
    await register(someone(), 'made up'),
    await register(used, usedToken),
    await register(expired, expiredToken),
    await register(revoked, revokedToken),
    await register(someone(), token),
  ]
  for (const { status, body } of answers) {
    t.match([status, body.error.code], [400, 'INVALID_INVITATION'])
    t.strictSame(body, answers[0]?.body)
  }
})

t.test('of two who register with one token at once, one wins', async t => {
  const { invite, companyId } = await world()
  const email = someone()
  const { token } = (await invite(email)).body
  const replies = await Promise.all(
    [1, 2, 3].map(number =>
      server.inject({
        method: 'POST',
        url: '/api/v1/auth/register',
        remoteAddress: `10.3.0.${number}`,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ email, password: PASSWORD, invitation_token: token }),
      }),
    ),
  )
  t.strictSame(replies.map(({ statusCode }) => statusCode).sort(), [201, 400, 400])
  t.equal(
    (await query('select * from users where company_id = $1 and email = $2', [companyId, email])).length,
    1,
  )
})

t.test('an invitation names the company, so who accepts it does not', async t => {
  const { invite } = await world('Difference')
  const email = someone()
  const { token } = (await invite(email)).body
  const both = await register(email, token, { company_name: 'Mine' })
  t.match([both.status, both.body.detail[0].msg], [422, /company_name/])
  const weak = await register(email, token, { password: 'my difference 1822' })
  t.match([weak.status, weak.body.error.message], [400, /name of the company/])
  t.equal((await register(email, token)).status, 201, 'a refusal does not use it up')
})

t.test('users of the own company are not invited, and users of other companies are not revealed', async t => {
  const ours = await world()
  const theirs = await world()
  const own = await ours.invite(ours.email.toUpperCase())
  t.match([own.status, own.body.error.code], [409, 'USER_EXISTS'])
  const elsewhere = await ours.invite(theirs.email)
  const nowhere = await ours.invite(someone())
  t.strictSame([elsewhere.status, Object.keys(elsewhere.body)], [nowhere.status, Object.keys(nowhere.body)])
  const refused = await register(theirs.email, elsewhere.body.token)
  t.match([refused.status, refused.body.error.code], [409, 'USER_EXISTS'])
  t.match((await ours.list()).body.data[1], { email: theirs.email, status: 'open' })
})

t.test('inviting again replaces the open invitation, also many times at once', async t => {
  const { invite, list } = await world()
  const email = someone()
  const first = (await invite(email, 'viewer')).body
  const second = (await invite(email, 'admin')).body
  t.match((await register(email, first.token)).body.error.code, 'INVALID_INVITATION')
  t.match((await list()).body.data, [
    { id: second.id, status: 'open' },
    { id: first.id, status: 'revoked' },
  ])
  const many = await Promise.all(Array.from({ length: 5 }, () => invite(email)))
  t.strictSame(
    many.map(({ status }) => status),
    Array(5).fill(201),
  )
  const open = (await list()).body.data.filter(({ status }: { status: string }) => status === 'open')
  t.equal(open.length, 1)
})

t.test('one that has run out stays so when the email is invited again', async t => {
  const { invite, list } = await world()
  const email = someone()
  const { id } = (await invite(email)).body
  await query(`update invitations set expires_at = now() - interval '1 second' where id = $1`, [id])
  await invite(email)
  t.match((await list()).body.data, [{ status: 'open' }, { id, status: 'expired', revoked_at: null }])
})

t.test('admins list what they invited, without tokens, and revoke it', async t => {
  const { invite, list, revoke, companyId, email: owner } = await world()
  const email = someone()
  const { token, url: _, is_mailed: _is, mail_problem: _why, ...made } = (await invite(email)).body
  const [user] = await query('select id from users where email = $1', [owner])
  const { body } = await list()
  t.strictSame(body.pagination, { total: 1, limit: 50, offset: 0, has_more: false })
  t.match(body.data, [
    {
      ...made,
      status: 'open',
      invited_by: `user:${user?.id}`,
      created_at: /Z$/,
      accepted_at: null,
      revoked_at: null,
    },
  ])
  t.notMatch(JSON.stringify(body), token)
  await invite(someone())
  t.match((await list('?limit=1&offset=1')).body, { data: [made], pagination: { total: 2, has_more: false } })

  const revoked = await revoke(made.id)
  t.strictSame([revoked.status, revoked.body], [204, ''])
  t.equal((await revoke(made.id)).status, 204, 'twice is the same')
  const logged = await query(
    `select action, target_id from audit_log
     where company_id = $1 and target_type = 'invitation' and target_id = $2 order by sequence`,
    [companyId, made.id],
  )
  t.strictSame(logged, [
    { action: 'user.invited', target_id: made.id },
    { action: 'invitation.revoked', target_id: made.id },
  ])
  const log = await query('select details from audit_log where company_id = $1', [companyId])
  t.notMatch(JSON.stringify(log), token, 'the log has no token')
  const accepted = (await invite(email)).body
  await register(email, accepted.token)
  t.match((await revoke(accepted.id)).body.error, { code: 'CONFLICT', message: /users/ })
})

t.test("another company's invitation is answered as one that never was", async t => {
  const ours = await world()
  const theirs = await world()
  const { id, token, email } = (await theirs.invite(someone())).body
  const never = randomUUID()
  const none = await ours.revoke(never)
  t.match([none.status, none.body.error.code], [404, 'INVITATION_NOT_FOUND'])
  for (const other of [id, 'nonsense']) {
    const refused = await ours.revoke(other)
    t.equal(refused.status, 404)
    t.equal(JSON.stringify(refused.body).replaceAll(other, never), JSON.stringify(none.body))
  }
  t.strictSame((await ours.list()).body.data, [])
  t.equal((await register(email, token)).status, 201)
})

t.test('bad input is answered with the field', async t => {
  const { token } = await world()
  const email = someone()
  for (const body of [{}, { email }, { email, role: 'owner' }, { email: 'invalid', role: 'viewer' }]) {
    const { status, body: answer } = await ask('POST', INVITATIONS, body, token)
    t.match([status, answer.detail[0].loc[0]], [422, 'body'], JSON.stringify(body))
  }
})
