import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const teardown = { teardown: (down: () => unknown) => t.teardown(down) }
const [receiver, other] = [await startReceiver(teardown), await startReceiver(teardown)]
const app = await startServer(teardown, { settings: { EGRESS_ALLOW: '127.0.0.0/8' } })
const routing_key = 'k'.repeat(32)
const refused = (field: string) => ({ status: 400, body: { error: { details: { field } } } })

/** Waits until so many messages about an alert were delivered. */
async function ended(alertId: string, count: number): Promise<void> {
  const delivered = () =>
    app.query(`select id from deliveries where alert_id = $1 and status = 'delivered'`, [alertId])
  while ((await delivered()).length < count) await setTimeout(20)
}

t.test('a stored secret is not sent to another host than it was given for', async t => {
  const world = await makeWorld(app)
  const hook = { url: `${receiver.url}/hook`, auth: { type: 'bearer', value: 'bearer-secret' } }
  const headers = { 'X.Team': 'team-secret' }
  const events = { url: `${receiver.url}/events`, routing_key }
  const [webhook, pagerduty, ntfy] = await Promise.all([
    world.addDestination({ ...hook, headers }),
    world.addDestination(events, { destination_type: 'pagerduty' }),
    world.addDestination({ url: receiver.url, topic: 'topic-secret' }, { destination_type: 'ntfy' }),
  ])
  const at = ({ id }: { id: string }) => `${ALERTS}/destinations/${id}`
  const move = (of: { id: string }, more: object = {}) =>
    world.ask('PATCH', at(of), { config: { url: `${other.url}/taken`, ...more } })

  t.match(await move(webhook), refused('config.auth.value'))
  t.match(await move(webhook, { auth: { type: 'bearer', value: '********' } }), refused('config.auth.value'))
  t.match(await move(webhook, { auth: { type: 'api_key' } }), refused('config.auth.value'))
  t.match(await move(webhook, { webhook_url: `${other.url}/taken` }), refused('config.auth.value'))
  t.match(await move(webhook, { auth: { type: 'none' } }), refused('config.headers.X.Team'))
  t.match(await move(pagerduty), refused('config.routing_key'))
  t.match(await move(ntfy), refused('config.topic'))
  for (const each of [webhook, pagerduty, ntfy]) await world.ask('POST', `${at(each)}/test`)
  t.equal(other.requests.length, 0)

  // A field that is given again or removed keeps no stored secret.
  t.match(await move(webhook, { auth: { type: 'none' }, headers: null }), { status: 200 })
  t.match(await move(pagerduty, { routing_key: 'x'.repeat(32) }), { status: 200 })
  t.match(await move(ntfy, { topic: 'another' }), { status: 200 })
  for (const each of [webhook, pagerduty, ntfy]) await world.ask('POST', `${at(each)}/test`)
  const seen = JSON.stringify(other.requests)
  t.match(seen, /another/)
  t.notMatch(seen, /bearer-secret|team-secret|topic-secret|kkkk/)
})

t.test('another path of the same host keeps the secrets', async t => {
  const world = await makeWorld(app)
  const auth = { type: 'bearer', value: 'bearer-secret' }
  const { id } = await world.addDestination({ url: `${receiver.url}/one`, auth })
  const path = `${ALERTS}/destinations/${id}`
  t.match(await world.ask('PATCH', path, { config: { url: `${receiver.url}/two` } }), { status: 200 })
  await world.ask('POST', `${path}/test`)
  t.match(receiver.requests.at(-1), { path: '/two', headers: { authorization: 'Bearer bearer-secret' } })
})

t.test('a receiver that repeats the path of a secret address gives nothing away', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination(
    { webhook_url: `${receiver.url}/services/T0/XXXX?sig=YYYY` },
    { destination_type: 'slack' },
  )
  receiver.answer((request, response) =>
    response.writeHead(404).end(`Cannot POST ${request.path}, /services/T0/XXXX`),
  )
  const { data } = (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body
  receiver.answer(200)
  t.match(data, { status_code: 404, response_body: 'Cannot POST …, …' })
})

t.test('the placeholder of a secret is no secret', async t => {
  const world = await makeWorld(app)
  const make = (destination_type: string, config: object) =>
    world.ask('POST', `${ALERTS}/destinations`, { name: 'Copy', destination_type, config })
  const auth = { type: 'bearer', value: '********' }
  t.match(await make('webhook', { url: receiver.url, auth }), refused('config.auth.value'))
  t.match(
    await make('pagerduty', { url: receiver.url, routing_key: '********' }),
    refused('config.routing_key'),
  )
})

t.test('a change that changes nothing leaves a destination verified', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url: receiver.url, auth: { type: 'bearer', value: 'one' } })
  const path = `${ALERTS}/destinations/${id}`
  await world.ask('POST', `${path}/test`)
  const { config } = (await world.ask('GET', path)).body.data
  const change = async (changes: object) => (await world.ask('PATCH', path, changes)).body.data
  for (const same of [{ config }, { config: {} }, { name: 'Renamed' }])
    t.match(await change(same), { is_verified: true })
  t.match(await change({ config: { auth: { type: 'bearer', value: 'two' } } }), { is_verified: false })
})

t.test('a rule whose only destination is deleted is off, and does not go on again without one', async t => {
  const world = await makeWorld(app)
  const [goes, stays] = [
    await world.addDestination({ url: receiver.url }),
    await world.addDestination({ url: receiver.url }),
  ]
  const make = async (name: string, destination_ids: string[], is_active = true) =>
    (await world.ask('POST', `${ALERTS}/rules`, { name, destination_ids, is_active })).body.data
  const lone = await make('Lone', [goes.id])
  const both = await make('Both', [goes.id, stays.id])
  const off = await make('Off before', [goes.id], false)
  const deleted = await world.ask('DELETE', `${ALERTS}/destinations/${goes.id}`)
  t.match(deleted.body.data, {
    success: true,
    message: 'The destination was deleted. The alert rule Lone has no other destination and is switched off',
    rules_switched_off: [{ id: lone.id, name: 'Lone' }],
  })
  const read = async ({ id }: { id: string }) => (await world.ask('GET', `${ALERTS}/rules/${id}`)).body.data
  t.match(await read(lone), { destination_ids: [], is_active: false })
  t.match(await read(both), { destination_ids: [stays.id], is_active: true })
  t.match(await read(off), { destination_ids: [], is_active: false })
  const change = (changes: object) => world.ask('PATCH', `${ALERTS}/rules/${lone.id}`, changes)
  t.match(await change({ is_active: true }), refused('destination_ids'))
  t.match(await change({ name: 'Alone', destination_ids: [] }), { status: 200 })
  t.match(await change({ is_active: true, destination_ids: [stays.id] }), { status: 200 })
  t.match(await change({ destination_ids: [] }), refused('destination_ids'))
})

t.test('a redelivery waits for the transaction that ends the alert, which sees it', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url: receiver.url })
  const { alertId } = await world.raise()
  await ended(alertId, 1)
  const [delivery] = await world.deliveries(id)
  let again: Promise<{ status: number }> | undefined
  await app.server.db.company(world.companyId, async trx => {
    await trx.raw('select id from alerts where id = ? for update', [alertId])
    again = world.ask('POST', `${ALERTS}/deliveries/${delivery?.id}/redeliver`)
    t.equal(await Promise.race([again, setTimeout(500, 'waits')]), 'waits')
  })
  t.match(await again, { status: 202 })
})

t.test('a redelivered end does not overtake a redelivered beginning', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url: receiver.url })
  const { alertId } = await world.raise()
  await world.recover()
  await ended(alertId, 2)
  const [end, beginning] = await world.deliveries(id)
  await app.query(`update deliveries set status = 'pending' where id = $1`, [beginning?.id])
  const again = () => world.ask('POST', `${ALERTS}/deliveries/${end?.id}/redeliver`)
  t.match(await again(), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: /is on its way again/ } },
  })
  await app.query(`update deliveries set status = 'delivered' where id = $1`, [beginning?.id])
  t.match(await again(), { status: 202 })
})

t.test('an alert quotes data that no database can store', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url: receiver.url })
  const details = { 'a\0b': 'c\0\ud800d', '\udc00': ['\\u0000', '\\\0', '😀'] }
  const { alertId } = await world.raise({
    title: 'half \ud83d of\0',
    ruleName: '\0',
    details,
    contextData: { '\ud800': '\0' },
    asset: { id, qualifiedName: 'a.\0', assetType: 'table' },
  })
  t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, {
    title: 'half \uFFFD of\uFFFD',
    rule_name: '\uFFFD',
    asset: { qualified_name: 'a.\uFFFD' },
    event: { details: { 'a\uFFFDb': 'c\uFFFD\uFFFDd', '\uFFFD': ['\\u0000', '\\\uFFFD', '😀'] } },
    context_data: { '\uFFFD': '\uFFFD' },
  })
})
