import t from 'tap'
import {
  composeSample,
  samplePayloads,
  testDestination,
} from '../../../../../plugins/alerts/destinations/conformance.ts'
import { opsgenie } from '../../../../../plugins/alerts/destinations/types/opsgenie.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { opsgenieService } from '../../fake-services.ts'
import { ALERTS, makeWorld } from '../../world.ts'

const KEY = 'eb243592-faa2-4ba2-a551q-1afdf565c889'
const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })

async function start(t: Parameters<typeof startServer>[0], api_key = KEY) {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const service = opsgenieService(KEY)
  receiver.answer(service.behaviour)
  const config = { api_key, url: `${receiver.url}/v2/alerts` }
  const { id } = await world.addDestination(config, { destination_type: 'opsgenie', messages: 'alerts' })
  const test = async () => (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body.data
  return { world, receiver, service, test }
}

t.test('Opsgenie conforms', async t => {
  await testDestination(t, {
    type: opsgenie,
    config: { api_key: KEY },
    refused: { 'no key': {}, 'a key of two words': { api_key: 'a b' } },
    answer: { status: 202, body: '{"result":"Request will be processed"}' },
  })
})

t.test('an alert opens one in Opsgenie, with a priority by its severity, and its end closes it', async t => {
  const { world, receiver, service } = await start(t)
  const { alertId } = await world.raise({ severity: 'critical' })
  await receiver.received(1)
  t.match(service.open.get(alertId), { alias: alertId, priority: 'P1', entity: 'shop.shop.public.orders' })
  await world.recover()
  await receiver.received(2)
  t.equal(service.open.size, 0)
  t.notMatch(JSON.stringify(await app.query('select body from deliveries')), KEY)
})

t.test('a test closes the alert that it opened, and says so if it could not', async t => {
  const { receiver, service, test } = await start(t)
  t.match(await test(), { success: true, status_code: 202 })
  t.equal(receiver.requests.length, 2)
  t.equal(service.open.size, 0)
  receiver.answer(service.behaviour, 500)
  t.match(await test(), {
    success: false,
    error_message: /may have left an alert open: close it in Opsgenie/,
  })
})

t.test('a refusal says what to do', async t => {
  const { receiver, test } = await start(t, 'wrong')
  t.match(await test(), {
    success: false,
    error_message: /check api_key, and url for an account in the EU: Key is not valid \(401\)/,
  })
  receiver.answer(429)
  t.match(await test(), { success: false, error_message: /for a while/ })
})

t.test('with any names, Opsgenie takes the alert and shows no tags', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(opsgenieService(KEY).behaviour)
  const headers = { authorization: `GenieKey ${KEY}` }
  for (const payload of samplePayloads().filter(({ event_type: type }) => type !== 'alert.resolved')) {
    const { body } = JSON.parse(composeSample(opsgenie, payload))
    t.notMatch(body.message + body.description, /[<>]/)
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    t.equal((await fetch(`${receiver.url}/v2/alerts`, request)).status, 202)
  }
})
