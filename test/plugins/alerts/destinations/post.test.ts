import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { postGuarded } from '../../../../plugins/alerts/destinations/post.ts'
import type { DeliveryOutcome } from '../../../../plugins/alerts/destinations/destination.ts'
import { startReceiver, type Behaviour, type ReceiverOptions } from '../../../helpers/receiver.ts'

const loopback = { allow: ['127.0.0.0/8'] }

function post(url: string, more: Partial<Parameters<typeof postGuarded>[1]> = {}) {
  return postGuarded(url, {
    headers: { authorization: 'Bearer hush' },
    body: '{"a":1}',
    policy: loopback,
    ...more,
  })
}

t.test('a 2xx status is delivered, every other status is not', async t => {
  const receiver = await startReceiver(t)
  for (const status of [200, 201, 204, 299]) {
    receiver.answer(status)
    t.match(await post(receiver.url), { isDelivered: true, statusCode: status, errorClass: null })
  }
  for (const status of [300, 304, 400, 401, 404, 410, 429, 500, 503]) {
    receiver.answer(status)
    t.match(await post(receiver.url), { isDelivered: false, statusCode: status, errorClass: 'status' })
  }
})

t.test('the outcome holds the address, the TLS version and the start of the answer', async t => {
  const receiver = await startReceiver(t)
  t.match(await post(`${receiver.url}/hook?x=1`), {
    address: '127.0.0.1',
    tlsVersion: /^TLSv1\.[23]$/,
    latencyMs: Number,
    responseBody: '{"ok":true}',
  })
  t.match(receiver.requests, [{ method: 'POST', path: '/hook?x=1', body: '{"a":1}' }])
})

t.test('a redirect is not followed', async t => {
  const receiver = await startReceiver(t)
  const elsewhere = await startReceiver(t)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer((_request, response) => response.writeHead(status, { location: elsewhere.url }).end())
    t.match(await post(receiver.url), { isDelivered: false, statusCode: status })
  }
  t.equal(elsewhere.connections, 0)
})

t.test('a failed request is not sent again by the client', async t => {
  const receiver = await startReceiver(t)
  receiver.answer((_request, response) => response.destroy())
  t.match(await post(receiver.url), { isDelivered: false, statusCode: null, errorClass: 'connect' })
  receiver.answer((_request, response) => response.writeHead(503, { 'retry-after': '0' }).end())
  await post(receiver.url)
  t.equal(receiver.requests.length, 2)
})

t.test('an endless answer is cut at 16 KiB and its connection is destroyed', async t => {
  const receiver = await startReceiver(t)
  let written = 0
  const closed = new Promise<void>(resolve => {
    receiver.answer((_request, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const more = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length
      }
      response.on('drain', more).on('close', () => resolve())
      more()
    })
  })
  const outcome = await post(receiver.url)
  await closed
  t.match(outcome, { isDelivered: true, statusCode: 200 })
  t.equal(outcome.responseBody?.length, 16 * 1024)
  t.ok(written < 8 * 1024 * 1024, `the receiver got rid of ${written} bytes`)
})

t.test('a compressed answer is kept as it came', async t => {
  const receiver = await startReceiver(t)
  receiver.answer((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(50_000_000)))
  })
  const outcome = await post(receiver.url)
  t.equal(outcome.isDelivered, true)
  t.ok((outcome.responseBody?.length ?? 0) <= 16 * 1024)
  t.equal(receiver.requests[0]?.headers['accept-encoding'], 'identity')
})

t.test('a receiver that never answers, or drips its headers, fails with a timeout', async t => {
  const receiver = await startReceiver(t)
  receiver.answer(() => undefined)
  t.match(await post(receiver.url, { timeoutMs: 300 }), {
    isDelivered: false,
    statusCode: null,
    errorClass: 'timeout',
  })
  receiver.answer((_request, response, raw) => {
    raw.socket.write('HTTP/1.1 200 OK\r\n')
    const drip = setInterval(() => raw.socket.write('x: y\r\n'), 50)
    raw.socket.on('close', () => clearInterval(drip))
    response.on('close', () => clearInterval(drip))
  })
  t.match(await post(receiver.url, { timeoutMs: 300 }), { isDelivered: false, errorClass: 'timeout' })
})

t.test('a 2xx status counts even when the body behind it never ends', async t => {
  const receiver = await startReceiver(t)
  receiver.answer((_request, response) => {
    response.writeHead(202)
    response.write('so far')
  })
  t.match(await post(receiver.url, { timeoutMs: 300 }), {
    isDelivered: true,
    statusCode: 202,
    responseBody: 'so far',
  })
})

t.test('what is not HTTP, or has too many headers, fails as a breach of the protocol', async t => {
  const receiver = await startReceiver(t)
  receiver.answer((_request, _response, raw) => raw.socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n'))
  t.match(await post(receiver.url), { isDelivered: false, errorClass: 'protocol' })
  receiver.answer((_request, _response, raw) =>
    raw.socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`),
  )
  t.match(await post(receiver.url), { isDelivered: false, errorClass: 'protocol' })
})

t.test('an invalid certificate is refused before anything is sent', async t => {
  const kinds: NonNullable<ReceiverOptions['certificate']>[] = [
    'self-signed',
    'expired',
    'wrong-host',
    'unknown-authority',
  ]
  for (const certificate of kinds) {
    const receiver = await startReceiver(t, { certificate })
    t.match(await post(receiver.url), { isDelivered: false, errorClass: 'tls' }, certificate)
    t.equal(receiver.requests.length, 0, certificate)
  }
})

t.test('plain HTTP is never spoken', async t => {
  const plain = await startPlain(t)
  t.match(await post(`http://127.0.0.1:${plain.port}/`), { isDelivered: false, errorClass: 'configuration' })
  t.equal(plain.connections(), 0)
  t.match(await post(`https://127.0.0.1:${plain.port}/`), { isDelivered: false, errorClass: 'tls' })
  t.match(await post('not a url'), { isDelivered: false, errorClass: 'configuration' })
})

t.test('a forbidden address is refused in every spelling, without a connection', async t => {
  const receiver = await startReceiver(t)
  const port = receiver.port
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '①②⑦.0.0.1',
    '127。0。0。1',
    'localhost',
  ]
  const mapped = [
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
  ]
  for (const host of [...hosts, ...mapped]) {
    const outcome = await post(`https://${host}:${port}/`, { policy: { allow: [] } })
    t.match(outcome, { isDelivered: false, errorClass: 'egress_refused' }, host)
  }
  t.equal(receiver.connections, 0)
})

t.test('no proxy of the environment is used', async t => {
  const proxy = await startPlain(t)
  const before = process.env.HTTPS_PROXY
  process.env.HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`
  t.teardown(() =>
    before === undefined ? delete process.env.HTTPS_PROXY : (process.env.HTTPS_PROXY = before),
  )
  const receiver = await startReceiver(t)
  t.match(await post(receiver.url), { isDelivered: true })
  t.equal(proxy.connections(), 0)
})

t.test('no failure contains a header of the request', async t => {
  const closed = await startPlain(t)
  await closed.stop()
  const outcomes = [
    await post(`https://127.0.0.1:${closed.port}/`),
    await post('https://no-such-host.invalid/'),
    await post('https://127.0.0.1/', { policy: { allow: [] } }),
  ]
  t.match(outcomes, [{ errorClass: 'connect' }, { errorClass: 'dns' }, { errorClass: 'egress_refused' }])
  t.notMatch(JSON.stringify(outcomes), /hush/)
})

t.test('a failure says what to do, in our own words only', async t => {
  const closed = await startPlain(t)
  await closed.stop()
  const receiver = await startReceiver(t)
  const at = (port: number) => `https://127.0.0.1:${port}/hook/secret-path`
  const unknown = (code: string) => () =>
    Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }))
  const named = (code: string) =>
    post('https://hooks.example.com/secret-path', { policy: { allow: [], resolve: unknown(code) } })
  const answer = async (behaviour: Behaviour) => {
    receiver.answer(behaviour)
    return post(at(receiver.port), { timeoutMs: 300 })
  }
  const expected: [Promise<DeliveryOutcome>, string, RegExp][] = [
    [post(at(closed.port)), 'connect', /^127\.0\.0\.1:\d+ refuses connections: check the port/],
    [named('ENOTFOUND'), 'dns', /^There is no host of the name hooks\.example\.com: check the spelling/],
    [named('EAI_AGAIN'), 'dns', /^The name hooks\.example\.com could not be looked up just now: check/],
    [
      post('https://8.8.8.8:8443/', { policy: { allow: [], ports: [443] } }),
      'egress_refused',
      /^Port 8443 of 8\.8\.8\.8 .* use port 443, or have the operator open it with WEBHOOK_PORTS$/,
    ],
    [answer(() => undefined), 'timeout', /did not answer in time: a receiver should answer first/],
  ]
  for (const [outcome, errorClass, message] of expected) {
    const { errorMessage, ...rest } = await outcome
    t.match(rest, { isDelivered: false, statusCode: null, errorClass }, String(message))
    t.match(errorMessage, message)
    t.notMatch(errorMessage, /getaddrinfo|ECONN|EAI_|secret-path|undefined/)
  }
  t.match(await answer((_request, response) => response.destroy()), {
    errorClass: 'connect',
    errorMessage: /closed the connection before it answered/,
  })
  t.match(await answer((_request, _response, raw) => raw.socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')), {
    errorClass: 'protocol',
    errorMessage: /is not HTTP/,
  })
  const headers = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`
  t.match(await answer((_request, _response, raw) => raw.socket.end(headers)), {
    errorClass: 'protocol',
    errorMessage: /more than 16 KiB of headers/,
  })
})

t.test('an aborted attempt says so', async t => {
  const receiver = await startReceiver(t)
  const stopping = new AbortController()
  receiver.answer(() => stopping.abort())
  t.match(await post(receiver.url, { signal: stopping.signal }), {
    isDelivered: false,
    errorClass: 'other',
    errorMessage: /was aborted/,
  })
})

async function startPlain(t: Test) {
  let connections = 0
  const server = createServer((_request, response) => response.end()).on(
    'connection',
    () => (connections += 1),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const stop = () => new Promise(resolve => server.close(resolve))
  t.teardown(stop)
  return { port: (server.address() as AddressInfo).port, connections: () => connections, stop }
}

t.test('an attempt without an answer shows how far it came', async t => {
  const receiver = await startReceiver(t)
  const secured = { address: '127.0.0.1', tlsVersion: /^TLSv1\.[23]$/ }
  const noAnswers: [string, string, Behaviour][] = [
    ['hang', 'timeout', () => undefined],
    ['reset', 'connect', (_request, _response, raw) => void raw.socket.destroy()],
    ['empty', 'connect', (_request, _response, raw) => void raw.socket.end()],
    ['malformed', 'protocol', (_request, _response, raw) => void raw.socket.end('not HTTP at all\r\n\r\n')],
    [
      'too many headers',
      'protocol',
      (_request, _response, raw) =>
        void raw.socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
    ],
  ]
  for (const [name, errorClass, behaviour] of noAnswers) {
    receiver.answer(behaviour)
    const outcome = await post(receiver.url, { timeoutMs: 500 })
    t.match(outcome, { ...secured, isDelivered: false, statusCode: null, errorClass }, name)
  }
  await receiver.present('self-signed')
  t.match(
    await post(receiver.url),
    { errorClass: 'tls', address: '127.0.0.1', tlsVersion: null },
    'not secured',
  )
  t.match(
    await post(receiver.url, { policy: { allow: [] } }),
    { errorClass: 'egress_refused', address: null, tlsVersion: null },
    'not connected',
  )
})
