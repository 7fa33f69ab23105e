import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import type { Destination } from '../../../../plugins/alerts/models.ts'
import {
  createSigningSecret,
  rotateSigningSecret,
  signingSecrets,
} from '../../../../plugins/alerts/destinations/secrets.ts'
import { generateSigningSecret, signBody } from '../../../../plugins/alerts/destinations/signature.ts'
import { makeVault } from '../../../../server/security/vault.ts'
import { startReceiver, type Received } from '../../../helpers/receiver.ts'
import { SECRET_KEY, startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const hex = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** A destination as far as its signing secrets are concerned, and what happens to it. */
function makeDestination(startsAt: number) {
  const vault = makeVault(SECRET_KEY)
  const owner = { id: randomUUID(), companyId: randomUUID() }
  const first = createSigningSecret(vault, owner)
  const destination = { ...owner, signingSecrets: first.sealed } as Destination
  const made = [{ secret: first.secret, at: startsAt }]
  return {
    made,
    rotate(at: number) {
      const rotated = rotateSigningSecret(vault, destination, new Date(at))
      destination.signingSecrets = rotated.sealed
      made.push({ secret: rotated.secret, at })
      return rotated
    },
    signers: (at: number): string[] => signingSecrets(vault, destination, new Date(at)),
  }
}

t.test('the vectors of the reference implementations of Standard Webhooks', async t => {
  // Those of the libraries' own tests, for all languages the same.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const at = new Date(1_614_265_330_000)
  const made = signBody('{"test": 2432232314}', 'msg_p5jXN8AQM9LWM0D4loKWxJek', [secret], at)
  t.strictSame(made, {
    'x-service-signature': hex(secret, '{"test": 2432232314}'),
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

t.test('any body, id, moment and secrets give what the reference library signs', async t => {
  const secrets = fc.array(
    fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map(key => `whsec_${Buffer.from(key).toString('base64')}`),
    { minLength: 1, maxLength: 10 },
  )
  const moments = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  const bodies = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.jsonValue().map(value => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(bodies, fc.uuid(), secrets, moments, (body, id, all, at) => {
      const made = signBody(body, id, all as [string, ...string[]], at)
      const expected = all.map(secret => new Webhook(secret).sign(id, at, body)).join(' ')
      return made['webhook-signature'] === expected && made['x-service-signature'] === hex(all[0]!, body)
    }),
  )
  t.pass('they agree')
})

t.test(
  'each of several secrets verifies, a changed body, id or moment does not, nor does a stranger',
  async t => {
    const [newest, older, stranger] = [
      generateSigningSecret(),
      generateSigningSecret(),
      generateSigningSecret(),
    ]
    const body = '{"a":"ü"}'
    const made = signBody(body, 'one', [newest, older], new Date())
    for (const secret of [newest, older]) t.strictSame(new Webhook(secret).verify(body, made), { a: 'ü' })
    const verify = (secret: string, given: string, changes: Record<string, string> = {}) =>
      new Webhook(secret).verify(given, { ...made, ...changes })
    t.throws(() => verify(stranger, body))
    t.throws(() => verify(newest, '{"a":"u"}'))
    t.throws(() => verify(newest, body, { 'webhook-id': 'two' }))
    t.throws(() =>
      verify(newest, body, { 'webhook-timestamp': String(Number(made['webhook-timestamp']) + 1) }),
    )
    t.throws(() => {
      const old = signBody(body, 'one', [newest], new Date(Date.now() - 10 * 60_000))
      return new Webhook(newest).verify(body, old)
    }, 'a replay of ten minutes ago')
  },
)

t.test('a new secret is 32 random bytes', async t => {
  const secrets = Array.from({ length: 100 }, generateSigningSecret)
  t.equal(new Set(secrets).size, 100)
  for (const secret of secrets) t.equal(Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length, 32)
})

t.test('a replaced secret signs for 24 hours, to the millisecond', async t => {
  const start = Date.parse('2026-03-01T00:00:00Z')
  const { made, rotate, signers } = makeDestination(start)
  const [a] = made.map(({ secret }) => secret)
  t.strictSame(signers(start + 1000 * DAY), [a], 'one that was not replaced signs for ever')
  const { secret: b, previousUntil } = rotate(start + HOUR)
  t.equal(previousUntil.getTime(), start + HOUR + DAY)
  t.strictSame(signers(start + HOUR), [b, a])
  t.strictSame(signers(start + HOUR + DAY - 1), [b, a])
  t.strictSame(signers(start + HOUR + DAY), [b])
  const { secret: c } = rotate(start + 2 * HOUR)
  t.strictSame(signers(start + 2 * HOUR), [c, b, a])
  t.strictSame(signers(start + HOUR + DAY), [c, b], 'each has a day of its own')
  t.strictSame(signers(start + 2 * HOUR + DAY), [c])
})

t.test(
  'whenever secrets are replaced: who signs are those replaced less than a day ago, ten at most',
  async t => {
    const pauses = fc.array(fc.integer({ min: 1, max: 2 * DAY }), { maxLength: 14 })
    fc.assert(
      fc.property(pauses, fc.integer({ min: 0, max: 2 * DAY }), (waits, later) => {
        const { made, rotate, signers } = makeDestination(0)
        let now = 0
        for (const wait of waits) rotate((now += wait))
        const at = now + later
        const expected = made
          .filter((_, place) => at < (made[place + 1]?.at ?? Infinity) + DAY)
          .slice(-10)
          .map(({ secret }) => secret)
          .reverse()
        return JSON.stringify(signers(at)) === JSON.stringify(expected)
      }),
      { numRuns: 200 },
    )
    t.pass('they are')
  },
)

const STRANGE = {
  umlauts: 'Größe über 10 €',
  script: '测试表 テーブル الجدول טבלה',
  emoji: '👩‍👩‍👧‍👦 🇺🇦 👍🏽',
  separators: 'a\u2028b\u2029c\u0085d\ufeffe',
  quotes: `"'\\/<script>&amp;%s$1\${x}`,
  directions: '\u202eabc\u202c',
  lines: 'a\r\nb\tc\u0001\u001f\u007f',
  last: '\u{10ffff}\uffff',
  combining: 'e\u0301 é',
}

t.test(
  'every attempt sends the same bytes, whatever stands in them, each signed at its own moment',
  async t => {
    const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0,0,0,0' } })
    const world = await makeWorld(app)
    const receiver = await startReceiver(t)
    const bytes: Buffer[] = []
    receiver.answer(({ headers }, response, raw) => {
      t.equal(Number(headers['content-length']), Buffer.byteLength(receiver.requests.at(-1)?.body ?? ''))
      t.equal(raw.headersDistinct['webhook-signature']?.length, 1)
      response.writeHead(500).end()
    })
    const made = await world.addDestination({ url: receiver.url })
    const name = Object.values(STRANGE).join(' ')
    const { alertId } = await world.raise({ title: name, ruleName: name, details: STRANGE })
    const ended = (n: number) => (data: AttemptData) => data.n === n
    await app.server.jobs.settled(retryJob, ended(2))
    const rotated = await world.ask('POST', `${ALERTS}/destinations/${made.id}/rotate-secret`)
    await app.server.jobs.settled(retryJob, ended(5))
    const [delivery] = await world.deliveries(made.id)
    await world.ask('POST', `${ALERTS}/deliveries/${delivery?.id}/redeliver`)
    await app.server.jobs.settled(deliverJob, ended(6))

    const requests: Received[] = receiver.requests
    t.equal(requests.length, 6)
    for (const { body } of requests) bytes.push(Buffer.from(body))
    t.ok(bytes.every(one => one.equals(bytes[0]!)))
    const [first] = requests
    t.match(JSON.parse(first?.body ?? ''), {
      alert: { id: alertId, title: name, rule_name: name },
      event: { details: STRANGE },
    })
    const fresh = String(rotated.body.data.signing_secret)
    for (const { body, headers } of requests) {
      t.equal(headers['webhook-id'], alertId)
      t.ok(new Webhook(made.signing_secret).verify(body, headers), 'the first secret verifies all of them')
    }
    for (const { body, headers } of requests.slice(-2)) {
      t.ok(new Webhook(fresh).verify(body, headers), 'the second those after it was made')
      t.equal(headers['x-service-signature'], hex(fresh, body))
    }
    t.equal(first?.headers['x-service-signature'], hex(made.signing_secret, first?.body ?? ''))
    const [stored] = await app.query('select body from deliveries')
    t.equal(stored?.body, first?.body, 'and they are what is stored')
  },
)

t.test('a body of a megabyte arrives whole', async t => {
  const app = await startServer(t)
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { signing_secret: secret } = await world.addDestination({ url: receiver.url })
  const noise = randomBytes(512 * 1024).toString('hex')
  await world.raise({ details: { noise } })
  const [request] = await receiver.received(1)
  t.equal(JSON.parse(request?.body ?? '').event.details.noise, noise)
  t.ok(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {}))
})
