import t from 'tap'
import { exchange } from '../helpers/raw-http.ts'
import { startServer } from '../helpers/server.ts'

const { server } = await startServer(t)
const { uri } = server.info

const HOST = 'Host: localhost'
/** A second request, hidden in what one side takes for the body of the first. */
const HIDDEN = `GET /api/v1/hidden HTTP/1.1\r\n${HOST}\r\n\r\n`
const LOGIN = 'POST /api/v1/auth/login HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'

/** Joins lines of a head as HTTP wants them, and adds a body. */
const request = (lines: readonly string[], body = '') => `${lines.join('\r\n')}\r\n\r\n${body}`

/** What two programs may read in two ways, or nobody should send at all. */
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
  'another protocol': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
}

for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
  t.test(`${name}: refused, and nothing behind it is answered`, async t => {
    const { statuses, closedAfter, text } = await exchange(uri, bytes)
    t.strictSame(statuses, [400], text)
    t.type(closedAfter, 'number', 'and the connection is closed')
  })
}

t.test('a hundred requests at once on one connection are answered in their order', async t => {
  const paths = Array.from({ length: 100 }, (_, n) => (n % 2 ? '/openapi.json' : `/nowhere/${n}`))
  const bytes = paths.map((path, n) =>
    request([`HEAD ${path} HTTP/1.1`, HOST, ...(n === 99 ? ['Connection: close'] : [])]),
  )
  const { statuses, closedAfter } = await exchange(uri, bytes.join(''), { patience: 30_000 })
  t.strictSame(
    statuses,
    paths.map(path => (path === '/openapi.json' ? 200 : 404)),
  )
  t.type(closedAfter, 'number')
})
