import t from 'tap'
import { access, caller, covers, SCOPES } from '../../../server/http/access.ts'
import { startServer } from '../../helpers/server.ts'

const GUARDS = ['read', 'write', 'admin', 'keys', 'session', 'sessionLimited'] as const
const { server, ask, signUp, query } = await startServer(t)

t.test('a scope covers those below it', async t => {
  const table = SCOPES.map(scope => SCOPES.map(required => covers(scope, required)))
  t.strictSame(table, [
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ])
})

t.test('each kind of route takes the credentials that it says', async t => {
  for (const guard of GUARDS) {
    server.route({ method: 'POST', path: `/try/${guard}`, options: { ...access[guard] }, handler: caller })
  }
  const { companyId, token } = await signUp()
  const credentials: Record<string, string> = { session: token }
  for (const scope of SCOPES) {
    credentials[scope] = (await server.plugins.auth.createKey({ companyId, name: scope, scope })).key
  }
  const expected: Record<string, Record<(typeof GUARDS)[number], number>> = {
    'read-only': { read: 200, write: 403, admin: 403, keys: 403, session: 403, sessionLimited: 403 },
    'read-write': { read: 200, write: 200, admin: 403, keys: 403, session: 403, sessionLimited: 403 },
    admin: { read: 200, write: 200, admin: 200, keys: 200, session: 403, sessionLimited: 403 },
    session: { read: 200, write: 200, admin: 200, keys: 200, session: 200, sessionLimited: 200 },
  }
  for (const [name, row] of Object.entries(expected)) {
    for (const [guard, status] of Object.entries(row)) {
      t.equal(
        (await ask('POST', `/try/${guard}`, {}, credentials[name])).status,
        status,
        `${name} on ${guard}`,
      )
    }
  }
  const refused = await ask('POST', '/try/write', {}, credentials['read-only'])
  t.match(refused.body.error, {
    code: 'FORBIDDEN',
    message: /read-write/,
    details: { current_scope: 'read-only', required_scope: 'read-write' },
  })
  t.match((await ask('POST', '/try/session', {}, credentials.admin)).body.error, { message: /auth\/login/ })
  t.match((await ask('POST', '/try/read', {}, credentials.admin)).body, {
    kind: 'key',
    companyId,
    plan: 'enterprise',
    scope: 'admin',
  })

  for (const [role, scope] of Object.entries({ viewer: 'read-only', member: 'read-write', admin: 'admin' })) {
    await query(`update users set role = $1`, [role])
    t.match((await ask('POST', '/try/read', {}, token)).body, { kind: 'session', companyId, scope }, role)
  }
})

t.test('without a credential, or with nonsense, the answer is 401 and says what to send', async t => {
  server.route({ method: 'GET', path: '/try', options: { ...access.read }, handler: () => 'ok' })
  for (const [credential, message] of [
    [undefined, /Authorization: Bearer/],
    ['nonsense', /Authorization: Bearer/],
    ['a.b.c', /Authorization: Bearer/],
    ['aa_live_nonsense', /API key is unknown/],
  ] as const) {
    const { status, body, headers } = await ask('GET', '/try', undefined, credential)
    t.match(
      [status, body.error.code, body.error.message],
      [401, 'UNAUTHORIZED', message],
      credential ?? 'none',
    )
    t.match(headers['www-authenticate'], /Bearer/)
  }
  const basic = await server.inject({ url: '/try', headers: { authorization: 'Basic YTpi' } })
  t.equal(basic.statusCode, 401)
})

t.test('a route that does not say who may call it stops the start', async t => {
  await server.stop()
  server.route({ method: 'GET', path: '/bare', handler: () => 'ok' })
  await t.rejects(server.initialize(), { message: /get \/bare does not say who may call it/ })
})
