/**
 * What a check of a whole table costs over the same numbers by hand, and over one statement per check:
 * `node test/bench/scan.ts [rows] [rounds] [postgresql|mysql|sqlite|duckdb] [floats,floats…]`, with so many columns of floats beside
 * ten others.
 *
 * The product is measured end to end, from the start of a table's job until its results are committed in a
 * database of its own; the source is in another server, with its stock settings. By hand are the statements of
 * `scan-hand.ts` over a connection that is open, each way with each of the engine's tunings; the reference is the fastest of
 * them. All take turns, who goes first changes, and medians are printed. All numbers must agree; how long anything takes is
 * printed and never judged. `node test/bench/scan.ts 20000 2` is short enough to run at every change.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { discover } from '../helpers/world.ts'
import { asksOf, columnsOf, FLOAT_COLUMNS, TABLE, type Ask, type EngineName } from './scan-columns.ts'
import { numberName, TOTAL, writeByHand, writeSingly } from './scan-hand.ts'
import {
  compareRounds,
  median,
  printRows,
  withTeardown,
  positionalWords,
  type BenchRow,
  type Teardown,
} from './rows.ts'
import { engines, type BenchEngine, type BenchSource } from './scan-engines.ts'

const rows = Number(positionalWords[0] ?? 1_000_000)
const rounds = Number(positionalWords[1] ?? 5)
const only = positionalWords[2]
const sizes = positionalWords[3]?.split(',').map(Number) ?? FLOAT_COLUMNS
/** The most that a scan may take of the time of the fastest way by hand. */
const MAX_RATIO = 1.05
/** Scans after which the heap is looked at again. */
const REPEATS = 10

/** What was measured of one size, milliseconds of each round. */
interface Measured {
  checks: number
  statements: number
  product: number[]
  hand: { name: string; ms: number[] }[]
  /** One statement after the other, a check each. */
  singlyMs: number
}

/** A discovered table with its checks, each with the address of its last result. */
interface World {
  app: TestServer
  tenant: Tenant
  tableId: string
  checks: { ask: Ask; results: string }[]
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const tableRows: BenchRow[] = []
for (const engine of engines) {
  if (only === undefined || only === engine.name) await withTeardown(t => measureEngine(engine, t))
}
printRows(tableRows)

async function measureEngine(engine: BenchEngine, t: Teardown): Promise<void> {
  const source = await engine.start(t)
  if (typeof source === 'string') return console.log(`${engine.label}: skipped, ${source}`)
  console.log(`\n${engine.label}: ${rows.toLocaleString('en')} rows, medians of ${rounds} rounds`)
  for (const size of sizes) {
    await withTeardown(async own => {
      const columns = columnsOf(size)
      await source.fill(columns, rows)
      const app = await startServer(own, { settings: { STATEMENT_TIMEOUT: '3600', ...source.settings } })
      const world = await makeWorld(app, engine.name, source, asksOf(columns))
      const before = peakMb()
      const measured = await measure(engine.name, source, world)
      const peak = `peak memory ${before} MB before and ${peakMb()} MB after`
      print(measured)
      await source.drop()
      tableRows.push(...rowsOf(engine, measured))
      if (size !== sizes.at(-1)) return
      // How many rows there are makes no difference to our memory.
      await source.fill(columns, 1_000)
      console.log(`${measured.checks} checks: ${peak}; ${await growth(world)} after ${REPEATS} more scans`)
      await source.drop()
    })
  }
}

/** A company with the source, its table discovered, and the checks made over HTTP. */
async function makeWorld(
  app: TestServer,
  engine: EngineName,
  source: BenchSource,
  asks: readonly Ask[],
): Promise<World> {
  const tenant = await app.signUp()
  const asset = await ask(tenant, 'POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: engine,
    connection_config: source.config,
  })
  await discover({ app, tenant, asset: asset as { id: string } })
  const [table] = await app.query('select id from tables where company_id = $1 and name = $2', [
    tenant.companyId,
    TABLE,
  ])
  // Otherwise only the parts that changed of a large one would be read.
  await ask(tenant, 'PATCH', `/api/v1/sdk/assets/${table?.id}/parts`, { reads: 'whole' })
  const checks: World['checks'] = []
  for (const item of asks) {
    const isRule = item.body.rule_type !== undefined
    const base = `/api/v1/sdk/${isRule ? 'validity' : 'metrics'}/${asset.id}`
    const made = await ask(tenant, 'POST', base, { table_path: TABLE, ...item.body })
    const results = isRule ? `${base}/${made.uuid}/results` : `${base}/${made.id}/snapshots`
    checks.push({ ask: item, results })
  }
  return { app, tenant, tableId: String(table?.id), checks }
}

async function ask(
  tenant: Tenant,
  method: string,
  path: string,
  payload?: unknown,
): Promise<Record<string, string>> {
  for (;;) {
    const reply = await tenant.ask(method, path, payload)
    if (reply.status < 300) return reply.body.data
    if (reply.status !== 429) throw new Error(`${method} ${path}: ${JSON.stringify([payload, reply.body])}`)
    await new Promise(resolve => setTimeout(resolve, 1_000))
  }
}

async function measure(engine: EngineName, source: BenchSource, world: World): Promise<Measured> {
  const asks = world.checks.map(check => check.ask)
  const hands = source.tunings.flatMap(tuning =>
    writeByHand(asks, engine).map(({ way, statements }) => ({
      ...{ name: `${way}, ${tuning.name}`, prepare: tuning.statements, statements },
      numbers: {} as Record<string, unknown>,
      ms: [] as number[],
    })),
  )
  const product: number[] = []
  let statements = 0
  const turns = [
    async (isCounted: boolean) => {
      const ms = await timed(async () => ({ statements } = await scan(world)))
      if (isCounted) product.push(ms)
    },
    ...hands.map(hand => async (isCounted: boolean) => {
      for (const statement of hand.prepare) await source.query(statement)
      const ms = await timed(async () => {
        for (const statement of hand.statements)
          Object.assign(hand.numbers, (await source.query(statement))[0])
      })
      if (isCounted) hand.ms.push(ms)
    }),
  ]
  // The first round finds nothing in memory yet and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % turns.length
    for (const turn of [...turns.slice(first), ...turns.slice(0, first)]) await turn(round > 0)
  }
  for (const hand of hands) await compare(world, hand.numbers)
  const singlyMs = await timed(async () => {
    for (const statement of writeSingly(asks, engine)) await source.query(statement)
  })
  return {
    checks: asks.length,
    statements,
    product,
    hand: hands.map(({ name, ms }) => ({ name, ms })),
    singlyMs,
  }
}

function scan({ app, tenant, tableId }: World): Promise<{ checks: number; statements: number }> {
  return app.server.plugins.checks.runTable(tenant.companyId, tableId, 'active')
}

/** Every number that the product stored last is the one found by hand. */
async function compare({ tenant, checks }: World, byHand: Record<string, unknown>): Promise<void> {
  for (const [position, { ask: item, results }] of checks.entries()) {
    const { items } = (await ask(tenant, 'GET', `${results}?limit=1`)) as unknown as { items: Stored[] }
    const stored = items[0]?.invalid_count ?? items[0]?.value
    const found = Number(byHand[numberName(position)])
    const isPercent = 'isPercent' in item.hand && item.hand.isPercent
    const expected = isPercent ? (100 * found) / Number(byHand[TOTAL]) : found
    // The mean of doubles depends on the order in which they are added.
    const isSame = Math.abs(Number(stored ?? NaN) - expected) <= 1e-9 * Math.abs(expected)
    if (!isSame)
      throw new Error(`${JSON.stringify(item.body)}: ${JSON.stringify(items[0])}, by hand ${expected}`)
  }
}

interface Stored {
  invalid_count?: number | null
  value?: number | null
}

/** How the heap grew over more scans, after one that is not counted. */
async function growth(world: World): Promise<string> {
  await scan(world)
  const before = heapMb()
  for (let repeat = 0; repeat < REPEATS; repeat += 1) await scan(world)
  return `heap from ${before.toFixed(1)} to ${heapMb().toFixed(1)} MB`
}

function heapMb(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

/** The most memory that this process, which is the whole product here, has had. */
function peakMb(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** The fastest way by hand. */
function fastest({ hand }: Measured): Measured['hand'][number] {
  const [first, ...others] = hand
  if (!first) throw new TypeError('Nothing was measured by hand.')
  return others.reduce((best, other) => (median(other.ms) < median(best.ms) ? other : best), first)
}

function rowsOf({ label }: BenchEngine, measured: Measured): BenchRow[] {
  const { checks, product, singlyMs } = measured
  const what = `${label}: ${checks} checks of ${rows.toLocaleString('en')} rows`
  const compared = compareRounds(product, fastest(measured).ms)
  return [
    { what, ...compared, unit: 'ms', bar: { most: MAX_RATIO } },
    { what: `${what}, beside one statement per check`, ours: compared.ours, hand: singlyMs, unit: 'ms' },
  ]
}

function print(measured: Measured): void {
  const { checks, statements, product, hand, singlyMs } = measured
  const { ratio, spread } = compareRounds(product, fastest(measured).ms)
  const described = `${ratio.toFixed(3)} (${spread.map(value => value.toFixed(3)).join(' – ')})`
  console.log(
    `\n${checks} checks: ${median(product).toFixed(0)} ms, ${statements} statements; ratio ${described}`,
  )
  for (const { name, ms } of hand) console.log(`  ${median(ms).toFixed(0).padStart(7)} ms  ${name}`)
  console.log(`  ${singlyMs.toFixed(0).padStart(7)} ms  one statement per check`)
}
