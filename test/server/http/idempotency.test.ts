import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireRows } from '../../../server/database/retention.ts'
import { startServer, type Reply } from '../../helpers/server.ts'
import { calmestDelay, MAX_DELAY_MS } from '../../hostile/event-loop.ts'

const app = await startServer(t)
const { server, query } = app
const tenant = await app.signUp()
const other = await app.signUp('Other')
const KEYS = '/api/v1/api-keys'
const HOURS = '/api/v1/operating-schedules'
const rules = [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }]
const hours = (name: string) => ({ name, timezone: 'Europe/Berlin', rules })

/** Asks once with an Idempotency-Key. */
async function post(path: string, body: unknown, key: string, credential = tenant.key): Promise<Reply> {
  const { statusCode, payload, headers } = await server.inject({
    method: 'POST',
    url: path,
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: statusCode, body: JSON.parse(payload), headers }
}

const countOf = async (name: string) =>
  Number((await query('select count(*) from operating_schedules where name = $1', [name]))[0]?.count)

t.test('the same request under the same key gets the same reply, and makes nothing again', async t => {
  const key = randomUUID()
  const first = await post(HOURS, hours('once'), key)
  t.equal(first.status, 201)
  t.notOk(first.headers['idempotency-replayed'])
  const { rules: given, timezone, name } = hours('once')
  const again = await post(HOURS, { rules: given, name, timezone }, key)
  t.equal(again.status, 201)
  t.strictSame(again.body, first.body, 'whatever the order of its fields')
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.not(again.headers['x-request-id'], first.headers['x-request-id'])
  t.equal(again.headers['content-type'], first.headers['content-type'])
  t.equal(await countOf('once'), 1)
})

t.test('another request under the same key is refused', async t => {
  const key = randomUUID()
  t.equal((await post(HOURS, hours('first'), key)).status, 201)
  const { status, body: refusal } = await post(HOURS, hours('second'), key)
  t.equal(status, 422)
  t.match(refusal.detail[0], { loc: ['header', 'idempotency-key'], type: 'idempotency.reused' })
  const refused = await post(KEYS, { name: 'key', scope: 'read-only' }, key)
  t.equal(refused.status, 400, 'in the form of the path')
  t.match(refused.body.error, { code: 'VALIDATION_ERROR', details: { field: 'idempotency-key' } })
  t.equal(await countOf('second'), 0)
})

t.test('a body that a route takes as bytes counts as it is, byte by byte', async t => {
  const key = randomUUID()
  const event = {
    eventTime: new Date().toISOString(),
    eventType: 'START',
    run: { runId: randomUUID() },
    job: { namespace: 'airflow', name: 'load' },
    producer: 'https://example.com/producer',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
  }
  const body = `${JSON.stringify(event)}${' '.repeat(3_000_000)}`
  const first = await post('/api/v1/lineage', body, key)
  t.equal(first.status, 201)
  const again = await post('/api/v1/lineage', body, key)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.equal((await post('/api/v1/lineage', `${body} `, key)).status, 422, 'another body')
})

t.test('a key is good for its caller only', async t => {
  const key = randomUUID()
  t.equal((await post(HOURS, hours('mine'), key)).status, 201)
  const theirs = await post(HOURS, hours('mine'), key, other.key)
  t.equal(theirs.status, 201)
  t.notOk(theirs.headers['idempotency-replayed'], 'another company')
  const session = await post(HOURS, hours('by session'), key, tenant.token)
  t.equal(session.status, 201, 'another credential of the company')
  t.notOk(session.headers['idempotency-replayed'])
})

t.test('one of many at once makes it; the others get its reply or have to wait', async t => {
  const key = randomUUID()
  const replies = await Promise.all(Array.from({ length: 8 }, () => post(HOURS, hours('at once'), key)))
  const made = replies.filter(({ status }) => status === 201)
  t.ok(made.length >= 1)
  t.equal(new Set(made.map(({ body }) => body.id ?? body.data?.id)).size, 1)
  t.equal(made.filter(({ headers }) => !headers['idempotency-replayed']).length, 1)
  for (const { status, body, headers } of replies.filter(reply => !made.includes(reply))) {
    t.match({ status, body }, { status: 409, body: { error: { code: 'CONFLICT' } } })
    t.equal(headers['retry-after'], '1')
  }
  t.equal(await countOf('at once'), 1)
  t.equal((await post(HOURS, hours('at once'), key)).headers['idempotency-replayed'], 'true')
})

t.test('one that is still being answered is not begun again, unless its process is long gone', async t => {
  const key = randomUUID()
  await post(HOURS, hours('slow'), key)
  await query(`update idempotent_replies set status = null, body = null where key = $1`, [key])
  t.equal((await post(HOURS, hours('slow'), key)).status, 409)
  t.equal(await countOf('slow'), 1)
  await query(`delete from operating_schedules where name = 'slow'`)
  await query(`update idempotent_replies set created_at = now() - interval '6 minutes' where key = $1`, [key])
  t.equal((await post(HOURS, hours('slow'), key)).status, 201)
  t.equal(await countOf('slow'), 1)
})

t.test('a request that failed leaves its key free', async t => {
  const key = randomUUID()
  const wrong = { ...hours('mended'), timezone: 'Mars/Olympus' }
  t.equal((await post(HOURS, wrong, key)).status, 422)
  t.equal((await post(HOURS, hours('mended'), key)).status, 201)

  const second = randomUUID()
  const missing = { name: 'r', destination_ids: [randomUUID()] }
  t.equal((await post('/api/v1/sdk/alerts/rules', missing, second)).status, 404)
  t.strictSame(await query('select key from idempotent_replies where key = $1', [second]), [])
})

t.test('a secret that is shown once is shown again to who repeats the request, and lies sealed', async t => {
  const key = randomUUID()
  const body = { name: 'for a program', scope: 'read-only' }
  const first = await post(KEYS, body, key)
  t.equal(first.status, 201)
  const again = await post(KEYS, body, key)
  t.equal(again.body.data.key, first.body.data.key)
  t.equal(again.headers['cache-control'], first.headers['cache-control'])
  const [row] = await query('select * from idempotent_replies where key = $1', [key])
  t.match(row?.body, /^v1\.[0-9a-f]{8}\./)
  t.notMatch(JSON.stringify(row), first.body.data.key)

  await query(`update idempotent_replies set body = 'v1.00000000.AAAA' where key = $1`, [key])
  const lost = await post(KEYS, body, key)
  t.match(lost, { status: 409, body: { error: { message: /can be read no more/ } } })
})

t.test('after 24 hours a key is as good as new, and its reply is deleted', async t => {
  const [first, second] = [randomUUID(), randomUUID()]
  await post(HOURS, hours('yesterday'), first)
  await post(HOURS, hours('today'), second)
  await query(`update idempotent_replies set created_at = now() - interval '25 hours' where key = $1`, [
    first,
  ])
  await query(`delete from operating_schedules where name = 'yesterday'`)
  const { status, headers } = await post(HOURS, hours('yesterday'), first)
  t.equal(status, 201)
  t.notOk(headers['idempotency-replayed'])

  await query(`update idempotent_replies set created_at = now() - interval '25 hours' where key = $1`, [
    first,
  ])
  await expireRows(server, { maxDays: 1 })
  const left = await query('select key from idempotent_replies where key = any($1)', [[first, second]])
  t.strictSame(left, [{ key: second }])
})

t.test('a key has to be one', async t => {
  for (const key of ['', ' ', 'a'.repeat(256), 'ä', 'a\tb']) {
    const { status, body } = await post(HOURS, hours('bad key'), key)
    t.equal(status, 422, JSON.stringify(key))
    t.match(body.detail[0].loc, ['header', 'idempotency-key'])
  }
  const sdk = await post('/api/v1/sdk/alerts/rules', { name: 'r', destination_ids: [randomUUID()] }, 'ä')
  t.match(sdk, { status: 400, body: { error: { details: { field: 'idempotency-key' } } } })
  t.equal((await post(HOURS, hours('long key'), 'a'.repeat(255))).status, 201)
  t.equal((await post(HOURS, hours('quoted'), '"8e03978e-40d5-43dd-bc93-6894a57f9324"')).status, 201)
})

t.test('who may not do it is not helped by a key', async t => {
  const viewer = await post(KEYS, { name: 'viewer', scope: 'read-only' }, randomUUID())
  const key = randomUUID()
  t.equal(
    (await post('/api/v1/sdk/alerts/rules', { name: 'r', destination_ids: [] }, key, viewer.body.data.key))
      .status,
    403,
  )
  t.equal((await post(HOURS, hours('no user'), key, 'nonsense')).status, 401)
  t.strictSame(await query('select key from idempotent_replies where key = $1', [key]), [])
})

t.test('a reply is kept also for a client that hung up before it', async t => {
  const key = randomUUID()
  const aborted = new AbortController()
  const asked = fetch(`${server.info.uri}${HOURS}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(hours('hung up')),
    signal: aborted.signal,
  }).catch(() => undefined)
  let isTaken = false
  while (!isTaken)
    isTaken = (await query('select 1 from idempotent_replies where key = $1', [key])).length > 0
  aborted.abort()
  await asked
  let reply = await post(HOURS, hours('hung up'), key)
  while (reply.status === 409) reply = await post(HOURS, hours('hung up'), key)
  t.equal(reply.status, 201)
  t.equal(reply.headers['idempotency-replayed'], 'true')
  t.equal(await countOf('hung up'), 1)
})

const LINEAGE = '/api/v1/lineage'
/** An event whose facets, which are left aside, have some megabytes. */
const largeEvent = (name: string, megabytes: number) =>
  JSON.stringify({
    eventType: 'COMPLETE',
    eventTime: new Date().toISOString(),
    producer: 'https://example.com',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
    run: { runId: randomUUID(), facets: { log: { text: 'x'.repeat(megabytes * 1_048_576) } } },
    job: { namespace: 'jobs', name },
    inputs: [],
    outputs: [],
  })

t.test('a body of bytes under a key holds the event loop no longer than without one', async t => {
  const delay = await calmestDelay(() => post(LINEAGE, largeEvent('large', 5), randomUUID()), {
    enough: MAX_DELAY_MS,
  })
  t.ok(delay <= MAX_DELAY_MS, `${delay.toFixed(0)} ms`)

  const key = randomUUID()
  const event = largeEvent('repeated', 1)
  t.equal((await post(LINEAGE, event, key)).status, 201)
  const again = await post(LINEAGE, event, key)
  t.match(again, { status: 201, headers: { 'idempotency-replayed': 'true' } })
  const reused = await post(LINEAGE, largeEvent('repeated', 1), key)
  t.equal(reused.status, 422, 'other bytes are another request')
  t.equal(reused.body.error.details.field, 'idempotency-key')
})

t.test('a company that used all keys of a day is refused with advice, and no other company is', async t => {
  await post(HOURS, hours('counted'), randomUUID())
  await query(`update rate_windows set used = 100000, burst_used = 100000 where name = $1`, [
    `idempotency:${tenant.companyId}`,
  ])
  const key = randomUUID()
  const { status, body, headers } = await post(HOURS, hours('one too many'), key)
  t.match(
    { status, body },
    { status: 429, body: { error: { code: 'RATE_LIMITED', details: { limit: 100_000 } } } },
  )
  t.match(body.error.message, /100000 Idempotency-Keys in 24 hours: send the request without one/)
  t.ok(Number(headers['retry-after']) > 3_600)
  t.equal(await countOf('one too many'), 0)
  t.strictSame(await query('select key from idempotent_replies where key = $1', [key]), [])

  t.equal((await post(HOURS, hours('theirs'), randomUUID(), other.key)).status, 201)
  t.equal((await tenant.ask('POST', HOURS, hours('without a key'))).status, 201)
  await query(`delete from rate_windows where name = $1`, [`idempotency:${tenant.companyId}`])
})

t.test(
  'a reply that is too large to be kept is not sent again, and its request is not begun again',
  async t => {
    const key = randomUUID()
    const source = {
      name: 'of many patterns',
      source_type: 'postgresql',
      connection_config: { host: '127.0.0.1', port: 9, database: 'd', username: 'u', password: 'p' },
      include_patterns: Array.from({ length: 180 }, (_, count) => `${count}.${'x'.repeat(390)}`),
    }
    const sources = '/api/v1/sdk/assets'
    const first = await post(sources, source, key)
    t.equal(first.status, 201)
    t.ok(JSON.stringify(first.body).length > 65_536)
    const again = await post(sources, source, key)
    t.match(again, {
      status: 409,
      body: { error: { code: 'CONFLICT', message: /done, but its reply is too large/ } },
    })
    const [row] = await query('select body from idempotent_replies where key = $1', [key])
    t.equal(row?.body, null)
    t.equal((await tenant.ask('GET', sources)).body.data.pagination.total, 1)
  },
)
