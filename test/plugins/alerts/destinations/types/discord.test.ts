import t from 'tap'
import {
  composeSample,
  samplePayloads,
  testDestination,
} from '../../../../../plugins/alerts/destinations/conformance.ts'
import { discord } from '../../../../../plugins/alerts/destinations/types/discord.ts'
import { startReceiver } from '../../../../helpers/receiver.ts'
import { startServer } from '../../../../helpers/server.ts'
import { discordService } from '../../fake-services.ts'
import { ALERTS, makeWorld } from '../../world.ts'

const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })

t.test('Discord conforms', async t => {
  const config = { webhook_url: 'https://discord.com/api/webhooks/1/token' }
  await testDestination(t, { type: discord, config, refused: { none: {} } })
})

t.test('Discord gets an embed of the alert and one of its end', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(discordService)
  const webhook_url = `${receiver.url}/api/webhooks/1/s3cret`
  const { id } = await world.addDestination(
    { webhook_url },
    { destination_type: 'discord', messages: 'alerts' },
  )
  const { alertId } = await world.raise()
  await receiver.received(1)
  await world.recover()
  const [opened, closed] = (await receiver.received(2)).map(({ body }) => JSON.parse(body).embeds[0])
  t.equal(opened.url, `https://observe.example.com/alerts/${alertId}`)
  t.match(opened.description, '[Open the alert](https://observe.example.com/alerts/')
  t.match(closed.title, /^✅ Resolved\\: /)
  t.notMatch(JSON.stringify(await world.deliveries(id)), 's3cret')
})

t.test('with any names, Discord takes the embed, notifies no person and shows names as they are', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(discordService)
  const post = async (body: string) =>
    (await fetch(`${receiver.url}/?wait=true`, { method: 'POST', body })).text()
  for (const payload of samplePayloads())
    t.equal(await post(composeSample(discord, payload)), '{"id":"1"}', payload.alert.rule_name.slice(0, 20))
  const [payload] = samplePayloads()
  const name = '@everyone <@&1> [l](https://evil.example) *b* _id_ `c`'
  payload!.alert.title = name
  const body = JSON.parse(composeSample(discord, payload!))
  t.same(body.allowed_mentions, { parse: [] })
  t.equal(
    body.embeds[0].title,
    String.raw`🔴 \@everyone \<\@&1\> \[l\]\(https\://evil.example\) \*b\* \_id\_ \`c\``,
  )
  const long = '_'.repeat(5_000)
  payload!.event.details = { explanation: long, a: long, b: long, c: long, d: long, e: long, f: long }
  payload!.alert.title = long
  t.equal(await post(composeSample(discord, payload!)), '{"id":"1"}')
})

t.test('a refusal says what to do, and how long Discord asks to wait', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ webhook_url: receiver.url }, { destination_type: 'discord' })
  const test = async (status: number, answer: object) => {
    receiver.answer((_request, response) => void response.writeHead(status).end(JSON.stringify(answer)))
    return (await world.ask('POST', `${ALERTS}/destinations/${id}/test`)).body.data
  }
  t.match(await test(404, { message: 'Unknown Webhook', code: 10_015 }), {
    success: false,
    error_message: /create a new one and change webhook_url: Unknown Webhook \(404\)/,
  })
  t.match(await test(429, { message: 'You are being rate limited.', retry_after: 2.5 }), {
    success: false,
    error_message: /for a while: it asks for 2.5 seconds \(429\)/,
  })
  const forum = { message: 'Webhooks posted to forum channels must have a thread_name', code: 220_001 }
  t.match(await test(400, forum), { error_message: /a webhook of a text channel instead: Webhooks posted/ })
})
