/**
 * What reading through the API costs: lists of 10 and of 100 rules and one asset, each asked for with an API key, against
 * servers written by hand (`api-reference.ts`). All run in processes of their own on one PostgreSQL, and are asked in
 * turns with connections that stay open. Ends with 1 when a ratio of requests a second to the best hand is below the bar.
 *
 * `node test/bench/api.ts [--rounds 5] [--seconds 4] [--connections 16] [--json] [--profile FOLDER]`
 */
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { startApiServer, type Running, type Spent } from './api-server.ts'
import { addKeys } from './api-keys.ts'
import { databaseCpuMs, postmasterOf } from './database-cpu.ts'
import { isTableRequested, printRows, type BenchRow } from './rows.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})
const ROUNDS = Number(values.rounds)
const SECONDS = Number(values.seconds)
const CONNECTIONS = Number(values.connections)
/** The least share of the requests a second that the best hand answers. */
const BAR = 0.6
/** So many keys that none comes near its limit of 100 a second. */
const KEYS = 300

/** What is asked: the paths of our server, and of the variants by hand. */
interface Kind {
  name: string
  ours: string
  hands: Record<string, string>
}

interface Round {
  perSecond: number
  p50: number
  p99: number
  /** One request: milliseconds of the server and of PostgreSQL, and the statements between them. */
  cpuMs: number
  databaseMs: number
  statements: number
  waits: number
}

const undone: (() => unknown)[] = []
try {
  process.exitCode = await main({ teardown: down => undone.push(down) })
} finally {
  for (const down of undone.reverse()) await down()
}

async function main(t: { teardown(down: () => unknown): unknown }): Promise<number> {
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const tenant = await app.signUp('Measured')
  const tables = await fill(app, tenant)
  const keys = await addKeys(app, tenant, KEYS)
  await app.query('vacuum analyze')
  const list = (id: string | undefined) => ({
    ours: `/api/v1/sdk/validity/${id}?limit=100`,
    hands: { rows: `/rules/${id}?limit=100`, json: `/rules-as-json/${id}?limit=100` },
  })
  const kinds: Kind[] = [
    { name: '10 rules', ...list(tables.ten) },
    { name: '100 rules', ...list(tables.hundred) },
    {
      name: 'one asset',
      ours: `/api/v1/assets/${tables.hundred}`,
      hands: { rows: `/assets/${tables.hundred}` },
    },
  ]
  const url = String(app.server.config.databaseUrl)
  const ours = await startApiServer('ours', url, { profile: values.profile })
  t.teardown(() => ours.stop())
  const hand = await startApiServer('hand', url, { companyId: tenant.companyId })
  t.teardown(() => hand.stop())
  await assertSame(kinds, { ours, hand }, tenant.key)

  const postmaster = await postmasterOf(app)
  const found = new Map<string, Round[]>()
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, ours: path, hands } of kinds) {
      const contenders = [
        { title: `${name}, ours`, server: ours, path },
        ...Object.entries(hands).map(([way, path]) => ({ title: `${name}, ${way}`, server: hand, path })),
      ]
      for (const { title, server, path } of round % 2 ? contenders : contenders.reverse()) {
        const measured = await measure(server, path, keys, postmaster)
        // The first one warms up.
        if (round > 0) found.set(title, [...(found.get(title) ?? []), measured])
      }
    }
  }
  const judged = kinds.map(kind => compare(kind, found))
  print(judged)
  printRows(judged.map(lineOf))
  // `run.ts`, which runs all benches, judges by the rows.
  if (isTableRequested) return 0
  return judged.every(({ ratio }) => ratio.middle >= BAR) ? 0 : 1
}

/** A source with two tables, of ten and of a hundred rules; their ids. */
async function fill(app: TestServer, { companyId }: Tenant): Promise<Record<string, string>> {
  await app.query(
    `insert into sources (id, company_id, name, source_type, config, connection_status, discovery_state, table_count)
     values (gen_random_uuid(), $1, 'warehouse', 'postgresql', '{"host": "db", "port": 5432, "database": "shop"}',
       'connected', 'completed', 2)`,
    [companyId],
  )
  const made = await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count, estimated_rows)
     select gen_random_uuid(), $1, s.id, 'shop', 'public', n, 'warehouse.shop.public.' || n, 'table', columns, '[]', md5(n),
       12, 1000
     from sources s, unnest(array['ten', 'hundred']) n, (
       select jsonb_agg(jsonb_build_object('name', 'column_' || c, 'ordinal', c, 'type', 'varchar(50)', 'rawType',
         'character varying(50)', 'kind', 'text', 'nullable', true, 'default', null, 'comment', null)) as columns
       from generate_series(1, 12) c) wide
     where s.company_id = $1 returning id, name`,
    [companyId],
  )
  const tables = Object.fromEntries(made.map(({ name, id }) => [String(name), String(id)]))
  for (const [table, rules] of [
    [tables.ten, 10],
    [tables.hundred, 100],
  ] as const) {
    await app.query(
      `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity,
         check_interval, kind, sensitivity, settings, status)
       select gen_random_uuid(), $1, source_id, id, 'column_1', 'NOT_NULL', 'Rule ' || n, 'warning', 'daily', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', 'pass'
       from tables, generate_series(1, $3::int) n where id = $2`,
      [companyId, table, rules],
    )
  }
  return tables
}

/** What answers anything else would be no measure. */
async function assertSame(
  kinds: readonly Kind[],
  { ours, hand }: { ours: Running; hand: Running },
  key: string,
): Promise<void> {
  for (const { name, ours: path, hands } of kinds) {
    const headers = { authorization: `Bearer ${key}` }
    const one: unknown = await (await fetch(ours.url + path, { headers })).json()
    for (const [way, path] of Object.entries(hands)) {
      const other: unknown = await (await fetch(hand.url + path)).json()
      if (JSON.stringify(one) !== JSON.stringify(other))
        throw new Error(
          `The ${way} by hand differ for ${name}:\n${JSON.stringify(one)}\n${JSON.stringify(other)}`,
        )
    }
  }
}

async function measure(
  server: Running,
  path: string,
  keys: readonly string[],
  postmaster: number,
): Promise<Round> {
  const requests = keys.map(key => ({ path, headers: { authorization: `Bearer ${key}` } }))
  let clients = 0
  await server.spent()
  const databaseBefore = await databaseCpuMs(postmaster)
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    // Each connection goes through all keys, and no two through the same at once.
    setupClient(client) {
      const from = Math.floor((clients++ * keys.length) / CONNECTIONS)
      client.setRequests([...requests.slice(from), ...requests.slice(0, from)])
    },
    requests,
  })
  const databaseMs = (await databaseCpuMs(postmaster)) - databaseBefore
  const spent = await server.spent()
  const total = result['2xx']
  if (result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} other replies, ${result.errors} errors`)
  const each = (name: keyof Spent) => spent[name] / total
  return {
    perSecond: total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMs: each('cpuMs'),
    databaseMs: databaseMs / total,
    statements: each('statements'),
    waits: each('waits'),
  }
}

function middleOf(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN
}

/** The medians of all rounds. */
function middleRound(rounds: readonly Round[]): Round {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Round)[]
  return Object.fromEntries(
    names.map(name => [name, middleOf(rounds.map(round => round[name]))]),
  ) as unknown as Round
}

interface RequestComparison {
  name: string
  ours: Round
  /** The best first. */
  hands: { way: string; round: Round }[]
  /** Ours to the best: of the medians, and the least and the greatest of a round. */
  ratio: { middle: number; least: number; most: number }
}

function compare({ name, hands }: Kind, found: ReadonlyMap<string, Round[]>): RequestComparison {
  const roundsOf = (who: string) => found.get(`${name}, ${who}`) ?? []
  const ours = middleRound(roundsOf('ours'))
  const all = Object.keys(hands).map(way => ({ way, round: middleRound(roundsOf(way)) }))
  all.sort((one, other) => other.round.perSecond - one.round.perSecond)
  const best = roundsOf(all[0]!.way)
  const ratios = roundsOf('ours').map(({ perSecond }, index) => perSecond / best[index]!.perSecond)
  const middle = ours.perSecond / all[0]!.round.perSecond
  return { name, ours, hands: all, ratio: { middle, least: Math.min(...ratios), most: Math.max(...ratios) } }
}

function lineOf({ name, ours, hands, ratio }: RequestComparison): BenchRow {
  return {
    what: `API: ${name}`,
    ours: ours.perSecond,
    hand: hands[0]!.round.perSecond,
    ratio: ratio.middle,
    unit: 'requests/s',
    bar: { least: BAR },
  }
}

function print(judged: readonly RequestComparison[]): void {
  const titles = ['req/s', 'p50 ms', 'p99 ms', 'cpu ms', 'pg cpu ms', 'statements', 'waits']
  console.log(['', ...titles].map(pad).join(''))
  for (const { name, ours, hands, ratio } of judged) {
    for (const { way, round } of [{ way: 'ours', round: ours }, ...hands]) {
      const { perSecond, p50, p99, ...costs } = round
      const cells = [perSecond.toFixed(0), p50, p99, ...Object.values(costs).map(cost => cost.toFixed(3))]
      console.log([`${name}, ${way}`, ...cells].map(pad).join(''))
    }
    const { middle, least, most } = ratio
    console.log(
      `${name}: ${middle.toFixed(2)} of the best hand, ${least.toFixed(2)} to ${most.toFixed(2)} by the round`,
    )
  }
  console.log(`The bar is ${BAR} of the requests a second that the best hand answers.`)
}

function pad(text: string | number, column: number): string {
  return column === 0 ? String(text).padEnd(20) : String(text).padStart(13)
}
