import t from 'tap'
import { startServer, type TestServer } from '../../helpers/server.ts'

const PASSWORD = 'a long walk at dawn'

const register = (app: TestServer, email: string, more: object = {}) =>
  app.ask('POST', '/api/v1/auth/register', { email, password: PASSWORD, ...more })

t.test('where registration is closed, the first account can be created, and no other', async t => {
  const app = await startServer(t, { settings: { REGISTRATION_ENABLED: 'false' } })
  t.equal(await app.server.plugins.auth.isRegistrationOpen(), true)
  const { query } = app
  await query(
    `insert into companies (company_id, name, plan, is_demo) values (gen_random_uuid(), 'Demo', 'growth', true)`,
  )
  await query(
    `insert into users (id, company_id, email, role) select gen_random_uuid(), company_id, 'demo@example.com', 'owner' from companies`,
  )
  t.equal(await app.server.plugins.auth.isRegistrationOpen(), true, 'the demo is no account')
  const replies = await Promise.all(['ann@example.com', 'bob@example.com'].map(email => register(app, email)))
  t.strictSame(replies.map(({ status }) => status).sort(), [201, 403], 'of two at once, one')
  const refused = await register(app, 'eve@example.com')
  t.match([refused.status, refused.body.error.code], [403, 'FORBIDDEN'])
  t.match(refused.body.error.message, /closed.*invitation/)
  t.equal(await app.server.plugins.auth.isRegistrationOpen(), false)
})

t.test('where registration is closed, an invitation still opens it', async t => {
  const app = await startServer(t, { settings: { REGISTRATION_ENABLED: 'false' } })
  const { ask, signUp } = app
  const { token } = await signUp()
  const invited = await ask(
    'POST',
    '/api/v1/invitations',
    { email: 'grace@example.com', role: 'member' },
    token,
  )
  const joined = await register(app, 'grace@example.com', { invitation_token: invited.body.token })
  t.equal(joined.status, 201)
})

t.test('registration is open unless it is closed', async t => {
  const app = await startServer(t)
  t.equal((await register(app, 'ann@example.com')).status, 201)
  t.equal((await register(app, 'bob@example.com')).status, 201)
})
