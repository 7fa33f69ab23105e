import t from 'tap'
import { composeSample, samplePayloads } from '../../../../../plugins/alerts/destinations/conformance.ts'
import { pagerduty } from '../../../../../plugins/alerts/destinations/types/pagerduty.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { pagerDutyPlace, ROUTING_KEY } from '../../fake-receivers.ts'
import { ALERTS, makeWorld } from '../../world.ts'

async function start(t: Parameters<typeof startServer>[0]) {
  const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const place = pagerDutyPlace()
  receiver.answer(place.behaviour)
  const config = { routing_key: ROUTING_KEY, url: `${receiver.url}/v2/enqueue` }
  const { id } = await world.addDestination(config, { destination_type: 'pagerduty', messages: 'alerts' })
  const test = async () => (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body.data
  return { app, world, receiver, place, id, test }
}

t.test('an alert opens an incident of its own, and its end closes that one', async t => {
  const { world, receiver, place, app } = await start(t)
  const { alertId } = await world.raise({
    severity: 'critical',
    details: { invalid_count: 3, total_rows: 100, threshold: 0 },
  })
  await receiver.received(1)
  const other = await world.raise({ cause: 'rule:2' })
  await receiver.received(2)
  t.match(place.open.get(alertId), {
    routing_key: ROUTING_KEY,
    client: 'Tidemark',
    client_url: `https://observe.example.com/alerts/${alertId}`,
    payload: {
      summary: '3 of 100 values are invalid',
      source: 'shop.shop.public.orders',
      severity: 'critical',
      class: 'validity_failure',
      custom_details: { Rule: 'Total is positive', details: { invalid_count: 3 } },
    },
  })
  await world.recover()
  await receiver.received(3)
  t.same([...place.open.keys()], [other.alertId])
  const stored = JSON.stringify(await app.query('select body from deliveries'))
  t.notMatch(stored, ROUTING_KEY, 'the routing key is not in what is stored')
})

t.test('a test opens an incident and closes it again', async t => {
  const { place, test, world, id } = await start(t)
  t.match(await test(), { success: true, status_code: 202 })
  t.equal(place.opened.length, 1)
  t.equal(place.open.size, 0)
  const { body } = await world.ask('GET', `${ALERTS}/destinations/${id}`)
  t.match(body.data, { is_verified: true, config: { routing_key: '********' } })
})

t.test('a test that could not close its incident fails and says so; one try more is made', async t => {
  const { place, test, receiver } = await start(t)
  receiver.answer(place.behaviour, 500, place.behaviour)
  t.match(await test(), { success: true })
  t.equal(place.open.size, 0)
  receiver.answer(place.behaviour, 500)
  t.match(await test(), {
    success: false,
    error_message: /may have left an incident open: resolve it in PagerDuty/,
  })
})

t.test('a test whose answer was lost closes what it may have opened', async t => {
  const { place, test, receiver } = await start(t)
  receiver.answer((request, response, raw) => {
    const { behaviour } = place
    if (typeof behaviour !== 'number') behaviour(request, { writeHead: () => ({ end() {} }) } as never, raw)
    response.destroy()
  }, place.behaviour)
  t.match(await test(), { success: false, status_code: null })
  t.equal(place.opened.length, 1)
  t.equal(place.open.size, 0)
})

t.test('a refusal contains the reason of PagerDuty, and nothing is resolved after it', async t => {
  const { test, receiver } = await start(t)
  const errors = ["Length of 'routing_key' is incorrect (should be 32 characters)"]
  const said = JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors })
  receiver.answer((_request, response) => void response.writeHead(400).end(said))
  t.match(await test(), {
    success: false,
    status_code: 400,
    error_message: /Event object is invalid: Length of 'routing_key'/,
  })
  receiver.answer((_request, response) => void response.writeHead(400).end('<html>no</html>'))
  t.match(await test(), { success: false, error_message: /answered 400/ })
  receiver.answer(429)
  t.match(await test(), { success: false, error_message: /for a while/ })
  t.equal(receiver.requests.length, 3)
})

t.test('the routing key is asked for, with 32 characters where it is of PagerDuty itself', async t => {
  const check = (config: object) => pagerduty.config.validate(config)
  const { value } = check({ routing_key: ROUTING_KEY })
  t.equal(value?.url, 'https://events.pagerduty.com/v2/enqueue')
  t.notOk(check({ routing_key: ROUTING_KEY, url: 'https://events.eu.pagerduty.com/v2/enqueue' }).error)
  t.notOk(check({ routing_key: 'short', url: 'https://pager.example.com/v2/enqueue' }).error)
  t.match(check({ routing_key: 'short' }).error?.message, /32 characters of the Integration Key/)
  t.match(check({}).error?.message, /routing_key.* is required/)
  t.ok(check({ routing_key: 'a b\n', url: 'https://pager.example.com' }).error)
})

t.test('details too long for an event are left out, and its facts stay', async t => {
  const [payload] = samplePayloads()
  payload!.event.details = { invalid_count: 1, total_rows: 2, rows: 'x'.repeat(600_000) }
  const event = JSON.parse(composeSample(pagerduty, payload!))
  t.same(event.payload.custom_details.invalid_count, '1')
  t.notOk('details' in event.payload.custom_details)
})
