/**
 * The conformance suite of destination types, for packages that add one:
 *
 *     await testDestination(t, {
 *       type: acme,
 *       config: { url: 'https://acme.example.com', token: 'secret' },
 *       refused: { 'no token': { url: 'https://acme.example.com' } },
 *       answer: { status: 200, body: '{"ok":true}' }, // how the receiver accepts a message; defaults to 200
 *     })
 *
 * A type that uses `egress.connect` gives `receive` in place of `answer`: what its receiver says on such a connection.
 *
 * Tests of the type itself cover the contents of its messages and the names of its refusals.
 */
import assert from 'node:assert/strict'
import { duplexPair, type Duplex } from 'node:stream'
import { describePayload } from './describe.ts'
import {
  answeredOutcome,
  EgressFailure,
  failedOutcome,
  type DeliveryContext,
  type DeliveryEgress,
  type EgressPlace,
  type EgressRequest,
  type DestinationType,
  type MessageType,
  type DeliveryOutcome,
  type Payload,
} from './destination.ts'
import { createDestinationRegistry } from './registry.ts'
import { splitSecrets } from './secrets.ts'

/** The part of a test that `testDestination` uses; tap's and node:test's fit. */
export interface DestinationTest {
  test(name: string, run: () => Promise<void>): unknown
}

export interface DestinationConformance<Config> {
  type: DestinationType<Config>
  /** A valid config, with all fields that have no default. */
  config: object
  /** Invalid configs, by what is wrong with each. */
  refused?: Record<string, object>
  /** How the receiver accepts a message. */
  answer?: { status: number; body: string }
  /** Speaks for the receiver on a connection of `egress.connect`, and accepts the message. */
  receive?(connection: Duplex, place: EgressPlace): void
}

interface SentRequest extends EgressRequest {
  url: string
}

/** What the receiver does in an attempt. */
interface Receiver {
  outcome: DeliveryOutcome
  /** Absent: connections fail as the requests do, or end without a word. */
  receive?: DestinationConformance<never>['receive']
}

/** Tests what `DestinationType` promises, as subtests of `t`. */
export async function testDestination<Config>(
  t: DestinationTest,
  { type, config, refused = {}, answer = { status: 200, body: '' }, receive }: DestinationConformance<Config>,
): Promise<void> {
  const { name } = type
  const test = (promise: string, run: () => Promise<void>) => t.test(`${name}: ${promise}`, run)
  const accepted = validConfig(type, config)
  const accepting = { outcome: answerOutcome(answer.status, answer.body), receive }
  await test('the registry accepts it', async () => createDestinationRegistry().add(type as DestinationType))
  await test('its config is accepted, also after validation', async () => {
    assert.deepEqual(validConfig(type, accepted as object), accepted)
    if (type.urlField)
      assert.match(String(accepted[type.urlField]), /^https:\/\//, 'urlField names an address')
  })
  await test('a config with an unknown field is refused', async () => {
    assert.ok(type.config.validate({ ...config, unknown_field: 1 }).error)
  })
  for (const [why, wrong] of Object.entries(refused)) {
    await test(`a config is refused: ${why}`, async () => assert.ok(type.config.validate(wrong).error))
  }
  await test('a body is deterministic and well-formed text', async () => {
    for (const payload of samplePayloads()) {
      const body = composeSample(type, payload, accepted as object)
      assert.equal(composeSample(type, payload, accepted as object), body)
      assert.ok(body.isWellFormed(), 'no half of a character')
      assert.ok(!body.includes('\0'), 'no NUL')
    }
  })
  await test('an accepted message is delivered, over https alone, in headers of one line', async () => {
    for (const payload of samplePayloads()) {
      const { outcome, posted, written } = await attemptSample(type, accepted, payload, accepting)
      assert.ok(outcome.isDelivered, outcome.errorMessage ?? 'it was not delivered')
      assert.ok(posted.length + written.length > 0, 'something was sent')
      for (const { url, headers = {} } of posted) {
        assert.equal(new URL(url).protocol, 'https:')
        for (const [header, value] of Object.entries(headers)) assert.match(value, /^[\t\x20-\x7e]*$/, header)
      }
    }
  })
  await test('every attempt sends the same bytes', async () => {
    const [payload] = samplePayloads()
    const bodies = async (n: number) => {
      const { posted, written } = await attemptSample(type, accepted, payload!, accepting, n)
      return [...posted.map(({ body }) => body), ...written]
    }
    assert.deepEqual(await bodies(2), await bodies(1))
  })
  for (const [what, given] of Object.entries(FAILED_ATTEMPTS)) {
    await test(`${what} is a failure with a message, and nothing is thrown`, async () => {
      for (const payload of samplePayloads()) {
        const { outcome } = await attemptSample(type, accepted, payload, { outcome: given })
        assert.equal(outcome.isDelivered, false)
        assert.ok(outcome.errorClass)
        assert.ok(outcome.errorMessage)
      }
    })
  }
}

function validConfig<Config>(type: DestinationType<Config>, config: object): Config {
  const { value, error } = type.config.validate(config, { abortEarly: false })
  if (error) throw error
  return value as Config
}

/** The body that a type composes of a sample, with its details as facts. */
export function composeSample<Config = never>(
  type: Pick<DestinationType<Config>, 'compose'> & Partial<Pick<DestinationType<Config>, 'config'>>,
  payload: Payload,
  config: object = {},
): string {
  const facts = Object.entries(payload.event.details)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => ({ name, value: String(value) }))
  const shown = type.config ? splitSecrets(type.config, config as Record<string, unknown>).shown : config
  return type.compose?.(payload, describePayload(payload, facts), shown as Config) ?? JSON.stringify(payload)
}

/** The `egress` of a test whose type uses `post` alone. */
export const unusedEgress: DeliveryEgress = {
  request: () => Promise.reject(new Error('egress.request was not meant to be used')),
  connect: () => Promise.reject(new Error('egress.connect was not meant to be used')),
}

async function attemptSample<Config>(
  type: DestinationType<Config>,
  config: Config,
  payload: Payload,
  { outcome, receive }: Receiver,
  n = 1,
): Promise<{ outcome: DeliveryOutcome; posted: SentRequest[]; written: string[] }> {
  const posted: SentRequest[] = []
  const written: Buffer[] = []
  const { details: _details, ...event } = payload.event
  const message = {
    id: payload.alert.id,
    deliveryId: '019a0000-0000-7000-8000-000000000001',
    attempt: n,
    requestId: '019a0000-0000-7000-8000-00000000000a',
    eventType: payload.event_type,
    body: composeSample(type, payload, config as object),
    severity: payload.alert.severity,
    event,
    signatures: (type.signs
      ? { 'x-service-signature': 'sha256=00', 'webhook-id': payload.alert.id }
      : {}) as Record<string, string>,
    served: [],
  }
  const send = async (url: string, request: EgressRequest) => {
    posted.push({ url, ...request })
    return outcome
  }
  const context: DeliveryContext<Config> = {
    config,
    signal: new AbortController().signal,
    post: (url, request) => send(url, { ...request, method: 'POST' }),
    egress: {
      request: (url, request = {}) => send(url, request),
      async connect(place) {
        if (!receive && outcome.statusCode === null)
          throw new EgressFailure(outcome.errorClass ?? 'connect', outcome.errorMessage ?? 'no connection')
        const [ours, theirs] = duplexPair()
        theirs.on('data', (chunk: Buffer) => written.push(chunk))
        if (receive) receive(theirs, place)
        else theirs.end()
        return ours
      },
    },
  }
  const attempted = await type.deliver(message, context).catch((thrown: unknown) => {
    // The server makes an outcome of it.
    if (thrown instanceof EgressFailure) return failedOutcome(thrown.errorClass, thrown.message)
    throw thrown
  })
  return { outcome: attempted, posted, written: [Buffer.concat(written).toString()].filter(Boolean) }
}

export function answerOutcome(statusCode: number, responseBody: string | null): DeliveryOutcome {
  const connection = { address: '192.0.2.1', tlsVersion: 'TLSv1.3', latencyMs: 12 }
  return answeredOutcome(statusCode, { responseBody, ...connection })
}

const FAILED_ATTEMPTS: Record<string, DeliveryOutcome> = {
  'an address that may not be dialled': failedOutcome('egress_refused', 'The address may not be dialled'),
  'silence for 30 seconds': failedOutcome('timeout', 'Nothing was answered within 30 seconds', {
    latencyMs: 30_000,
  }),
  'a redirect': answerOutcome(302, ''),
  'a refusal in JSON': answerOutcome(400, '{"error":{"code":"invalid"},"errors":["no"]}'),
  'a refusal in something else': answerOutcome(403, '<html><body>Forbidden</body></html>'),
  'a refusal in JSON that is no object': answerOutcome(400, 'null'),
  'a page that is gone': answerOutcome(404, null),
  'too many requests': answerOutcome(429, 'slow down'),
  'an error of the receiver': answerOutcome(500, '\uFFFD'.repeat(16_384)),
}

/** Payloads of each message type, with plain and with hostile names. */
export function samplePayloads(): Payload[] {
  const types: MessageType[] = ['alert.triggered', 'alert.resolved', 'alert.test']
  const names = [
    'shop.public.orders',
    '<!channel> <@U012AB3CD> @here *b* _i_ ~s~ `c` [l](https://evil.example) <at>all</at> </script>',
    '"quoted", back\\slash, {{braces}}, %s, ${x}\r\nX-Injected: 1\u0000\u001b[31m',
    `${'名前😀'.repeat(2_000)}\ud83d`,
    '',
  ]
  return names.flatMap(name => types.map(type => samplePayload(name, type)))
}

function samplePayload(name: string, type: MessageType): Payload {
  const base = 'https://observe.example.com'
  return {
    event_type: type,
    alert: {
      id: '019a0000-0000-7000-8000-0000000000aa',
      rule_name: name,
      alert_type: 'validity',
      status: type === 'alert.resolved' ? 'resolved' : 'triggered',
      severity: 'critical',
      title: `${name}: 3 of 100 rows are invalid`,
      created_at: '2026-01-02T03:04:05.678Z',
    },
    event: {
      type: 'validity_failure',
      asset: { qualified_name: name, asset_type: 'table' },
      details: { column_name: name, invalid_count: 3, total_rows: 100, threshold: 0.5, note: { of: name } },
    },
    links: {
      alert_url: `${base}/alerts/019a0000-0000-7000-8000-0000000000aa`,
      asset_url: `${base}/tables/1`,
    },
  }
}
