import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import t, { type Test as Tap } from 'tap'
import { access } from '../../../server/http/access.ts'
import { handleClientErrors } from '../../../server/http/client-errors.ts'
import { makeLog } from '../../../server/telemetry/log.ts'
import { exchange } from '../../helpers/raw-http.ts'
import { startServer } from '../../helpers/server.ts'

const logged: string[] = []
const log = makeLog({ logLevel: 'trace', logFormat: 'json' }, { write: line => logged.push(line) })
const { server } = await startServer(t, { settings: { METRICS_PORT: '0' }, build: { log } })
const { uri } = server.info

const HOST = 'Host: localhost'
/** A second request, hidden in what one side takes for the body of the first. */
const HIDDEN = `GET /api/v1/hidden HTTP/1.1\r\n${HOST}\r\n\r\n`
const LOGIN = 'POST /api/v1/auth/login HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'

/** Joins lines of a head as HTTP wants them, and adds a body. */
const request = (lines: readonly string[], body = '') => `${lines.join('\r\n')}\r\n\r\n${body}`

/** Requests that two programs may read in two ways, or that no client should send. */
const AMBIGUOUS: Record<string, string> = {
  'a length beside chunks': request(
    [LOGIN, HOST, JSON_TYPE, `Content-Length: ${HIDDEN.length}`, 'Transfer-Encoding: chunked'],
    `0\r\n\r\n${HIDDEN}`,
  ),
  'two lengths': request(
    [LOGIN, HOST, JSON_TYPE, 'Content-Length: 0', `Content-Length: ${HIDDEN.length}`],
    HIDDEN,
  ),
  'a length of two numbers': request([LOGIN, HOST, JSON_TYPE, `Content-Length: 0, ${HIDDEN.length}`], HIDDEN),
  'a length with a sign': request([LOGIN, HOST, JSON_TYPE, 'Content-Length: +0'], HIDDEN),
  'a transfer encoding that is none': request(
    [LOGIN, HOST, JSON_TYPE, 'Transfer-Encoding: xchunked'],
    `0\r\n\r\n${HIDDEN}`,
  ),
  'chunks that are not last': request(
    [LOGIN, HOST, JSON_TYPE, 'Transfer-Encoding: chunked, identity'],
    `0\r\n\r\n${HIDDEN}`,
  ),
  'a space before the colon': request(
    [LOGIN, HOST, JSON_TYPE, `Content-Length : ${HIDDEN.length}`, 'Transfer-Encoding : chunked'],
    `0\r\n\r\n${HIDDEN}`,
  ),
  'a chunk of a length that is none': request(
    [LOGIN, HOST, JSON_TYPE, 'Transfer-Encoding: chunked'],
    `0x0\r\n\r\n${HIDDEN}`,
  ),
  'a folded header': request(['GET /health HTTP/1.1', HOST, 'X-Folded: one', ' two: three']),
  'lines that end without a return': `GET /health HTTP/1.1\n${HOST}\n\n`,
  'a NUL in a header': request(['GET /health HTTP/1.1', HOST, 'X-Nul: a\0b']),
  'a NUL in the path': request(['GET /hea\0lth HTTP/1.1', HOST]),
  'a method that is none': request(['GET\0 /health HTTP/1.1', HOST]),
  'no host': request(['GET /health HTTP/1.1']),
  'heads beyond 16 KiB': request(['GET /health HTTP/1.1', HOST, `X-Long: ${'x'.repeat(17_000)}`]),
  'a URL beyond 16 KiB': request([`GET /health?${'x'.repeat(17_000)} HTTP/1.1`, HOST]),
  'another protocol': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
}
const STATUS: Record<string, [status: number, code: string]> = {
  'heads beyond 16 KiB': [431, 'HEADERS_TOO_LARGE'],
  'a URL beyond 16 KiB': [414, 'URI_TOO_LONG'],
}

for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
  t.test(`${name}: refused, and nothing behind it is answered`, async t => {
    const [status, code] = STATUS[name] ?? [400, 'BAD_REQUEST']
    const { statuses, closedAfter, text } = await exchange(uri, bytes)
    t.strictSame(statuses, [status], text)
    t.type(closedAfter, 'number', 'and the connection is closed')
    checkRefusal(t, text, code)
  })
}

/** Holds bytes of a reply to the error body and the headers that every reply has. */
function checkRefusal(t: Pick<Tap, 'match' | 'equal'>, text: string, code: string): void {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  t.match(head, /^content-type: application\/json; charset=utf-8$/im)
  t.match(head, /^x-request-id: [0-9a-f-]{36}$/im)
  t.match(head, /^connection: close$/im)
  t.equal(/^content-length: (\d+)$/im.exec(head)?.[1], String(Buffer.byteLength(body)))
  t.match(JSON.parse(body), { error: { code, message: /^[A-Z].{10,}/, details: {} } })
}

t.test('what cannot be parsed is logged by its code and its size, never by its bytes', async t => {
  const secret = `aa_live_${randomUUID()}`
  const password = `a yellow bird ${randomUUID()}`
  const from = logged.length
  const credential = `Authorization: Bearer ${secret}`
  const body = JSON.stringify({ email: 'ada@example.com', password })
  for (const bytes of [
    request(['GET /health HTTP/1.1', HOST, credential, `X-Long: ${'x'.repeat(17_000)}`]),
    request(['GET /health HTTP/1.1', HOST, credential, 'X-Note: a\0b']),
    request([LOGIN, HOST, JSON_TYPE, credential, 'Content-Length: 0, 7'], body),
    request([LOGIN, HOST, JSON_TYPE, credential, 'Transfer-Encoding: chunked'], `zz\r\n${body}`),
    request([LOGIN, HOST, JSON_TYPE, `Content-Length: ${body.length}`], `${body}${body}\r\n\r\n`),
  ])
    await exchange(uri, bytes)
  const lines = logged.slice(from).join('')
  for (const text of [secret, password])
    for (const form of [
      text,
      [...Buffer.from(text)].join(','),
      Buffer.from(text).toString('base64').slice(0, 16),
    ])
      t.notOk(lines.includes(form), form)
  t.notMatch(lines, 'rawPacket')
  t.notMatch(lines, /"level":[56]0/, 'a client at fault is no error of the service')
})

t.test('refused requests are logged at once, then counted', async t => {
  const lines: Record<string, unknown>[] = []
  const listener = http.createServer()
  handleClientErrors(listener, {
    log: { info: (line: object) => lines.push({ ...line }) } as never,
    summaryMs: 200,
  })
  await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
  t.teardown(() => listener.close())
  const url = `http://127.0.0.1:${(listener.address() as net.AddressInfo).port}`
  const bad = 'GET\0 / HTTP/1.1\r\n\r\n'
  for (let times = 0; times < 5; times++) await exchange(url, bad)
  const summaries = () =>
    lines.filter(({ codes }) => codes) as { codes: Record<string, number>; bytes: number }[]
  const counted = () =>
    summaries().reduce((sum, { codes }) => sum + Object.values(codes).reduce((a, b) => a + b, 0), 0)
  while (counted() + lines.filter(({ code }) => code).length < 5)
    await new Promise(done => setTimeout(done, 10))
  t.match(lines[0], { code: /^HPE_/, bytes: bad.length, request_id: String })
  t.equal(
    summaries().reduce((sum, { bytes }) => sum + bytes, 0),
    bad.length * counted(),
  )
})

t.test('a reply that is under way is finished before the refusal of what follows it', async t => {
  const { server } = await startServer(t)
  let refused: Promise<unknown> = Promise.resolve()
  // It answers only once the parser has refused what was sent behind it.
  server.route({
    method: 'GET',
    path: '/waits',
    options: access.open,
    handler: () => refused.then(() => ({ waited: true })),
  })
  const good = request(['GET /waits HTTP/1.1', HOST])
  for (const bad of ['GET\0 / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\nHost: x\r\nX-Nul: a\0b\r\n\r\n']) {
    refused = once(server.listener, 'clientError')
    const { statuses, text, closedAfter } = await exchange(server.info.uri, good + good + bad)
    t.strictSame(statuses, [200, 200, 400])
    t.equal(text.match(/waited/g)?.length, 2, 'whole')
    t.type(closedAfter, 'number')
  }
})

t.test('a body that breaks off in the middle is refused once', async t => {
  const head = request([LOGIN, HOST, JSON_TYPE, 'Transfer-Encoding: chunked'])
  const { statuses, text } = await exchange(uri, `${head}2\r\n{"\r\nzz\r\n`)
  t.strictSame(statuses, [400], text)
  checkRefusal(t, text, 'BAD_REQUEST')
  // Its reply does not wait for the body.
  const early = request(['POST /api/v1/sdk/assets HTTP/1.1', HOST, JSON_TYPE, 'Transfer-Encoding: chunked'])
  const answered = await exchange(uri, early, { more: ['zz\r\nmore\r\n'], pause: 300 })
  t.strictSame(answered.statuses, [401], answered.text)
  t.type(answered.closedAfter, 'number')
})

t.test('a request that does not arrive in time gets a timeout reply', async t => {
  const listener = http.createServer({
    headersTimeout: 50,
    requestTimeout: 50,
    connectionsCheckingInterval: 20,
  })
  const log = { info: () => undefined } as never
  handleClientErrors(listener, { log })
  await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
  t.teardown(() => listener.close())
  const url = `http://127.0.0.1:${(listener.address() as net.AddressInfo).port}`
  const { statuses, text, closedAfter } = await exchange(url, 'GET / HTTP/1.1\r\nHost: lo')
  t.strictSame(statuses, [408], text)
  checkRefusal(t, text, 'REQUEST_TIMEOUT')
  t.type(closedAfter, 'number')
})

t.test('a client that keeps its side open is let go all the same', async t => {
  const { port, hostname } = new URL(uri)
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => undefined).write('GET\0 / HTTP/1.1\r\n\r\n')
  const reply = new Promise<string>(done => socket.once('data', chunk => done(String(chunk))))
  const closed = new Promise(done => socket.once('close', done))
  // It goes on writing, by which it learns that the server has closed the connection.
  const writing = setInterval(() => socket.write('x'), 100)
  t.teardown(() => clearInterval(writing))
  checkRefusal(t, await reply, 'BAD_REQUEST')
  await closed
})

t.test('a client that has stopped sending still gets its answer', async t => {
  const { port, hostname } = new URL(uri)
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.end('GET /health HTTP/1.1\r\nHost: loc')
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  t.match(text, /^HTTP\/1\.1 400 /)
  checkRefusal(t, text, 'BAD_REQUEST')
})

t.test('the metrics listener answers in the same way', async t => {
  const opened = logged
    .map(line => JSON.parse(line) as { msg: string; port: number })
    .find(({ msg }) => msg === 'metrics are served')
  const { statuses, text } = await exchange(
    `http://127.0.0.1:${opened?.port}`,
    AMBIGUOUS['a NUL in a header']!,
  )
  t.strictSame(statuses, [400])
  checkRefusal(t, text, 'BAD_REQUEST')
})
