import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { generateSigningSecret, signBody } from '../../../plugins/alerts/destinations/signature.ts'
import { pageFile } from '../../../plugins/public/doc-pages.ts'
import { startServer } from '../../helpers/server.ts'

const { server, ask, query } = await startServer(t)

t.test('health is returned in the standard envelope, with and without the version prefix', async t => {
  for (const path of ['/health', '/api/v1/health', '/api/v1/health?probe=1']) {
    const { status, body, headers } = await ask('GET', path)
    t.equal(status, 200, path)
    t.match(body, {
      success: true,
      data: {
        status: 'ok',
        version: /^\d+\.\d+\.\d+/,
        database: { status: 'up', latency_ms: Number },
        jobs: { status: 'up' },
      },
      message: '',
      error: '',
      meta: {},
    })
    t.equal(headers['cache-control'], 'no-store')
  }
})

t.test('jobs without a worker make the service degraded, yet not unavailable', async t => {
  await query(
    `insert into pgboss.job (name, data, state, start_after) values ('jobs.dead', '{}', 'created', now() - interval '1 hour')`,
  )
  t.match((await ask('GET', '/health')).body.data, { status: 'ok' }, 'dead letters are not waiting')
  // The workers of this server would take up any other.
  const { names } = server.jobs
  t.teardown(() => (server.jobs.names = names))
  server.jobs.names = () => [...names(), 'jobs.dead']
  const { status, body } = await ask('GET', '/health')
  t.equal(status, 200)
  t.match(body, {
    success: true,
    data: { status: 'degraded', database: { status: 'up' }, jobs: { status: 'late' } },
    message: /worker/,
  })
})

t.test('a database that is away, or says nothing at all, gives 503 within 5 seconds', async t => {
  const { ping } = server.db
  t.teardown(() => (server.db.ping = ping))
  const away = {
    success: false,
    data: { status: 'degraded', database: { status: 'down', latency_ms: null }, jobs: { status: 'down' } },
    error: 'UNAVAILABLE',
  }
  server.db.ping = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const refused = await ask('GET', '/health')
  t.equal(refused.status, 503)
  t.match(refused.body, away)
  t.notMatch(JSON.stringify(refused.body), /ECONN/, 'what the database says stays in the log')

  let asked = 0
  const silence = Promise.withResolvers<number>()
  server.db.ping = () => (asked++, silence.promise)
  const replies = await Promise.all([ask('GET', '/health'), ask('GET', '/api/v1/health')])
  t.strictSame(
    replies.map(({ status }) => status),
    [503, 503],
  )
  t.match(replies[0].body, away)
  t.equal(asked, 1, 'callers share one question')

  silence.resolve(1)
  server.db.ping = ping
  await new Promise(resolve => setImmediate(resolve))
  t.equal((await ask('GET', '/health')).status, 200, 'and is well again when the database is')
})

t.test('the receiver that the documentation gives takes what is signed, once, and nothing else', async t => {
  const text = await readFile(pageFile('webhooks.md'), 'utf8')
  const [, example = ''] = /```js\n(.*?)```/s.exec(text) ?? []
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  const secret = generateSigningSecret()
  const receiver = spawn(process.execPath, ['--input-type=module', '-e', example], {
    env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), SIGNING_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => receiver.kill('SIGKILL'))
  let printed = ''
  receiver.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const body = JSON.stringify({
    event_type: 'alert.triggered',
    alert: { id: 'a1' },
    event: { type: 'schema_change', asset: { qualified_name: 'shop.shop.public.örders' } },
  })
  const send = (sent: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sent, headers })
  const headers = signBody(body, 'a1', [secret], new Date())
  let reply: Response | undefined
  while (!reply) reply = await send(body, headers).catch(() => undefined)
  t.equal(reply.status, 204)
  t.equal((await send(body, headers)).status, 204, 'a repeat')
  t.equal((await send(body + ' ', headers)).status, 401, 'another body')
  t.equal((await send(body, {})).status, 401, 'no signature')
  t.equal(
    (await send(body, signBody(body, 'a1', [generateSigningSecret()], new Date()))).status,
    401,
    'another secret',
  )
  t.equal(printed, 'alert.triggered schema_change shop.shop.public.örders\n', 'worked on once')
})
