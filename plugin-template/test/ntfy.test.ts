import t from 'tap'
import {
  answerOutcome,
  composeSample,
  samplePayloads,
  testDestination,
  unusedEgress,
} from 'tidemark/destination/conformance'
import { ntfy } from '../ntfy.ts'

const config = { url: 'https://ntfy.example.com', topic: 'data-alerts', token: 'tk_secret' }

t.test('ntfy conforms', t =>
  testDestination(t, {
    type: ntfy,
    config,
    refused: {
      'no topic': { url: config.url },
      'a topic that is a path': { ...config, topic: '../x' },
      'a server without TLS': { ...config, url: 'http://ntfy.example.com' },
    },
    answer: { status: 200, body: '{"id":"sPs71M8A2T","event":"message"}' },
  }),
)

t.test('a message is short, with a title, and urgent when the alert is critical', async t => {
  for (const payload of samplePayloads()) {
    const body = composeSample(ntfy, payload)
    t.ok(Buffer.byteLength(JSON.parse(body).message) <= 4_096)
    t.equal(JSON.parse(body).priority, payload.event_type === 'alert.triggered' ? 5 : 3)
    t.notMatch(body, config.topic, 'the stored body holds no secret')
  }
  t.match(JSON.parse(composeSample(ntfy, samplePayloads()[0]!)), {
    title: '🔴 shop.public.orders: 3 of 100 rows are invalid',
    message: /^Table: shop\.public\.orders\n/,
    click: /^https:/,
  })
})

t.test('each attempt adds topic and token, and a refusal says what to correct', async t => {
  const requests: { url: string; headers: object; body: string }[] = []
  const deliver = (status: number) =>
    ntfy.deliver(
      {
        id: '1',
        deliveryId: '2',
        attempt: 1,
        requestId: '3',
        eventType: 'alert.test',
        body: '{"title":"Test"}',
        severity: 'info',
        event: null,
        signatures: {},
        served: [],
      },
      {
        config,
        signal: new AbortController().signal,
        async post(url, request) {
          requests.push({ url, ...request })
          return answerOutcome(status, '')
        },
        egress: unusedEgress,
      },
    )
  t.equal((await deliver(200)).isDelivered, true)
  t.match(requests, [{ url: config.url, headers: { authorization: 'Bearer tk_secret' } }])
  t.same(JSON.parse(requests[0]!.body), { topic: 'data-alerts', title: 'Test' })
  t.match(await deliver(403), { isDelivered: false, errorMessage: /correct topic or token \(403\)/ })
  t.match(await deliver(507), { isDelivered: false, errorMessage: /answered 507/ })
})
