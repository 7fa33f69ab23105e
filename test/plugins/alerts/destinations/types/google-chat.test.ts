import t from 'tap'
import {
  composeSample,
  samplePayloads,
  testDestination,
} from '../../../../../plugins/alerts/destinations/conformance.ts'
import { googleChat } from '../../../../../plugins/alerts/destinations/types/google-chat.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { googleChatService } from '../../fake-services.ts'
import { ALERTS, makeWorld } from '../../world.ts'

const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })

t.test('Google Chat conforms', async t => {
  const config = { webhook_url: 'https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t' }
  await testDestination(t, { type: googleChat, config, refused: { none: {} } })
})

t.test('what follows on an alert lands in its thread, and the address is shown nowhere', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(googleChatService)
  const webhook_url = `${receiver.url}/v1/spaces/A/messages?key=k&token=s3cret`
  const { id } = await world.addDestination(
    { webhook_url },
    { destination_type: 'google_chat', messages: 'alerts' },
  )
  const { alertId } = await world.raise()
  await receiver.received(1)
  await world.recover()
  const [opened, closed] = (await receiver.received(2)).map(({ body }) => JSON.parse(body))
  t.same(opened.thread, { threadKey: alertId })
  t.same(closed.thread, { threadKey: alertId })
  t.match(closed.cardsV2[0].card.header.title, /^✅ Resolved: /)
  const { body } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(body.data, { success: true, status_code: 200 })
  t.notMatch(JSON.stringify(await world.deliveries(id)), 's3cret')
})

t.test('with any names, Google Chat takes the card and mentions no person', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(googleChatService)
  const post = async (body: string) => {
    const query = 'key=k&token=t&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD'
    return (await fetch(`${receiver.url}/?${query}`, { method: 'POST', body })).text()
  }
  for (const payload of samplePayloads())
    t.match(await post(composeSample(googleChat, payload)), 'spaces/A', payload.alert.rule_name.slice(0, 20))
  const [payload] = samplePayloads()
  for (const name of ['<users/all> & <b>', '<'.repeat(5_000), '&名'.repeat(2_000)]) {
    payload!.event.asset.qualified_name = name
    payload!.alert.title = name
    payload!.event.details = { explanation: name, a: name, b: name, c: name, d: name, e: name, f: name }
    t.match(await post(composeSample(googleChat, payload!)), 'spaces/A', name.slice(0, 20))
  }
})

t.test('a refusal says what to do', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination(
    { webhook_url: receiver.url },
    { destination_type: 'google_chat' },
  )
  const test = async () => (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body.data
  receiver.answer(googleChatService)
  t.match(await test(), {
    success: false,
    error_message: /copy the webhook to webhook_url again: Request is missing .* \(401\)/,
  })
  receiver.answer(404)
  t.match(await test(), { error_message: /create a webhook and change webhook_url \(404\)/ })
  receiver.answer(429)
  t.match(await test(), { error_message: /for a while/ })
})
