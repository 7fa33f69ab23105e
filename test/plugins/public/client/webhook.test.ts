import fc from 'fast-check'
import t from 'tap'
import type { Payload } from '../../../../plugins/alerts/destinations/payload.ts'
import { generateSigningSecret, signBody } from '../../../../plugins/alerts/destinations/signature.ts'
import { verifyWebhook, WebhookError, type WebhookEvent } from '../../../../plugins/public/client/index.ts'
import { startReceiver, type Received } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { makeWorld } from '../../alerts/world.ts'

const receiver = await startReceiver(t)
const app = await startServer(t)
const world = await makeWorld(app)
const { id, signing_secret: secret } = await world.addDestination({ url: receiver.url })
const { alertId } = await world.raise({})
const [sent] = (await receiver.received(1)) as [Received]
const other = generateSigningSecret()

/** Compiled: what the server sends is what the client returns. */
export const asEvent = (payload: Payload): WebhookEvent => payload

const refusal = (message: string) => ({ name: 'WebhookError', message })

t.test('a delivery of the server is verified, as text and as bytes, whatever holds the headers', async t => {
  const event = await verifyWebhook(sent.body, sent.headers, secret)
  t.strictSame(event, JSON.parse(sent.body))
  t.equal(event.alert.id, alertId)
  t.strictSame(await verifyWebhook(Buffer.from(sent.body), new Headers(sent.headers), secret), event)
  const inCapitals = Object.fromEntries(
    Object.entries(sent.headers).map(([name, value]) => [name.toUpperCase(), [value]]),
  )
  t.strictSame(await verifyWebhook(sent.body, inCapitals, [other, secret]), event, 'with several secrets')
})

t.test('what was altered, or signed by another, is refused', async t => {
  const { headers, body } = sent
  const altered = body.replace('triggered', 'resolved')
  await t.rejects(verifyWebhook(altered, headers, secret), refusal('No signature fits the body'))
  await t.rejects(verifyWebhook(`${body} `, headers, secret), refusal('No signature fits the body'))
  await t.rejects(verifyWebhook(body, headers, other), refusal('No signature fits the body'))
  await t.rejects(verifyWebhook(body, headers, []), refusal('No signature fits the body'))
  const later = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }
  await t.rejects(verifyWebhook(body, later, secret), refusal('No signature fits the body'))
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    await t.rejects(
      verifyWebhook(body, { ...headers, [name]: undefined }, secret),
      refusal('No webhook-* headers'),
    )
    await t.rejects(verifyWebhook(body, { ...headers, [name]: 'x' }, secret), WebhookError, name)
  }
  for (const signature of ['v1,', 'v1,é', 'v1a,AAAA', headers['webhook-signature']!.replace('v1,', 'v2,')])
    await t.rejects(verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret), WebhookError)
})

t.test('what was sent long ago, or is from the future, is refused', async t => {
  const at = Number(sent.headers['webhook-timestamp']) * 1000
  const verify = (now: number, toleranceSeconds?: number) =>
    verifyWebhook(sent.body, sent.headers, secret, { now, toleranceSeconds })
  for (const now of [at - 300_000, at + 300_000]) t.ok(await verify(now))
  for (const now of [at - 301_000, at + 301_000])
    await t.rejects(verify(now), refusal('It was not sent within 300 seconds'))
  t.ok(await verify(at + 3_600_000, 3_600))
  await t.rejects(verify(at + 2_000, 1), refusal('It was not sent within 1 seconds'))
})

t.test('while a secret is being rotated, a receiver with either takes deliveries', async t => {
  const { body: rotated } = await world.ask('POST', `/api/v1/sdk/alerts/destinations/${id}/rotate-secret`)
  await world.raise({ cause: 'rule:2' })
  const [, delivery] = (await receiver.received(2)) as [Received, Received]
  for (const each of [secret, rotated.data.signing_secret as string])
    t.ok(await verifyWebhook(delivery.body, delivery.headers, each))
})

t.test('a secret that is none is refused', async t => {
  for (const wrong of ['', 'whsec_', 'whsec_?', undefined as unknown as string])
    await t.rejects(verifyWebhook(sent.body, sent.headers, wrong))
})

t.test('any body is verified as the server signs it, and with one byte changed it is not', async t => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.nat(), async (text, place) => {
      const body = JSON.stringify({ text })
      const headers = signBody(body, 'any', [secret], new Date())
      t.strictSame(await verifyWebhook(body, headers, secret), { text })
      const bytes = Buffer.from(body)
      bytes[place % bytes.length]! ^= 1
      await t.rejects(verifyWebhook(bytes, headers, secret), WebhookError)
    }),
    { numRuns: 50 },
  )
})
