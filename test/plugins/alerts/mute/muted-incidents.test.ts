import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { INCIDENTS, makePipeline } from '../incidents/world.ts'
import { ALERTS } from '../world.ts'
import { listSent, mute, wait } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const url = 'https://127.0.0.1:9/hook'

t.beforeEach(() => app.query('delete from rate_windows'))

t.test('of an incident one message is sent, also if its first alert is over', async t => {
  const { raise, recover, ask, tenant } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  const created = await ask('POST', `${ALERTS}/destinations`, {
    ...{ name: 'r', destination_type: 'webhook', messages: 'incidents', config: { url } },
  })
  const { id } = created.body.data
  await mute(ask)
  await raise('raw stale', 'orders quality')
  await raise('orders volume')
  await recover('raw stale')
  t.strictSame(await listSent(app, id), [])
  t.equal(await wait(app, tenant.companyId, 61), 1)
  const messages = await app.query(
    `select body from deliveries where destination_id = $1 and status = 'pending'`,
    [id],
  )
  t.equal(messages.length, 1)
  t.match(JSON.parse(String(messages[0]?.body)), {
    event_type: 'incident.opened',
    incident: { status: 'open' },
  })
})

t.test('an incident that was sent and gets worse in a window says so when it ends', async t => {
  const { raise, ask, tenant } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  const created = await ask('POST', `${ALERTS}/destinations`, {
    ...{ name: 'r', destination_type: 'webhook', messages: 'incidents', config: { url } },
  })
  const { id } = created.body.data
  await raise('orders quality')
  await mute(ask)
  await raise('raw stale')
  t.strictSame(await listSent(app, id), ['alert.triggered'])
  t.equal(await wait(app, tenant.companyId, 61), 1)
  const messages = await app.query('select body from deliveries where destination_id = $1 order by id', [id])
  t.strictSame(
    messages.map(({ body }) => JSON.parse(String(body)).event_type),
    ['incident.opened', 'incident.updated'],
  )
})

t.test('of an incident that was split in a window, both parts are sent, once each', async t => {
  const { raise, list, ask, tenant } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  const created = await ask('POST', `${ALERTS}/destinations`, {
    ...{ name: 'r', destination_type: 'webhook', messages: 'incidents', config: { url } },
  })
  const { id: destinationId } = created.body.data
  await mute(ask)
  const [raw] = await raise('raw stale', 'orders quality')
  const [whole] = await list()
  const split = await app.ask(
    'POST',
    `${INCIDENTS}/${String(whole?.id)}/split`,
    { alert_ids: [raw] },
    tenant.token,
  )
  t.equal(split.status, 201)
  await wait(app, tenant.companyId, 61)
  const messages = await app.query(
    `select body from deliveries where destination_id = $1 and status = 'pending'`,
    [destinationId],
  )
  const shown = messages.map(({ body }) => JSON.parse(String(body)).incident.id)
  t.strictSame(shown.sort(), [whole?.id, split.body.data.id].sort())
})
