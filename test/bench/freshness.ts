/**
 * What one sweep costs over a source whose every table has a freshness schedule, in time, statements and memory, beside
 * the least that could be sent by hand: `node test/bench/freshness.ts [tables] [rounds] [list]`, 5,000 tables and 3
 * rounds by default.
 *
 * A sweep is measured end to end, from the job that claims what is due until the check of the source is recorded; the
 * server runs in a process of its own, and a client asks for its health meanwhile. Half of the schedules name a
 * threshold, half learn one from the past of their table. Each round goes through all that can have happened since the
 * last sweep; by hand, the newest timestamps are read, judged and written each time, and who goes first alternates.
 * Before the rounds that are timed, one counts statements, in PostgreSQL's log; with `list` it prints them. Medians are
 * printed, of the ratios too. What is found must be right, or it ends with an error; how long it takes is never judged.
 * `node test/bench/freshness.ts 200 1` is short enough to run at every change.
 */
import { deepEqual } from 'node:assert/strict'
import pg from 'pg'
import { testCluster } from '../helpers/cluster.ts'
import { startSource, type Source } from '../helpers/source.ts'
import { prepareByHand, sweepByHand } from './freshness-hand.ts'
import { serve, startChild, type Cost, type Running } from './freshness-server.ts'
import { countStatements, type Sent } from './freshness-statements.ts'
import * as world from './freshness-world.ts'
import { compareRounds, median, printRows, withTeardown, positionalWords, type Teardown } from './rows.ts'

/** What a check says of itself. */
interface Checked {
  measured: number
  fresh: number
  stale: number
  unknown: number
  failed: number
  statements: number
}

/** Something that can have happened since the last sweep, and what is to be found then. */
interface Phase {
  name: string
  /** Before the clock starts. */
  prepare?(bench: Bench): Promise<unknown>
  found(tables: number): Partial<world.Standing>
}

interface Bench {
  tables: number
  source: Source
  server: Running
  watching: world.Watching
  /** Ids of the schedules by the names of their tables. */
  schedules: ReadonlyMap<string, string>
  /** Writes by hand, over a connection that stays open as the server's do. */
  hand: pg.Client
}

/** One sweep. */
interface Measured extends Cost {
  ms: number
  /** The part of it until all was claimed and its check requested. */
  claimMs: number
  handMs: number
}

const allFresh = (tables: number) => ({ fresh: tables, stale: 0, unknown: 0, checks: tables, openAlerts: 0 })
const allStale = (tables: number) => ({ ...allFresh(0), stale: tables, checks: tables, openAlerts: tables })
const nothingNew = { updates: 0 }
const setNewest = (ago: string) => (bench: Bench) => world.setNewest(bench.source, bench.tables, ago)

const PHASES: readonly Phase[] = [
  {
    name: 'first check',
    async prepare(bench) {
      await setDestinations(bench, false)
      await world.forgetAll(bench.watching)
      await setNewest('0 s')(bench)
    },
    // A schedule that learns knows nothing yet.
    found: tables => ({
      ...allFresh(tables),
      fresh: Math.ceil(tables / 2),
      unknown: Math.floor(tables / 2),
      updates: tables,
    }),
  },
  {
    name: 'first learned from its past',
    async prepare({ watching }) {
      await world.recallPast(watching)
      await world.tidy(watching)
    },
    found: tables => ({ ...allFresh(tables), ...nothingNew }),
  },
  { name: 'nothing new', found: tables => ({ ...allFresh(tables), ...nothingNew }) },
  {
    name: 'all updated',
    prepare: setNewest('0 s'),
    found: tables => ({ ...allFresh(tables), updates: tables }),
  },
  {
    name: 'all newly violated',
    prepare: setNewest(world.LONG_AGO),
    found: tables => ({ ...allStale(tables), ...nothingNew, deliveries: 0 }),
  },
  { name: 'still violated', found: tables => ({ ...allStale(tables), ...nothingNew, deliveries: 0 }) },
  {
    name: 'all resolved',
    prepare: setNewest('0 s'),
    found: tables => ({ ...allFresh(tables), updates: tables, deliveries: 0 }),
  },
  {
    name: 'violated, 2 destinations',
    async prepare(bench) {
      await setDestinations(bench, true)
      await setNewest(world.LONG_AGO)(bench)
    },
    found: tables => ({ ...allStale(tables), ...nothingNew, deliveries: 2 * tables }),
  },
  {
    name: 'resolved, 2 destinations',
    prepare: setNewest('0 s'),
    found: tables => ({ ...allFresh(tables), updates: tables, deliveries: 4 * tables }),
  },
]

/** The phases that the table of all benches has. */
const TABLE_PHASES = ['nothing new', 'all updated', 'all newly violated']
const HEADS = 'sweep ms,claim ms,by hand,ratio,cpu ms,to source,to own,in trx,peak MB,pause ms,health ms'

if (process.env.BENCH_FRESHNESS) await serve()
else
  await main(
    Number(positionalWords[0] ?? 5_000),
    Number(positionalWords[1] ?? 3),
    positionalWords[2] === 'list',
  )

async function main(tables: number, rounds: number, isListed: boolean): Promise<void> {
  const cluster = await testCluster()
  process.env.TEST_CLUSTER = JSON.stringify(cluster)
  await withTeardown(async t => {
    const bench = await makeBench(tables, cluster, t)
    const counted = await countRound(bench)
    if (isListed) for (const [name, sent] of counted) list(name, sent)
    const timed = new Map(PHASES.map(({ name }) => [name, [] as Measured[]]))
    for (let round = 0; round < rounds; round += 1) {
      for (const phase of PHASES) timed.get(phase.name)!.push(await run(bench, phase, round % 2 === 0))
    }
    report(tables, rounds, counted, timed)
    printRows(
      TABLE_PHASES.map(name => {
        const all = timed.get(name)!
        const what = `sweep over ${tables.toLocaleString('en')} tables, ${name}`
        const compared = compareRounds(
          all.map(({ ms }) => ms),
          all.map(({ handMs }) => handMs),
        )
        return { what, ...compared, unit: 'ms' }
      }),
    )
  })
}

async function makeBench(
  tables: number,
  cluster: Awaited<ReturnType<typeof testCluster>>,
  t: Teardown,
): Promise<Bench> {
  const source = await startSource(t)
  await world.fillSource(source, tables)
  const server = await startChild(import.meta.filename)
  t.teardown(() => server.stop())
  const open = async (options = '') => {
    const client = new pg.Client({ ...cluster, database: server.database, options })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const own = await open()
  const hand = await open('-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0')
  const sourceId = await addSource(server, source)
  const watching = { own, companyId: server.companyId, sourceId }
  await world.makeSchedules(watching, tables)
  await prepareByHand(watching)
  for (const name of ['one', 'other'])
    await ask(server, 'POST', '/api/v1/sdk/alerts/destinations', {
      name,
      destination_type: 'webhook',
      config: { url: 'https://127.0.0.1/hook' },
    })
  const { rows } = await own.query<{ id: string; name: string }>(
    `select c.id, t.schema_name || '.' || t.name as name from checks c join tables t on t.id = c.table_id`,
  )
  deepEqual(rows.length, tables, 'every table has a schedule')
  const schedules = new Map(rows.map(({ id, name }) => [name, id]))
  return { tables, source, server, watching, schedules, hand }
}

/** Adds the source over HTTP and waits for its discovery. */
async function addSource(server: Running, source: Source): Promise<string> {
  const made = await ask(server, 'POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: source.config,
  })
  const sourceId = String(made.id)
  const { job_id: jobId } = await ask(server, 'POST', `/api/v1/sdk/assets/${sourceId}/discover`)
  for (;;) {
    const { status } = await ask(server, 'GET', `/api/v1/sdk/jobs/${String(jobId)}`)
    if (status === 'completed') return sourceId
    if (status !== 'pending' && status !== 'running') throw new Error(`the discovery is ${String(status)}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

async function ask(
  { url, key }: Running,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
  const reply = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
  const given = (await reply.json()) as { data: Record<string, unknown> }
  if (!reply.ok) throw new Error(`${method} ${path} gave ${reply.status}: ${JSON.stringify(given)}`)
  return given.data
}

async function setDestinations({ watching }: Bench, isActive: boolean): Promise<void> {
  await watching.own.query('update destinations set is_active = $1', [isActive])
}

/** The round in which statements are counted and nothing is timed; it warms up too. */
async function countRound(bench: Bench): Promise<Map<string, Sent>> {
  const counted = new Map<string, Sent>()
  for (const phase of PHASES) {
    await begin(bench, phase)
    const { own } = bench.watching
    const reader = bench.source.config.username
    const sent = await countStatements(own, reader, async () => void (await sweep(bench, phase, false)))
    counted.set(phase.name, sent)
  }
  return counted
}

/** One phase by the server and by hand. */
async function run(bench: Bench, phase: Phase, isHandFirst: boolean): Promise<Measured> {
  await begin(bench, phase)
  const before = isHandFirst ? await byHand(bench, phase) : NaN
  const swept = await sweep(bench, phase, true)
  return { ...swept, handMs: isHandFirst ? before : await byHand(bench, phase) }
}

async function begin(bench: Bench, phase: Phase): Promise<void> {
  await phase.prepare?.(bench)
  await world.makeDue(bench.watching)
}

async function byHand({ source, hand, schedules, tables }: Bench, { found }: Phase): Promise<number> {
  const startedAt = performance.now()
  const stale = await sweepByHand(source, hand, schedules)
  const ms = performance.now() - startedAt
  deepEqual(stale, found(tables).stale, 'by hand')
  return ms
}

/** One sweep; what it says of itself, and what stands in the database after it, must be what is to be found. */
async function sweep(bench: Bench, phase: Phase, isPolled: boolean): Promise<Omit<Measured, 'handMs'>> {
  const { tables, server, watching } = bench
  const { own } = watching
  let jobs: Jobs | undefined
  const cost = await server.sweep(
    async dispatchId => (jobs = await endedJobs(own, dispatchId)) !== undefined,
    isPolled,
  )
  const { since, ms, claimMs, checked } = jobs!
  const { fresh, stale, unknown } = phase.found(tables)
  const said = { measured: checked.measured, fresh: checked.fresh, stale: checked.stale }
  deepEqual(said, { measured: tables, fresh, stale }, `${phase.name}: what the check says`)
  const stands = await world.standing(watching, since)
  deepEqual(stands, { ...stands, ...phase.found(tables), unknown }, `${phase.name}: what is recorded`)
  return { ms, claimMs, ...cost }
}

interface Jobs {
  since: Date
  ms: number
  claimMs: number
  checked: Checked
}

/** The two jobs of a sweep when both have ended, by the clock of the database. */
async function endedJobs(own: pg.Client, dispatchId: string): Promise<Jobs | undefined> {
  const { rows } = await own.query<Jobs & { state: string }>(
    `select c.state, d.created_on as since, c.output as checked,
       extract(epoch from c.completed_on - d.created_on)::float8 * 1000 as ms,
       extract(epoch from d.completed_on - d.created_on)::float8 * 1000 as "claimMs"
     from pgboss.job d join pgboss.job c on c.name = 'freshness.check' and c.created_on >= d.created_on
     where d.id = $1 and d.state = 'completed' and c.state in ('completed', 'retry', 'failed')`,
    [dispatchId],
  )
  const [jobs] = rows
  if (jobs && (rows.length > 1 || jobs.state !== 'completed'))
    throw new Error(`the check failed: ${JSON.stringify(rows)}`)
  return jobs
}

/** What was sent, the same but for its values once. */
function list(name: string, { source, own }: Sent): void {
  console.log(`\n${name}`)
  for (const [to, texts] of Object.entries({ source, own })) {
    const counts = new Map<string, number>()
    for (const text of texts) {
      const short = text.replaceAll(/\s+/g, ' ').slice(0, 110)
      counts.set(short, (counts.get(short) ?? 0) + 1)
    }
    for (const [text, count] of counts) console.log(`${to.padStart(8)}${String(count).padStart(6)}  ${text}`)
  }
}

function report(
  tables: number,
  rounds: number,
  counted: ReadonlyMap<string, Sent>,
  timed: ReadonlyMap<string, readonly Measured[]>,
): void {
  console.log(
    `\n${tables.toLocaleString('en')} tables; medians of ${rounds} rounds, the most of memory and pauses`,
  )
  console.log(' '.repeat(28) + HEADS.split(',').map(pad).join(''))
  for (const [name, all] of timed) {
    const middle = (of: (one: Measured) => number) => median(all.map(of))
    const most = (of: (one: Measured) => number) => Math.max(...all.map(of)).toFixed(0)
    const { source, own, transactions } = counted.get(name)!
    const cells = [
      middle(({ ms }) => ms).toFixed(0),
      middle(({ claimMs }) => claimMs).toFixed(0),
      middle(({ handMs }) => handMs).toFixed(0),
      middle(({ ms, handMs }) => ms / handMs).toFixed(2),
      middle(({ cpuMs }) => cpuMs).toFixed(0),
      source.length,
      own.length,
      transactions,
      most(({ peakMb }) => peakMb),
      most(({ pauseMs }) => pauseMs),
      most(({ slowestMs }) => slowestMs ?? NaN),
    ]
    console.log(name.padEnd(28) + cells.map(pad).join(''))
  }
}

function pad(cell: string | number): string {
  return String(cell).padStart(10)
}
