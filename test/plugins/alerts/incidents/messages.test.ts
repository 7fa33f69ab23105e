import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { passTime, sweepStep } from '../time.ts'
import { goForward, INCIDENTS, makePipeline, type Pipeline } from './world.ts'

const [each, incidents, channel] = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)])
const app = await startServer(t, {
  settings: { INCIDENT_DELAY_SECONDS: '0', WEBHOOK_DELAYS: '0,0.1' },
})
const receivers = [each, incidents, channel]
const ALERTS = '/api/v1/sdk/alerts'

t.beforeEach(async () => {
  await app.query('delete from rate_windows')
  for (const receiver of receivers) receiver.answer(200)
})

interface Body {
  event_type: string
  alert: { id: string; title: string }
  incident?: { id: string; title: string; event: string; status: string; cause: string; alert_count: number }
}

/** A company with a destination for every alert, one for incidents, and a channel, with what they got. */
async function makeCompany(tables = ['raw', 'orders', 'report'], flow = ['raw > orders', 'orders > report']) {
  const pipeline = await makePipeline(app, tables, flow)
  const paths = new Map<string, string>()
  const add = async (name: string, body: object) => {
    const { status, body: reply } = await pipeline.ask('POST', `${ALERTS}/destinations`, { name, ...body })
    if (status !== 201) throw new Error(JSON.stringify(reply))
    paths.set(name, `/${name}-${pipeline.source}`)
    return reply.data as { id: string; messages: string }
  }
  const urlOf = (name: string, { url }: { url: string }) => `${url}/${name}-${pipeline.source}`
  const hooks = {
    each: await add('each', { destination_type: 'webhook', config: { url: urlOf('each', each) } }),
    incidents: await add('incidents', {
      destination_type: 'webhook',
      messages: 'incidents',
      config: { url: urlOf('incidents', incidents) },
    }),
    channel: await add('channel', {
      destination_type: 'slack',
      config: { webhook_url: urlOf('channel', channel) },
    }),
  }
  /** What a receiver got, once all deliveries have ended. */
  const got = async (name: 'each' | 'incidents' | 'channel') => {
    await deliveriesEnd(pipeline)
    const receiver = { each, incidents, channel }[name]
    return receiver.requests.filter(({ path }) => path === paths.get(name)).map(({ body }) => body)
  }
  const events = async (name: 'each' | 'incidents') =>
    (await got(name)).map(text => {
      const { event_type: type, alert, incident } = JSON.parse(text) as Body
      return incident
        ? `${type}: ${alert.title}; ${incident.cause.split('.').at(-1)}`
        : `${type}: ${alert.title}`
    })
  return { ...pipeline, hooks, got, events }
}

async function deliveriesEnd({ tenant }: Pipeline): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const [left] = await app.query(
      `select count(*)::int as count from deliveries where company_id = $1 and status = 'pending' and job_id is not null`,
      [tenant.companyId],
    )
    if (left?.count === 0) return
    if (Date.now() > deadline) throw new Error('Deliveries do not end')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

t.test('new destinations for people take incidents, and webhooks alerts', async t => {
  const { hooks, ask } = await makeCompany()
  t.equal(hooks.each.messages, 'alerts')
  t.equal(hooks.channel.messages, 'incidents')
  const patched = await ask('PATCH', `${ALERTS}/destinations/${hooks.channel.id}`, { messages: 'alerts' })
  t.equal(patched.body.data.messages, 'alerts')
  t.match(await ask('PATCH', `${ALERTS}/destinations/${hooks.channel.id}`, { messages: 'none' }), {
    status: 400,
  })
})

t.test(
  'one message about an incident, and one about its end; every alert where all are asked for',
  async t => {
    const { raise, recover, events, got, get } = await makeCompany()
    const [first] = await raise('raw stale')
    await raise('orders quality')
    await raise('report quality')
    t.strictSame(await events('incidents'), ['incident.opened: raw stale; raw'])
    t.strictSame((await events('each')).sort(), [
      'alert.triggered: orders quality',
      'alert.triggered: raw stale',
      'alert.triggered: report quality',
    ])
    const [opened] = await got('incidents')
    const { id } = await get()
    t.match(JSON.parse(opened!), {
      alert: { id: first },
      incident: { id, event: 'opened', status: 'open', severity: 'critical', title: 'raw stale' },
    })
    await recover('raw stale', 'orders quality')
    t.equal((await events('incidents')).length, 1)
    await recover('report quality')
    t.strictSame((await events('incidents')).slice(1), ['incident.resolved: raw stale; raw'])
    t.equal((await events('each')).length, 6)
    const shown = await got('channel')
    t.equal(shown.length, 2)
    t.match(shown[0], `/incidents/${id}`)
  },
)

t.test('another message where an incident gets worse, and none where its cause is known better', async t => {
  const { raise, events, get } = await makeCompany()
  await raise('report quality')
  await raise('orders quality')
  await raise('orders volume')
  t.strictSame(await events('incidents'), ['incident.opened: report quality; report'])
  t.match(await get(), { alert_count: 3, title: 'orders volume' }, 'its page names the cause')
  await raise('raw volume critical')
  t.strictSame((await events('incidents')).slice(1), ['incident.updated: raw volume; raw'])
  await raise('report quality critical')
  t.equal((await events('incidents')).length, 2, 'no alert is worse than the incident')
  t.match(await get(), { alert_count: 5, severity: 'critical' })
})

t.test('an incident that is merged ends, and the other one goes on', async t => {
  const { raise, events } = await makeCompany(['raw', 'left', 'right'], ['raw > left', 'raw > right'])
  await raise('left quality')
  await raise('right quality')
  await raise('raw drift')
  const [one, other, ...rest] = await events('incidents')
  t.strictSame([one, other], ['incident.opened: left quality; left', 'incident.opened: right quality; right'])
  t.strictSame(rest.sort(), ['incident.resolved: right quality; right', 'incident.updated: raw drift; raw'])
})

t.test(
  'rules decide who hears of an incident, and a destination hears of it with its first alert',
  async t => {
    const { raise, recover, events, ask, hooks, ids } = await makeCompany()
    await ask('POST', `${ALERTS}/rules`, {
      name: 'report',
      asset_ids: [ids.get('report')],
      destination_ids: [hooks.incidents.id, hooks.each.id],
    })
    await raise('raw stale')
    t.strictSame(await events('incidents'), [])
    await raise('report quality')
    t.strictSame(await events('incidents'), ['incident.opened: report quality; raw'])
    t.strictSame(await events('each'), ['alert.triggered: report quality'])
    await recover('report quality', 'raw stale')
    t.strictSame((await events('incidents')).slice(1), ['incident.resolved: report quality; raw'])
  },
)

t.test('an end waits for the messages before it', async t => {
  const { raise, recover, events, got } = await makeCompany()
  let isHeld = true
  incidents.answer((_request, response) => void response.writeHead(isHeld ? 503 : 200).end())
  await raise('raw stale')
  await recover('raw stale')
  isHeld = false
  await got('incidents')
  const seen = await events('incidents')
  t.equal(seen.at(-1), 'incident.resolved: raw stale; raw')
  t.ok(seen.length >= 2)
})

t.test('a cooldown postpones the message about a new incident, and the end of it takes it back', async t => {
  const { raise, recover, events, ask, hooks, tenant } = await makeCompany()
  await ask('POST', `${ALERTS}/rules`, {
    name: 'all',
    destination_ids: [hooks.incidents.id],
    cooldown_minutes: 60,
  })
  await raise('raw stale')
  await recover('raw stale')
  await raise('raw stale')
  await recover('raw stale')
  t.equal((await events('incidents')).length, 2)
  await raise('raw stale')
  t.equal((await events('incidents')).length, 2)
  await passTime(app, tenant.companyId, 61)
  await sweepStep(app.server, 'postponed')
  t.strictSame(
    (await events('incidents')).slice(2),
    ['incident.updated: raw stale; raw'],
    'it was over before',
  )
  await passTime(app, tenant.companyId, 61)
  await recover('raw stale')
  await goForward(app, 61)
  await sweepStep(app.server, 'ended')
  t.equal((await events('incidents')).at(-1), 'incident.resolved: raw stale; raw')
})

t.test('a snoozed incident is quiet, and comes back with one message', async t => {
  const { raise, events, get, ask, settle, tenant } = await makeCompany()
  const ids = await raise('raw stale', 'orders quality')
  const { id } = await get()
  await ask('POST', `${INCIDENTS}/${id}/snooze`, { duration_minutes: 30 })
  await raise('report quality')
  t.equal((await events('incidents')).length, 1)
  await passTime(app, tenant.companyId, 31)
  await app.query(`update incidents set snoozed_until = now() where id = $1`, [id])
  await settle(ids, () => sweepStep(app.server, 'woken'))
  const shown = await events('incidents')
  t.equal(shown.length, 2)
  t.match(shown[1], 'incident.updated: raw stale')
})

t.test(
  'an incident that comes back goes on with one message, and its end is sent when it stays over',
  async t => {
    const { raise, recover, events, get, list } = await makeCompany()
    await raise('raw stale', 'orders quality')
    await recover('raw stale', 'orders quality')
    t.strictSame(await events('incidents'), [
      'incident.opened: raw stale; raw',
      'incident.resolved: raw stale; raw',
    ])
    await goForward(app, 20)
    await raise('orders quality')
    await raise('raw stale')
    t.equal((await list()).length, 1, 'it is the same incident')
    t.match(await get(), { status: 'open', alert_count: 4, resolved_at: null })
    t.strictSame((await events('incidents')).slice(2), ['incident.updated: orders quality; raw'])
    for (let n = 0; n < 3; n += 1) {
      await recover('raw stale', 'orders quality')
      await goForward(app, 10)
      await raise('raw stale')
      await raise('orders quality')
    }
    t.equal((await events('incidents')).length, 3, 'it is known to come and go')
    await recover('raw stale', 'orders quality')
    t.match(await get(), { status: 'resolved' })
    await sweepStep(app.server, 'ended')
    t.equal((await events('incidents')).length, 3)
    await goForward(app, 61)
    await sweepStep(app.server, 'ended')
    t.strictSame((await events('incidents')).slice(3), ['incident.resolved: orders quality; raw'])
  },
)

t.test('one that a person resolved comes back with a message, and after the window as a new one', async t => {
  const { raise, ask, events, get, list } = await makeCompany()
  await raise('raw stale')
  const { id } = await get()
  await ask('POST', `${INCIDENTS}/${id}/resolve`, { notes: 'Mended' })
  await goForward(app, 30)
  await raise('raw stale')
  t.strictSame((await events('incidents')).slice(2), ['incident.updated: raw stale; raw'])
  await ask('POST', `${INCIDENTS}/${id}/resolve`, { notes: 'Mended at last' })
  t.equal((await events('incidents')).at(-1), 'incident.resolved: raw stale; raw', 'a person need not wait')
  await goForward(app, 61)
  await raise('raw stale')
  t.equal((await list()).length, 2)
  t.equal((await events('incidents')).at(-1), 'incident.opened: raw stale; raw')
})

t.test('one that was dismissed does not come back', async t => {
  const { raise, ask, recover, get, list } = await makeCompany()
  await raise('raw stale')
  const { id } = await get()
  await ask('POST', `${INCIDENTS}/${id}/dismiss`)
  await recover('raw stale')
  await raise('raw stale')
  t.equal((await list()).length, 2)
})
