/**
 * Holds the numbers of checks to those of Soda Core 3 and 4, and prints how long they take for a whole table:
 *
 *     SODA_ROWS=1000000 SODA_ROUNDS=3 node test/run.ts --timeout=1500 test/peers/soda.peer.ts
 *
 * It needs Python 3 and a package index. The table lies in a PostgreSQL of the system with its stock settings; without
 * one, in npm's, which has no jit. The product is measured from the request to the committed results, Soda from parsed
 * checks to its results, which it stores nowhere. A scan of the product reads no samples of invalid rows; Soda reads 100
 * of each check by default, and is therefore timed without them too, which is like with like. Soda 4 verifies a contract; it
 * reads samples only for its cloud.
 */
import pg from 'pg'
import t from 'tap'
import { median, quantile, type Teardown } from '../bench/rows.ts'
import {
  asksOf,
  columnsOf,
  createTable,
  FLOAT_COLUMNS,
  rowValues,
  TABLE,
  type CheckBody,
} from '../bench/scan-columns.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { startServer, type Tenant } from '../helpers/server.ts'
import { discover } from '../helpers/world.ts'
import { contractCheckOf, formatSodaContract } from './soda/contract.ts'
import { SODA_4_PACKAGE, SODA_PACKAGE, startSoda, startSodaContracts, type RunSoda } from './soda/scanner.ts'
import { formatSodaChecks, sodaCheckOf } from './soda/sodacl.ts'

const rows = Number(process.env.SODA_ROWS ?? 100_000)
const rounds = Number(process.env.SODA_ROUNDS ?? 3)
const DATABASE = 'postgres'

type Verdict = 'equal' | 'different' | 'not expressible'

/** A table with checks in the product. */
interface Product {
  scan(): Promise<{ checks: number; statements: number }>
  /** The numbers of the last scan, by the positions of the checks. */
  readValues(): Promise<(number | null)[]>
}

/** What is printed of a table: milliseconds of each round. */
interface Comparison {
  checks: number
  statements: number
  product: number[]
  soda: number[]
  /** The same without samples of invalid rows, as the product's. */
  sodaUnsampled: number[]
  soda4: number[]
}

/** One of the two, with a way to write our checks for it. */
interface Scanner {
  run(bodies: readonly CheckBody[], options?: { samples?: number }): ReturnType<RunSoda>
  /** Whether it has a check of the same purpose. */
  hasCheck(body: CheckBody): boolean
}

const cluster = await startStockPostgres()
// A scan that left a lock fails the test in place of stopping it.
const owner = new pg.Client({ ...cluster, database: DATABASE, lock_timeout: 10_000 })
await owner.connect()
t.teardown(() => owner.end())
await owner.query(`create role reader login password 'reader' in role pg_read_all_data`)
const reader = { ...cluster, user: 'reader', password: 'reader' }
const [runSoda, verify] = [
  await startSoda(t, reader, DATABASE),
  await startSodaContracts(t, reader, DATABASE),
]
const soda3: Scanner = {
  run: (bodies, options) => runSoda(formatSodaChecks(TABLE, bodies, options)),
  hasCheck: body => sodaCheckOf(body) !== null,
}
const soda4: Scanner = {
  run: bodies => verify(formatSodaContract(`shop/${DATABASE}/public/${TABLE}`, bodies)),
  hasCheck: body => contractCheckOf(body) !== null,
}
const comparisons: Comparison[] = []

for (const floats of FLOAT_COLUMNS) {
  const columns = columnsOf(floats)
  const bodies = asksOf(columns).map(({ body }) => body)
  t.test(`${bodies.length} checks have the same numbers`, async t => {
    await owner.query(createTable(columns, 'postgresql'))
    const values = rowValues(columns, 'postgresql')
    await owner.query(`insert into ${TABLE} select ${values} from generate_series(1::bigint, ${rows}) g`)
    await owner.query(`vacuum analyze ${TABLE}`)
    t.teardown(() => owner.query(`drop table ${TABLE}`))
    const product = await makeProduct(t, bodies)
    comparisons.push(await compareTimes(bodies, product))
    for (const scanner of [soda3, soda4]) {
      const compared = await compareNumbers(bodies, product, scanner)
      t.strictSame(
        compared.filter(({ verdict }) => verdict !== 'equal'),
        [],
      )
      t.equal(compared.length, bodies.length)
    }
  })
}

t.test('numbers that have another meaning are known', async t => {
  await owner.query(`create table ${TABLE} (code text, weight double precision, day text)`)
  t.teardown(() => owner.query(`drop table ${TABLE}`))
  await owner.query(`insert into ${TABLE} values
    ('a', 1, '2024-01-01'), ('a', 2, '2024-02-30'), ('a', 'NaN', null), ('b', 4, '2024-01-04'), (null, null, '')`)
  /** Verdicts beside Soda 3 and Soda 4. */
  const expected: [CheckBody, readonly [Verdict, Verdict], string][] = [
    [
      { rule_type: 'UNIQUE', column_name: 'code', treat_null_as_valid: true },
      ['different', 'different'],
      '3 rows; 1 value in Soda 3, 2 surplus rows in Soda 4',
    ],
    [
      { metric_type: 'duplicate_count', column_name: 'code' },
      ['different', 'equal'],
      '2 surplus rows; 1 value in Soda 3',
    ],
    [{ metric_type: 'distinct_count', column_name: 'code' }, ['equal', 'equal'], 'NULL is no value'],
    [
      { metric_type: 'percentile', column_name: 'weight', percentile_value: 40 },
      ['different', 'equal'],
      '2.4 between the values; 2 of them in Soda 3',
    ],
    [
      {
        ...{ rule_type: 'RANGE', column_name: 'weight', rule_config: { min: 0, max: 3 } },
        treat_null_as_valid: true,
      },
      ['equal', 'equal'],
      'NaN is invalid',
    ],
    [
      { rule_type: 'DATE_FORMAT', column_name: 'day', rule_config: { format: '%Y-%m-%d' } },
      ['not expressible', 'not expressible'],
      'its formats do not know the lengths of months',
    ],
  ]
  const bodies = expected.map(([body]) => body)
  const product = await makeProduct(t, bodies)
  await product.scan()
  for (const [side, scanner] of [soda3, soda4].entries()) {
    const compared = await compareNumbers(bodies, product, scanner)
    t.strictSame(
      compared.map(({ verdict }) => verdict),
      expected.map(([, verdicts]) => verdicts[side]),
    )
    for (const [at, { body, verdict, ours, soda }] of compared.entries()) {
      const cells = [String(body.rule_type ?? body.metric_type), verdict, String(ours), String(soda)]
      t.comment([...cells.map(cell => cell.padEnd(18)), expected[at]![2]].join(''))
    }
  }
})

t.test('the times', async t => {
  const { rows: settings } = await owner.query<{ version: string; jit: boolean }>(
    `select version(), pg_jit_available() and current_setting('jit')::boolean as jit`,
  )
  const [{ version, jit } = { version: '', jit: false }] = settings
  t.comment(`${rows.toLocaleString('en')} rows, medians of ${rounds} rounds (lowest – highest), milliseconds`)
  t.comment(`${version.split(',')[0]}, ${jit ? 'with' : 'without'} jit; ${SODA_PACKAGE}, ${SODA_4_PACKAGE}`)
  const heads = [
    ...['checks in statements', 'product', 'Soda 3', 'ratio', 'without samples', 'ratio', 'Soda 4', 'ratio'],
  ]
  t.comment(heads.map(pad).join(''))
  for (const { checks, statements, product, soda, sodaUnsampled, soda4 } of comparisons) {
    const ratios = [soda, sodaUnsampled, soda4].map(times =>
      times.map((ms, round) => ms / (product[round] ?? NaN)),
    )
    const cells = [
      `${checks} in ${statements}`,
      spread(product, 0),
      spread(soda, 0),
      spread(ratios[0]!, 2),
      spread(sodaUnsampled, 0),
      spread(ratios[1]!, 2),
      spread(soda4, 0),
      spread(ratios[2]!, 2),
    ]
    t.comment(cells.map(pad).join(''))
  }
  t.equal(comparisons.length, FLOAT_COLUMNS.length)
})

/** A server whose only company has the table as it is now, discovered, and its checks. */
async function makeProduct(t: Teardown, bodies: readonly CheckBody[]): Promise<Product> {
  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '3600' } })
  const { server, query } = app
  const tenant = await app.signUp()
  const { host, port, user: username, password } = reader
  const asset = await request(tenant, '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: { host, port, username, password, database: DATABASE, sslmode: 'prefer' },
  })
  await discover({ app, tenant, asset: asset as { id: string } })
  const ids: string[] = []
  for (const body of bodies) {
    const path = body.rule_type === undefined ? 'metrics' : 'validity'
    const made = await request(tenant, `/api/v1/sdk/${path}/${asset.id}`, { table_path: TABLE, ...body })
    // A prefix says of what kind of check it is.
    ids.push(String(made.uuid ?? made.id).replace(/^[a-z]_/, ''))
  }
  const { companyId } = tenant
  const [table] = await query('select id from tables where company_id = $1 and name = $2', [companyId, TABLE])
  return {
    scan: () => server.plugins.checks.runTable(companyId, String(table?.id), 'active'),
    async readValues() {
      const found = await query(
        `select distinct on (id) * from (
           select c.uuid as id, r.id as number,
             case c.kind when 'validity' then (r.details ->> 'invalidCount')::float8 else r.value end as value
           from check_results r join checks c on c.id = r.check_id where r.company_id = $1) all_results
         order by id, number desc`,
        [companyId],
      )
      const values = new Map(found.map(({ id, value }) => [id, value as number | null]))
      return ids.map(id => values.get(id) ?? null)
    },
  }
}

/** Posts, and waits where a limit on requests has been reached, which two hundred checks do. */
async function request(tenant: Tenant, path: string, payload: object): Promise<Record<string, string>> {
  for (;;) {
    const { status, body, headers } = await tenant.ask('POST', path, payload)
    if (status < 300) return body.data as Record<string, string>
    if (status !== 429) throw new Error(`${path}: ${JSON.stringify([payload, body])}`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * Number(headers['retry-after'] ?? 1)))
  }
}

/** All by turns, in the opposite order in every other round; the first round warms up and does not count. */
async function compareTimes(bodies: readonly CheckBody[], product: Product): Promise<Comparison> {
  const comparison: Comparison = {
    ...{ checks: bodies.length, statements: 0 },
    ...{ product: [], soda: [], sodaUnsampled: [], soda4: [] },
  }
  const turns = {
    async product() {
      const startedAt = performance.now()
      const { statements } = await product.scan()
      comparison.statements = statements
      return performance.now() - startedAt
    },
    soda: async () => (await soda3.run(bodies)).milliseconds,
    sodaUnsampled: async () => (await soda3.run(bodies, { samples: 0 })).milliseconds,
    soda4: async () => (await soda4.run(bodies)).milliseconds,
  }
  const order = ['product', 'soda', 'sodaUnsampled', 'soda4'] as const
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      const milliseconds = await turns[side]()
      if (round > 0) comparison[side].push(milliseconds)
    }
  }
  return comparison
}

interface ComparedNumber {
  body: CheckBody
  verdict: Verdict
  ours: number | null
  soda: number | null
}

async function compareNumbers(
  bodies: readonly CheckBody[],
  product: Product,
  scanner: Scanner,
): Promise<ComparedNumber[]> {
  const values = await product.readValues()
  const found = await scanner.run(bodies)
  return bodies.map((body, at) => {
    const [ours, soda] = [values[at] ?? null, found.values[at] ?? null]
    if (!scanner.hasCheck(body)) return { body, ours, soda, verdict: 'not expressible' }
    // Soda rounds percentages to two digits; the mean of doubles depends on the order in which they are added.
    const tolerance = body.metric_type === 'null_percent' ? 0.005 : 1e-9 * Math.abs(ours ?? NaN)
    const isEqual = Math.abs((ours ?? NaN) - (soda ?? NaN)) <= tolerance
    return { body, ours, soda, verdict: isEqual ? 'equal' : 'different' }
  })
}

function spread(values: readonly number[], digits: number): string {
  const [low, middle, high] = [quantile(values, 0), median(values), Math.max(...values)].map(value =>
    value.toFixed(digits),
  )
  return `${middle} (${low} – ${high})`
}

function pad(cell: string): string {
  return cell.padStart(24)
}
