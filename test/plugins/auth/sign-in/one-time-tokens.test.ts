import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireRows } from '../../../../server/database/retention.ts'
import { makeStage } from '../../../helpers/world.ts'

const { app, tenant } = await makeStage(t)
const [owner] = await app.query('select id from users where email = $1', [tenant.email])
const userId = String(owner?.id)
const make = (seconds = 60) =>
  app.server.plugins.auth.issueTicket({ companyId: tenant.companyId, userId, method: 'test', seconds })
const exchange = async (ticket: unknown) => {
  await app.query('delete from rate_windows')
  return app.ask('POST', '/api/v1/auth/tickets', { ticket })
}

t.test('a ticket is exchanged for a session, once', async t => {
  const ticket = await make()
  t.match(ticket, /^[\w-]{43}$/)
  const { status, body, headers } = await exchange(ticket)
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.match(body, {
    access_token: String,
    refresh_token: String,
    token_type: 'bearer',
    expires_in: 900,
    user: { id: userId, email: tenant.email, company: { id: tenant.companyId } },
  })
  t.equal((await app.ask('GET', '/api/v1/auth/me', undefined, body.access_token)).status, 200)
  const again = await exchange(ticket)
  t.match([again.status, again.body.error.code], [401, 'INVALID_TOKEN'])
  const [entry] = await app.query(`select * from audit_log where details ->> 'method' = 'test'`)
  t.match(entry, {
    action: 'user.signed_in',
    actor: `user:${userId}`,
    target_id: userId,
    address: '127.0.0.1',
  })
})

t.test('one that was made up, has run out, or whose user is gone or disabled is refused alike', async t => {
  const refused = async (message: string, ticket: string) => {
    const { status, body } = await exchange(ticket)
    t.match([status, body.error.code], [401, 'INVALID_TOKEN'], message)
  }
  await refused('made up', 'x'.repeat(43))
  await refused('run out', await make(0))
  const disabled = await make()
  await app.query('update users set is_active = false where id = $1', [userId])
  await refused('disabled', disabled)
  await app.query('update users set is_active = true where id = $1', [userId])
  await refused('disabled then', disabled)
  t.equal((await exchange(7)).status, 422)
  t.equal((await exchange('')).status, 422)
})

t.test('five a minute of an address are looked at', async t => {
  await app.query('delete from rate_windows')
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) {
    const { status, headers } = await app.ask('POST', '/api/v1/auth/tickets', { ticket: randomUUID() })
    statuses.push(status)
    t.equal(headers['x-ratelimit-limit'], '5')
  }
  t.strictSame(statuses, [401, 401, 401, 401, 401, 429])
})

t.test('tickets and sign-ins that ran out are swept', async t => {
  await make(0)
  const kept = await make()
  await app.query(
    `insert into oauth_attempts (state_hash, browser_hash, provider, sealed, expires_at)
     values ('\\x00', '\\x00', 'x', 'x', now() - interval '1 second')`,
  )
  await app.query(
    `insert into demo_sessions (id, company_id, key_hash, expires_at)
     values (gen_random_uuid(), $1, '\\x00', now() - interval '1 second')`,
    [tenant.companyId],
  )
  await expireRows(app.server)
  for (const table of ['tickets', 'oauth_attempts', 'demo_sessions'])
    t.equal((await app.query(`select 1 from ${table} where expires_at < now()`)).length, 0, table)
  t.equal((await exchange(kept)).status, 200)
})
