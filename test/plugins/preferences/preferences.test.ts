import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireRows } from '../../../server/database/retention.ts'
import { startServer } from '../../helpers/server.ts'

const PREFERENCES = '/api/v1/auth/preferences'
const ONBOARDING = `${PREFERENCES}/onboarding`
const { server, ask, query, signUp } = await startServer(t)
const [tenant, stranger] = [await signUp(), await signUp('Other')]

t.beforeEach(() => query('delete from rate_windows'))

/** A user of the company who has just signed in for the first time. */
async function newcomer(role: 'viewer' | 'member' = 'viewer') {
  const email = `${randomUUID()}@example.com`
  const password = 'a long walk at dawn'
  const { companyId } = tenant
  const { id } = await server.plugins.auth.createUser({ companyId, email, password, role })
  const { body } = await ask('POST', '/api/v1/auth/login', { email, password })
  const token = body.access_token as string
  const request = (method: string, path = '', payload?: unknown) =>
    ask(method, PREFERENCES + path, payload, token)
  const data = async (method: string, path = '', payload?: unknown) => {
    const reply = await request(method, path, payload)
    t.match([reply.status, reply.body.success, reply.body.error], [200, true, ''], `${method} ${path}`)
    return reply.body.data
  }
  return { id, token, request, data }
}

const notBegun = { completed: false, completed_at: null, current_step: 0 }
const NO_PROGRESS = {
  chapters: { connect: notBegun, discover: notBegun, freshness: notBegun, schema: notBegun },
  overall_percent: 0,
  completed: false,
}
const DEFAULTS = {
  theme: 'system',
  timezone: 'UTC',
  email_notifications: true,
  digest: 'off',
  default_asset_id: null,
  table_page_size: 50,
  onboarding: NO_PROGRESS,
  custom: {},
}

t.test('who has changed nothing has the defaults', async t => {
  const { request } = await newcomer()
  const { status, body } = await request('GET')
  t.equal(status, 200)
  t.strictSame(body, { success: true, data: DEFAULTS, message: '', error: '', meta: {} })
})

t.test('a change leaves what is not given, and is the answer', async t => {
  const { data } = await newcomer()
  t.strictSame(await data('PATCH', '', { theme: 'dark', table_page_size: 200 }), {
    ...DEFAULTS,
    theme: 'dark',
    table_page_size: 200,
  })
  const changed = await data('PATCH', '', { digest: 'weekly', email_notifications: false })
  t.match(changed, { theme: 'dark', table_page_size: 200, digest: 'weekly', email_notifications: false })
  t.strictSame(await data('GET'), changed)
  t.strictSame(await data('PATCH', '', {}), changed, 'nothing given, nothing changed')
})

t.test('of changes at once none undoes another', async t => {
  const { data } = await newcomer()
  await Promise.all([
    data('PATCH', '', { theme: 'light' }),
    data('PATCH', '', { digest: 'daily' }),
    data('PATCH', '', { table_page_size: 10 }),
    data('PATCH', '', { custom: { a: 1 } }),
  ])
  t.match(await data('GET'), { theme: 'light', digest: 'daily', table_page_size: 10, custom: { a: 1 } })
})

t.test('the time zone is that of the profile', async t => {
  const { token, data } = await newcomer()
  const zone = async () => (await ask('GET', '/api/v1/auth/me', undefined, token)).body.timezone
  t.equal((await data('PATCH', '', { timezone: 'Europe/Berlin' })).timezone, 'Europe/Berlin')
  t.equal(await zone(), 'Europe/Berlin')
  await ask('PATCH', '/api/v1/auth/me', { timezone: 'Asia/Tokyo' }, token)
  t.equal((await data('GET')).timezone, 'Asia/Tokyo')
})

t.test('custom is replaced as a whole, and comes back as it was', async t => {
  const { data } = await newcomer()
  const custom = { folded: [1, 'a', null, { deep: true }], 'with.dot': 'ü☃', constructor: 2 }
  t.strictSame((await data('PATCH', '', { custom: { gone: 1 } })).custom, { gone: 1 })
  t.strictSame((await data('PATCH', '', { custom })).custom, custom)
  t.strictSame((await data('PATCH', '', { custom: {} })).custom, {})
})

t.test('a reset gives the defaults and leaves the tour as it is', async t => {
  const { data } = await newcomer()
  await data('PATCH', '', { theme: 'dark', timezone: 'Asia/Tokyo', custom: { a: 1 } })
  const onboarding = await data('PATCH', '/onboarding', { chapter: 'schema', completed: true })
  t.strictSame(await data('DELETE'), { ...DEFAULTS, onboarding })
  t.strictSame(await data('DELETE'), { ...DEFAULTS, onboarding }, 'again')
})

t.test('changes and resets at once do not wait for each other', async t => {
  const { data } = await newcomer()
  await data('PATCH', '', { theme: 'dark' })
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      data('PATCH', '', { timezone: 'Europe/Berlin', theme: 'dark' }),
      data('DELETE'),
      data('PATCH', '', { timezone: 'Asia/Tokyo', theme: 'light' }),
      data('DELETE'),
    ])
  }
})

t.test('one value is had by its name, and null is what there is none of', async t => {
  const { data } = await newcomer()
  await data('PATCH', '', { theme: 'dark', custom: { theme: 'mine', 'a.b': 1, off: false } })
  for (const [name, value] of [
    ['theme', 'dark'],
    ['custom.theme', 'mine'],
    ['custom.a.b', 1],
    ['a.b', 1],
    ['off', false],
    ['timezone', 'UTC'],
    ['default_asset_id', null],
    ['unheard_of', null],
    ['custom.unheard_of', null],
    ['custom.', null],
    ['__proto__', null],
    ['constructor', null],
    ['toString', null],
    ['custom', { theme: 'mine', 'a.b': 1, off: false }],
  ] as const)
    t.strictSame(await data('GET', `/${name}`), value, name)
})

t.test('the default asset is one of the company, and null once it is gone', async t => {
  const { data, request } = await newcomer()
  const { id } = (
    await tenant.ask('POST', '/api/v1/sdk/assets', {
      name: 'shop',
      source_type: 'sqlite',
      connection_config: { path: '/nowhere.sqlite' },
    })
  ).body.data
  t.equal((await data('PATCH', '', { default_asset_id: id })).default_asset_id, id)
  t.equal((await data('PATCH', '', { theme: 'dark' })).default_asset_id, id)
  t.equal((await data('PATCH', '', { default_asset_id: null })).default_asset_id, null)
  t.equal((await data('PATCH', '', { default_asset_id: 'shop' })).default_asset_id, id, 'by its name')

  const theirs = await ask('PATCH', PREFERENCES, { default_asset_id: id }, stranger.token)
  for (const [reply, asked] of [
    [theirs, id],
    [await request('PATCH', '', { default_asset_id: randomUUID(), theme: 'light' }), undefined],
    [await request('PATCH', '', { default_asset_id: 'no such thing' }), 'no such thing'],
  ] as const) {
    t.match([reply.status, reply.body.error.code], [404, 'ASSET_NOT_FOUND'])
    if (asked) t.equal(reply.body.error.details.asset_id, asked)
  }
  t.equal((await data('GET')).theme, 'dark', 'what is refused changes nothing')
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${id}`)
  t.equal((await data('GET')).default_asset_id, null)
})

t.test('wrong values are 422 and say which', async t => {
  const { request, data } = await newcomer()
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]))
  for (const [body, field] of [
    [{ theme: 'pink' }, 'theme'],
    [{ theme: null }, 'theme'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ email_notifications: 'true' }, 'email_notifications'],
    [{ digest: 'hourly' }, 'digest'],
    [{ default_asset_id: 7 }, 'default_asset_id'],
    [{ table_page_size: 9 }, 'table_page_size'],
    [{ table_page_size: 201 }, 'table_page_size'],
    [{ table_page_size: 50.5 }, 'table_page_size'],
    [{ table_page_size: '50' }, 'table_page_size'],
    [{ custom: [] }, 'custom'],
    [{ custom: null }, 'custom'],
    [{ custom: keys(65) }, 'custom'],
    [{ custom: { long: 'x'.repeat(16 * 1024) } }, 'custom'],
    [{ custom: { ['k'.repeat(101)]: 1 } }, 'custom'],
    [{ onboarding: {} }, 'onboarding'],
    [{ user_id: randomUUID() }, 'user_id'],
  ] as const) {
    const reply = await request('PATCH', '', body)
    t.match(
      [reply.status, reply.body.detail?.[0]?.loc.slice(0, 2)],
      [422, ['body', field]],
      JSON.stringify(body),
    )
  }
  for (const body of [[], null, 'text', 5])
    t.equal((await request('PATCH', '', JSON.stringify(body))).status, 422)
  t.equal((await request('GET', `/${'x'.repeat(201)}`)).status, 422)
  t.equal((await request('GET', '?full=1')).status, 422)
  t.strictSame(await data('GET'), DEFAULTS)
  t.strictSame((await data('PATCH', '', { custom: keys(64) })).custom, keys(64), '64 keys are not too many')
})

t.test('each user has their own, and needs to be signed in', async t => {
  const [one, other] = [await newcomer(), await newcomer()]
  await one.data('PATCH', '', { theme: 'dark' })
  await one.data('PATCH', '/onboarding', { chapter: 'connect', completed: true })
  t.strictSame(await other.data('GET'), DEFAULTS)
  t.equal((await ask('GET', PREFERENCES)).status, 401)
  t.equal((await tenant.ask('GET', PREFERENCES)).status, 403, 'a key has no user')
})

t.test('changes are audited by their field names, progress is not', async t => {
  const { id, data } = await newcomer()
  await data('PATCH', '', { theme: 'dark', custom: { note: 'a secret' } })
  await data('PATCH', '', {})
  await data('PATCH', '/onboarding', { chapter: 'connect', completed: true })
  await data('DELETE')
  const logged = await query('select action, details from audit_log where actor = $1 order by sequence', [
    `user:${id}`,
  ])
  t.strictSame(
    logged.filter(({ action }) => action !== 'user.signed_in'),
    [
      { action: 'preferences.updated', details: { fields: ['theme', 'custom'] } },
      { action: 'preferences.reset', details: {} },
    ],
  )
})

t.test('chapters are completed one by one', async t => {
  const { data } = await newcomer()
  t.strictSame(await data('GET', '/onboarding'), NO_PROGRESS)
  const first = await data('PATCH', '/onboarding', { chapter: 'connect', completed: true })
  t.match(first, {
    overall_percent: 25,
    completed: false,
    chapters: { connect: { completed: true }, schema: notBegun },
  })
  t.match(first.chapters.connect.completed_at, /^\d{4}-.*Z$/)
  const again = await data('PATCH', '/onboarding', { chapter: 'connect', completed: true })
  t.strictSame(again, first, 'completed since the first time')
  for (const chapter of ['discover', 'freshness'])
    await data('PATCH', '/onboarding', { chapter, completed: true })
  t.match(await data('PATCH', '/onboarding', { chapter: 'schema', completed: true }), {
    overall_percent: 100,
    completed: true,
  })
  const back = await data('PATCH', '/onboarding', { chapter: 'discover', completed: false })
  t.match(back, { overall_percent: 75, completed: false, chapters: { discover: notBegun } })
  t.strictSame((await data('GET')).onboarding, back, 'the preferences show it too')
})

t.test('a step is kept, whether the chapter is completed or not', async t => {
  const { data } = await newcomer()
  t.equal(
    (await data('PATCH', '/onboarding/step', { chapter: 'discover', step: 3 })).chapters.discover
      .current_step,
    3,
  )
  const done = await data('PATCH', '/onboarding', { chapter: 'discover', completed: true })
  t.match(done.chapters.discover, { completed: true, current_step: 3 })
  const stepped = await data('PATCH', '/onboarding/step', { chapter: 'discover', step: 0 })
  t.strictSame(stepped.chapters.discover, { ...done.chapters.discover, current_step: 0 })
})

t.test('a reset starts one chapter over, or all, and deletes nothing else', async t => {
  const { data } = await newcomer()
  await data('PATCH', '', { theme: 'dark' })
  for (const chapter of ['connect', 'schema']) {
    await data('PATCH', '/onboarding', { chapter, completed: true })
    await data('PATCH', '/onboarding/step', { chapter, step: 2 })
  }
  const one = await data('POST', '/onboarding/reset', { chapter: 'connect' })
  t.match(one, {
    overall_percent: 25,
    chapters: { connect: notBegun, schema: { completed: true, current_step: 2 } },
  })
  t.strictSame(await data('POST', '/onboarding/reset'), NO_PROGRESS)
  t.strictSame(await data('POST', '/onboarding/reset', {}), NO_PROGRESS)
  t.equal((await data('GET')).theme, 'dark')
})

t.test('an event knows whether the chapter was completed before', async t => {
  const { id, data } = await newcomer()
  const event = { event_name: 'step_seen', chapter: 'freshness', step: 1, properties: { seconds: 3 } }
  t.strictSame(await data('POST', '/onboarding/events', event), { is_replay: false })
  await data('PATCH', '/onboarding', { chapter: 'freshness', completed: true })
  t.strictSame(await data('POST', '/onboarding/events', event), { is_replay: true })
  t.strictSame(await data('POST', '/onboarding/events', { ...event, chapter: 'schema' }), {
    is_replay: false,
  })
  await data('POST', '/onboarding/reset', { chapter: 'freshness' })
  t.strictSame(await data('POST', '/onboarding/events', event), { is_replay: false })
  const kept = await query(
    'select event_name, chapter, step, properties, is_replay from onboarding_events where user_id = $1 order by id',
    [id],
  )
  t.equal(kept.length, 4)
  t.strictSame(kept[1], { ...event, is_replay: true })
})

t.test('events are counted, and pruned after 90 days', async t => {
  const { id, request, data } = await newcomer()
  const event = { event_name: 'seen', chapter: 'connect' }
  await data('POST', '/onboarding/events', event)
  await query(`update onboarding_events set at = now() - interval '91 days' where user_id = $1`, [id])
  await data('POST', '/onboarding/events', event)
  await query('update rate_windows set used = 1000')
  const refused = await request('POST', '/onboarding/events', event)
  t.match([refused.status, refused.body.error.code], [429, 'RATE_LIMITED'])
  await expireRows(server)
  const kept = await query(
    'select at > now() - interval $$1 day$$ as is_new from onboarding_events where user_id = $1',
    [id],
  )
  t.strictSame(kept, [{ is_new: true }])
})

t.test('wrong bodies of the tour are 422', async t => {
  const { request, data } = await newcomer()
  for (const [method, path, body] of [
    ['PATCH', '', { chapter: 'lunch', completed: true }],
    ['PATCH', '', { chapter: 'connect' }],
    ['PATCH', '', { chapter: 'connect', completed: 'yes' }],
    ['PATCH', '', { chapter: 'connect', completed: true, step: 1 }],
    ['PATCH', '', undefined],
    ['PATCH', '/step', { chapter: 'connect' }],
    ['PATCH', '/step', { chapter: 'connect', step: -1 }],
    ['PATCH', '/step', { chapter: 'connect', step: 1.5 }],
    ['PATCH', '/step', { chapter: 'connect', step: '1' }],
    ['PATCH', '/step', { chapter: 'connect', step: 2 ** 31 }],
    ['POST', '/reset', { chapter: 'all' }],
    ['POST', '/events', { chapter: 'connect' }],
    ['POST', '/events', { event_name: '', chapter: 'connect' }],
    ['POST', '/events', { event_name: 'a', chapter: 'connect', is_replay: true }],
    ['POST', '/events', { event_name: 'a', chapter: 'connect', properties: [] }],
    ['POST', '/events', { event_name: 'a', chapter: 'connect', properties: { long: 'x'.repeat(8_192) } }],
  ] as const) {
    const reply = await request(method, `/onboarding${path}`, body)
    t.match(
      [reply.status, reply.body.detail?.[0]?.loc?.[0]],
      [422, 'body'],
      `${method} ${path} ${JSON.stringify(body)}`,
    )
  }
  t.strictSame(await data('GET', '/onboarding'), NO_PROGRESS)
})

t.test('marks and resets at once leave what one of them says', async t => {
  const { request, data } = await newcomer()
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      n % 3 === 0
        ? request('POST', '/onboarding/reset')
        : n % 3 === 1
          ? request('PATCH', '/onboarding', { chapter: 'connect', completed: true })
          : request('PATCH', '/onboarding/step', { chapter: 'connect', step: n }),
    ),
  )
  t.strictSame(
    replies.map(({ status }) => status),
    Array(12).fill(200),
  )
  t.match(await data('GET', '/onboarding'), { chapters: { schema: notBegun } })
})

t.test(`nothing of ${ONBOARDING} is taken for a preference`, async t => {
  const { data } = await newcomer()
  t.strictSame(await data('GET', '/onboarding'), NO_PROGRESS)
  t.equal(await data('GET', '/chapters'), null)
})
