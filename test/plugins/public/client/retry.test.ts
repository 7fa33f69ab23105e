import t from 'tap'
import {
  ApiError,
  ConnectionError,
  TimeoutError,
  type Retry,
} from '../../../../plugins/public/client/index.ts'
import { readRetryAfter } from '../../../../plugins/public/client/errors.ts'
import { canRetry, retryDelay } from '../../../../plugins/public/client/retry.ts'
import { AT_ONCE, failureOf, reply, startBehaviours } from './behaviours.ts'

t.test('what may pass is tried again, and Retry-After is waited for', async t => {
  for (const status of [429, 502, 503, 504]) {
    const { client, requests, retries } = await startBehaviours(
      t,
      reply(status, AT_ONCE),
      reply(200, {}, { data: [] }),
    )
    t.strictSame(await client().get('/api/v1/assets'), { data: [] })
    t.equal(requests.length, 2, String(status))
    t.match(retries, [{ attempt: 1, delayMs: 0, error: { status } }])
  }
  const limited = await startBehaviours(t, reply(429, { 'retry-after': '7' }))
  const stop = new AbortController()
  const onRetry = ({ delayMs }: Retry) => stop.abort(new Error(`would wait ${delayMs} ms`))
  await t.rejects(limited.client({ onRetry, signal: stop.signal }).get('/api/v1/assets'), {
    message: 'would wait 7000 ms',
  })
  t.equal(limited.requests.length, 1)
})

t.test('the attempts have an end, and the last error is thrown', async t => {
  const { client, requests } = await startBehaviours(
    t,
    reply(503, AT_ONCE, { error: { code: 'UNAVAILABLE' } }),
  )
  t.equal((await failureOf(ApiError, client().get('/api/v1/assets'))).code, 'UNAVAILABLE')
  t.equal(requests.length, 3)
  await failureOf(ApiError, client().get('/api/v1/assets', { retries: 4 }))
  t.equal(requests.length, 8)
})

t.test('a wait beyond the limit is not waited for', async t => {
  const { client, requests } = await startBehaviours(t, reply(429, { 'retry-after': '61' }))
  t.equal((await failureOf(ApiError, client().get('/api/v1/assets'))).retryAfterMs, 61_000)
  t.equal(requests.length, 1)
})

t.test('what may have had an effect is not repeated', async t => {
  const { client, requests } = await startBehaviours(t, reply(503, AT_ONCE))
  const path = { id: 'x' }
  await failureOf(ApiError, client().post('/api/v1/sdk/alerts/destinations/{id}/rotate-secret', { path }))
  await failureOf(
    ApiError,
    client().patch('/api/v1/sdk/alerts/destinations/{id}', { path, body: { name: 'x' } }),
  )
  t.equal(requests.length, 2)
  const limited = await startBehaviours(t, reply(429, AT_ONCE), reply(200))
  await limited.client().post('/api/v1/sdk/alerts/destinations/{id}/rotate-secret', { path })
  t.equal(limited.requests.length, 2, 'a refused one had none')
  const wrong = await startBehaviours(t, reply(404, AT_ONCE))
  await failureOf(ApiError, wrong.client().get('/api/v1/assets'))
  t.equal(wrong.requests.length, 1, 'nor what stays wrong')
})

t.test('a POST that is still being answered is asked for again', async t => {
  const { client, requests } = await startBehaviours(t, reply(409, AT_ONCE), reply(409))
  const body = { asset_id: 'x', name: 'y' }
  await failureOf(ApiError, client().post('/api/v1/sdk/tags', { body, idempotencyKey: 'own key' }))
  t.strictSame(
    requests.map(({ headers }) => headers['idempotency-key']),
    ['own key', 'own key'],
    'but not another conflict',
  )
  await failureOf(ApiError, client().post('/api/v1/sdk/tags', { body }))
  await failureOf(ApiError, client().post('/api/v1/sdk/tags', { body }))
  const [, , first, second] = requests.map(({ headers }) => headers['idempotency-key'])
  t.match(first, /^\d+(-\d+){3}$/)
  t.not(first, second, 'each call has a key of its own')
})

t.test('no reply is another error, and is tried again', async t => {
  const broken = await startBehaviours(t, response => void response.destroy())
  const failure = await failureOf(ConnectionError, broken.client({ retries: 1 }).get('/api/v1/assets'))
  t.ok(failure.cause instanceof Error)
  t.notOk(failure instanceof TimeoutError)
  t.equal(broken.requests.length, 2)
  t.ok(broken.retries[0]!.delayMs <= 500)
  const cut = await startBehaviours(t, response => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
    setImmediate(() => response.destroy())
  })
  await failureOf(ConnectionError, cut.client({ retries: 0 }).get('/api/v1/assets'))
})

t.test('a reply that takes too long is a timeout', async t => {
  const silent = await startBehaviours(t, () => undefined)
  const failure = await failureOf(
    TimeoutError,
    silent.client({ timeoutMs: 50, retries: 0 }).get('/api/v1/assets'),
  )
  t.ok(failure instanceof ConnectionError)
  const trickle = await startBehaviours(t, response => void response.writeHead(200).write('{'))
  await failureOf(TimeoutError, trickle.client({ retries: 0 }).get('/api/v1/assets', { timeoutMs: 50 }))
})

t.test('an aborted signal ends a request and the wait for a retry, with its reason', async t => {
  for (const place of ['client', 'call'] as const) {
    const stop = new AbortController()
    const silent = await startBehaviours(t, () => stop.abort(new Error('enough')))
    const { signal } = stop
    const client = silent.client(place === 'client' ? { signal } : {})
    await t.rejects(client.get('/api/v1/assets', place === 'call' ? { signal } : {}), { message: 'enough' })
    await t.rejects(client.get('/api/v1/assets', { signal }), { message: 'enough' })
    t.equal(silent.requests.length, 1, 'nothing is sent after it')
  }
  const stop = new AbortController()
  const waiting = await startBehaviours(t, reply(503, { 'retry-after': '60' }))
  const onRetry = () => void setImmediate(() => stop.abort())
  await t.rejects(waiting.client({ onRetry, signal: stop.signal }).get('/api/v1/assets'), {
    name: 'AbortError',
  })
})

t.test('Retry-After has seconds or a date', async t => {
  const now = Date.UTC(2026, 0, 15, 10, 30)
  const read = (text?: string) =>
    readRetryAfter(new Headers(text === undefined ? {} : { 'retry-after': text }), now)
  t.equal(read('0'), 0)
  t.equal(read('120'), 120_000)
  t.equal(read('Thu, 15 Jan 2026 10:30:07 GMT'), 7_000)
  t.equal(read('Thu, 15 Jan 2026 10:29:00 GMT'), 0, 'a past one is now')
  for (const text of [undefined, '', 'soon', '-5 s']) t.equal(read(text), undefined, String(text))
})

t.test('the wait grows up to a limit, and is spread over all of it', async t => {
  const longest = [1, 2, 3, 4, 5, 6, 60].map(attempt => retryDelay(attempt, new ConnectionError(), () => 1))
  t.strictSame(longest, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
  t.equal(
    retryDelay(3, new ConnectionError(), () => 0),
    0,
  )
  t.equal(
    retryDelay(3, new ConnectionError(), () => 0.25),
    500,
  )
})

t.test('an error of the program itself is not retried', async t => {
  t.equal(canRetry(new TypeError('x is not a function'), true), false)
  t.equal(canRetry(new TimeoutError(), true), true)
  t.equal(canRetry(new TimeoutError(), false), false)
})
