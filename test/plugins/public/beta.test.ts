import t from 'tap'
import { startServer, type TestServer } from '../../helpers/server.ts'

const app = await startServer(t)
const { query, server, startTwin } = app
const statusOf = ({ ask }: TestServer) => ask('GET', '/api/public/beta/status')
const signUp = ({ ask }: TestServer, email: string, more: object = {}) =>
  ask('POST', '/api/public/beta/signup', { email, ...more })

t.beforeEach(() => query('truncate beta_signups, rate_windows').then(() => undefined))

t.test('the status is public, with the number of sign-ups', async t => {
  t.match(await statusOf(app), {
    status: 200,
    body: { open: true, capacity: null, registered: 0, message: String },
  })
  await signUp(app, 'ada@example.com')
  t.equal((await statusOf(app)).body.registered, 1)
})

t.test('the same email has the same answer, however it is written, and keeps what it said first', async t => {
  await signUp(app, 'first@example.com')
  const said = { name: 'Ada', company: 'Acme', use_case: 'Many tables,\nand few people' }
  const once = await signUp(app, 'Ada@Example.com', said)
  t.match(once, { status: 200, body: { registered: true, position: 2, message: String } })
  t.strictSame(Object.keys(once.body), ['registered', 'position', 'message'])
  await signUp(app, 'third@example.com')
  const again = await signUp(app, ' ada@example.com', { name: 'Another name' })
  t.strictSame([again.status, again.body], [once.status, once.body])
  const [kept] = await query(
    `select name, company, use_case from beta_signups where email = 'ada@example.com'`,
  )
  t.strictSame(kept, said)
})

t.test('concurrent sign-ups on several servers get distinct positions, without gaps', async t => {
  const twin = await startTwin()
  const emails = Array.from({ length: 30 }, (_, n) => `guest-${n % 20}@example.com`)
  const replies = await Promise.all(
    emails.map(async (email, n) => {
      const on = n % 2 ? server : twin
      const { statusCode, payload } = await on.inject({
        method: 'POST',
        url: '/api/public/beta/signup',
        payload: { email },
      })
      t.equal(statusCode, 200)
      return { email, position: Number(JSON.parse(payload).position) }
    }),
  )
  const places = new Map(replies.map(({ email, position }) => [email, position]))
  for (const { email, position } of replies) t.equal(position, places.get(email), 'one place each')
  t.strictSame(
    [...places.values()].sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, n) => n + 1),
  )
})

t.test('while the beta is full or closed, who is on the list gets the same answer as before', async t => {
  const full = await startServer(t, { settings: { BETA_CAPACITY: '2' } })
  const before = []
  for (const n of [1, 2]) before.push((await signUp(full, `guest-${n}@example.com`)).body)
  t.match(before, [{ position: 1 }, { position: 2 }])
  t.match((await statusOf(full)).body, { open: false, capacity: 2, registered: 2 })
  const [known, unknown] = [
    await signUp(full, 'guest-1@example.com'),
    await signUp(full, 'other@example.com'),
  ]
  t.match(unknown, { status: 200, body: { registered: false, position: null, message: String } })
  t.strictSame(known.body, before[0])
  t.equal((await full.query('select 1 from beta_signups')).length, 2)
  const closed = await startServer(t, { settings: { BETA_OPEN: 'false' } })
  t.match((await statusOf(closed)).body, { open: false, capacity: null, registered: 0 })
  t.equal((await signUp(closed, 'guest@example.com')).body.registered, false)
  await closed.query(`insert into beta_signups (email) values ('guest@example.com')`)
  t.match((await signUp(closed, 'Guest@example.com')).body, { registered: true, position: 1 })
})

t.test('what cannot be written to is refused', async t => {
  for (const [body, field] of [
    [{}, 'email'],
    [{ email: 'invalid' }, 'email'],
    [{ email: `${'x'.repeat(250)}@example.com` }, 'email'],
    [{ email: 'a@example.com', name: 'x'.repeat(201) }, 'name'],
    [{ email: 'a@example.com', name: 'a\nb' }, 'name'],
    [{ email: 'a@example.com', use_case: 'x'.repeat(2_001) }, 'use_case'],
    [{ email: 'a@example.com', position: 1 }, 'position'],
  ] as const) {
    const { status, body: answered } = await app.ask('POST', '/api/public/beta/signup', body)
    t.equal(status, 422)
    t.match(answered, { detail: [{ loc: ['body', field] }] })
  }
  t.equal((await signUp(app, 'a@example.com', { name: '', company: null })).status, 200)
  t.equal((await query('select 1 from beta_signups')).length, 1)
})
