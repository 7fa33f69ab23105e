/** The page of an incident, and sending it by hand. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { INCIDENTS, makePipeline, type Pipeline } from './world.ts'

const receiver = await startReceiver(t)
const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0', WEBHOOK_DELAYS: '0' } })

t.beforeEach(async () => {
  await app.query('delete from rate_windows')
  receiver.answer(200)
})

/** A destination that no rule names. */
async function addColleague({ ask, source }: Pipeline) {
  const path = `/colleague-${source}`
  const config = { url: `${receiver.url}${path}` }
  const body = { name: 'Colleague', destination_type: 'webhook', config }
  const { body: reply } = await ask('POST', '/api/v1/sdk/alerts/destinations', body)
  const { id } = reply.data as { id: string }
  /** What it got, once there are so many. */
  const got = async (count: number) => {
    for (;;) {
      const bodies = receiver.requests.filter(each => each.path === path).map(each => JSON.parse(each.body))
      if (bodies.length >= count) return bodies
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  return { id, got }
}

t.test('incidents of a company have numbers, from 1 on', async t => {
  const { raise, list } = await makePipeline(app, ['raw', 'other'], [])
  await raise('raw stale', 'other stale')
  const numbers = (await list()).map(({ number }) => Number(number)).sort()
  t.strictSame(numbers, [1, 2])
  const another = await makePipeline(app, ['raw'], [])
  await another.raise('raw stale')
  t.match(await another.get(), { number: 1 })
})

t.test('an incident has the alert of its cause with its details', async t => {
  const { raise, get } = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  const [raw] = await raise('raw stale', 'orders quality')
  t.match(await get(), {
    cause_alert: { id: raw, event_type: 'freshness_violation', event: { details: { sla_threshold: '1h' } } },
    last_run: null,
    messages: [],
  })
})

t.test('an incident is sent by hand to a destination that no rule names', async t => {
  const pipeline = await makePipeline(app, ['raw', 'orders'], ['raw > orders'])
  const { raise, get, ask, recover, tenant } = pipeline
  const [raw] = await raise('raw stale', 'orders quality')
  const { id } = await get()
  const colleague = await addColleague(pipeline)
  const sent = await ask('POST', `${INCIDENTS}/${id}/send`, { destination_id: colleague.id })
  t.match(sent, { status: 200, body: { data: { id } } })
  const [message] = await colleague.got(1)
  t.match(message, {
    event_type: 'incident.opened',
    alert: { id: raw, reason: /^Sent by / },
    incident: { id, event: 'opened' },
  })
  const shown = await get()
  t.match(shown.messages, [{ destination_id: colleague.id, destination_name: 'Colleague' }])
  t.match(shown.activities.at(-1), {
    activity_type: 'sent',
    actor_type: 'key',
    metadata: { destination: 'Colleague', delivery_id: shown.messages[0].id },
  })
  const [entry] = await app.query(
    `select target_id, details from audit_log where company_id = $1 and action = 'incident.sent'`,
    [tenant.companyId],
  )
  t.match(entry, { target_id: id, details: { destination_id: colleague.id } })

  await ask('POST', `${INCIDENTS}/${id}/send`, { destination_id: colleague.id })
  t.match((await colleague.got(2))[1], { event_type: 'incident.updated' }, 'it is known there')
  await recover('raw stale', 'orders quality')
  t.match((await colleague.got(3))[2], { event_type: 'incident.resolved' }, 'it gets the end, too')
  t.match(await ask('POST', `${INCIDENTS}/${id}/send`, { destination_id: colleague.id }), {
    status: 409,
    body: { error: { message: 'The incident is resolved, which is final' } },
  })
})

t.test('an incident is not sent to what is switched off or unknown, nor without end', async t => {
  const pipeline = await makePipeline(app, ['raw'], [])
  const { raise, get, ask } = pipeline
  await raise('raw stale')
  const { id } = await get()
  const colleague = await addColleague(pipeline)
  const send = (destination: string) =>
    ask('POST', `${INCIDENTS}/${id}/send`, { destination_id: destination })
  t.match(await send(randomUUID()), { status: 404, body: { error: { code: 'DESTINATION_NOT_FOUND' } } })
  await ask('PATCH', `/api/v1/sdk/alerts/destinations/${colleague.id}`, { is_active: false })
  t.match(await send(colleague.id), { status: 409 })
  const replies = []
  for (let n = 0; n < 9; n++) replies.push((await send(colleague.id)).status)
  t.equal(replies.at(-1), 429)
})
