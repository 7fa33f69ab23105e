import t from 'tap'
import { isActive } from '../../../checks/detector.ts'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'
import { untilBlocked } from '../../helpers/lock-waits.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

const BASE = '/api/v1/operating-schedules'
const OFFICE = {
  name: 'office hours',
  timezone: 'Europe/Berlin',
  rules: [
    { days: [1, 2, 3, 4, 5], start: '09:00', end: '17:30' },
    { days: [6], start: '22:00', end: '02:00' },
  ],
}
const UNKNOWN = '11111111-1111-4111-8111-111111111111'

/** One server and company for the tests of this file. */
const stage = await makeStage(t)

/** Removes at the end of a test the schedules that it has made. */
function forgetting(t: Teardown, { app } = stage): void {
  t.teardown(() => app.query('delete from operating_schedules'))
}

/** A company without schedules. */
function office(t: Teardown, on = stage) {
  const { app, tenant } = on
  forgetting(t, on)
  const make = (changes: object = {}) => tenant.ask('POST', BASE, { ...OFFICE, ...changes })
  return { app, tenant, make }
}

t.test('a schedule is made, read, changed, listed and removed', async t => {
  const { tenant, make } = office(t)
  const made = await make({ name: '  office hours ' })
  t.equal(made.status, 201)
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = made.body
  t.same(rest, OFFICE, 'the bare record, as it was given')
  t.equal(JSON.stringify(rest.rules), JSON.stringify(OFFICE.rules))
  t.match([id, createdAt, updatedAt], [/^[0-9a-f-]{36}$/, /Z$/, /Z$/])
  t.same((await tenant.ask('GET', `${BASE}/${id}`)).body, made.body)
  t.same((await tenant.ask('GET', `${BASE}/${id.toUpperCase()}`)).body, made.body)

  const renamed = await tenant.ask('PATCH', `${BASE}/${id}`, { name: 'opening hours' })
  t.match(renamed, { status: 200, body: { ...OFFICE, id, name: 'opening hours', created_at: createdAt } })
  const rules = [{ days: [7], start: '00:00', end: '24:00' }]
  t.match((await tenant.ask('PATCH', `${BASE}/${id}`, { timezone: 'UTC', rules })).body, {
    name: 'opening hours',
    timezone: 'UTC',
    rules,
  })
  t.match((await tenant.ask('PATCH', `${BASE}/${id}`, {})).status, 200, 'nothing given changes nothing')

  t.equal((await make({ name: 'opening hours' })).status, 201, 'two may have one name')
  const third = await make({ name: 'third' })
  const list = await tenant.ask('GET', `${BASE}?limit=2`)
  t.match(list, { status: 200, body: { pagination: { total: 3, limit: 2, offset: 0, has_more: true } } })
  t.same(list.body.data[0], third.body, 'newest first')
  const last = await tenant.ask('GET', `${BASE}?limit=2&offset=2`)
  t.match(last.body, { data: [{ id }], pagination: { has_more: false } })

  const removed = await tenant.ask('DELETE', `${BASE}/${id}`)
  t.match(removed, { status: 200, body: { data: { success: true, message: /opening hours/ } } })
  t.match(await tenant.ask('GET', `${BASE}/${id}`), {
    status: 404,
    body: { error: { code: 'SCHEDULE_NOT_FOUND', details: { operating_schedule_id: id } } },
  })
})

t.test('what cannot be a schedule is refused with 422, naming the place', async t => {
  const { tenant, make } = office(t)
  const [, night] = OFFICE.rules
  const withRule = (changes: object) => ({ rules: [OFFICE.rules[0], { ...night, ...changes }] })
  const refusals: [object, string[]][] = [
    [{ name: undefined }, ['body', 'name']],
    [{ name: '  ' }, ['body', 'name']],
    [{ name: 'x'.repeat(201) }, ['body', 'name']],
    [{ name: 7 }, ['body', 'name']],
    [{ timezone: undefined }, ['body', 'timezone']],
    [{ timezone: 'Mars/Olympus' }, ['body', 'timezone']],
    [{ timezone: '+02:00' }, ['body', 'timezone']],
    [{ timezone: '' }, ['body', 'timezone']],
    [{ rules: undefined }, ['body', 'rules']],
    [{ rules: [] }, ['body', 'rules']],
    [{ rules: Array(101).fill(night) }, ['body', 'rules']],
    [withRule({ days: [] }), ['body', 'rules', '1', 'days']],
    [withRule({ days: undefined }), ['body', 'rules', '1', 'days']],
    [withRule({ days: [0] }), ['body', 'rules', '1', 'days', '0']],
    [withRule({ days: [8] }), ['body', 'rules', '1', 'days', '0']],
    [withRule({ days: ['1'] }), ['body', 'rules', '1', 'days', '0']],
    [withRule({ days: [1.5] }), ['body', 'rules', '1', 'days', '0']],
    [withRule({ days: [1, 1] }), ['body', 'rules', '1', 'days', '1']],
    [withRule({ start: '9:00' }), ['body', 'rules', '1', 'start']],
    [withRule({ start: '24:00' }), ['body', 'rules', '1', 'start']],
    [withRule({ start: '10:60' }), ['body', 'rules', '1', 'start']],
    [withRule({ end: '24:01' }), ['body', 'rules', '1', 'end']],
    [withRule({ end: '10:00:00' }), ['body', 'rules', '1', 'end']],
    [withRule({ end: undefined }), ['body', 'rules', '1', 'end']],
    [withRule({ colour: 'red' }), ['body', 'rules', '1', 'colour']],
    [{ colour: 'red' }, ['body', 'colour']],
  ]
  for (const [changes, loc] of refusals) {
    const refused = await make(changes)
    t.equal(refused.status, 422, JSON.stringify(changes))
    t.match(refused.body.detail, [{ loc, msg: String, type: String }], JSON.stringify(refused.body))
  }
  t.equal((await make({ rules: Array(100).fill(night) })).status, 201)
  const made = await make()
  const badPatch = await tenant.ask('PATCH', `${BASE}/${made.body.id}`, { timezone: 'Nowhere' })
  t.match(badPatch, { status: 422, body: { detail: [{ loc: ['body', 'timezone'] }] } })
  for (const query of ['limit=101', 'limit=0', 'offset=-1', 'colour=red']) {
    const refused = await tenant.ask('GET', `${BASE}?${query}`)
    t.match(refused, { status: 422, body: { detail: [{ loc: ['query', query.split('=')[0]] }] } }, query)
  }
  t.match(await tenant.ask('POST', BASE, '{'), { status: 400, body: { error: { code: 'BAD_REQUEST' } } })
})

t.test('what is accepted is what the detector understands', async t => {
  const { app, tenant, make } = office(t)
  const { operatingSchedules } = app.server.plugins
  const activeAt = async (rules: object[], timezone: string, ...moments: string[]) => {
    const made = await make({ rules, timezone })
    t.equal(made.status, 201, JSON.stringify(made.body))
    const { id, schedule } = await app.server.db.company(tenant.companyId, trx =>
      operatingSchedules.find(trx, made.body.id),
    )
    t.equal(id, made.body.id)
    return moments.map(moment => isActive(schedule, Date.parse(moment) / 1_000))
  }
  const friday = '2024-06-14T'
  t.same(
    await activeAt(
      [{ days: [5], start: '22:00', end: '06:00' }],
      'UTC',
      `${friday}21:59Z`,
      `${friday}22:00Z`,
      '2024-06-15T05:59Z',
      '2024-06-15T06:00Z',
    ),
    [false, true, true, false],
    'an end before the start is on the next day',
  )
  t.same(
    await activeAt(
      [{ days: [5], start: '08:00', end: '08:00' }],
      'UTC',
      `${friday}07:59Z`,
      `${friday}08:00Z`,
      '2024-06-15T07:59Z',
      '2024-06-15T08:00Z',
    ),
    [false, true, true, false],
    'an end equal to the start is 24 hours later',
  )
  t.same(
    await activeAt(
      [{ days: [5], start: '00:00', end: '24:00' }],
      'Asia/Tokyo',
      '2024-06-13T14:59Z',
      '2024-06-13T15:00Z',
      '2024-06-14T14:59Z',
      '2024-06-14T15:00Z',
    ),
    [false, true, true, false],
    'a day of another zone',
  )
  for (const unknown of [UNKNOWN, 'nonsense', '']) {
    await t.rejects(
      app.server.db.company(tenant.companyId, trx => operatingSchedules.find(trx, unknown)),
      { message: /no such operating schedule/ },
    )
  }
})

t.test('a schedule notifies its users of changed hours, and cannot be removed while it is used', async t => {
  const { app, tenant, make } = office(t, await makeStage(t))
  const { id } = (await make()).body
  const notified: string[] = []
  let reports = 2
  app.server.plugins.operatingSchedules.addUser({
    name: 'reports',
    count: async () => reports,
    listOfTable: async () => [],
    list: async () => [],
    onHoursChanged: async (trx, scheduleId) => void notified.push(scheduleId),
  })
  await tenant.ask('PATCH', `${BASE}/${id}`, {
    name: 'renamed',
    timezone: OFFICE.timezone,
    rules: OFFICE.rules,
  })
  t.same(notified, [], 'a new name means the same hours')
  await tenant.ask('PATCH', `${BASE}/${id}`, { timezone: 'UTC' })
  await tenant.ask('PATCH', `${BASE}/${id}`, { rules: OFFICE.rules.slice(1) })
  t.same(notified, [id, id])
  const kept = await tenant.ask('DELETE', `${BASE}/${id}`)
  t.match(kept, {
    status: 409,
    body: {
      error: { code: 'CONFLICT', message: /2 reports/, details: { operating_schedule_id: id, reports: 2 } },
    },
  })
  t.equal((await tenant.ask('GET', `${BASE}/${id}`)).status, 200)
  reports = 0
  t.equal((await tenant.ask('DELETE', `${BASE}/${id}`)).status, 200)
})

t.test('the hours of many schedules are read at once, also while one is being changed', async t => {
  const { app, tenant, make } = office(t)
  const { operatingSchedules } = app.server.plugins
  const [first, second] = [(await make()).body.id, (await make({ timezone: 'UTC' })).body.id]
  const read = (ids: string[], companyId = tenant.companyId) =>
    app.server.db.company(companyId, trx => operatingSchedules.loadHours(trx, ids))
  const { rules, timezone } = OFFICE
  const expected = new Map([
    [first, { timezone, rules }],
    [second, { timezone: 'UTC', rules }],
  ])
  t.same(await read([first, second, first]), expected)
  t.same(await read([UNKNOWN]), new Map())
  t.same(await read([]), new Map())
  await app.server.db.company(tenant.companyId, async trx => {
    await trx.raw('select 1 from operating_schedules for update')
    t.same(await read([first, second]), expected)
  })
  const other = await app.signUp('Other')
  t.same(await read([first], other.companyId), new Map())
})

t.test('a change that its user refuses is not made', async t => {
  const { app, tenant, make } = office(t, await makeStage(t))
  const { id } = (await make()).body
  app.server.plugins.operatingSchedules.addUser({
    name: 'reports',
    count: async () => 0,
    listOfTable: async () => [],
    list: async () => [],
    onHoursChanged: async () => Promise.reject(new Error('no')),
  })
  t.equal((await tenant.ask('PATCH', `${BASE}/${id}`, { timezone: 'UTC' })).status, 500)
  t.match((await tenant.ask('GET', `${BASE}/${id}`)).body, { timezone: OFFICE.timezone })
})

t.test('a schedule that a rule names cannot be removed', async t => {
  forgetting(t)
  const world = await makeWorldOn(t, stage, ['create table orders (id int)'])
  const { app, tenant, asset } = world
  await discover(world)
  const { id } = (await tenant.ask('POST', BASE, OFFICE)).body
  const rule = {
    rule_type: 'NOT_NULL',
    table_path: 'orders',
    column_name: 'id',
    operating_period_mode: 'schedule',
    operating_schedule_id: id,
  }
  for (const _ of [1, 2]) {
    t.equal((await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, rule)).status, 201)
  }
  t.match(await tenant.ask('DELETE', `${BASE}/${id}`), {
    status: 409,
    body: {
      error: {
        code: 'CONFLICT',
        message: /in use by 2 rules/,
        details: { operating_schedule_id: id, rules: 2 },
      },
    },
  })
  const before = await tenant.ask('GET', `/api/v1/sdk/validity/${asset.id}`)
  const uuid = before.body.data.items[0].uuid as string
  await tenant.ask('PATCH', `/api/v1/sdk/validity/${asset.id}/${uuid}`, { detection_mode: 'auto' })
  await app.server.db.company(tenant.companyId, async trx => {
    // As a change of its hours does, before it comes to the rules.
    await trx.raw('select 1 from operating_schedules where id = ? for no key update', [id])
    const checked = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}/${uuid}/check`)
    t.match([checked.status, checked.body.data?.status], [200, 'pass'], 'a check does not wait for it')
  })
  await tenant.ask('PATCH', `${BASE}/${id}`, { timezone: 'UTC' })
  t.match(
    await app.query('select state from check_states'),
    [{ state: { version: 0 } }],
    'what was learned of other hours is forgotten',
  )
  await t.rejects(app.query('update checks set operating_schedule_id = $1', [UNKNOWN]), {
    code: '23503',
  })
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)).status, 200)
  t.equal((await tenant.ask('DELETE', `${BASE}/${id}`)).status, 200, 'the rule went with its source')
})

t.test('results come with the hours in which their table operates', async t => {
  forgetting(t)
  const world = await makeWorldOn(t, stage, [
    'create table orders (id int primary key, day timestamptz)',
    'create table items (order_id int)',
  ])
  const { tenant, asset } = world
  await discover(world)
  const post = async (path: string, body: object) => {
    const made = await tenant.ask('POST', path, body)
    t.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.data ?? made.body
  }
  const sdk = '/api/v1/sdk'
  const ofOrders = { table_path: 'orders', column_name: 'id' }
  const makeRule = (fields: object) =>
    post(`${sdk}/validity/${asset.id}`, { rule_type: 'NOT_NULL', ...ofOrders, ...fields })
  const metric = await post(`${sdk}/metrics/${asset.id}`, { metric_type: 'row_count', table_path: 'orders' })
  const check = await post(`${sdk}/referential/${asset.id}`, {
    child_table_path: 'orders',
    child_column_name: 'id',
    parent_table_path: 'items',
    parent_column_name: 'order_id',
  })
  await post(`${sdk}/freshness/schedules`, {
    asset_id: asset.id,
    table_path: 'orders',
    freshness_column: 'day',
    sla_threshold: '24h',
  })
  const plain = await makeRule({ alert_threshold_percent: 5 })
  const chartOf = async (path: string) => {
    const {
      items: _items,
      data: _data,
      pagination: _page,
      min: _min,
      max: _max,
      ...chart
    } = (await tenant.ask('GET', path)).body.data
    return chart
  }
  const found = await tenant.ask('GET', '/api/v1/assets?search=orders&asset_type=table')
  const paths = [
    `${sdk}/metrics/${asset.id}/${metric.id}/snapshots`,
    `${sdk}/referential/${asset.id}/${check.id}/results`,
    `${sdk}/freshness/${found.body.data[0].id}/history`,
  ]
  const rulePath = (rule: { uuid: string }) => `${sdk}/validity/${asset.id}/${rule.uuid}/results`
  for (const path of paths) t.strictSame(await chartOf(path), { operating_hours: null }, path)
  t.strictSame(await chartOf(rulePath(plain)), { threshold: 5, operating_hours: null })

  const { name: _name, ...hours } = OFFICE
  const [first, second] = [await post(BASE, OFFICE), await post(BASE, { ...OFFICE, timezone: 'UTC' })]
  const bySchedule = (id: string) => ({
    detection_mode: 'auto',
    operating_period_mode: 'schedule',
    operating_schedule_id: id,
  })
  const own = await makeRule(bySchedule(first.id))
  for (const path of paths) t.strictSame(await chartOf(path), { operating_hours: hours }, path)
  t.strictSame(
    await chartOf(rulePath(plain)),
    { threshold: 5, operating_hours: null },
    'it is not judged by hours',
  )
  t.strictSame(await chartOf(rulePath(own)), { threshold: null, operating_hours: hours })

  const other = await makeRule(bySchedule(second.id))
  for (const path of paths)
    t.strictSame(await chartOf(path), { operating_hours: null }, 'which one is unclear')
  t.match(await chartOf(rulePath(other)), { operating_hours: { timezone: 'UTC' } }, 'a rule has its own')
  await tenant.ask('PATCH', `${sdk}/validity/${asset.id}/${other.uuid}`, { is_active: false })
  for (const path of paths)
    t.strictSame(await chartOf(path), { operating_hours: hours }, 'only active rules count')
  await tenant.ask('DELETE', `${sdk}/assets/${asset.id}`)
})

t.test(
  'a change of hours waits for a scan of its rules in the order in which the scan takes them',
  async t => {
    forgetting(t)
    const world = await makeWorldOn(t, stage, ['create table orders (email text)'])
    await discover(world)
    const { app, tenant, asset } = world
    const { id } = (await tenant.ask('POST', BASE, OFFICE)).body
    const rule = {
      ...{ rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email', detection_mode: 'auto' },
      ...{ operating_period_mode: 'schedule', operating_schedule_id: id },
    }
    const make = async () =>
      (await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, rule)).body.data.id as number
    const [first, second] = [await make(), await make()]
    const lock = (rule: number) => app.query('select id from checks where id = $1 for update', [rule])
    // Its row now lies behind the other, so a query without an order reaches it last.
    await app.query('update checks set next_run_at = next_run_at + make_interval(days => 1) where id = $1', [
      first,
    ])
    await app.query('begin')
    await lock(first)
    const change = tenant.ask('PATCH', `${BASE}/${id}`, { timezone: 'UTC' })
    await untilBlocked(app)
    t.match(await lock(second), [{ id: String(second) }])
    await app.query('commit')
    t.equal((await change).status, 200)
  },
)

t.test(
  'schedules are read with any credential, changed with write scope, and never seen by others',
  async t => {
    const { app, tenant, make } = office(t)
    const { id } = (await make()).body
    const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
    const reader = body.data.key as string
    for (const credential of [reader, tenant.token]) {
      t.equal((await app.ask('GET', BASE, undefined, credential)).status, 200)
      t.equal((await app.ask('GET', `${BASE}/${id}`, undefined, credential)).status, 200)
    }
    t.equal((await app.ask('PATCH', `${BASE}/${id}`, { name: 'x' }, tenant.token)).status, 200)
    for (const [method, path] of [
      ['POST', BASE],
      ['PATCH', `${BASE}/${id}`],
      ['DELETE', `${BASE}/${id}`],
    ] as const) {
      t.match(await app.ask(method, path, {}, reader), {
        status: 403,
        body: {
          error: { code: 'FORBIDDEN', details: { current_scope: 'read-only', required_scope: 'read-write' } },
        },
      })
      t.equal((await app.ask(method, path, {})).status, 401)
    }
    const other = await app.signUp('Other')
    t.same((await other.ask('GET', BASE)).body.data, [])
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const payload = method === 'PATCH' ? {} : undefined
      for (const unknown of [id, UNKNOWN, 'nonsense', '7', 'x'.repeat(500)]) {
        t.match(
          await other.ask(method, `${BASE}/${unknown}`, payload),
          {
            status: 404,
            body: { error: { code: 'SCHEDULE_NOT_FOUND', details: { operating_schedule_id: unknown } } },
          },
          `${method} ${unknown}`,
        )
      }
    }
    await t.rejects(
      app.server.db.company(other.companyId, trx => app.server.plugins.operatingSchedules.find(trx, id)),
      { message: /no such operating schedule/ },
    )
  },
)
