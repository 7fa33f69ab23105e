import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { startReceiver, type Received } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { runSweep } from '../time.ts'
import { ALERTS, makeWorld } from '../world.ts'

const started = (n: number, deliveryId?: string) => (data: AttemptData) =>
  data.n === n && (deliveryId === undefined || data.delivery_id === deliveryId)

function rawSignature(request: Received, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`
}

const app = await startServer(t, { settings: { BASE_URL: 'https://observe.example.com' } })

t.test('an alert reaches the receiver in the shape of the specification, signed in both ways', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id, signing_secret: secret } = await world.addDestination({
    url: `${receiver.url}/hook`,
    auth: { type: 'bearer', value: 'token-of-theirs' },
    headers: { 'X-Team': 'data-platform' },
  })
  const asset = { id: world.sourceId, qualifiedName: 'shop.shop.public.orders', assetType: 'table' }
  const details = { column_name: 'total', column_type: 'numeric' }
  const { alertId } = await world.raise({ type: 'schema_change', changeType: 'column_added', asset, details })
  const [request] = await receiver.received(1)
  if (!request) throw new Error('nothing came')

  const body = JSON.parse(request.body)
  t.strictSame(body, {
    event_type: 'alert.triggered',
    alert: {
      id: alertId,
      rule_name: 'Total is positive',
      alert_type: 'schema',
      status: 'triggered',
      severity: 'warning',
      title: '3 of 100 values are invalid',
      created_at: body.alert.created_at,
    },
    event: {
      type: 'schema_change',
      change_type: 'column_added',
      asset: { qualified_name: 'shop.shop.public.orders', asset_type: 'table' },
      details,
    },
    links: {
      alert_url: `https://observe.example.com/alerts/${alertId}`,
      asset_url: `https://observe.example.com/tables/${world.sourceId}`,
    },
  })
  t.match(body.alert.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(request.headers['x-service-signature'], rawSignature(request, secret))
  t.strictSame(new Webhook(secret).verify(request.body, request.headers), body)
  t.match(request.headers, {
    'webhook-id': alertId,
    'content-type': 'application/json',
    authorization: 'Bearer token-of-theirs',
    'x-team': 'data-platform',
  })

  await app.server.jobs.settled(deliverJob, started(1))
  const [delivered] = await world.deliveries(id)
  t.match(request.headers, {
    'x-service-delivery': delivered?.id,
    'x-service-attempt': '1',
    'x-request-id': String(delivered?.attempts[0]?.request_id),
  })
  t.match(await world.deliveries(id), [
    {
      alert_id: alertId,
      subject_title: body.alert.title,
      event_type: 'alert.triggered',
      status: 'delivered',
      attempts: [
        {
          n: 1,
          trigger: 'automatic',
          status_code: 200,
          error_class: null,
          address: '127.0.0.1',
          is_slow: false,
        },
      ],
    },
  ])

  t.test('and its recovery follows', async t => {
    await world.raise({ cause: 'rule:2' })
    await receiver.received(2)
    t.equal(await world.recover('rule:2'), true)
    const [, opened, closed] = await receiver.received(3)
    t.match(JSON.parse(closed?.body ?? ''), { event_type: 'alert.resolved', alert: { status: 'resolved' } })
    t.equal(JSON.parse(closed?.body ?? '').alert.id, JSON.parse(opened?.body ?? '').alert.id)
  })
})

t.test(
  'a receiver that is down gets the attempts of the table, the same bytes each time, and no more',
  async t => {
    const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0.2,0.2,0.2,0.2' } })
    const world = await makeWorld(app)
    const down = await startReceiver(t)
    down.answer(500, 302, (_request, response) => response.destroy(), 404, 503)
    const dead = await world.addDestination({ url: down.url })
    const { alertId } = await world.raise()
    t.equal(await app.server.jobs.settled(retryJob, started(5)), 'completed')

    const [delivery] = await world.deliveries(dead.id)
    t.match(delivery, { status: 'failed', attempt_count: 5, next_attempt_at: null })
    t.strictSame(
      delivery?.attempts.map(({ n, status_code, error_class, trigger }) => [
        n,
        status_code,
        error_class,
        trigger,
      ]),
      [
        [1, 500, 'status', 'automatic'],
        [2, 302, 'status', 'automatic'],
        [3, null, 'connect', 'automatic'],
        [4, 404, 'status', 'automatic'],
        [5, 503, 'status', 'automatic'],
      ],
    )
    t.equal(down.requests.length, 5)
    t.equal(new Set(down.requests.map(({ body }) => body)).size, 1)
    t.equal(new Set(down.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
    for (const request of down.requests)
      t.ok(new Webhook(dead.signing_secret).verify(request.body, request.headers))
    const times = (delivery?.attempts ?? []).map(({ started_at, ended_at }) => [
      Date.parse(String(started_at)),
      Date.parse(String(ended_at)),
    ])
    for (const [at, [start = 0]] of times.slice(1).entries()) {
      t.ok(
        start - (times[at]?.[1] ?? 0) >= 200,
        `attempt ${at + 2} waits its time after the end of the one before`,
      )
    }
    t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, {
      delivery_failed: true,
      status: 'triggered',
    })

    t.test('a redelivery sends the same message once, as a manual attempt', async t => {
      const path = `${ALERTS}/deliveries/${delivery?.id}/redeliver`
      down.answer(500)
      t.match(await world.ask('POST', path), { status: 202, body: { data: { status: 'pending' } } })
      await app.server.jobs.settled(deliverJob, started(6))
      t.match(await world.deliveries(dead.id), [{ status: 'failed', attempt_count: 6 }])
      down.answer(200)
      t.match(await world.ask('POST', path), { status: 202 })
      await app.server.jobs.settled(deliverJob, started(7))
      const [again] = await world.deliveries(dead.id)
      t.match(again, { status: 'delivered', attempts: Array(7).fill(Object) })
      t.match(again?.attempts.slice(5), [
        { n: 6, trigger: 'manual' },
        { n: 7, trigger: 'manual', status_code: 200 },
      ])
      t.equal(new Set(down.requests.map(({ body }) => body)).size, 1)
      t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, { delivery_failed: false })
      t.match(await world.ask('POST', `${ALERTS}/deliveries/${alertId}/redeliver`), {
        status: 404,
        body: { error: { code: 'DELIVERY_NOT_FOUND' } },
      })
    })

    t.test('an alert that one of two destinations got has not failed delivery', async t => {
      down.answer(500)
      const up = await startReceiver(t)
      await world.addDestination({ webhook_url: up.url })
      const second = await world.raise({ cause: 'rule:2' })
      await up.received(1)
      const [latest] = await world.deliveries(dead.id)
      await app.server.jobs.settled(retryJob, started(5, latest?.id))
      t.match(await world.deliveries(dead.id), [
        { id: latest?.id, status: 'failed' },
        { status: 'delivered' },
      ])
      t.match((await world.ask('GET', `${ALERTS}/${second.alertId}`)).body.data, { delivery_failed: false })
    })
  },
)

t.test('what may not be reached is refused when made, and again when sent', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' }, build: { webhookAllow: [] } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const make = (url: string) =>
    world.ask('POST', `${ALERTS}/destinations`, { name: 'x', destination_type: 'webhook', config: { url } })
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '10.0.0.1',
    '169.254.169.254',
  ]) {
    t.match(
      await make(`https://${host}:${receiver.port}/`),
      {
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', details: { field: 'config.url' } } },
      },
      host,
    )
  }
  const notFound = Object.assign(new Error('not known'), { code: 'ENOTFOUND' })
  app.server.egress.resolve = () => Promise.reject(notFound)
  const { body } = await make(`https://localhost:${receiver.port}/`)
  delete app.server.egress.resolve
  await world.raise()
  await app.server.jobs.settled(deliverJob, started(1))
  t.match(await world.deliveries(body.data.id), [
    { status: 'failed', attempts: [{ status_code: null, error_class: 'egress_refused' }] },
  ])
  t.equal(receiver.connections, 0)
})

t.test('a test message returns its outcome and verifies the destination', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const selfSigned = await startReceiver(t, { certificate: 'self-signed' })
  const made = await world.addDestination({
    url: receiver.url,
    auth: { type: 'api_key', value: 'key-of-theirs' },
  })
  const path = `${ALERTS}/destinations/${made.id}`

  receiver.answer((request, response) =>
    response.writeHead(401).end(`unknown key ${request.headers['x-api-key']}`),
  )
  t.match((await world.ask('POST', `${path}/test`)).body.data, {
    success: false,
    status_code: 401,
    error_class: 'status',
    response_body: 'unknown key …',
  })
  t.match((await world.ask('GET', path)).body.data, { is_verified: false })
  receiver.answer(204)
  t.match(await world.ask('POST', `${path}/test`), {
    status: 200,
    body: { data: { success: true, status_code: 204 } },
  })
  t.match((await world.ask('GET', path)).body.data, { is_verified: true })
  const request = receiver.requests[1]
  t.match(JSON.parse(request?.body ?? ''), {
    event_type: 'alert.test',
    alert: { id: request?.headers['webhook-id'] },
  })
  t.ok(new Webhook(made.signing_secret).verify(request?.body ?? '', request?.headers ?? {}))

  // A change to it would be refused, so the certificate behind the address goes bad later.
  await app.query(
    `update destinations set config = jsonb_set(config, '{url}', to_jsonb($1::text)), is_verified = false`,
    [selfSigned.url],
  )
  t.match((await world.ask('POST', `${path}/test`)).body.data, {
    success: false,
    error_class: 'tls',
    status_code: null,
  })
  t.equal(selfSigned.requests.length, 0)
  t.match((await world.ask('GET', path)).body.data, { is_verified: false })
  t.match(await world.deliveries(made.id), [
    { event_type: 'alert.test', status: 'failed', attempts: [{ trigger: 'test', error_class: 'tls' }] },
    { event_type: 'alert.test', status: 'delivered' },
    { event_type: 'alert.test', status: 'failed' },
  ])
})

t.test('a rotated secret signs at once, and the old one beside it', async t => {
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id, signing_secret: old } = await world.addDestination({ url: receiver.url })
  const { body } = await world.ask('POST', `${ALERTS}/destinations/${id}/rotate-secret`)
  const fresh = body.data.signing_secret
  t.match(fresh, /^whsec_/)
  t.not(fresh, old)
  t.ok(Date.parse(body.data.previous_valid_until) > Date.now() + 23 * 3600 * 1000)
  await world.raise()
  const [request] = await receiver.received(1)
  if (!request) throw new Error('nothing came')
  t.equal(request.headers['x-service-signature'], rawSignature(request, fresh))
  for (const secret of [fresh, old]) t.ok(new Webhook(secret).verify(request.body, request.headers))
  t.notOk(JSON.stringify((await world.ask('GET', `${ALERTS}/destinations/${id}`)).body).includes('whsec_'))
})

t.test('a destination that is switched off or deleted stops what is on its way', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0.2' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const path = (id: string) => `${ALERTS}/destinations/${id}`
  const { id } = await world.addDestination({ url: receiver.url })
  receiver.answer((_request, response) => {
    void world.ask('PATCH', path(id), { is_active: false }).then(() => response.writeHead(500).end())
  })
  await world.raise()
  await app.server.jobs.settled(retryJob, started(2))
  t.match(await world.deliveries(id), [
    { status: 'stopped', stopped_reason: /switched off/, attempts: [{ n: 1 }] },
  ])
  const [stopped] = await world.deliveries(id)
  t.match(await world.ask('POST', `${ALERTS}/deliveries/${stopped?.id}/redeliver`), {
    status: 409,
    body: { error: { code: 'CONFLICT' } },
  })

  t.match(await world.ask('DELETE', path(id)), { status: 200, body: { data: { success: true } } })
  for (const [method, rest] of [
    ['GET', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['DELETE', ''],
  ] as const) {
    t.match(await world.ask(method, path(id) + rest), {
      status: 404,
      body: { error: { code: 'DESTINATION_NOT_FOUND' } },
    })
  }
  t.strictSame(await app.query('select secrets, signing_secrets from destinations'), [
    { secrets: null, signing_secrets: '' },
  ])
  t.equal(receiver.requests.length, 1)
})

t.test('the sweep sends a delivery whose job was lost, once, and leaves those in hand alone', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '3600' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ url: receiver.url })
  await world.raise()
  await world.raise({ cause: 'rule:2' })
  const [kept, lost] = await app.query(
    `update deliveries set next_attempt_at = now() - interval '2 minutes' returning *`,
  )
  await app.query('delete from pgboss.job where id = $1', [lost?.job_id])
  const output = await runSweep(app, app.server)
  await app.server.jobs.settled(deliverJob, started(1, String(lost?.id)))
  await receiver.received(1)
  t.match(output, { woken: 0, resent: 1 })
  const found = await world.deliveries(id)
  t.equal(found.find(delivery => delivery.id === kept?.id)?.status, 'pending')
  t.equal(found.find(delivery => delivery.id === lost?.id)?.status, 'delivered')
  t.equal(receiver.requests.length, 1)
})

t.test(
  'two jobs for the same attempt make it once, and a worker that lost its claim records nothing',
  async t => {
    const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0.2' } })
    const world = await makeWorld(app)
    const receiver = await startReceiver(t)
    const { id } = await world.addDestination({ url: receiver.url })
    receiver.answer((_request, response) => {
      // While the answer is awaited, another worker takes the attempt over.
      void app.query('update deliveries set fence = fence + 1').then(() => response.writeHead(200).end())
    }, 200)
    await world.raise()
    await app.server.jobs.settled(deliverJob, started(1))
    t.match(await world.deliveries(id), [{ status: 'pending', attempts: [] }])

    const [row] = await app.query('update deliveries set claimed_by = null returning id')
    const data = { company_id: world.companyId, delivery_id: String(row?.id), n: 1 }
    await Promise.all([app.server.jobs.send(retryJob, data), app.server.jobs.send(retryJob, data)])
    await app.server.jobs.settled(retryJob, started(1))
    await receiver.received(2)
    const done = `select count(*)::int as n from pgboss.job where name = 'alerts.retry' and state = 'completed'`
    while ((await app.query(done))[0]?.n !== 2) await new Promise(resolve => setTimeout(resolve, 50))
    t.match(await world.deliveries(id), [{ status: 'delivered', attempts: [{ n: 1 }] }])
    t.equal(receiver.requests.length, 2)
  },
)

t.test('nothing secret is stored in the clear or handed to the job engine', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer((request, response) => response.writeHead(500).end(JSON.stringify(request.headers)))
  const { signing_secret: secret } = await world.addDestination({
    url: receiver.url,
    auth: { type: 'bearer', value: 'bearer-of-theirs' },
    headers: { 'X-Custom': 'header-of-theirs' },
  })
  await world.raise()
  await app.server.jobs.settled(deliverJob, started(1))
  const tables = ['destinations', 'deliveries', 'delivery_attempts', 'alerts', 'pgboss.job']
  for (const table of tables) {
    const [stored] = await app.query(`select coalesce(string_agg(x::text, ''), '') as text from ${table} x`)
    const text = String(stored?.text)
    t.ok(text.length > 0, `${table} has rows`)
    for (const hidden of ['bearer-of-theirs', 'header-of-theirs', secret])
      t.notOk(text.includes(hidden), table)
  }
})
