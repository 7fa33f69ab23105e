import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { newSigningSecret, signatures } from '../../plugins/alerts/signature.ts'
import { pageFile, pageNames } from '../../plugins/public/pages.ts'
import { startServer } from '../helpers/server.ts'

const { server, ask, query } = await startServer(t)

/** Sends a request line as it stands: no client resolves `..` in it first. */
async function statusOf(target: string): Promise<number> {
  const socket = connect(Number(server.info.port), '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return Number(chunk.toString().split(' ')[1])
}

t.test('health is told in the standard envelope, with and without the version prefix', async t => {
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

t.test('work that nobody takes up makes the service degraded, yet not unavailable', async t => {
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

t.test('the reference loads nothing from another host', async t => {
  const { status, body, headers } = await ask('GET', '/docs')
  t.equal(status, 200)
  t.match(headers['content-type'], /^text\/html/)
  const policy = String(headers['content-security-policy'])
  t.match(policy, "default-src 'none'")
  t.notMatch(policy, /unsafe|https?:|\*/)
  const loaded = [...String(body).matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address ?? '')
  t.ok(loaded.length >= 5)
  for (const address of loaded) {
    t.match(address, /^\/[a-z]/, address)
    t.equal((await ask('GET', address)).status, 200, address)
  }
  t.notMatch(body, /<script>|<style|style=|onload=/, 'nor anything inside the page that the policy forbids')
  t.match((await ask('GET', '/docs/start.js')).headers['content-type'], /^text\/javascript/)
  for (const file of ['package.json', 'index.js', '..%2fpackage.json', 'swagger-ui.js']) {
    t.not((await ask('GET', `/docs/assets/${file}`)).status, 200, file)
  }
})

t.test('pages are markdown without front matter', async t => {
  t.ok(pageNames.includes('getting-started'))
  for (const name of pageNames) {
    const { status, body, headers } = await ask('GET', `/api/public/docs/${name}.md`)
    t.equal(status, 200, name)
    t.match(headers['content-type'], /^text\/markdown/)
    t.match(body, /^# \S/, 'begins with its title')
    for (const [, link = ''] of String(body).matchAll(/\]\(([a-z0-9/-]+)\.md\)/g)) {
      t.ok(pageNames.includes(link), `${name} links to ${link}`)
    }
  }
})

t.test('a page that is missing is 404 and says which there are', async t => {
  for (const path of [
    'nothing.md',
    'getting-started',
    'Getting-Started.md',
    'a/b/c.md',
    'getting-started.md.md',
    'two words.md',
    '',
  ]) {
    const { status, body } = await ask('GET', `/api/public/docs/${encodeURI(path)}`)
    t.equal(status, 404, path)
    t.equal(body.error.code, 'NOT_FOUND')
    t.ok(body.error.details.pages.includes('api-errors'))
  }
})

t.test('every form of traversal is 403', async t => {
  const forms = [
    '../routes.ts',
    '../../../package.json',
    '%2e%2e/routes.ts',
    '.%2e/routes.ts',
    '..%2froutes.ts',
    '..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
    '..%2F..%2Fetc%2Fpasswd.md',
    '..%5c..%5cetc%5cpasswd.md',
    '..\\..\\etc\\passwd.md',
    '%252e%252e%252fpackage.json',
    '%25252e%25252e%25252fpackage.json',
    '/etc/passwd.md',
    '//etc/passwd',
    '%2fetc%2fpasswd.md',
    'C:%5cwindows%5cwin.ini',
    'getting-started.md/../../routes.ts',
    './getting-started.md',
    '%2e/getting-started.md',
    '.env',
    '.git/config',
    '%c0%ae%c0%ae/routes.ts',
    '%uff0e%uff0e/routes.ts',
    '%ef%bc%8e%ef%bc%8e/routes.ts',
    '..;/routes.ts',
    '~root/.profile',
    'getting-started.md%0a',
  ]
  for (const form of forms) t.equal(await statusOf(`/api/public/docs/${form}`), 403, form)
  t.equal(await statusOf('http://localhost/api/public/docs/../routes.ts'), 403, 'absolute form')
  t.equal(await statusOf('/api/public/docs/getting-started.md%00.png'), 400, 'NUL')
  t.equal(await statusOf('/api/public/docs/getting-started.md?from=../x'), 200, 'a query is no path')
})

t.test('the receiver that the documentation gives takes what is signed, once, and nothing else', async t => {
  const text = await readFile(pageFile('webhooks.md'), 'utf8')
  const [, example = ''] = /```js\n(.*?)```/s.exec(text) ?? []
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  const secret = newSigningSecret()
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
  const headers = signatures(body, 'a1', [secret], new Date())
  let reply: Response | undefined
  while (!reply) reply = await send(body, headers).catch(() => undefined)
  t.equal(reply.status, 204)
  t.equal((await send(body, headers)).status, 204, 'a repeat')
  t.equal((await send(body + ' ', headers)).status, 401, 'another body')
  t.equal((await send(body, {})).status, 401, 'no signature')
  t.equal(
    (await send(body, signatures(body, 'a1', [newSigningSecret()], new Date()))).status,
    401,
    'another secret',
  )
  t.equal(printed, 'alert.triggered schema_change shop.shop.public.örders\n', 'worked on once')
})
