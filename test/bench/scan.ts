/**
 * What a scan costs over a hand-written SELECT of the same numbers, and over one statement per check:
 * `node test/bench/scan.ts [rows] [rounds] [postgresql|mysql] [columns,columns…]`.
 *
 * The product is measured end to end, from the start of a table's job until its results are committed in a
 * database of its own; the source is in another server. The SELECT is what a person writes who wants these
 * numbers and knows nothing of checks, over a connection that is open. They take turns, who goes first alternates,
 * and the medians are printed, of the ratios too. All numbers must agree; how long anything takes is printed and
 * never judged. `node test/bench/scan.ts 20000 2` is short enough to run at every change.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { discover } from '../helpers/world.ts'
import {
  asksOf,
  columnsOf,
  outputOf,
  selectByHand,
  TABLE,
  type Ask,
  type EngineName,
} from './scan-columns.ts'
import { median, printRows, withTeardown, positionalWords, type BenchRow, type Teardown } from './rows.ts'
import { engines, type BenchEngine, type BenchSource } from './scan-engines.ts'

const rows = Number(positionalWords[0] ?? 1_000_000)
const rounds = Number(positionalWords[1] ?? 5)
const only = positionalWords[2]
const sizes = (positionalWords[3] ?? '10,20,40,80').split(',').map(Number)
/** The most that a scan may take of the time of the SELECT by hand. */
const MAX_RATIO = 1.15
/** Scans after which the heap is looked at again. */
const REPEATS = 10

/** One line of the table that is printed. */
interface Measured {
  columns: number
  checks: number
  statements: number
  productMs: number
  handMs: number
  /** Ratio of product to hand, round by round, which other work on the machine disturbs least. */
  ratio: number
  /** Ratio of the fastest of each, which other work on the machine disturbs even less. */
  fastest: number
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
  const heads = [
    'columns',
    'checks',
    'statements',
    'product ms',
    'hand ms',
    'ratio',
    'fastest',
    'singly ms',
    'ratio',
  ]
  console.log(heads.map(pad).join(''))
  for (const size of sizes) {
    await withTeardown(async own => {
      const columns = columnsOf(size)
      await source.fill(columns, rows)
      const app = await startServer(own, { settings: { STATEMENT_TIMEOUT: '3600' } })
      const world = await makeWorld(app, engine.name, source, asksOf(columns))
      const before = peakMb()
      const measured = await measure(engine.name, source, world)
      const peak = `peak memory ${before} MB before and ${peakMb()} MB after`
      print(measured)
      await source.drop()
      if (size !== sizes.at(-1)) return
      tableRows.push(...rowsOf(engine, measured))
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
  const { text, names } = selectByHand(asks, engine)
  const times = { product: [] as number[], hand: [] as number[] }
  let byHand: Record<string, unknown> = {}
  let statements = 0
  const turns = {
    product: async () => void ({ statements } = await scan(world)),
    hand: async () => void ([byHand = {}] = await source.query(text)),
  }
  // The first round finds nothing in memory yet and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    const order = round % 2 === 0 ? (['product', 'hand'] as const) : (['hand', 'product'] as const)
    for (const who of order) {
      const ms = await timed(turns[who])
      if (round > 0) times[who].push(ms)
    }
    if (round === 0) await compare(engine, world, byHand, names)
  }
  await compare(engine, world, byHand, names)
  const singlyMs = await timed(async () => {
    for (const item of asks) await source.query(`select ${outputOf(item, engine)} from ${TABLE}`)
  })
  return {
    columns: (asks.length + 14) / 3,
    checks: asks.length,
    statements,
    ratio: median(times.product.map((ms, round) => ms / (times.hand[round] ?? NaN))),
    fastest: Math.min(...times.product) / Math.min(...times.hand),
    productMs: median(times.product),
    handMs: median(times.hand),
    singlyMs,
  }
}

function scan({ app, tenant, tableId }: World): Promise<{ checks: number; statements: number }> {
  return app.server.plugins.scans.runTable(tenant.companyId, tableId, 'active')
}

/** Every number that the product stored last is the one found by hand. */
async function compare(
  engine: EngineName,
  { tenant, checks }: World,
  byHand: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { ask: item, results } of checks) {
    const { items } = (await ask(tenant, 'GET', `${results}?limit=1`)) as unknown as { items: Stored[] }
    const stored = items[0]?.invalid_count ?? items[0]?.value
    const found = Number(byHand[names.get(outputOf(item, engine)) ?? ''])
    const expected = item.isPercent ? (100 * found) / Number(byHand.total) : found
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

function rowsOf(
  { label }: BenchEngine,
  { checks, productMs, handMs, ratio, singlyMs }: Measured,
): BenchRow[] {
  const what = `${label}: scan of ${checks} checks over ${rows.toLocaleString('en')} rows`
  return [
    { what, ours: productMs, hand: handMs, ratio, unit: 'ms', bar: { most: MAX_RATIO } },
    { what: `${what}, beside one statement a check`, ours: productMs, hand: singlyMs, unit: 'ms' },
  ]
}

function print({ columns, checks, statements, ...measured }: Measured): void {
  const { productMs, handMs, ratio, fastest, singlyMs } = measured
  const cells = [columns, checks, statements, productMs.toFixed(0), handMs.toFixed(0)]
  const ratios = [
    ratio.toFixed(3),
    fastest.toFixed(3),
    singlyMs.toFixed(0),
    (singlyMs / productMs).toFixed(1),
  ]
  console.log([...cells, ...ratios].map(pad).join(''))
}

function pad(cell: string | number): string {
  return String(cell).padStart(12)
}
