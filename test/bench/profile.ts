/**
 * What a profile of a table costs over the same numbers by hand: `node test/bench/profile.ts [rows] [rounds]`.
 *
 * The table has 80 columns of numbers, texts, dates and booleans on PostgreSQL with its stock settings. The product is
 * measured end to end, from the request until the profile is stored. By hand are the statements of an engineer who knows
 * the table: which texts have which pattern and which columns have few values; in one statement and in several, each with
 * the defaults and with jit off. The reference is the fastest of them. All take turns, who goes first changes, and medians
 * are printed; a way far behind the fastest in the first round is tried no more. The numbers must agree; how long anything takes is printed and never judged here.
 * `node test/bench/profile.ts 20000 1` is short enough to run at every change.
 */
import pg from 'pg'
import { startServer } from '../helpers/server.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { discover } from '../helpers/world.ts'
import { columns, createStatement, fillStatement, TABLE, writeByHand } from './profile-hand.ts'
import { compareRounds, median, positionalWords, printRows, withTeardown, type Teardown } from './rows.ts'

const rows = Number(positionalWords[0] ?? 1_000_000)
const rounds = Number(positionalWords[1] ?? 3)
/** Ways by hand that took so many times as long as the fastest in the first round leave. */
const LEAVING_RATIO = 1.3
/** The most that a profile may take of the time of the fastest way by hand. */
const MAX_RATIO = 1.1
const TUNINGS = { defaults: 'reset jit', 'jit = off': 'set jit = off' }

await withTeardown(async t => {
  const { config, query } = await startSource(t)
  await query(createStatement)
  await query(fillStatement(rows))
  await query(`vacuum analyze ${TABLE}`)
  const [size] = await query(`select pg_size_pretty(pg_total_relation_size('${TABLE}')) as size`)
  console.log(
    `${rows.toLocaleString('en')} rows, ${columns.length} columns, ${String(size?.size)}; medians of ${rounds} rounds`,
  )

  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '3600' } })
  const tenant = await app.signUp()
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: config,
  })
  await discover({ app, tenant, asset: made.body.data })
  const { companyId } = tenant
  const { profiles } = app.server.plugins
  const target = await app.server.db.company(companyId, trx =>
    profiles.resolveTarget(trx, 'shop', { table_path: TABLE }),
  )
  const product: number[] = []
  let statements = 0
  const hands = writeByHand().flatMap(hand =>
    Object.entries(TUNINGS).map(([name, prepare]) => ({
      ...hand,
      name: `${hand.way}, ${name}`,
      prepare,
      ms: [] as number[],
    })),
  )
  const found: Record<string, unknown> = {}
  const measureProduct = async () => {
    const ms = await timed(async () => {
      const result = await profiles.profileAsset(target, { signal: new AbortController().signal })
      if (result?.profiled !== 1) throw new Error(JSON.stringify(result))
      statements = result.statements
    })
    product.push(ms)
  }
  const measureByHand = async (hand: (typeof hands)[number]) => {
    await query(hand.prepare)
    const ms = await timed(async () => {
      for (const statement of hand.statements) Object.assign(found, (await query(statement))[0])
    })
    hand.ms.push(ms)
  }
  // The table was just written and vacuumed: all turns find it in memory.
  for (let round = 0; round < rounds; round += 1) {
    const fastest = Math.min(...hands.flatMap(({ ms }) => ms.slice(0, 1)))
    const staying = hands.filter(({ ms: [first] }) => first === undefined || first <= LEAVING_RATIO * fastest)
    const turns = [measureProduct, ...staying.map(hand => () => measureByHand(hand))]
    const first = round % turns.length
    for (const turn of [...turns.slice(first), ...turns.slice(0, first)]) await turn()
  }
  const stored = await app.server.db.company(companyId, trx => profiles.latest(trx, [String(target.tableId)]))
  const differences = compareNumbers([...stored.values()][0]?.columns ?? [], found)
  if (differences.length > 0) throw new Error(`The numbers differ: ${differences.slice(0, 5).join('; ')}`)

  const rounded = hands.filter(({ ms }) => ms.length === rounds)
  const [best] = rounded.toSorted((a, b) => median(a.ms) - median(b.ms))
  if (!best) throw new Error('Nothing was measured by hand')
  console.log(
    `profile      ${seconds(product)} s, ${statements} statements (one of them for frequent values)`,
  )
  for (const { name, ms, statements: own } of hands)
    console.log(`${name.padEnd(42)} ${seconds(ms)} s, ${own.length} statements`)
  const compared = compareRounds(product, best.ms)
  const [lowest, highest] = compared.spread
  console.log(
    `ratio to the fastest by hand (${best.name}): ${compared.ratio.toFixed(3)} (${lowest.toFixed(3)}–${highest.toFixed(3)}), goal ${MAX_RATIO}`,
  )
  printRows([
    {
      what: `profile of ${rows} rows × ${columns.length} columns`,
      ...compared,
      unit: 'ms',
      bar: { most: MAX_RATIO },
    },
  ])
})

async function startSource(t: Teardown) {
  const cluster = await startStockPostgres()
  const admin = new pg.Client({ ...cluster, database: 'postgres' })
  await admin.connect()
  await admin.query('create database shop')
  await admin.query(`create role reader login password 'reader' in role pg_read_all_data`)
  await admin.end()
  const owner = new pg.Client({ ...cluster, database: 'shop' })
  await owner.connect()
  t.teardown(() => owner.end())
  const { host, port } = cluster
  return {
    config: { host, port, database: 'shop', username: 'reader', password: 'reader', sslmode: 'prefer' },
    query: async (text: string) => (await owner.query(text)).rows as Record<string, unknown>[],
  }
}

interface Compared {
  name: string
  count: number | null
  distinct: number | null
  min: number | string | null
  mean: number | null
  stddev: number | null
  quantiles: { p50: number } | null
  maxLength: number | null
  pattern: { name: string; share: number } | null
}

/** Where what the product stored is not what was found by hand. */
function compareNumbers(profiled: readonly Compared[], found: Record<string, unknown>): string[] {
  return profiled.flatMap(column => {
    const pattern =
      column.pattern && column.pattern.name !== 'enum' ? column.pattern.share * (column.count ?? 0) : null
    const numbers = {
      count: column.count,
      distinct: column.distinct,
      mean: column.mean,
      stddev: column.stddev,
    }
    const more = { max_length: column.maxLength, matches: pattern, p50: column.quantiles?.p50 ?? null }
    return Object.entries({ ...numbers, ...more }).flatMap(([name, number]) => {
      const byHand = found[`${column.name}_${name}`]
      if (number === null && byHand === undefined) return []
      const isSame = Math.abs(Number(byHand) - Number(number)) <= 1e-9 * Math.max(1, Math.abs(Number(byHand)))
      return isSame ? [] : [`${column.name} ${name} ${String(number)}, by hand ${String(byHand)}`]
    })
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function seconds(ms: readonly number[]): string {
  return (median(ms) / 1_000).toFixed(2)
}
