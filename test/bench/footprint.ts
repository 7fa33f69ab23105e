/**
 * How soon a server answers on a database that is there, and how much memory its process holds, idle and after many
 * requests, beside a server of nothing but hapi and pg: `node test/bench/footprint.ts [--quick] [--json]`.
 *
 * Both are started by turns with the flags of `npm start`, and asked for their health until they answer; `node -e 0`
 * is the least that any program takes. Medians are printed. The last ones started are left alone for a while, then asked for a
 * page of 100 rules over and over; the bare one reads the same rows by one query. Any other answer than 200 ends it
 * with an error.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { packageRoot } from '../../server/settings/config.ts'
import { testCluster } from '../helpers/cluster.ts'
import { SECRET_KEY, startServer, type TestServer } from '../helpers/server.ts'
import { fillCatalog } from './lists-world.ts'
import { median, printRows, withTeardown, type BenchRow, type Teardown } from './rows.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } })
const STARTS = values.quick ? 2 : 9
/** Milliseconds without a request. */
const IDLE = values.quick ? 2_000 : 15_000
const REQUESTS = values.quick ? 1_000 : 20_000
const CONNECTIONS = 16
/** Milliseconds after which a server that does not answer is not waited for any more. */
const START_TIMEOUT_MS = 30_000
/** A key may ask a hundred times a second, and 5,000 times a minute. */
const KEYS = values.quick ? 20 : 100
/** As `npm start`. */
const FLAGS = ['--max-old-space-size=1024', '--max-semi-space-size=8']
const MAX_IDLE_RATIO = 4

/** One of the two servers. */
interface Kind {
  args: string[]
  env: Record<string, string>
  /** What is asked for, with these keys by turns. */
  path: string
  keys: string[]
}

interface Running {
  process: ChildProcess
  url: string
  /** From the start of its process until it has answered that all is well. */
  startMs: number
}

/** Memory of one process, in MB of 2^20 bytes. */
interface Memory {
  idle: number
  loaded: number
  /** The most so far. */
  most: number
}

await withTeardown(main)

async function main(t: Teardown): Promise<void> {
  process.env.TEST_CLUSTER = JSON.stringify(await testCluster())
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const kinds = await kindsOf(app)
  const starts = new Map([...kinds.keys()].map(name => [name, [] as number[]]))
  const nodes: number[] = []
  const memory = new Map<string, Memory>()
  // The first time, Node has nothing compiled yet.
  for (let round = 0; round <= STARTS; round += 1) {
    const node = await timed(() => once(spawn(process.execPath, ['-e', '0']), 'exit'))
    for (const [name, kind] of kinds) {
      const running = await start(kind)
      try {
        if (round > 0) starts.get(name)!.push(running.startMs)
        if (round === STARTS) memory.set(name, await load(running, kind))
      } finally {
        await stop(running)
      }
    }
    if (round > 0) nodes.push(node)
  }
  report(starts, median(nodes), memory)
}

async function kindsOf(app: TestServer): Promise<Map<'ours' | 'bare', Kind>> {
  const tenant = await app.signUp()
  await fillCatalog(app, tenant, { tables: 2_000, sources: 1 })
  const [source] = await app.query('select id from sources')
  const keys: string[] = []
  while (keys.length < KEYS) {
    const body = { name: `key ${keys.length}`, scope: 'read-only' }
    const made = await app.ask('POST', '/api/v1/api-keys', body, tenant.token)
    keys.push((made.body as { data: { key: string } }).data.key)
  }
  const env = { DATABASE_URL: app.server.config.databaseUrl!, SECRET_KEY }
  const page = `select * from checks where company_id = '${tenant.companyId}'
    and source_id = '${String(source?.id)}' order by created_at desc, id desc limit 100`
  return new Map([
    [
      'ours',
      {
        args: [join(packageRoot, 'server', 'main.ts'), 'start'],
        env,
        path: `/api/v1/sdk/validity/${String(source?.id)}?limit=100`,
        keys,
      },
    ],
    [
      'bare',
      {
        args: [join(import.meta.dirname, 'bare-server.ts')],
        env: { ...env, BARE_QUERY: page },
        path: '/rows',
        keys: ['none'],
      },
    ],
  ])
}

async function start({ args, env }: Kind): Promise<Running> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...FLAGS, ...args], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: 'ignore',
  })
  while (performance.now() - startedAt < START_TIMEOUT_MS && child.exitCode === null) {
    const status = await fetch(`${url}/health`).then(
      reply => reply.status,
      () => 0,
    )
    if (status === 200) return { process: child, url, startMs: performance.now() - startedAt }
    await wait(5)
  }
  child.kill('SIGKILL')
  throw new Error(`${args.join(' ')} does not say that it is well`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function stop({ process: child }: Running): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

async function load({ process: child, url }: Running, { path, keys }: Kind): Promise<Memory> {
  await wait(IDLE)
  const { VmRSS: idle } = await memoryOf(child)
  const result = await autocannon({
    url: url + path,
    connections: CONNECTIONS,
    amount: REQUESTS,
    requests: keys.map(key => ({ headers: { authorization: `Bearer ${key}` } })),
  })
  if (result['2xx'] !== REQUESTS)
    throw new Error(`${url}${path}: ${result['2xx']} of ${REQUESTS} requests were answered well`)
  const { VmRSS: loaded, VmHWM: most } = await memoryOf(child)
  return { idle, loaded, most }
}

/** From /proc of Linux; elsewhere it is NaN. */
async function memoryOf({ pid }: ChildProcess): Promise<{ VmRSS: number; VmHWM: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const of = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1_024
  return { VmRSS: of('VmRSS'), VmHWM: of('VmHWM') }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function report(
  starts: ReadonlyMap<string, readonly number[]>,
  nodeMs: number,
  memory: ReadonlyMap<string, Memory>,
): void {
  const round = (number: number) => Number(number.toFixed(1))
  const figures = Object.fromEntries(
    [...starts].map(([name, all]) => {
      const { idle, loaded, most } = memory.get(name)!
      return [
        name,
        {
          'start ms': round(median(all)),
          'idle MB': round(idle),
          'loaded MB': round(loaded),
          'most MB': round(most),
        },
      ]
    }),
  ) as Record<'ours' | 'bare', Record<'start ms' | 'idle MB' | 'loaded MB' | 'most MB', number>>
  console.table(figures)
  console.log(`node -e 0: ${nodeMs.toFixed(1)} ms; ${REQUESTS} requests, ${CONNECTIONS} at once`)
  const { ours, bare } = figures
  const row = (
    what: string,
    key: keyof typeof ours,
    unit: string,
    more: Partial<BenchRow> = {},
  ): BenchRow => ({
    what,
    ours: ours[key],
    hand: bare[key],
    unit,
    ...more,
  })
  printRows([
    row('start to the first answer, beside hapi + pg', 'start ms', 'ms'),
    { what: 'start to the first answer, beside node -e 0', ours: ours['start ms'], hand: nodeMs, unit: 'ms' },
    row('memory, idle', 'idle MB', 'MB', { bar: { most: MAX_IDLE_RATIO } }),
    row('memory, loaded', 'loaded MB', 'MB'),
  ])
}
