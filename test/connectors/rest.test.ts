import { inspect } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ConnectOptions, Row } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { classifyRestError, RestFailure } from '../../connectors/rest/errors.ts'
import { NO_RETRIES, openRestClient, REPEATABLE, type RestClient } from '../../connectors/rest/http.ts'
import { runRestStatement, type StatementApi } from '../../connectors/rest/statements.ts'
import { runConnectionTest, type StageReporter } from '../../connectors/stages.ts'
import type { CertificateKind } from '../helpers/certificates.ts'
import { startService, type Answer, type Exchange } from '../helpers/warehouse.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

interface Opening {
  certificate?: CertificateKind
  step?: StageReporter
  options?: Partial<ConnectOptions>
  headers?: () => Record<string, string>
}

const HOST = 'api.warehouse.test'
const SECRET = 'Bearer s3cr3t-t0ken'

const classify = (thrown: unknown) => classifyRestError('warehouse', [], thrown)

/** A service and a way to it, as connectors have; egress is the only one that knows the address. */
async function open(
  t: Teardown,
  answer: (exchange: Exchange) => Promise<Answer> | Answer,
  { certificate, step, options = {}, headers = () => ({ authorization: SECRET }) }: Opening = {},
) {
  const service = await startService(t, [HOST], answer, certificate)
  const asked: string[] = []
  const egress: ConnectOptions['egress'] = {
    async address(name, port) {
      asked.push(`${name}:${port}`)
      return '127.0.0.1'
    },
    file: path => Promise.resolve(path),
    folder: path => Promise.resolve(path),
  }
  const http = await openRestClient(
    { engine: 'warehouse', host: HOST, port: service.port },
    { egress, log: { debug() {}, warn() {} }, ...options },
    {
      headers,
      describe: body => (body as { error?: { code: string; message: string } } | null)?.error ?? {},
    },
    step,
  )
  t.teardown(() => http.close())
  return { http, service, asked }
}

const get = (http: RestClient, path = '/x') => http.send({ method: 'GET', path, retry: REPEATABLE })

/** What something is rejected with. */
async function thrownBy(doing: Promise<unknown>): Promise<Error & { code?: string }> {
  return doing.then(
    () => new Error('it was not rejected'),
    (error: Error) => error,
  )
}

t.test('requests', async t => {
  t.test('go to the address of egress and to no other', async t => {
    const { http, asked, service } = await open(t, ({ path, headers }) => ({
      body: { path, host: headers.host, authorization: headers.authorization },
    }))
    t.same(asked, [`${HOST}:${service.port}`], 'asked once, at opening')
    const { status, body } = await get(http, '/a%2Fb')
    t.equal(status, 200)
    t.same(body, { path: '/a%2Fb', host: `${HOST}:${service.port}`, authorization: SECRET })
    await get(http)
    t.equal(asked.length, 1)
  })

  t.test('are not sent where egress refuses', async t => {
    const refuse = async (): Promise<never> => {
      throw new ConnectorError({ kind: 'egress-refused', engine: '', message: 'not allowed' })
    }
    const egress = { address: refuse, file: refuse, folder: refuse }
    const error = await thrownBy(open(t, () => ({ body: {} }), { options: { egress } }))
    t.match(error, { kind: 'egress-refused' })
  })

  t.test('are not redirected', async t => {
    const { http, service } = await open(t, () => ({
      status: 302,
      body: '',
      headers: { location: 'https://169.254.169.254/latest' },
    }))
    const error = classify(await thrownBy(get(http)))
    t.match(error, { kind: 'network', message: /status 302|elsewhere/ })
    t.equal(service.requests.length, 1)
  })

  t.test('are asked again of a busy service only when asking twice does no harm', async t => {
    const statuses = [429, 503, 200]
    const { http, service } = await open(t, () => ({
      status: statuses[service.requests.length - 1] ?? 200,
      body: { at: service.requests.length },
      headers: { 'retry-after': '0' },
    }))
    t.same(await get(http), { status: 200, body: { at: 3 } })
    service.requests.length = 0
    const once = http.send({ method: 'POST', path: '/x', body: {}, retry: NO_RETRIES })
    t.match(classify(await thrownBy(once)), { kind: 'network', message: /takes no more requests just now/ })
    t.equal(service.requests.length, 1)
  })

  t.test('are not asked again of a service that wants to be left alone for long', async t => {
    const headers = { 'retry-after': '11' }
    const { http, service } = await open(t, () => ({ status: 503, body: {}, headers }))
    t.match(classify(await thrownBy(get(http))), { kind: 'network' })
    t.equal(service.requests.length, 1)
  })

  t.test('are asked again in other words where the engine has them for a further try', async t => {
    const { http, service } = await open(t, () => ({
      status: service.requests.length > 1 ? 200 : 503,
      body: {},
    }))
    const query = { id: 'a' }
    const retry = { ...REPEATABLE, pausesMs: [1] }
    const againWith = () => ({ query: { ...query, retry: true } })
    await http.send({ method: 'POST', path: '/x', query, retry, againWith })
    t.strictSame(
      service.requests.map(request => String(request.query)),
      ['id=a', 'id=a&retry=true'],
    )
  })

  t.test('are asked again when their connection is cut, if asking twice does no harm', async t => {
    let cuts = 1
    const { http, service } = await open(t, ({ socket }) => {
      if (cuts-- > 0) socket.destroy()
      return { body: {} }
    })
    t.match(await get(http), { status: 200 })
    t.equal(service.requests.length, 2)
    cuts = 1
    const once = http.send({ method: 'POST', path: '/x', body: {}, retry: NO_RETRIES })
    t.match(classify(await thrownBy(once)), { kind: 'network' })
    t.equal(service.requests.length, 3)
  })

  t.test('that stay unanswered are given up with kind timeout', async t => {
    const { http } = await open(t, async () => {
      await sleep(3000, undefined, { ref: false })
      return { body: {} }
    })
    const error = classify(
      await thrownBy(http.send({ method: 'POST', path: '/x', retry: NO_RETRIES, timeoutMs: 100 })),
    )
    t.equal(error.kind, 'timeout')
  })

  t.test('end when their signal aborts, with its reason', async t => {
    const { http } = await open(t, async () => {
      await sleep(3000, undefined, { ref: false })
      return { body: {} }
    })
    const giving = new AbortController()
    const doing = thrownBy(http.send({ method: 'GET', path: '/x', retry: REPEATABLE, signal: giving.signal }))
    await sleep(50)
    giving.abort(new Error('changed my mind'))
    t.equal((await doing).message, 'changed my mind')
  })
})

t.test('failures', async t => {
  t.test('carry the code of the vendor, or the status', async t => {
    const { http } = await open(t, ({ path }) => ({
      status: Number(path.slice(1, 4)),
      body: path.endsWith('coded') ? { error: { code: 'E1', message: 'no such thing' } } : '<html></html>',
    }))
    const failed = async (path: string) =>
      thrownBy(http.send({ method: 'POST', path, retry: NO_RETRIES })) as Promise<RestFailure>
    t.match(await failed('/422/coded'), {
      name: 'RestFailure',
      status: 422,
      code: 'E1',
      message: 'no such thing',
    })
    t.match(await failed('/500'), {
      status: 500,
      code: 'HTTP_500',
      message: 'The server answered with status 500',
    })
    for (const [status, kind] of [
      [401, 'credentials'],
      [403, 'permission'],
      [404, 'missing-object'],
      [408, 'timeout'],
      [429, 'network'],
      [503, 'network'],
      [504, 'timeout'],
      [422, 'other'],
    ] as const) {
      t.equal(classify(await failed(`/${status}`)).kind, kind, String(status))
      t.equal(classify(await failed(`/${status}/coded`)).kind, kind, `${status} with a code of the vendor`)
      t.match(classify(await failed(`/${status}/coded`)).message, /no such thing/)
    }
  })

  t.test('never hold the token, whatever went wrong', async t => {
    const big = 'x'.repeat(1024)
    const { http, service } = await open(t, ({ path }) => ({
      status: path === '/500' ? 500 : 200,
      body: path === '/500' ? { seen: SECRET } : big,
    }))
    const signal = AbortSignal.timeout(1)
    const errors = [
      await thrownBy(http.send({ method: 'POST', path: '/500', retry: NO_RETRIES })),
      await thrownBy(http.send({ method: 'POST', path: '/x', retry: NO_RETRIES, signal })),
    ]
    service.requests.length = 0
    http.close()
    const cut = await open(t, () => ({ body: {} }), { certificate: 'wrong-host' })
    errors.push(await thrownBy(get(cut.http)))
    for (const error of errors) {
      t.notMatch(error.message, /not rejected/)
      for (const shown of [
        inspect(error, { depth: 9 }),
        JSON.stringify(error),
        inspect(classify(error), { depth: 9 }),
      ])
        t.notMatch(shown, /s3cr3t/)
    }
  })

  t.test('of a service that is gone are of kind network, and are reported at once', async t => {
    const egress = {
      address: () => Promise.resolve('127.0.0.1'),
      file: (path: string) => Promise.resolve(path),
      folder: (path: string) => Promise.resolve(path),
    }
    const options = { egress, log: { debug() {}, warn() {} } }
    const gone = { engine: 'warehouse', host: HOST, port: 1 }
    const http = await openRestClient(gone, options, { headers: () => ({}), describe: () => ({}) })
    t.teardown(() => http.close())
    t.match(classify(await thrownBy(get(http))), { kind: 'network', code: 'ECONNREFUSED' })
  })

  t.test('report a body that is larger than any page', async t => {
    const half = 'x'.repeat(70 * 1024 * 1024)
    const { http } = await open(t, () => ({ body: `"${half}${half}"` }))
    t.match(classify(await thrownBy(get(http))), { kind: 'other', code: 'TOO_LARGE' })
  })

  t.test('of certificates are of kind tls', async t => {
    for (const certificate of ['self-signed', 'expired', 'wrong-host', 'unknown-authority'] as const) {
      const { http } = await open(t, () => ({ body: {} }), { certificate })
      t.equal(classify(await thrownBy(get(http))).kind, 'tls', certificate)
    }
  })
})

t.test('stages are reported when asked for', async t => {
  const stagesWith = (certificate?: CertificateKind) =>
    runConnectionTest(classify, async step => {
      await open(t, () => ({ body: {} }), { certificate, step })
      step('sign_in', 'done')
      step('read_catalog', 'done')
    })
  t.same(
    (await stagesWith()).map(({ name, status }) => `${name} ${status}`),
    ['reach passed', 'tls passed', 'sign_in passed', 'read_catalog passed'],
  )
  for (const certificate of ['self-signed', 'expired', 'wrong-host', 'unknown-authority'] as const) {
    const stages = await stagesWith(certificate)
    t.same(
      stages.map(({ name, status }) => `${name} ${status}`),
      ['reach passed', 'tls failed', 'sign_in skipped', 'read_catalog skipped'],
    )
    t.equal(stages[1]?.error?.kind, 'tls', certificate)
  }
})

/** A service that runs statements, on paper: what was done to it, in order. */
function paperApi(changes: Partial<StatementApi<string>> = {}) {
  const log: string[] = []
  const rows = (from: number): Row[] => [from, from + 1].map(n => ({ n }))
  const api: StatementApi<string> = {
    async start(statement) {
      log.push(`start ${statement}`)
      return { id: 'a' }
    },
    async poll(id) {
      log.push(`poll ${id}`)
      return log.filter(entry => entry.startsWith('poll')).length < 3
        ? { id }
        : { id, first: { rows: rows(0), next: '1' } }
    },
    async page(id, next) {
      log.push(`page ${id} ${next}`)
      const page = Number(next)
      return { rows: rows(page * 2), ...(page < 3 && { next: String(page + 1) }) }
    },
    async cancel(id) {
      log.push(`cancel ${id}`)
    },
    ...changes,
  }
  const run = (limits: { timeoutMs: number; maxRows?: number }, signal = new AbortController().signal) =>
    runRestStatement('warehouse', api, 'select', limits, signal)
  return { log, run }
}

const LONG = { timeoutMs: 20_000 }

t.test('statements', async t => {
  t.test('are asked after until they have ended, and read to the last page', async t => {
    const { log, run } = paperApi()
    t.same(
      (await run(LONG)).map(row => row.n),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    t.same(log, ['start select', 'poll a', 'poll a', 'poll a', 'page a 1', 'page a 2', 'page a 3'])
  })

  t.test('are read no further than maxRows', async t => {
    for (const [maxRows, pages] of [
      [1, 0],
      [2, 0],
      [3, 1],
      [6, 2],
      [100, 3],
    ] as const) {
      const { log, run } = paperApi()
      t.equal((await run({ ...LONG, maxRows })).length, Math.min(maxRows, 8))
      t.equal(log.filter(entry => entry.startsWith('page')).length, pages, `pages for ${maxRows} rows`)
    }
  })

  t.test('that have ended at once are not asked after', async t => {
    const { log, run } = paperApi({ start: async () => ({ id: 'a', first: { rows: [{ n: 1 }] } }) })
    t.same(await run(LONG), [{ n: 1 }])
    t.same(log, [])
  })

  t.test('are cancelled when their caller gives up', async t => {
    const { log, run } = paperApi({ poll: async id => ({ id }) })
    const giving = new AbortController()
    const doing = thrownBy(run(LONG, giving.signal))
    await sleep(80)
    giving.abort(new Error('given up'))
    t.equal((await doing).message, 'given up')
    t.same(log, ['start select', 'cancel a'])
  })

  t.test('are cancelled also when the service has yet to name them', async t => {
    const starting = Promise.withResolvers<void>()
    const { log, run } = paperApi({
      async start() {
        await starting.promise
        return { id: 'late' }
      },
    })
    const giving = new AbortController()
    const doing = thrownBy(run(LONG, giving.signal))
    giving.abort(new Error('given up'))
    await sleep(20)
    t.same(log, [])
    starting.resolve()
    t.equal((await doing).message, 'given up')
    t.same(log, ['cancel late'])
  })

  t.test('are cancelled while their pages are read', async t => {
    const giving = new AbortController()
    const { log, run } = paperApi({
      async page(_id, _next, signal) {
        giving.abort(new Error('given up'))
        signal.throwIfAborted()
        return { rows: [] }
      },
    })
    t.equal((await thrownBy(run(LONG, giving.signal))).message, 'given up')
    t.equal(log.at(-1), 'cancel a')
  })

  t.test('are not started for a caller who has given up', async t => {
    const { log, run } = paperApi()
    t.equal((await thrownBy(run(LONG, AbortSignal.abort(new Error('given up'))))).message, 'given up')
    t.same(log, [])
  })

  t.test('that the service lets run over their time are cancelled, with kind timeout', async t => {
    const { log, run } = paperApi({ poll: async id => ({ id }) })
    t.match(await thrownBy(run({ timeoutMs: 1 })), { kind: 'timeout', message: /ran over its time/ })
    t.equal(log.at(-1), 'cancel a')
  })

  t.test('that fail by themselves are not cancelled', async t => {
    const { log, run } = paperApi({
      async poll() {
        throw new RestFailure(422, { code: 'E1', message: 'bad statement' })
      },
    })
    t.match(await thrownBy(run(LONG)), { code: 'E1' })
    t.same(log, ['start select'])
  })

  t.test('that can no longer be asked after are cancelled', async t => {
    for (const thrown of [new RestFailure(401, {}), new RestFailure(503, {}), new Error('cut')]) {
      const { log, run } = paperApi({
        async poll() {
          throw thrown
        },
      })
      t.equal(await thrownBy(run(LONG)), thrown)
      t.same(log, ['start select', 'cancel a'])
    }
  })

  t.test('whose cancelling is never answered are given up all the same', async t => {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    // Limits do not keep a process alive.
    const awake = setInterval(() => {}, 1000)
    t.teardown(() => clearInterval(awake))
    t.intercept(AbortSignal, 'timeout', { value: (ms: number) => timeout(Math.ceil(ms / 100)) })
    const { run } = paperApi({ poll: async id => ({ id }), cancel: () => new Promise(() => {}) })
    t.match(await thrownBy(run({ timeoutMs: 1 })), { kind: 'timeout' })
  })

  t.test('whose cancelling fails are given up all the same', async t => {
    const { run } = paperApi({
      poll: async id => ({ id }),
      async cancel() {
        throw new Error('cannot be cancelled')
      },
    })
    t.equal((await thrownBy(run(LONG, AbortSignal.timeout(60)))).name, 'TimeoutError')
  })
})
