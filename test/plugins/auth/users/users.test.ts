import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { countBlocked } from '../../../helpers/lock-waits.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'

const USERS = '/api/v1/users'
const PASSWORD = 'a long walk at dawn'
const started = await startServer(t)
const { server, query } = started

/** Requests that no rate limit counts. */
const ask: TestServer['ask'] = async (...given) => {
  await query('delete from rate_windows')
  return started.ask(...given)
}

interface Person {
  id: string
  email: string
  token: string
  refresh: string
}

/** A company with its owner, and users of other roles, all signed in. */
async function world(...roles: ('admin' | 'member' | 'viewer')[]) {
  const { id: companyId } = await server.plugins.auth.createCompany({ name: 'Engines' })
  const login = (email: string) => ask('POST', '/api/v1/auth/login', { email, password: PASSWORD })
  const person = async (role: 'owner' | (typeof roles)[number]): Promise<Person> => {
    const email = `${role}-${randomUUID().slice(0, 8)}@example.com`
    const { id } = await server.plugins.auth.createUser({ companyId, email, password: PASSWORD, role })
    const { body } = await login(email)
    return { id, email, token: body.access_token, refresh: body.refresh_token }
  }
  const owner = await person('owner')
  const others: Person[] = []
  for (const role of roles) others.push(await person(role))
  return { companyId, login, owner, others: others as [Person, Person, Person] }
}

const me = (who: Person) => ask('GET', '/api/v1/auth/me', undefined, who.token)
const patch = (id: string, body: unknown, by: Person) => ask('PATCH', `${USERS}/${id}`, body, by.token)
const remove = (id: string, by: Person) => ask('DELETE', `${USERS}/${id}`, undefined, by.token)
const readLog = (companyId: string) =>
  query(
    'select actor, action, target_id, details from audit_log where company_id = $1 order by sequence desc limit 1',
    [companyId],
  )

t.test('admins list the users of their company, newest first', async t => {
  const { owner, others } = await world('admin', 'viewer')
  const [admin, viewer] = others
  await world('member')
  const { status, body } = await ask('GET', USERS, undefined, admin.token)
  t.equal(status, 200)
  t.strictSame(
    body.data.map(({ id }: { id: string }) => id),
    [viewer.id, admin.id, owner.id],
  )
  t.strictSame(body.data[1], (await me(admin)).body, 'each as they see themselves')
  t.strictSame(body.pagination, { total: 3, limit: 50, offset: 0, has_more: false })
  const page = await ask('GET', `${USERS}?limit=1&offset=1`, undefined, owner.token)
  t.match(page.body, {
    data: [{ id: admin.id }],
    pagination: { total: 3, limit: 1, offset: 1, has_more: true },
  })
})

t.test('only signed-in admins do, no key and no other role', async t => {
  const { companyId, owner, others } = await world('member')
  const [member] = others
  const { key } = await server.plugins.auth.createKey({ companyId, name: 'k', scope: 'admin' })
  for (const [method, path] of [
    ['GET', USERS],
    ['PATCH', `${USERS}/${member.id}`],
    ['DELETE', `${USERS}/${member.id}`],
    ['GET', '/api/v1/invitations'],
    ['POST', '/api/v1/invitations'],
    ['DELETE', `/api/v1/invitations/${randomUUID()}`],
  ] as const) {
    const byMember = await ask(method, path, undefined, member.token)
    t.match([byMember.status, byMember.body.error.details], [403, { required_scope: 'admin' }], path)
    const byKey = await ask(method, path, undefined, key)
    t.match([byKey.status, byKey.body.error.details], [403, { required_scope: 'session' }], path)
  }
  t.equal((await me(owner)).status, 200)
})

t.test('another role counts from the next request on, without signing in again', async t => {
  const { companyId, owner, others } = await world('viewer')
  const [user] = others
  t.equal((await ask('GET', USERS, undefined, user.token)).status, 403)
  const changed = await patch(user.id, { role: 'admin' }, owner)
  t.match([changed.status, changed.body], [200, { id: user.id, role: 'admin', is_active: true }])
  t.match(await readLog(companyId), [
    {
      actor: `user:${owner.id}`,
      action: 'user.updated',
      target_id: user.id,
      details: { role: { from: 'viewer', to: 'admin' } },
    },
  ])
  t.equal((await ask('GET', USERS, undefined, user.token)).status, 200)
  await patch(user.id, { role: 'member' }, owner)
  t.equal((await ask('GET', USERS, undefined, user.token)).status, 403)
  const [{ count } = {}] = await query(`select count(*) from audit_log where action = 'user.updated'`)
  await patch(user.id, { role: 'member' }, owner)
  const again = await query(`select count(*) from audit_log where action = 'user.updated'`)
  t.strictSame(again, [{ count }], 'a change of nothing is not audited')
})

t.test('who is disabled is out at once, and in again only by signing in', async t => {
  const { owner, others, login } = await world('admin')
  const [user] = others
  await query(
    `insert into tickets (ticket_hash, company_id, user_id, method, expires_at)
     select '\\x01', company_id, id, 'oauth:x', now() + interval '1 minute' from users where id = $1`,
    [user.id],
  )
  const invited = await ask(
    'POST',
    '/api/v1/invitations',
    { email: `${randomUUID()}@example.com`, role: 'admin' },
    user.token,
  )
  t.equal((await patch(user.id, { is_active: false }, owner)).body.is_active, false)
  t.equal((await me(user)).status, 401)
  const refresh = () => ask('PUT', '/api/v1/auth/tokens/current', { refresh_token: user.refresh })
  t.equal((await refresh()).status, 401)
  t.match((await login(user.email)).body.error.code, 'INVALID_CREDENTIALS')
  t.strictSame(await query('select * from tickets where user_id = $1', [user.id]), [])
  t.match(
    await query('select revoked_at from invitations where id = $1', [invited.body.id]),
    [{ revoked_at: Date }],
    'nor is there a way back by an invitation of their own',
  )
  t.equal((await patch(user.id, { is_active: true }, owner)).status, 200)
  t.equal((await me(user)).status, 401, 'what ended stays ended')
  t.equal((await refresh()).status, 401)
  t.equal((await login(user.email)).status, 200)
})

t.test('a removed user is gone at once, and their audit events stay', async t => {
  const { companyId, owner, others, login } = await world('admin')
  const [user] = others
  await ask('POST', '/api/v1/api-keys', { name: 'theirs', scope: 'read-only' }, user.token)
  await query(
    `insert into identities (issuer, subject, company_id, user_id) values ('https://id.example.com', $1, $2, $3)`,
    [user.email, companyId, user.id],
  )
  const removed = await remove(user.id, owner)
  t.strictSame([removed.status, removed.body], [204, ''])
  t.equal((await me(user)).status, 401)
  t.equal((await login(user.email)).status, 401)
  t.strictSame(await query('select * from identities where user_id = $1', [user.id]), [])
  const gone = await remove(user.id, owner)
  t.match([gone.status, gone.body.error.code], [404, 'USER_NOT_FOUND'])
  const actions = await query(
    'select action from audit_log where company_id = $1 and actor = $2 order by sequence',
    [companyId, `user:${user.id}`],
  )
  t.match(
    actions.map(({ action }) => action),
    ['user.signed_in', 'api_key.created'],
  )
  t.match(await readLog(companyId), [
    { action: 'user.removed', target_id: user.id, details: { email: user.email, role: 'admin' } },
  ])
  const again = await ask('POST', '/api/v1/auth/register', { email: user.email, password: PASSWORD })
  t.equal(again.status, 201, 'the email is free')
})

t.test('the audit log keeps the name of a user who was removed', async t => {
  const { companyId, owner, others } = await world('admin', 'viewer')
  const [named, nameless] = others
  await ask('PATCH', '/api/v1/auth/me', { full_name: 'Grace Hopper' }, named.token)
  for (const user of [named, nameless]) await remove(user.id, owner)
  const namesOf = async ({ id }: Person) => {
    const { body } = await ask('GET', `/api/v1/audit-log?actor=user:${id}`, undefined, owner.token)
    return [...new Set((body.data as { actor_name: string }[]).map(entry => entry.actor_name))]
  }
  t.strictSame(await namesOf(named), ['Grace Hopper'])
  t.strictSame(await namesOf(nameless), [nameless.email])
  // As versions before wrote it: without the name.
  await query(`alter table audit_log disable trigger audit_log_append_only`)
  await query(
    `update audit_log set details = details - 'full_name' where company_id = $1 and action = 'user.removed'`,
    [companyId],
  )
  t.strictSame(await namesOf(named), [named.email])
  await query(`alter table audit_log enable trigger audit_log_append_only`)
})

t.test('removing users leaves the audit log whole', async t => {
  const { owner, others } = await world('member')
  await remove(others[0].id, owner)
  const { body } = await ask('GET', '/api/v1/audit-log/verify', undefined, owner.token)
  t.match(body.data, { is_whole: true, problem: null })
})

t.test('the owner can be neither changed nor removed, and admins cannot lock themselves out', async t => {
  const { owner, others } = await world('admin')
  const [admin] = others
  for (const [who, by] of [
    [owner, admin],
    [owner, owner],
    [admin, admin],
  ] as const) {
    for (const body of [{ role: 'viewer' }, { is_active: false }]) {
      const refused = await patch(who.id, body, by)
      t.match([refused.status, refused.body.error.code], [409, 'CONFLICT'])
    }
    t.match((await remove(who.id, by)).body.error.code, 'CONFLICT')
  }
  t.equal((await me(owner)).body.role, 'owner')
  t.equal((await me(admin)).body.role, 'admin')
})

t.test('who is an admin no more when their request has come in whole changes nothing by it', async t => {
  const { companyId, others } = await world('admin', 'member')
  const [admin, member] = others
  const email = `accomplice-${randomUUID().slice(0, 8)}@example.com`
  const requests = [
    () => ask('POST', '/api/v1/invitations', { email, role: 'admin' }, admin.token),
    () => patch(member.id, { role: 'admin' }, admin),
    () => remove(member.id, admin),
    () => ask('POST', '/api/v1/api-keys', { name: 'way back', scope: 'admin' }, admin.token),
  ]
  for (const request of requests) {
    await query('delete from rate_windows')
    await query('begin')
    await query('select from companies where company_id = $1 for no key update', [companyId])
    await query(`update users set role = 'viewer' where id = $1`, [admin.id])
    const asked = request()
    let isOver = false
    void asked.finally(() => (isOver = true))
    while (!isOver && (await countBlocked(started)) === 0) await wait(10)
    await query('commit')
    const { status, body } = await asked
    t.match([status, body.error?.code], [403, 'FORBIDDEN'])
    await query(`update users set role = 'admin' where id = $1`, [admin.id])
  }
  t.strictSame(await query('select 1 from invitations where email = $1', [email]), [])
  t.strictSame(await query(`select 1 from api_keys where name = 'way back'`), [])
  t.match(await query('select role from users where id = $1', [member.id]), [{ role: 'member' }])
})

t.test("another company's user is answered as one that never was", async t => {
  const { owner } = await world()
  const { others } = await world('viewer')
  const [stranger] = others
  const never = randomUUID()
  for (const id of [stranger.id, 'nonsense']) {
    for (const ask of [
      (id: string) => patch(id, { role: 'admin' }, owner),
      (id: string) => remove(id, owner),
    ]) {
      const [theirs, none] = [await ask(id), await ask(never)]
      t.match([none.status, none.body.error.code], [404, 'USER_NOT_FOUND'])
      t.equal(theirs.status, none.status)
      t.equal(JSON.stringify(theirs.body).replaceAll(id, never), JSON.stringify(none.body))
    }
  }
  t.equal((await me(stranger)).body.role, 'viewer')
})

t.test('bad input is answered with the field', async t => {
  const { owner, others } = await world('viewer')
  const [user] = others
  for (const body of [
    {},
    { role: 'owner' },
    { role: 'root' },
    { is_active: 'false' },
    { email: 'x@example.com' },
  ]) {
    const { status, body: answer } = await patch(user.id, body, owner)
    t.match([status, answer.detail[0].loc[0]], [422, 'body'], JSON.stringify(body))
  }
  t.equal((await ask('GET', `${USERS}?limit=101`, undefined, owner.token)).status, 422)
})
