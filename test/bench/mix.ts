/**
 * What requests of 20 users cost at 100,000 tables, while checks that are due are measured beside them: lists, one asset
 * and results, each user with keys of its own. The server that answers and the worker that measures are processes of their
 * own, so that the CPU of each is counted by itself.
 *
 * `node test/bench/mix.ts [--quick] [--rounds 5] [--requests 2000] [--tables 100000] [--scanned 300]
 *   [--beside FOLDER,…] [--each] [--json]`
 *
 * A round has a number of requests, not a time, so that both sides of a comparison are as warm. Without scanned tables, no
 * checks are measured beside them. With `--beside`, another checkout is measured in turns with this one on the same database, and ratios are printed:
 * what a change costs or gives, on a machine that others use too. With `--each`, each kind of request is also asked for
 * by itself. Times are printed and never judged; a reply other than 200 or a check that is not measured ends it with an error.
 */
import { Agent, get } from 'node:http'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startServer, type TestServer } from '../helpers/server.ts'
import { addKeys } from './api-keys.ts'
import { startApiServer, type Running } from './api-server.ts'
import { databaseCpuMs, postmasterOf } from './database-cpu.ts'
import { makeMixWorld, type MixRoute, type MixWorld } from './mix-world.ts'
import { median, printRows, quantile, withTeardown, type Teardown } from './rows.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    requests: { type: 'string' },
    tables: { type: 'string' },
    scanned: { type: 'string' },
    beside: { type: 'string' },
    each: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds ?? (values.quick ? 1 : 5))
/** Requests of a round, and of each kind that is asked for by itself. */
const REQUESTS = Number(values.requests ?? (values.quick ? 120 : 2_000))
/** Rounds that do not count, since what they run is not yet compiled. */
const WARM_UP_ROUNDS = values.quick ? 1 : Math.ceil(2_000 / REQUESTS)
const REQUESTS_ALONE = Math.ceil(REQUESTS / 4)
const TABLES = Number(values.tables ?? (values.quick ? 1_000 : 100_000))
const SCANNED_TABLES = Number(values.scanned ?? (values.quick ? 10 : 300))
const USERS = 20
/** So many that none comes near its limit of 100 a second. */
const KEYS = 400
/** Milliseconds until checks that are due and not measured count as lost. */
const DUE_TIMEOUT_MS = 120_000
const POLL_MS = 100
const OURS = 'ours'

/** A checkout that is measured. */
interface Contender {
  name: string
  folder: string | undefined
  web: Running
}

/** What one round of a contender gave, by name. */
type Figures = Record<string, number>

/** How much was done, and how long it took. */
interface Load {
  count: number
  seconds: number
}

await withTeardown(main)

async function main(t: Teardown): Promise<void> {
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const tenant = await app.signUp('Measured')
  const world = await makeMixWorld(t, app, tenant, { tables: TABLES, scannedTables: SCANNED_TABLES })
  const keys = await addKeys(app, tenant, KEYS)
  const postmaster = await postmasterOf(app)
  const contenders: Contender[] = []
  for (const folder of [undefined, ...(values.beside?.split(',') ?? [])]) {
    const web = await startApiServer('ours', urlOf(app), { ...(folder !== undefined && { folder }) })
    t.teardown(() => web.stop())
    contenders.push({ name: folder === undefined ? OURS : basename(folder), folder, web })
  }
  const rounds = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 1 - WARM_UP_ROUNDS; round <= ROUNDS; round += 1)
    for (const contender of round % 2 ? contenders : contenders.toReversed()) {
      const measured = await measure(app, world, contender, { keys, postmaster })
      if (round > 0) rounds.get(contender.name)?.push(measured)
    }
  print(world, rounds)
}

function urlOf(app: TestServer): string {
  return String(app.server.config.databaseUrl)
}

async function measure(
  app: TestServer,
  world: MixWorld,
  contender: Contender,
  { keys, postmaster }: { keys: readonly string[]; postmaster: number },
): Promise<Figures> {
  const { web } = contender
  const worker = SCANNED_TABLES > 0 ? await startWorker(app, contender) : undefined
  try {
    // Its first scans are not yet compiled.
    if (worker) await runDue(app, world)
    await Promise.all([web.spent(), worker?.spent()])
    const databaseBefore = await databaseCpuMs(postmaster)
    const [due, load] = await Promise.all([
      worker && runDue(app, world),
      runUsers(web, mixOf(world.routes), keys, REQUESTS),
    ])
    const figures: Figures = {
      ...(await costs(web, load, 'request')),
      ...(worker && due && (await costs(worker, due, 'check'))),
      'database CPU ms in all': (await databaseCpuMs(postmaster)) - databaseBefore,
    }
    for (const [name, times] of load.latencies) {
      figures[`${name}, p50 ms`] = median(times)
      figures[`${name}, p95 ms`] = quantile(times, 0.95)
    }
    if (values.each)
      for (const { name, path } of world.routes) {
        const alone = await runUsers(web, [{ name, path }], keys, REQUESTS_ALONE)
        Object.assign(figures, await costs(web, alone, name))
        figures[`${name} alone, p50 ms`] = median(alone.latencies.get(name) ?? [])
      }
    return figures
  } finally {
    await worker?.stop()
  }
}

function startWorker(app: TestServer, { folder }: Contender): Promise<Running> {
  return startApiServer('ours', urlOf(app), { role: 'worker', ...(folder !== undefined && { folder }) })
}

/** What one of some requests or checks cost a process. @param what names one of them */
async function costs(process: Running, { count, seconds }: Load, what: string): Promise<Figures> {
  const { cpuMs, statements, waits } = await process.spent()
  return {
    [`${what}, a second`]: count / seconds,
    [`${what}, CPU ms`]: cpuMs / count,
    [`${what}, statements`]: statements / count,
    [`${what}, waits`]: waits / count,
  }
}

/** Each route as often as its share, spread so that no two of a kind follow each other where that can be. */
function mixOf(routes: readonly MixRoute[]): MixRoute[] {
  const most = Math.max(...routes.map(({ share }) => share))
  return Array.from({ length: most }, (_, turn) => routes.filter(({ share }) => share > turn)).flat()
}

/** Lets all users ask for the routes in turns, each beginning at another one. @returns also milliseconds by route */
async function runUsers(
  { url }: Running,
  routes: readonly Pick<MixRoute, 'name' | 'path'>[],
  keys: readonly string[],
  requests: number,
): Promise<Load & { latencies: Map<string, number[]> }> {
  const agent = new Agent({ keepAlive: true, maxSockets: USERS })
  const startedAt = performance.now()
  const own = KEYS / USERS
  const latencies = new Map<string, number[]>(routes.map(({ name }) => [name, []]))
  let asked = 0
  const runUser = async (user: number) => {
    for (let turn = 0; asked < requests; turn += 1) {
      asked += 1
      const { name, path } = routes[(user + turn) % routes.length]!
      const askedAt = performance.now()
      await ask(agent, url + path, keys[user * own + (turn % own)]!)
      latencies.get(name)?.push(performance.now() - askedAt)
    }
  }
  await Promise.all(Array.from({ length: USERS }, (_, user) => runUser(user)))
  agent.destroy()
  return { count: requests, seconds: (performance.now() - startedAt) / 1_000, latencies }
}

function ask(agent: Agent, url: string, key: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  get(url, { agent, headers: { authorization: `Bearer ${key}` } }, reply => {
    reply.resume().once('end', () => {
      if (reply.statusCode === 200) resolve()
      else reject(new Error(`${url} gave ${reply.statusCode}`))
    })
  }).once('error', reject)
  return promise
}

/** Makes all checks due, dispatches them and waits until each is stored. */
async function runDue(app: TestServer, world: MixWorld): Promise<Load> {
  const count = await world.makeDue()
  const sweep = app.server.jobs.all().find(({ name }) => name === 'scans.dispatch')
  if (!sweep) throw new Error('There is no job that dispatches scans')
  const startedAt = performance.now()
  await app.server.jobs.send(sweep, {})
  while (!(await world.isDone())) {
    if (performance.now() - startedAt > DUE_TIMEOUT_MS)
      throw new Error('Checks that are due were not measured')
    await wait(POLL_MS)
  }
  return { count, seconds: (performance.now() - startedAt) / 1_000 }
}

function print(world: MixWorld, rounds: ReadonlyMap<string, Figures[]>): void {
  const ours = rounds.get(OURS) ?? []
  console.log(
    `${TABLES} tables, ${USERS} users, ${ROUNDS} rounds of ${REQUESTS} requests: medians, and ratios to ours`,
  )
  const table = Object.keys(ours[0] ?? {}).map(figure => {
    const of = (all: readonly Figures[], share: number) =>
      quantile(
        all.map(figures => figures[figure] ?? NaN),
        share,
      )
    const cells = Array.from(rounds, ([name, all]) => {
      const ratio = rounded(of(all, 0.25) / of(ours, 0.25))
      return [name, `${rounded(of(all, 0.5))}${name === OURS ? '' : ` (${ratio})`}`]
    })
    return { figure, ...(Object.fromEntries(cells) as Record<string, string>) }
  })
  console.table(table)
  const middle = (name: string) => median(ours.map(figures => figures[name] ?? NaN))
  printRows([
    { what: `mix of ${USERS} users, CPU of a request`, ours: middle('request, CPU ms'), unit: 'ms' },
    { what: 'due checks beside it, CPU of a check', ours: middle('check, CPU ms'), unit: 'ms' },
    ...world.routes.map(({ name }) => ({
      what: `mix: ${name}, p95`,
      ours: middle(`${name}, p95 ms`),
      unit: 'ms',
    })),
  ])
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
