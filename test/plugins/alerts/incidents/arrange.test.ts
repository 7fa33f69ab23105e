import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { INCIDENTS, makePipeline } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const TABLES = ['raw', 'orders', 'sales', 'other']
const FLOW = ['raw > orders', 'orders > sales']

t.beforeEach(() => app.query('delete from rate_windows'))

/** Why each alert of an incident belongs there: `orders stale: 1 step downstream of raw`. */
const reasonsOf = ({ alerts }: { alerts: { title: string; why: string }[] }) =>
  alerts.map(({ title, why }) => `${title}: ${why}`).sort()

t.test(
  'each alert says why it belongs to its incident, and the cause how sure it is and by what',
  async t => {
    const { raise, get } = await makePipeline(app, TABLES, FLOW)
    await raise('orders quality')
    await raise('sales quality')
    await raise('raw stale', 'orders volume')
    const incident = await get()
    t.strictSame(reasonsOf(incident), [
      'orders quality: 1 step downstream of raw',
      'orders volume: 1 step downstream of raw',
      'raw stale: the cause',
      'sales quality: 2 steps downstream of raw',
    ])
    t.match(
      incident.alerts.find((each: { title: string }) => each.title === 'sales quality'),
      {
        ...{ reason: 'downstream', steps: 2, relative_to: /raw$/ },
      },
    )
    t.equal(
      incident.root_cause.explanation,
      'The cause is raw: 85 %, as it lies upstream of all 2 other failing tables and is late',
    )
    await raise('raw quality')
    t.ok(reasonsOf(await get()).includes('raw quality: the same table'))
  },
)

t.test('what is alone, and what one discovery found, says so', async t => {
  const { raise, get } = await makePipeline(app, TABLES, FLOW)
  await raise('raw drift', 'other drift', 'sales drift info')
  const incident = await get()
  const reasons = reasonsOf(incident).map(each => each.split(': ')[1])
  t.strictSame(reasons.filter(each => each === 'found by the same discovery').length, 3)
  t.equal(
    incident.root_cause.explanation,
    'No cause is named: one discovery found changes of 3 tables, and several of them changed by themselves',
  )
  const alone = await makePipeline(app, TABLES, FLOW)
  await alone.raise('other quality')
  t.equal(
    (await alone.get()).root_cause.explanation,
    'The cause is other: 50 %, as it fails a check of its values, and nothing else failed',
  )
})

t.test('a person splits an incident, and grouping never puts it together again', async t => {
  const { raise, get, show, ask, tenant } = await makePipeline(app, TABLES, FLOW)
  const [, orders = '', sales = ''] = await raise('raw quality', 'orders quality', 'sales quality')
  const { id } = await get()
  const as = (path: string, body: object) => app.ask('POST', `${INCIDENTS}/${id}/${path}`, body, tenant.token)
  const split = await as('split', { alert_ids: [orders, sales] })
  t.match(split, { status: 201, body: { data: { status: 'open', alert_count: 2 } } })
  t.strictSame(reasonsOf(split.body.data), [
    'orders quality: the cause',
    `sales quality: put here by ${tenant.email}`,
  ])
  t.match(split.body.data.activities, [
    { activity_type: 'split', actor_type: 'user', metadata: { from: id, alert_count: 2 } },
  ])
  const kept = (await ask('GET', `${INCIDENTS}/${id}`)).body.data
  t.match(kept, {
    alert_count: 1,
    activities: [{}, { activity_type: 'split', metadata: { into: split.body.data.id } }],
  })
  await raise('raw stale')
  await raise('orders stale')
  await app.server.db.company(tenant.companyId, trx => app.server.plugins.alerts.incidents.review(trx))
  t.strictSame((await show()).sort(), [
    'open critical orders: orders quality, orders stale, sales quality',
    'open critical raw: raw quality, raw stale',
  ])
  const [entry] = await app.query(
    `select actor, details from audit_log where company_id = $1 and action = 'incident.split'`,
    [tenant.companyId],
  )
  t.match(entry, { actor: /^user:/, details: { alert_ids: [orders, sales] } })
})

t.test('a person merges an incident into another one, and lineage does not take it apart', async t => {
  const { raise, show, list, ask, tenant } = await makePipeline(app, TABLES, FLOW)
  await raise('other quality')
  await raise('raw stale')
  const [raw, other] = (await list()).map(({ id }) => String(id))
  const merged = await ask('POST', `${INCIDENTS}/${other}/merge`, { into: raw })
  t.match(merged, { status: 200, body: { data: { id: raw, alert_count: 2 } } })
  t.ok(reasonsOf(merged.body.data).some(each => each.startsWith('other quality: put here by ')))
  t.match((await ask('GET', `${INCIDENTS}/${other}`)).body.data, { status: 'resolved', merged_into: raw })
  await app.server.db.company(tenant.companyId, trx => app.server.plugins.alerts.incidents.review(trx))
  await raise('other volume')
  t.strictSame(await show('?status=open'), ['open critical raw: other quality, other volume, raw stale'])
  const [entry] = await app.query(
    `select target_id, details from audit_log where company_id = $1 and action = 'incident.merged'`,
    [tenant.companyId],
  )
  t.match(entry, { target_id: other, details: { into: raw } })
})

t.test('what cannot be arranged is refused', async t => {
  const { raise, recover, list, ask } = await makePipeline(app, TABLES, FLOW)
  const [stale] = await raise('raw stale')
  const [other] = await raise('other quality')
  const [second, first] = (await list()).map(({ id }) => String(id))
  const split = (id: string | undefined, ids: unknown[]) =>
    ask('POST', `${INCIDENTS}/${id}/split`, { alert_ids: ids })
  t.match(await split(first, [stale]), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.match(await split(first, [other]), { status: 404, body: { error: { code: 'ALERT_NOT_FOUND' } } })
  t.match(await split(first, []), { status: 400 })
  const merge = (id: string | undefined, into: string | undefined) =>
    ask('POST', `${INCIDENTS}/${id}/merge`, { into })
  t.match(await merge(first, first), { status: 409 })
  t.match(await merge(first, randomUUID()), { status: 404, body: { error: { code: 'INCIDENT_NOT_FOUND' } } })
  await recover('other quality')
  t.match(await merge(first, second), { status: 409, body: { error: { code: 'CONFLICT' } } })
})
