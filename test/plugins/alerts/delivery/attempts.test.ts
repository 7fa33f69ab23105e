import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { sweepJob } from '../../../../plugins/alerts/jobs.ts'
import {
  startReceiver,
  type Behaviour,
  type Receiver,
  type ReceiverOptions,
} from '../../../helpers/receiver.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

/** Seconds before each attempt, from the end of the one before: the specification's table. */
const DELAYS = [0, 60, 300, 900, 3600]
const DAY = 24 * 3600

/** A way to fail, and how it is recorded. */
interface Way {
  behaviour?: Behaviour
  certificate?: ReceiverOptions['certificate']
  /** Instead of a receiver. */
  url?: string
  status?: number
  /** Its class; where the wire leaves it open, any of those with bars between. */
  error: string
}

const raw =
  (text: string): Behaviour =>
  (_request, _response, { socket }) =>
    void socket.end(text)

/** Every way in which an attempt fails. `sentinel` is where the redirects lead. */
function waysToFail(sentinel: Receiver, silent: string): Record<string, Way> {
  const redirect =
    (status: number): Behaviour =>
    (_request, response) =>
      void response.writeHead(status, { location: `${sentinel.url}/elsewhere` }).end()
  const later = { 'retry-after': '86400' }
  return {
    '500': { behaviour: 500, status: 500, error: 'status' },
    '301': { behaviour: redirect(301), status: 301, error: 'status' },
    '307': { behaviour: redirect(307), status: 307, error: 'status' },
    '404': { behaviour: 404, status: 404, error: 'status' },
    '410, which elsewhere ends it': { behaviour: 410, status: 410, error: 'status' },
    '429 that asks for a day': {
      behaviour: (_request, response) => void response.writeHead(429, later).end(),
      status: 429,
      error: 'status',
    },
    '503 that asks for nothing': {
      behaviour: (_request, response) => void response.writeHead(503, { 'retry-after': '0' }).end(),
      status: 503,
      error: 'status',
    },
    'no answer': { behaviour: () => undefined, error: 'timeout' },
    'no TLS': { url: silent, error: 'timeout' },
    'no listener': { url: CLOSED_URL, error: 'connect' },
    'a reset': {
      behaviour: (_request, _response, { socket }) => void socket.destroy(),
      error: 'connect|protocol',
    },
    'an empty answer': { behaviour: raw(''), error: 'connect|protocol' },
    'a self-signed certificate': { certificate: 'self-signed', error: 'tls' },
    'a certificate of another host': { certificate: 'wrong-host', error: 'tls' },
    'an answer that is not HTTP': { behaviour: raw('SSH-2.0-OpenSSH_9.9\r\n\r\n'), error: 'protocol' },
    'an answer that breaks off': { behaviour: raw('HTTP/1.1 200 OK\r\nx-'), error: 'connect|protocol' },
    'a hint and no answer': {
      behaviour: raw('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
      error: 'connect|protocol',
    },
  }
}

/** A destination that fails in one way. */
interface Failing extends Way {
  name: string
  id: string
  receiver?: Receiver
}

/** They are created for a closed port and fail only later: some addresses would be refused at once. */
async function addFailing(
  t: Test,
  { query }: TestServer,
  world: World,
  ways: Record<string, Way>,
): Promise<Failing[]> {
  return Promise.all(
    Object.entries(ways).map(async ([name, way]) => {
      const { id } = await world.addDestination({ url: CLOSED_URL }, { name })
      const receiver = way.url ? undefined : await startReceiver(t, { certificate: way.certificate })
      if (way.behaviour) receiver?.answer(way.behaviour)
      const config = JSON.stringify({ url: way.url ?? receiver?.url })
      await query('update destinations set config = config || cast($2 as jsonb) where id = $1', [id, config])
      return { ...way, name, id, ...(receiver && { receiver }) }
    }),
  )
}

/** Takes connections and says nothing. */
async function startSilent(t: Test): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => void sockets.add(socket.on('error', () => undefined)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    sockets.forEach(socket => socket.destroy())
    server.close()
  })
  return urlOf(server)
}

/** An address without a listener. A port that was free just now could become that of a receiver. */
const CLOSED_URL = 'https://127.0.0.1:9'

function urlOf(server: ReturnType<typeof createServer>): string {
  const { port } = server.address() as { port: number }
  return `https://127.0.0.1:${port}`
}

/** The HTTP client waits four seconds instead of 30, and three instead of 5; other timeouts stay. */
function hurry(t: Test): void {
  const real = globalThis.setTimeout
  const waits = new Map([
    [30_000, 4_000],
    [5_000, 3_000],
  ])
  const hurried = (work: () => void, ms = 0, ...rest: []) => {
    const isClient = waits.has(ms) && new Error().stack?.includes('/node_modules/got/')
    return real(work, isClient ? waits.get(ms) : ms, ...rest)
  }
  t.intercept(globalThis, 'setTimeout', { value: Object.assign(hurried, real), configurable: true })
}

/** Lets time pass for deliveries: all that is written about them happened so many seconds earlier. */
async function pass({ query }: TestServer, seconds: number): Promise<void> {
  const earlier = (columns: string[]) =>
    columns.map(column => `${column} = ${column} - make_interval(secs => $1)`).join(', ')
  await query(`update delivery_attempts set ${earlier(['started_at', 'ended_at'])}`, [seconds])
  await query(`update destinations set ${earlier(['failing_since'])}`, [seconds])
  await query(`update deliveries set ${earlier(['created_at', 'claimed_at', 'next_attempt_at'])}`, [seconds])
  await query(
    `update pgboss.job set ${earlier(['start_after', 'created_on'])}
      where name in ('alerts.deliver', 'alerts.retry') and state in ('created', 'retry')`,
    [seconds],
  )
}

/** Resolves when workers have looked for attempts and lost ones since now: jobs that come last in their queues are done. */
async function looked({ server, query }: TestServer, { companyId }: World): Promise<void> {
  const swept = await server.jobs.send(sweepJob, {})
  await untilEnded(query, [swept])
  const nothing = { company_id: companyId, delivery_id: '00000000-0000-7000-8000-000000000000', n: 1 }
  await untilEnded(
    query,
    await Promise.all([deliverJob, retryJob].map(job => server.jobs.send(job, nothing))),
  )
}

async function untilEnded(query: TestServer['query'], ids: string[]): Promise<void> {
  const ended = `select count(*)::int as n from pgboss.job where id = any($1) and state in ('completed', 'failed')`
  await until(async () => (await query(ended, [ids]))[0]?.n === ids.length)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 50))
}

/** Resolves when so many attempts of every delivery are on record. */
async function untilAttempted({ query }: TestServer, n: number): Promise<void> {
  await until(async () => (await query('select 1 from deliveries where attempt < $1', [n])).length === 0)
}

/** What is planned for each delivery, in seconds after the end of its last attempt. */
async function planned({ query }: TestServer): Promise<{ after: number; jobAfter: number }[]> {
  return (await query(
    `select extract(epoch from d.next_attempt_at - a.ended_at)::float8 as after,
            extract(epoch from j.start_after - a.ended_at)::float8 as "jobAfter"
       from deliveries d join delivery_attempts a on a.delivery_id = d.id and a.n = d.attempt
       left join pgboss.job j on j.id = d.job_id and j.state = 'created' and (j.data->>'n')::int = d.attempt + 1`,
  )) as never
}

t.test('however a receiver fails, it gets the five attempts of the table, and never a sixth', async t => {
  hurry(t)
  const app = await startServer(t)
  t.strictSame(app.server.config.webhookDelays, DELAYS)
  const world = await makeWorld(app)
  const sentinel = await startReceiver(t)
  const ways = waysToFail(sentinel, await startSilent(t))
  const all = await addFailing(t, app, world, ways)
  const { alertId } = await world.raise()
  await untilAttempted(app, 1)

  for (const [n, delay] of [...DELAYS.entries()].slice(1)) {
    for (const { after, jobAfter } of await planned(app)) {
      // Both are written in the transaction that records the end: the few milliseconds of that are let go.
      t.ok(Math.abs(after - delay) < 5, `attempt ${n + 1} is due after ${after} s`)
      t.ok(Math.abs(jobAfter - delay) < 5, `its job starts after ${jobAfter} s`)
    }
    await pass(app, delay - 20)
    await looked(app, world)
    t.strictSame(await app.query('select 1 from deliveries where attempt <> $1', [n]), [], 'none comes early')
    await pass(app, 20)
    await untilAttempted(app, n + 1)
  }

  const alertOf = async () => (await world.ask('GET', `${ALERTS}/${alertId}`)).body.data
  t.match(await alertOf(), { status: 'triggered', delivery_failed: true })
  for (const days of [1, 30]) {
    await pass(app, days * DAY)
    await looked(app, world)
  }
  for (const { name, id, receiver, status, error } of all) {
    const [delivery, ...others] = await world.deliveries(id)
    t.strictSame(others, [], name)
    t.match(delivery, { status: 'failed', attempt_count: 5, next_attempt_at: null }, name)
    const tried = delivery?.attempts ?? []
    const expected = DELAYS.map((_, place) => [place + 1, 'automatic', status ?? null])
    t.strictSame(
      tried.map(one => [one.n, one.trigger, one.status_code]),
      expected,
      name,
    )
    t.ok(
      tried.every(one => error.split('|').includes(String(one.error_class))),
      name,
    )
    for (const [place, { started_at: at }] of tried.entries())
      t.ok(place === 0 || String(at) >= String(tried[place - 1]?.ended_at), 'one after the other')
    if (!receiver) continue
    t.equal(receiver.connections, 5, name)
    t.equal(receiver.requests.length, error === 'tls' ? 0 : 5, name)
    t.ok(new Set(receiver.requests.map(({ body }) => body)).size <= 1, name)
  }
  t.equal(sentinel.connections, 0, 'no redirect was followed')
  const live = `select 1 from pgboss.job where name in ('alerts.deliver', 'alerts.retry') and state < 'completed'`
  t.strictSame(await app.query(live), [])
})

t.test('an attempt that succeeds is the last one, whichever it is', async t => {
  const app = await startServer(t)
  const world = await makeWorld(app)
  const receivers = await Promise.all(
    DELAYS.map(async (_, failures) => {
      const receiver = await startReceiver(t)
      receiver.answer(...(Array<Behaviour>(failures).fill(500) as [Behaviour]), 200)
      const { id } = await world.addDestination({ url: receiver.url })
      return { receiver, id, attempts: failures + 1 }
    }),
  )
  const { alertId } = await world.raise()
  const undelivered = () => app.query(`select attempt from deliveries where status = 'pending'`)
  for (const [n, delay] of DELAYS.entries()) {
    await pass(app, delay)
    await until(async () => (await undelivered()).every(({ attempt }) => Number(attempt) > n))
  }
  await pass(app, DAY)
  await looked(app, world)
  for (const { receiver, id, attempts } of receivers) {
    t.match(await world.deliveries(id), [{ status: 'delivered', attempt_count: attempts }])
    t.equal(receiver.requests.length, attempts)
  }
  t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, { delivery_failed: false })
})

t.test('a job that asks for an attempt out of turn makes none', async t => {
  const app = await startServer(t)
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(500)
  const { id } = await world.addDestination({ url: receiver.url })
  await world.raise()
  await untilAttempted(app, 1)
  const [delivery] = await world.deliveries(id)
  const stray = (n: number) => ({ company_id: world.companyId, delivery_id: String(delivery?.id), n })
  const other = await makeWorld(app, 'Other')
  const sent = await Promise.all([
    ...[1, 3, 4, 5, 6].map(n => app.server.jobs.send(retryJob, stray(n))),
    app.server.jobs.send(retryJob, { ...stray(2), company_id: other.companyId }),
  ])
  await untilEnded(app.query, sent)
  t.match(await world.deliveries(id), [{ status: 'pending', attempt_count: 1 }])
  t.equal(receiver.requests.length, 1)
})
