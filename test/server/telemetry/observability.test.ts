/** What operators see of a server at work: its metrics, its log from a request to the webhook, its spans. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node'
import t from 'tap'
import { makeLog } from '../../../server/telemetry/log.ts'
import { deliverJob } from '../../../plugins/alerts/delivery/job-kinds.ts'
import { sweepJob } from '../../../plugins/alerts/jobs.ts'
import { pageFile } from '../../../plugins/public/doc-pages.ts'
import { watchedLog } from '../../helpers/log-watch.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { blocksOf } from '../../plugins/public/docs-blocks.ts'

const run = promisify(execFile)
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.register()
t.teardown(() => {
  trace.disable()
  return provider.shutdown()
})

const folder = t.testdir({ 'tidemark.log': '' })
const logFile = join(folder, 'tidemark.log')
const receiver = await startReceiver(t)
const world = await makeWorld(t, ['create table secret_orders (id int, discount numeric)'], {
  settings: { METRICS_PORT: '0', TRUST_PROXY: '1' },
  build: {
    log: makeLog({ logLevel: 'debug', logFormat: 'json' }, { write: line => appendFileSync(logFile, line) }),
  },
})
const { app, tenant, asset } = world
const { server } = app
await discover(world)
const made = await tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
  name: 'page',
  destination_type: 'webhook',
  config: { url: `${receiver.url}/hook` },
})
if (made.status !== 201) throw new Error(JSON.stringify(made.body))

type Line = Record<string, unknown> & { msg: string }
const lines = () =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Line)

/** Where metrics and health are served. */
const door = () => {
  const opened = lines().find(({ msg }) => msg === 'metrics are served')
  return `http://127.0.0.1:${String(opened?.port)}`
}
const scrape = async () => (await fetch(`${door()}/metrics`)).text()
const sample = (text: string, start: string) =>
  Number(
    text
      .split('\n')
      .find(line => line.startsWith(start))
      ?.split(' ')
      .at(-1),
  )

/** Runs a block of the page as a reader would, and gives what it prints. */
async function shell(text: string, variables: Record<string, string>): Promise<string> {
  const env = {
    PATH: String(process.env.PATH),
    BASE: server.info.uri,
    ASSET: asset.id,
    KEY: tenant.key,
    ...variables,
  }
  return (await run('bash', ['-c', text], { cwd: folder, env })).stdout
}

t.test('the page shows how to follow one request to the webhook that it caused', async t => {
  const page = blocksOf('observability').filter(({ language }) => language === 'sh')
  const [ask, follow, receipt] = ['ID=$(', '@tsv', 'delivery attempted'].map(
    mark => page.find(({ text }) => text.includes(mark))?.text ?? '',
  ) as [string, string, string]
  await world.source.query('alter table secret_orders drop column discount')
  const delivered = server.jobs.settled(deliverJob, ({ n }) => n === 1)
  const id = (await shell(ask, {})).trim()
  t.match(id, /^[0-9a-f-]{36}$/, 'the reply names the request')
  const [received] = await receiver.received(1)
  await delivered

  const followed = (await shell(follow, { ID: id })).trim().split('\n')
  const steps = followed.map(line => line.split('\t').slice(1))
  t.match(steps[0], ['request', /^\[response\] post .*\/discover 202/], 'the request comes first')
  t.strictSame(
    steps.slice(1).filter(([, msg]) => msg === 'job completed'),
    [
      ['catalog.discover', 'job completed'],
      ['alerts.deliver', 'job completed'],
    ],
    'then the jobs that it led to, one of them sent by the other',
  )
  const [sent] = (await shell(receipt, { ID: id })).trim().split('\n')
  t.strictSame(sent?.split('\t'), [
    received?.headers['x-service-delivery'],
    '1',
    received?.headers['x-request-id'],
    'delivered',
  ])
  const caused = lines().filter(({ origin }) => origin === id)
  t.ok(
    caused.every(line => line.company_id === tenant.companyId),
    'every line says whose it is',
  )
  t.match(
    caused.find(({ msg }) => msg === 'delivery attempted'),
    { job: 'alerts.deliver', job_id: String, delivery_id: sent?.split('\t')[0], n: 1, ms: Number },
  )
})

t.test('a job goes back to what caused it, and no job sees that', async t => {
  const stored = await app.query(
    `select data -> '_origin' ->> 'id' as origin, data - '_origin' as data from pgboss.job where name = 'alerts.deliver'`,
  )
  t.match(stored, [{ origin: /^[0-9a-f-]{36}$/, data: { company_id: tenant.companyId, n: 1 } }])
  t.strictSame(Object.keys((stored[0] as { data: object }).data).sort(), ['company_id', 'delivery_id', 'n'])

  const id = await server.jobs.send(sweepJob, {})
  await server.jobs.settled(sweepJob, () => true)
  const own = lines().find(line => line.job_id === id)
  t.match(own, { origin: id, level: 20, msg: 'job completed' }, 'a sweep goes back to itself, and is quiet')
})

t.test('requests at once do not take on the origins of others', async t => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const reply = await fetch(`${server.info.uri}/api/v1/assets/${randomUUID()}`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      })
      await reply.text()
      return reply.headers.get('x-request-id')
    }),
  )
  const ofRequests = lines().filter(({ origin }) => ids.includes(String(origin)))
  t.equal(new Set(ids).size, 20)
  t.equal(ofRequests.length, 20, 'a line each')
  t.ok(ofRequests.every(line => (line.req as { id: string }).id === line.origin))
})

t.test('the id of a caller is kept behind a proxy when it is well formed', async t => {
  const given = `edge-${randomUUID()}`
  const ask = async (id: string) =>
    (await fetch(`${server.info.uri}/health`, { headers: { 'x-request-id': id } })).headers.get(
      'x-request-id',
    )
  t.equal(await ask(given), given)
  for (const hostile of ['short', 'a'.repeat(129), 'two words', '{"a":"b"}'])
    t.not(await ask(hostile), hostile)
  t.ok(lines().some(({ origin }) => origin === given))
})

t.test('metrics count what was done, and are served at a port of their own', async t => {
  const before = await scrape()
  const route = `tidemark_http_requests_total{method="GET",route="/api/v1/assets/{asset_id}",status="4xx"}`
  await tenant.ask('GET', `/api/v1/assets/${randomUUID()}`)
  await app.ask('GET', `/nowhere/${randomUUID()}`)
  const text = await scrape()
  t.equal(sample(text, route), sample(before, route) + 1, 'requests count by the template of their route')
  t.ok(sample(text, 'tidemark_http_requests_total{method="ANY",route="none",status="4xx"}') >= 1)
  for (const start of [
    'tidemark_jobs_worked_total{queue="catalog.discover",result="completed"}',
    'tidemark_source_statements_total{engine="postgresql",purpose="discovery",result="ok"}',
    'tidemark_source_rows_total{engine="postgresql"}',
    'tidemark_delivery_attempts_total{type="webhook",result="delivered"}',
    'tidemark_pool_connections_max{pool="application"}',
    'tidemark_pool_connections_max{pool="jobs"}',
    'tidemark_database_up ',
    'tidemark_workers{queue="scans.run",state="idle"}',
    'tidemark_last_dispatch_timestamp_seconds{queue="alerts.sweep"}',
    'tidemark_build_info{',
    'process_resident_memory_bytes ',
    'nodejs_eventloop_lag_seconds ',
  ])
    t.ok(sample(text, start) > 0, start)
  t.equal(sample(text, 'tidemark_queue_lag_seconds{queue="alerts.deliver"}'), 0)
  t.equal((await app.ask('GET', '/metrics')).status, 404, 'the public address has none')
  t.equal((await fetch(`${door()}/anything`)).status, 404)
  const health = await fetch(`${door()}/health`)
  t.match(await health.json(), { data: { status: 'ok', role: 'all', jobs: { workers: 'up' } } })
})

t.test('labels contain no person and no data of a customer', async t => {
  const text = await scrape()
  const { companyId, email, key } = tenant
  for (const word of [companyId, asset.id, email, key, 'secret_orders', 'Acme', 'discount', receiver.url])
    t.notOk(text.includes(word), word)
})

t.test('the page names each metric, and no other', async t => {
  await app.server.plugins.checks.dispatch()
  const page = readFileSync(pageFile('observability.md'), 'utf8')
  const named = [...page.matchAll(/^\| `(tidemark_[a-z_]+)` +\| (.*?) +\|/gm)]
  const served = [...(await scrape()).matchAll(/^# TYPE (tidemark_[a-z_]+) /gm)].map(([, name]) => name)
  t.strictSame(named.map(([, name]) => name).sort(), served.sort())
})

t.test('the oldest waiting job of each queue makes its lag, whatever its priority', async t => {
  // No worker takes jobs of this queue here.
  await app.query(
    `insert into pgboss.job (name, data, state, priority, created_on, start_after)
     select 'jobs.dead', '{}', 'created', priority, now() - age, now() - age
     from (values (5, interval '1 minute'), (0, interval '10 minutes'), (-3, interval '2 hours'), (-9, interval '-1 hour')) v (priority, age)`,
  )
  const { readQueues } = await import('../../../server/telemetry/queues.ts')
  const dead = (await readQueues(server.db)).find(({ name }) => name === 'jobs.dead')
  t.ok(dead && Math.abs(dead.lagSeconds - 7_200) < 60, String(dead?.lagSeconds))
  await app.query(`delete from pgboss.job where name = 'jobs.dead'`)
})

t.test('spans follow a request through its jobs to the source and the receiver', async t => {
  await provider.forceFlush()
  const spans = exporter.getFinishedSpans()
  const request = spans.findLast(({ name }) => name === 'POST /api/v1/sdk/assets/{asset_id}/discover')
  if (!request) throw new Error(`no span of the request among ${spans.map(({ name }) => name).join(', ')}`)
  const within = (parent: ReadableSpan) =>
    spans.filter(({ parentSpanContext: above }) => above?.spanId === parent.spanContext().spanId)
  const [discovery] = within(request).filter(({ name }) => name === 'job catalog.discover')
  t.ok(discovery, 'the job lies below what sent it')
  const names = within(discovery!).map(({ name }) => name)
  t.ok(names.includes('discovery postgresql'), 'so do statements at the source')
  const [delivery] = within(discovery!).filter(({ name }) => name === 'job alerts.deliver')
  t.match(
    within(delivery!).map(({ name }) => name),
    ['deliver webhook'],
  )
  t.match(request.attributes, {
    'http.response.status_code': 202,
    'tidemark.company_id': tenant.companyId,
    'tidemark.request_id': String,
  })
  const exported = JSON.stringify(
    spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]),
  )
  for (const word of ['secret_orders', 'discount', tenant.key, tenant.email, receiver.url, 'select'])
    t.notOk(exported.includes(word), `no span says ${word}`)
})

t.test('what we put off ourselves is a warning without a stack', async t => {
  await app.query(`update sources set max_concurrency = 1 where id = $1`, [asset.id])
  await app.query(
    `insert into source_sessions (company_id, source_id, place, holder, expires_at)
     values ($1, $2, 1, gen_random_uuid(), now() + interval '1 minute')
     on conflict (source_id, place) do update set expires_at = excluded.expires_at`,
    [tenant.companyId, asset.id],
  )
  const { status, headers } = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)
  t.equal(status, 503)
  const put = lines().find(line => line.request_id === headers['x-request-id'])
  t.match(put, { level: 40, msg: 'a request was put off', err: /sessions/ })
  t.notMatch(JSON.stringify(put), /"stack"/)
})

t.test('a worker listens nowhere, beside a web process with the same settings', async t => {
  const { build } = await import('../../../server/build.ts')
  const twin = (role: 'worker' | 'web') =>
    build({
      config: { ...server.config, role, port: Number(server.info.port), metricsPort: undefined },
      ownerUrl: String(server.config.databaseUrl),
      secretKey: String(server.config.secretKey),
      log: watchedLog(t),
      sweeps: false,
    })
  const worker = await twin('worker')
  t.teardown(() => worker.stop({ timeout: 1_000 }))
  await worker.start()
  t.notOk(worker.listener.listening)
  t.match((await worker.health()).jobs, { workers: 'up' })
  const web = await twin('web')
  t.teardown(() => web.stop({ timeout: 1_000 }))
  await t.rejects(web.start(), { code: 'EADDRINUSE' }, 'which a second web process could not be')
  t.match(await web.health(), { role: 'web', jobs: { workers: 'none' } })
})

t.test('a process serves its metrics while its database hangs', async t => {
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, ms: number) => setTimeout(work, ms === 4_500 ? 10 : ms),
  })
  t.intercept(server.db, 'statement', { value: () => new Promise(() => undefined) })
  const text = await scrape()
  t.match(text, /^tidemark_build_info\{.*\} 1$/m)
  t.notMatch(text, /^tidemark_queue_lag_seconds\{/m)
})
