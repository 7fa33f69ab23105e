/**
 * How many deliveries a second workers make, and how long after the commit of an alert its message arrives, with
 * receivers beside that never answer; beside the same number of HTTPS POSTs by got through the same guard, in a loop
 * with as many at once as one destination may have, bare and with a row inserted for each (a table of attempts that one
 * writes oneself, which is the reference): `node test/bench/deliveries.ts
 * [--short] [--quick] [--json] [--profile FOLDER]`.
 *
 * Alerts are raised in this process, which works no jobs; workers and receivers are processes of their own. Each alert
 * goes to every destination, so that silent ones are owed as much as those that answer. What arrived must be what
 * was raised, or it ends with an error, and so it does when a message has not arrived half a minute after the last
 * alert; otherwise times are printed, never judged. With `profile`, the workers leave CPU profiles in the
 * folder.
 */
import { equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import tls from 'node:tls'
import got from 'got'
import pg from 'pg'
import { postGuarded } from '../../plugins/alerts/destinations/post.ts'
import { clock, startHostileReceiver, type HostileReceiver } from '../chaos/hostile-receiver.ts'
import { testCluster } from '../helpers/cluster.ts'
import { startProcess } from '../helpers/server-process.ts'
import { startServer, type TestServer } from '../helpers/server.ts'
import { makeWorld, type World } from '../plugins/alerts/world.ts'
import { quantile, printRows, withTeardown, type BenchRow, type Teardown } from './rows.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    short: { type: 'boolean' },
    json: { type: 'boolean' },
    profile: { type: 'string' },
  },
})
const isQuick = values.quick === true
/** Processes, and dead receivers beside, that all are tried with. */
const PROCESSES = values.short ? [1] : [1, 2]

/** Messages of a burst; alerts and milliseconds between them, where lag is measured. */
const BURST = isQuick ? 320 : 800
const ROUNDS = isQuick ? 1 : 3
const ALERTS = isQuick ? 40 : values.short ? 200 : 600
const PAUSE = 100
/** Milliseconds after which a message that has not arrived is not waited for any more. */
const ARRIVAL_TIMEOUT_MS = 30_000
/** Destinations that answer, over which a burst may be spread; and those that never do. */
const HEALTHY = 8
const DEAD = 8
/** POSTs at once of the bare loops: as many as one destination may have, and as all together have. */
const IN_FLIGHT = 32
const IN_FLIGHT_ONE = 3

/** The name of the reference. */
const BY_HAND = 'guarded POST and a row'

interface Bench {
  app: TestServer
  world: World
  receiver: HostileReceiver
  /** Ids of the destinations that answer, and of those that never do. */
  healthy: string[]
  dead: string[]
  folder: string
  lasting: Teardown
}

/** What was measured, by the heads of its columns. */
type Figures = Record<string, string | number | undefined>

await withTeardown(main)

async function main(t: Teardown): Promise<void> {
  const bench = await makeBench(t)
  const [load = 0] = loadavg()
  console.log(
    `${availableParallelism()} processors, of which ${load.toFixed(1)} were busy; Node ${process.version}`,
  )
  console.table(await bareLoops(bench))
  const ways = await makeWays(bench)
  const rounds = new Map(Object.keys(ways).map(name => [name, [] as Figures[]]))
  // The first round is not yet compiled and does not count.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [name, measure] of Object.entries(ways)) {
      const rate = await measure()
      if (round > 0 || isQuick) rounds.get(name)!.push(rate)
    }
  const rates = new Map(Array.from(rounds, ([name, measured]) => [name, inTheMiddle(measured)]))
  console.table(Object.fromEntries(rates))
  const lags: Figures[] = []
  for (const processes of PROCESSES)
    for (const dead of values.short ? [0, DEAD] : [0, 1, DEAD]) lags.push(await lag(bench, processes, dead))
  console.log('Milliseconds from the commit of an alert to the arrival of its message:')
  console.table(lags)
  printRows(rowsOf(rates, lags))
}

/** The figures of the round in the middle, and how far the rounds lie apart. */
function inTheMiddle(measured: readonly Figures[]): Figures {
  const rateIn = (figures: Figures) => Number(figures['recorded a second'] ?? figures['a second'])
  const sorted = measured.toSorted((a, b) => rateIn(a) - rateIn(b))
  const { '': _name, ...middle } = sorted[Math.floor(sorted.length / 2)]!
  return { ...middle, spread: `${rateIn(sorted[0]!)} to ${rateIn(sorted.at(-1)!)}` }
}

/** What is measured in turns. */
async function makeWays(bench: Bench): Promise<Record<string, () => Promise<Figures>>> {
  const { app, receiver } = bench
  const body = JSON.stringify({ alert: 'x'.repeat(700) })
  const headers = { 'content-type': 'application/json', 'webhook-id': 'bare' }
  // One policy: the trusted authorities are read once for each.
  const policy = { allow: ['127.0.0.0/8'] }
  const post = () => postGuarded(`${receiver.url}/ok`, { body, headers, policy })
  await app.query(`create table attempts_by_hand (id uuid primary key, message_id uuid not null, started_at timestamptz,
    ended_at timestamptz, status_code int, error text, latency_ms int, response_body text)`)
  await app.query('grant all on attempts_by_hand to public')
  const pool = new pg.Pool({ connectionString: app.server.config.databaseUrl, max: 10 })
  bench.lasting.teardown(() => pool.end())
  const postAndRecord = async () => {
    const startedAt = new Date()
    const { statusCode, errorMessage, latencyMs, responseBody } = await post()
    await pool.query(
      `insert into attempts_by_hand values (gen_random_uuid(), gen_random_uuid(), $1, now(), $2, $3, $4, $5)`,
      [startedAt, statusCode, errorMessage, latencyMs, responseBody],
    )
  }
  const loop = (work: () => Promise<unknown>, atOnce: number) => async () => {
    await receiver.take()
    const startedAt = clock()
    await repeat(work, BURST, atOnce)
    const ms = clock() - startedAt
    equal((await receiver.take()).length, BURST)
    return rateOf('', ms)
  }
  const ways: Record<string, () => Promise<Figures>> = {
    'guarded POST': loop(post, IN_FLIGHT_ONE),
    [BY_HAND]: loop(postAndRecord, IN_FLIGHT_ONE),
    [`${BY_HAND}, 32 at once`]: loop(postAndRecord, IN_FLIGHT),
  }
  for (const processes of PROCESSES)
    for (const destinations of [1, HEALTHY])
      ways[`${processes === 1 ? 'one process' : `${processes} processes`}, ${destinations} destinations`] =
        () => burst(bench, processes, destinations)
  return ways
}

/** One process: bursts beside posts by hand, and lag with and without dead receivers. */
function rowsOf(rates: ReadonlyMap<string, Figures>, lags: readonly Figures[]): BenchRow[] {
  const [alone, beside] = [
    lags[0]!,
    lags.findLast(({ dead, processes }) => dead === DEAD && processes === 1)!,
  ]
  const recorded = (destinations: number) =>
    Number(rates.get(`one process, ${destinations} destinations`)?.['recorded a second'])
  const atOnce = (name: string) => Number(rates.get(name)?.['a second'])
  return [
    {
      what: 'deliveries to one destination, beside guarded POSTs with a row each',
      ours: recorded(1),
      hand: atOnce(BY_HAND),
      unit: 'a second',
    },
    {
      what: `deliveries to ${HEALTHY} destinations, beside guarded POSTs with a row each`,
      ours: recorded(HEALTHY),
      hand: Math.max(atOnce(BY_HAND), atOnce(`${BY_HAND}, 32 at once`)),
      unit: 'a second',
    },
    { what: 'an alert arrives, p50', ours: Number(alone.p50), unit: 'ms' },
    {
      what: `an alert arrives, p99, beside ${DEAD} dead receivers and none`,
      ours: Number(beside.p99),
      hand: Number(alone.p99),
      unit: 'ms',
    },
  ]
}

async function makeBench(lasting: Teardown): Promise<Bench> {
  process.env.TEST_CLUSTER = JSON.stringify(await testCluster())
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-bench-'))
  lasting.teardown(() => rm(folder, { recursive: true }))
  const receiver = await startHostileReceiver(folder)
  lasting.teardown(receiver.end)
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), readAuthority(folder)])
  const app = await startServer(lasting, { settings: { ROLE: 'web' }, build: { spies: false } })
  const world = await makeWorld(app)
  const add = async (path: string) =>
    (await world.addDestination({ url: `${receiver.url}/${path}` }, { name: `${path} ${randomUUID()}` })).id
  const healthy = await Promise.all(Array.from({ length: HEALTHY }, () => add('ok')))
  const dead = await Promise.all(Array.from({ length: DEAD }, () => add('no%20answer')))
  return { app, world, receiver, healthy, dead, folder, lasting }
}

function readAuthority(folder: string): string {
  return readFileSync(join(folder, 'authority.pem'), 'utf8')
}

/** POSTs of the same size, without a product around them. */
async function bareLoops({ receiver }: Bench): Promise<Figures[]> {
  const url = `${receiver.url}/ok`
  const body = JSON.stringify({ alert: 'x'.repeat(700) })
  const headers = { 'content-type': 'application/json', 'webhook-id': 'bare' }
  const byNode = (agent: Agent) => () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, agent }, response => {
        response.resume().on('end', resolve)
      })
      sent.on('error', reject).end(body)
    })
  const policy = { allow: ['127.0.0.0/8'] }
  const ways: Record<string, () => Promise<unknown>> = {
    'node:https, connections kept': byNode(new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })),
    'node:https, a connection each': byNode(new Agent({ keepAlive: false })),
    'got, connections kept': () => got.post(url, { body, headers, retry: { limit: 0 } }),
    'guarded, as deliveries are': () => postGuarded(url, { body, headers, policy }),
  }
  const rates: Figures[] = []
  for (const [name, post] of Object.entries(ways)) {
    await repeat(post, IN_FLIGHT, IN_FLIGHT)
    await receiver.take()
    const startedAt = clock()
    await repeat(post, BURST, IN_FLIGHT)
    const ms = clock() - startedAt
    equal((await receiver.take()).length, BURST, name)
    rates.push(rateOf(`bare ${name}`, ms))
  }
  return rates
}

async function repeat(post: () => Promise<unknown>, times: number, atOnce: number): Promise<void> {
  let left = times
  const one = async () => {
    while (left-- > 0) await post()
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

function rateOf(name: string, ms: number, more: Figures = {}): Figures {
  return {
    '': name,
    'a second': Math.round((BURST * 1_000) / ms),
    'ms each': Number((ms / BURST).toFixed(2)),
    ...more,
  }
}

/** Alerts that are raised at once: from their commit until the last message has arrived, and until all is on record. */
async function burst(bench: Bench, processes: number, destinations: number): Promise<Figures> {
  const { app, world, receiver, healthy } = bench
  await begin(bench, healthy.slice(0, destinations))
  const stop = await startWorkers(bench, processes)
  const before = await statements(app)
  await world.raiseAll(Array.from({ length: BURST / destinations }, () => ({ cause: randomUUID() })))
  const startedAt = clock()
  const pending = `select count(*)::int as n from deliveries where status = 'pending'`
  while ((await app.query(pending))[0]?.n !== 0) await wait(20)
  const recordedMs = clock() - startedAt
  const transactions = (await statements(app)) - before
  const arrivals = await receiver.take()
  equal(arrivals.length, BURST, 'each message arrives once')
  await stop()
  return rateOf('', arrivals.at(-1)![1] - startedAt, {
    'recorded a second': Math.round((BURST * 1_000) / recordedMs),
    'transactions each': Number((transactions / BURST).toFixed(1)),
  })
}

/** Transactions of the database so far; those of a session count when it has been idle for a second. */
async function statements({ query }: TestServer): Promise<number> {
  await wait(1_500)
  const [row] = await query(
    `select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()`,
  )
  return Number(row?.n)
}

/** Alerts that are raised one by one: milliseconds from each one's commit until a receiver that answers has it. */
async function lag(bench: Bench, processes: number, dead: number): Promise<Figures> {
  const { app, world, receiver } = bench
  await begin(bench, [bench.healthy[0]!, ...bench.dead.slice(0, dead)])
  const stop = await startWorkers(bench, processes)
  await wait(2_000)
  const committed = new Map<string, number>()
  for (let count = 0; count < ALERTS; count += 1) {
    const { alertId } = await world.raise({ cause: randomUUID() })
    committed.set(alertId, clock())
    await wait(PAUSE)
  }
  const arrived = new Map<string, number>()
  for (
    const giveUp = clock() + ARRIVAL_TIMEOUT_MS;
    arrived.size < ALERTS && clock() < giveUp;
    await wait(100)
  )
    for (const [id, at] of await receiver.take()) arrived.set(id, at)
  if (arrived.size < ALERTS) process.exitCode = 1
  const busy = await app.query(`select count(*)::int as n from deliveries where claimed_at is not null`)
  await stop()
  const lags = [...committed].map(([id, at]) => (arrived.get(id) ?? Infinity) - at)
  const at = (share: number) => Math.round(quantile(lags, share))
  return {
    processes,
    dead,
    p50: at(0.5),
    p99: at(0.99),
    most: at(1),
    missing: ALERTS - arrived.size,
    'in flight': Number(busy[0]?.n),
  }
}

/** Forgets what was, and leaves these destinations switched on. */
async function begin({ app, receiver }: Bench, active: string[]): Promise<void> {
  await app.query(`delete from alerts`)
  await app.query(`delete from pgboss.job where name in ('alerts.deliver', 'alerts.retry')`)
  await app.query(`update destinations set is_active = id = any($1), failing_since = null`, [active])
  await app.query('vacuum analyze')
  await receiver.take()
}

/** @returns how to stop them */
async function startWorkers({ app, folder }: Bench, processes: number): Promise<() => Promise<void>> {
  const stops: (() => unknown)[] = []
  const settings = {
    ROLE: 'worker',
    EGRESS_ALLOW: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    // As `npm start`.
    NODE_OPTIONS: `--max-old-space-size=1024 --max-semi-space-size=8${profiling()}`,
  }
  const starting = Array.from({ length: processes }, () =>
    startProcess({ teardown: down => stops.push(down) }, app, settings),
  )
  await Promise.all(starting)
  return async () => void (await Promise.all(stops.map(stop => stop())))
}

function profiling(): string {
  return values.profile === undefined ? '' : ` --cpu-prof --cpu-prof-dir=${values.profile}`
}
