import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { sweepStep } from '../time.ts'
import { goForward, INCIDENTS, makePipeline } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const TABLES = ['raw', 'orders', 'other']
const FLOW = ['raw > orders']

t.beforeEach(() => app.query('delete from rate_windows'))

t.test('an incident is resolved when all of its alerts are over', async t => {
  const { raise, recover, get } = await makePipeline(app, TABLES, FLOW)
  await raise('raw stale', 'orders quality')
  await recover('raw stale')
  t.match(await get(), { status: 'open', open_alert_count: 1, resolved_at: null })
  await goForward(app, 12)
  await recover('orders quality')
  const incident = await get()
  t.match(incident, { status: 'resolved', open_alert_count: 0 })
  t.equal(Math.floor(incident.minutes_to_resolve), 12)
  t.match(incident.activities.at(-1), {
    activity_type: 'resolved',
    actor_type: 'system',
    metadata: { reason: 'It recovered' },
  })
})

t.test('a person acknowledges, and resolves, its alerts with it', async t => {
  const { raise, get, ask } = await makePipeline(app, TABLES, FLOW)
  const [first = ''] = await raise('raw stale', 'orders quality')
  const { id } = await get()
  const taken = await ask('POST', `${INCIDENTS}/${id}/acknowledge`, { notes: 'Looking' })
  t.match(taken, { status: 200, body: { data: { status: 'acknowledged' } } })
  t.ok(taken.body.data.acknowledged_at)
  t.strictSame(
    taken.body.data.alerts.map((alert: { status: string }) => alert.status),
    ['acknowledged', 'acknowledged'],
  )
  await raise('orders volume')
  t.match(await get(), { status: 'acknowledged', alert_count: 3 }, 'its assignee has the new alert')
  const over = await ask('POST', `${INCIDENTS}/${id}/resolve`, {
    notes: 'Reran the loader',
    root_cause_category: 'pipeline_failure',
  })
  t.match(over.body.data, { status: 'resolved', open_alert_count: 0 })
  t.match(over.body.data.activities.at(-1), {
    activity_type: 'resolved',
    actor_type: 'key',
    metadata: { reason: 'Reran the loader' },
  })
  const alert = await ask('GET', `/api/v1/sdk/alerts/${first}`)
  t.match(alert.body.data, {
    status: 'resolved',
    notes: 'Reran the loader',
    root_cause_category: 'pipeline_failure',
  })
  t.match(await ask('POST', `${INCIDENTS}/${id}/resolve`), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: 'The incident is resolved, which is final' } },
  })
})

t.test('alerts that people handle one by one move their incident', async t => {
  const { raise, get, ask, settle } = await makePipeline(app, TABLES, FLOW)
  const [raw = '', orders = ''] = await raise('raw stale', 'orders quality')
  const alert = (id: string, verb: string, body?: object) =>
    settle([id], () => ask('POST', `/api/v1/sdk/alerts/${id}/${verb}`, body))
  await alert(raw, 'acknowledge')
  t.match(await get(), { status: 'open' })
  await alert(orders, 'acknowledge')
  t.match(await get(), { status: 'acknowledged' })
  await alert(raw, 'dismiss')
  t.match(await get(), { status: 'acknowledged' })
  await alert(orders, 'dismiss')
  t.match(await get(), { status: 'dismissed' })
})

t.test('a snooze ends by itself', async t => {
  const { raise, get, ask, settle } = await makePipeline(app, TABLES, FLOW)
  const ids = await raise('raw stale', 'orders quality')
  const { id } = await get()
  const asleep = await ask('POST', `${INCIDENTS}/${id}/snooze`, { duration_hours: 2 })
  t.match(asleep.body.data, { status: 'snoozed', open_alert_count: 2 })
  t.ok(asleep.body.data.snoozed_until)
  await raise('orders volume')
  t.match(await get(), { status: 'snoozed' }, 'what joins does not end it')
  await goForward(app, 121)
  await settle(ids, () => sweepStep(app.server, 'woken'))
  t.match(await get(), { status: 'open', snoozed_until: null })
  t.match(await ask('POST', `${INCIDENTS}/${id}/snooze`, {}), { status: 400 })
})

t.test('people assign it, comment on it, and write its post-mortem', async t => {
  const { raise, get, ask, tenant } = await makePipeline(app, TABLES, FLOW)
  await raise('raw stale')
  const { id } = await get()
  const [{ id: userId } = {}] = await app.query('select id from users where company_id = $1', [
    tenant.companyId,
  ])
  const patched = await ask('PATCH', `${INCIDENTS}/${id}`, { assignee_id: userId, post_mortem: 'Late.' })
  t.match(patched.body.data, { assignee: { id: userId, email: tenant.email }, post_mortem: 'Late.' })
  const said = await app.ask('POST', `${INCIDENTS}/${id}/comment`, { comment: 'Hm' }, tenant.token)
  t.match(said, {
    status: 201,
    body: { data: { activity_type: 'comment', actor_type: 'user', metadata: { comment: 'Hm' } } },
  })
  const { body } = await ask('GET', `${INCIDENTS}/${id}/activities?limit=3`)
  const types = body.data.activities.map((each: { activity_type: string }) => each.activity_type)
  t.strictSame(types, ['comment', 'post_mortem_changed', 'assigned'])
  t.equal(body.data.pagination.total, 4)
  t.equal((await ask('GET', `${INCIDENTS}?assignee_id=${String(userId)}`)).body.data.pagination.total, 1)
  t.equal((await ask('GET', `${INCIDENTS}?assignee_id=none`)).body.data.pagination.total, 0)
  t.match(await ask('PATCH', `${INCIDENTS}/${id}`, { assignee_id: randomUUID() }), {
    status: 404,
    body: { error: { code: 'USER_NOT_FOUND' } },
  })
  t.match(await ask('PATCH', `${INCIDENTS}/${id}`, {}), { status: 400 })
  t.match(await ask('POST', `${INCIDENTS}/${id}/comment`, { comment: ' ' }), { status: 400 })
  t.match((await ask('PATCH', `${INCIDENTS}/${id}`, { assignee_id: null })).body.data, { assignee: null })
})

t.test('the list is filtered', async t => {
  const { raise, ask, ids } = await makePipeline(app, TABLES, FLOW)
  const [, orders = ''] = await raise('raw stale', 'orders quality')
  await raise('other quality')
  const count = async (query: string) => {
    const { status, body } = await ask('GET', `${INCIDENTS}?${query}`)
    return status === 200 ? (body.data.pagination.total as number) : status
  }
  t.equal(await count('status=open'), 2)
  t.equal(await count('status=resolved,dismissed'), 0)
  t.equal(await count('severity=critical'), 1)
  t.equal(await count('event_type=freshness_violation'), 1)
  t.equal(await count('event_type=freshness_stale'), 1)
  t.equal(await count(`asset_id=${ids.get('orders')}`), 1)
  t.equal(await count(`alert_id=${orders}`), 1)
  t.equal(await count('search=RAW'), 1)
  t.equal(await count('since=2100-01-01T00:00:00Z'), 0)
  t.equal(await count('limit=1'), 2)
  t.equal(await count('status=ended'), 400)
  t.equal(await count('asset_id=none.at.all'), 404)
})

t.test('the summary counts, and takes the time', async t => {
  const { raise, recover, ask } = await makePipeline(app, TABLES, FLOW)
  await raise('raw stale', 'orders quality')
  await raise('other quality')
  await goForward(app, 30)
  await recover('other quality')
  const { body } = await ask('GET', `${INCIDENTS}/summary?days=7`)
  t.match(body.data, {
    ...{ opened: 2, ended: 1, active: 1, alerts: 3 },
    by_status: { open: 1, resolved: 1 },
    by_severity: { critical: 1, warning: 1, info: 0 },
    by_cause: { stale: 1, quality: 1 },
    minutes_to_resolve: { median: Number, mean: Number, count: 1 },
    minutes_to_acknowledge: { median: null, mean: null, count: 0 },
  })
})

t.test('an incident that is not there is not found', async t => {
  const { ask } = await makePipeline(app, TABLES, FLOW)
  for (const id of [randomUUID(), 'x'])
    t.match(await ask('GET', `${INCIDENTS}/${id}`), {
      status: 404,
      body: { error: { code: 'INCIDENT_NOT_FOUND' } },
    })
})
