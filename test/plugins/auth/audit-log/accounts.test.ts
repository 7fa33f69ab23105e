import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { expireRows } from '../../../../server/database/retention.ts'
import { untilBlocked } from '../../../helpers/lock-waits.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'

const PASSWORD = 'a long walk at dawn'
const started = await startServer(t)
const { server, query } = started

/** Requests that no rate limit counts. */
const ask: TestServer['ask'] = async (...given) => {
  await query('delete from rate_windows')
  return started.ask(...given)
}

/** An owner who has registered, and the audit log of their company. */
async function world() {
  const email = `ada-${randomUUID().slice(0, 8)}@example.com`
  const { body } = await ask('POST', '/api/v1/auth/register', { email, password: PASSWORD })
  const login = (password = PASSWORD) => ask('POST', '/api/v1/auth/login', { email, password })
  const readLog = () =>
    query(
      `select actor, action, target_type, target_id, details, request_id, address from audit_log
       where company_id = $1 order by sequence`,
      [body.company.id],
    )
  /** Waits for a number of entries; refused sign-ins are audited after the response. */
  const entries = async (count: number) => {
    for (let found = await readLog(); ; found = await readLog()) {
      if (found.length >= count) return found
      await wait(20)
    }
  }
  return { email, id: body.id as string, companyId: body.company.id as string, login, readLog, entries }
}

t.test('registering, signing in and out, and changing the password are audited', async t => {
  const { id, email, login, readLog } = await world()
  const one = (await login()).body
  await ask('POST', '/api/v1/auth/logout', undefined, one.access_token)
  const two = await login()
  const body = { old_password: PASSWORD, new_password: 'a short swim at dusk' }
  await ask('POST', '/api/v1/auth/change-password', body, two.body.access_token)
  const entries = await readLog()
  const who = { actor: `user:${id}`, target_type: 'user', target_id: id, address: '127.0.0.1' }
  t.match(entries, [
    { ...who, action: 'user.registered', details: { email, role: 'owner' } },
    { ...who, action: 'user.signed_in', details: { method: 'password' } },
    { ...who, action: 'user.signed_out' },
    { ...who, action: 'user.signed_in', request_id: two.headers['x-request-id'] },
    { ...who, action: 'user.password_changed' },
  ])
  const text = JSON.stringify(entries)
  for (const secret of [PASSWORD, 'short swim', one.access_token, one.refresh_token])
    t.notMatch(text, secret, 'without a secret')
})

t.test('failed sign-ins of a user are audited by the system, and the lock once', async t => {
  const { id, login, entries } = await world()
  for (let attempt = 0; attempt < 13; attempt++) await login('a wrong password')
  const known = await entries(12)
  const failed = {
    actor: 'system',
    action: 'user.sign_in_failed',
    target_id: id,
    details: { reason: 'wrong_password' },
  }
  t.match(known.slice(1, 11), Array(10).fill(failed))
  t.match(known[11], { actor: 'system', action: 'user.locked', target_id: id })
  await query('delete from login_failures')
  await login()
  t.match(
    (await entries(13)).slice(12),
    [{ action: 'user.signed_in' }],
    'attempts while locked are not audited',
  )
})

t.test('the reason for refusing a right password is in the log only', async t => {
  const { id, login, entries } = await world()
  const wrong = await login('a wrong password')
  await query('update users set is_active = false where id = $1', [id])
  const disabled = await login()
  await query('update users set is_active = true, password_hash = null where id = $1', [id])
  const without = await login()
  t.strictSame([disabled.body, without.body], [wrong.body, wrong.body])
  t.match((await entries(4)).slice(1), [
    { details: { reason: 'wrong_password' } },
    { details: { reason: 'disabled' } },
    { details: { reason: 'no_password' } },
  ])
})

t.test('a refused sign-in does not wait for the log', async t => {
  const { companyId, login, entries, email } = await world()
  await login()
  await query('delete from rate_windows')
  await query('begin')
  await query('select * from audit_heads where company_id = $1 for update', [companyId])
  const refused = await started.ask('POST', '/api/v1/auth/login', { email, password: 'a wrong password' })
  await query('commit')
  t.equal(refused.status, 401)
  t.match((await entries(3))[2], { action: 'user.sign_in_failed' })
})

t.test('a client that hangs up before the response is audited all the same', async t => {
  const { email, login, entries } = await world()
  await login('a wrong password')
  await query('delete from rate_windows')
  await query('begin')
  await query('select * from login_failures for update')
  const { hostname, port } = new URL(server.info.uri)
  const attempt = http.request({ hostname, port, method: 'POST', path: '/api/v1/auth/login' })
  attempt.on('error', () => undefined)
  attempt.setHeader('content-type', 'application/json')
  attempt.end(JSON.stringify({ email, password: 'a wrong password' }))
  await untilBlocked(started)
  const closed = new Promise(done => attempt.once('close', done))
  attempt.destroy()
  await closed
  await query('commit')
  t.match((await entries(3))[2], { action: 'user.sign_in_failed', actor: 'system', address: '127.0.0.1' })
})

t.test('a stopping server writes the deferred events', async t => {
  const { email, readLog } = await world()
  const twin = await started.startTwin()
  await query('delete from rate_windows')
  await twin.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ email, password: 'a wrong password' }),
  })
  await twin.stop()
  t.match((await readLog())[1], { action: 'user.sign_in_failed' })
})

t.test('the reuse of a refresh token is audited', async t => {
  const { id, login, readLog } = await world()
  const first = (await login()).body.refresh_token
  const refresh = (refresh_token: string) => ask('PUT', '/api/v1/auth/tokens/current', { refresh_token })
  const second = (await refresh(first)).body.refresh_token
  await refresh(second)
  for (let again = 0; again < 2; again++) t.equal((await refresh(first)).status, 401)
  const entries = await readLog()
  t.match(entries.slice(2), [
    { actor: 'system', action: 'session.reused', target_id: id, details: { session_id: String } },
  ])
  t.equal(entries.length, 3, 'once')
  t.notMatch(JSON.stringify(entries), first)
})

t.test('changing a password fails for a user without one', async t => {
  const { id, login } = await world()
  const { access_token: token } = (await login()).body
  await query('update users set password_hash = null where id = $1', [id])
  const body = { old_password: PASSWORD, new_password: 'a short swim at dusk' }
  const refused = await ask('POST', '/api/v1/auth/change-password', body, token)
  t.match([refused.status, refused.body.error], [409, { code: 'CONFLICT', message: /provider/ }])
  t.equal((await ask('GET', '/api/v1/auth/me', undefined, token)).status, 200)
})

t.test('another password ends tickets that were not used yet', async t => {
  const { id, companyId, login } = await world()
  const { access_token: token } = (await login()).body
  const ticket = await server.plugins.auth.issueTicket({
    companyId,
    userId: id,
    method: 'oauth:x',
    seconds: 60,
  })
  const body = { old_password: PASSWORD, new_password: 'a short swim at dusk' }
  t.equal((await ask('POST', '/api/v1/auth/change-password', body, token)).status, 204)
  t.equal((await ask('POST', '/api/v1/auth/tickets', { ticket })).status, 401)
})

t.test('invitations and tickets that ended are swept away, open ones stay', async t => {
  const { id, companyId, login } = await world()
  const { access_token: token } = (await login()).body
  const invite = (name: string) =>
    ask('POST', '/api/v1/invitations', { email: `${name}@example.com`, role: 'viewer' }, token)
  for (const name of ['open', 'expired', 'revoked', 'accepted']) await invite(name)
  const long = `now() - interval '31 days'`
  for (const [name, column] of Object.entries({
    expired: 'expires',
    revoked: 'revoked',
    accepted: 'accepted',
  }))
    await query(`update invitations set ${column}_at = ${long} where email = '${name}@example.com'`)
  await server.plugins.auth.issueTicket({ companyId, userId: id, method: 'oauth:x', seconds: 60 })
  await server.plugins.auth.issueTicket({ companyId, userId: id, method: 'oauth:y', seconds: -1 })
  await query(
    `insert into oauth_attempts (state_hash, browser_hash, provider, sealed, expires_at)
     values ('\\x01', '\\x02', 'x', 'x', now() - interval '1 second')`,
  )
  await expireRows(server)
  t.strictSame(await query('select email from invitations'), [{ email: 'open@example.com' }])
  t.strictSame(await query('select method from tickets'), [{ method: 'oauth:x' }])
  t.strictSame(await query('select * from oauth_attempts'), [])
})
