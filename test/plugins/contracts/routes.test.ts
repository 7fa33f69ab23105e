import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { command } from '../../helpers/command.ts'
import { startServer } from '../../helpers/server.ts'
import { minimal } from './corpus.ts'

const { server, ask, query } = await startServer(t)
t.beforeEach(() => query('delete from rate_windows'))
const PATH = '/api/public/contracts/validate'
const yaml = 'apiVersion: v3.1.0\nkind: DataContract\nid: orders\nversion: 1.0.0\nstatus: active\n'

async function send(payload: string | Buffer, type?: string, remoteAddress = '127.0.0.1') {
  const headers = type === undefined ? {} : { 'content-type': type }
  const {
    statusCode,
    result,
    headers: given,
  } = await server.inject({ method: 'POST', url: PATH, payload, headers, remoteAddress })
  return { status: statusCode, body: result as Record<string, unknown>, headers: given }
}

t.test('a contract in YAML is validated, under each of its names', async t => {
  for (const type of [
    'application/yaml',
    'application/x-yaml',
    'text/yaml; charset=utf-8',
    'text/plain',
    undefined,
  ]) {
    t.match(await send(yaml, type), {
      status: 200,
      body: {
        success: true,
        data: { valid: true, api_version: 'v3.1.0', errors: [], warnings: [] },
        error: '',
        meta: { errors_found: 0, warnings_found: 0 },
      },
    })
  }
})

t.test('JSON is a contract, or holds one in YAML', async t => {
  t.match((await ask('POST', PATH, minimal('v3.1.0'))).body.data, { valid: true })
  t.match((await ask('POST', PATH, { contract: yaml })).body.data, { valid: true })
  t.match((await ask('POST', PATH, { contract: 'a: 1' })).body.data, { valid: false })
  const beside = await ask('POST', PATH, { ...minimal('v3.1.0'), contract: yaml })
  t.match(
    beside.body.data,
    { valid: false, errors: [{ path: '/contract', line: null }] },
    'beside others it is a field',
  )
  t.match(await ask('POST', PATH, { contract: minimal('v3.1.0') }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'contract'], type: 'string.base' }] },
  })
})

t.test('JSON that is no object is an invalid contract, as the same text in YAML is', async t => {
  for (const text of ['[]', '[{"a":1}]', '7', '1e400', 'true', 'null', '"apiVersion: v3.1.0"']) {
    for (const [type, body] of [
      ['application/json', text],
      ['application/yaml', text],
      ['application/json', JSON.stringify({ contract: text })],
    ] as const) {
      const reply = await send(body, type)
      t.match(
        reply,
        { status: 200, body: { data: { valid: false, errors: [{ path: '', keyword: 'type' }] } } },
        `${type} ${body}`,
      )
      t.equal((reply.body.data as { errors: unknown[] }).errors.length, 1)
    }
  }
})

t.test('an invalid contract is a good reply that says what is wrong', async t => {
  t.match(await send(yaml.replace('id: orders', 'id: 7'), 'application/yaml'), {
    status: 200,
    body: {
      success: true,
      data: {
        valid: false,
        errors: [{ path: '/id', line: 3, message: /^expected a text/, keyword: 'type' }],
      },
      meta: { errors_found: 1 },
    },
  })
})

t.test('what cannot be read is refused by the form that says why', async t => {
  t.match(await send('a: [', 'text/yaml'), {
    status: 422,
    body: { detail: [{ loc: ['body'], type: 'yaml.syntax' }] },
  })
  t.match(await send('a: 1\na: 2', 'text/yaml'), {
    status: 422,
    body: { detail: [{ type: 'yaml.duplicate_key', msg: /^line 2: / }] },
  })
  t.match(await send('', 'text/yaml'), { status: 422, body: { detail: [{ loc: ['body'] }] } })
  t.match(await send(`${'a: {'.repeat(40)}${'}'.repeat(40)}`.replace('a: {', '{'), 'text/yaml'), {
    status: 400,
  })
  t.match(await send('a: "\0"', 'application/yaml'), {
    status: 400,
    body: { error: { code: 'BAD_REQUEST' } },
  })
  t.match(await send(Buffer.from([0x61, 0x3a, 0x20, 0xff]), 'application/yaml'), { status: 400 })
  t.match(await send('{"a"', 'application/json'), { status: 400 })
  t.match(await send('a', 'application/xml'), {
    status: 415,
    body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: /application\/yaml/ } },
  })
})

t.test('256 KiB of contract are taken, and no byte more', async t => {
  const full = (size: number) => `a: ${'x'.repeat(size - 3)}`
  t.equal((await send(full(262_144), 'text/yaml')).status, 200)
  t.match(await send(full(262_145), 'text/yaml'), {
    status: 413,
    body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
  })
  t.equal((await ask('POST', PATH, { contract: full(262_145) })).status, 413)
  t.equal((await ask('POST', PATH, { a: full(262_145) })).status, 413)
})

/** Takes long enough that contracts wait for the two threads. */
const slowYaml = yaml + Array.from({ length: 1_000 }, (_, at) => `unknown${at}: 1`).join('\n')

t.test('with too many contracts at once some are asked to retry, and the service goes on', async t => {
  const replies = await Promise.all(Array.from({ length: 24 }, () => send(slowYaml, 'text/yaml')))
  const refused = replies.filter(({ status }) => status === 503)
  t.ok(refused.length > 0)
  t.equal(refused.length + replies.filter(({ status }) => status === 200).length, 24)
  for (const { headers, body } of refused) {
    t.equal(headers['retry-after'], '2')
    t.match(body, { error: { code: 'UNAVAILABLE', message: /try again/ } })
  }
  t.equal((await send(yaml, 'text/yaml')).status, 200)
})

t.test('one address that sends slow contracts leaves room for others', async t => {
  const replies: number[] = []
  let onRefusal: (value?: unknown) => void = () => undefined
  const isFull = new Promise(done => (onRefusal = done))
  const flood = Array.from({ length: 14 }, async () => {
    const { status } = await send(slowYaml, 'text/yaml', '192.0.2.1')
    replies.push(status)
    if (replies.filter(known => known === 503).length === 2) onRefusal()
  })
  await isFull
  const others = await Promise.all(
    Array.from({ length: 6 }, (_, at) => send(yaml, 'text/yaml', `192.0.2.${at + 2}`)),
  )
  t.strictSame(
    others.map(({ status }) => status),
    Array(6).fill(200),
  )
  await Promise.all(flood)
  t.ok(
    replies.some(status => status !== 503),
    'the address itself is served too',
  )
})

t.test('an address may validate 30 contracts a minute', async t => {
  for (let count = 1; count <= 30; count++) {
    const { status, headers } = await send('a: 1', 'text/yaml', '192.0.2.40')
    t.equal(status, 200)
    t.match(headers, { 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': String(30 - count) })
  }
  const refused = await send('a: 1', 'text/yaml', '192.0.2.40')
  t.match(refused, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  t.match(refused.headers, { 'retry-after': /^\d+$/, 'x-ratelimit-remaining': '0' })
  t.equal((await send('a: 1', 'text/yaml', '192.0.2.41')).status, 200, 'another address is not affected')
})

t.test('the command line validates here and from afar, and ends by the verdict', async t => {
  const folder = mkdtempSync(join(t.testdir(), 'contracts-'))
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const good = file('good.yaml', yaml)
  const bad = file('bad.yaml', `${yaml}stranger: 1\n`)
  const none = file('none.yaml', 'a: [')
  for (const far of [[], ['--url', server.info.uri]]) {
    const run = (path: string) => command(['contracts', 'validate', path, ...far])
    t.match(await run(good), { code: 0, out: `${good}: valid, ODCS v3.1.0, 0 errors, 0 warnings\n` })
    t.match(await run(bad), { code: 1, out: /bad\.yaml:6: error: \/stranger: expected no field/ })
    t.match(await run(none), { code: 2, out: '', err: /none\.yaml: line 1/ })
    const prose = join(import.meta.dirname, '../../../README.md')
    const lines = (await run(prose)).err.trim().split('\n')
    t.equal(lines.length, 6, 'five faults, and how many more')
    for (const line of lines) t.ok(line.length < prose.length + 220, 'each fits some lines of a terminal')
    t.match(await run(join(folder, 'absent.yaml')), { code: 2, err: /is not there/ })
    t.match(await run(file('bytes.yaml', Buffer.from([0xff]))), { code: 2, err: /is not UTF-8/ })
    t.match(await run(file('large.yaml', 'x'.repeat(262_145))), {
      code: 2,
      err: /large\.yaml: .*at most 262144 are allowed/,
    })
  }
  const { code, out } = await command(['contracts', 'validate', bad, '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(out), { valid: false, api_version: 'v3.1.0', errors: [{ path: '/stranger', line: 6 }] })
  for (const far of [[], ['--url', server.info.uri]]) {
    for (const [path, message] of [
      [join(folder, 'absent.yaml'), /is not there/],
      [none, /none\.yaml: line 1/],
      [join(folder, 'large.yaml'), /at most 262144 are allowed/],
    ] as const) {
      const failed = await command(['contracts', 'validate', path, '--json', ...far])
      t.equal(failed.code, 2)
      t.match(JSON.parse(failed.out), { error: { code: 'UNREADABLE', message } }, `${path} ${far.join(' ')}`)
    }
  }
  t.match(await command(['contracts', 'validate', good, '--url', 'http://127.0.0.1:1']), {
    code: 5,
    err: /cannot be reached/,
  })
})
