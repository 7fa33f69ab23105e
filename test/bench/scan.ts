/**
 * What a scan costs over a hand-written SELECT of the same measures: `node test/bench/scan.ts [rows] [rounds]`.
 * Two mixes of 16 checks over a table of 20 columns; the SELECTs are what a person would write who knows that
 * the numbers are wanted and nothing of checks. The two run in turn, and the medians are compared.
 */
import type { Check } from '../../checks/check.ts'
import { metrics } from '../../checks/metrics/index.ts'
import { rules } from '../../checks/rules/index.ts'
import { scan } from '../../checks/scan.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { startSource } from '../helpers/source.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const rounds = Number(process.argv[3] ?? 9)

const types = new Map([...rules, ...metrics].map(type => [type.name, type]))

function check(
  name: string,
  column?: string,
  config: Record<string, unknown> = {},
  nullIsValid = false,
): Check {
  const type = types.get(name)
  if (!type) throw new Error(name)
  return { id: `${name} ${column} ${JSON.stringify(config)}`, type, column, config, nullIsValid }
}

const STATES = ['new', 'paid', 'sent', 'done']

const light: Check[] = [
  check('row_count'),
  check('NOT_NULL', 'i1'),
  check('NOT_NULL', 't1'),
  check('NOT_NULL', 'ts1'),
  check('RANGE', 'i1', { min: 0, max: 900_000 }),
  check('RANGE', 'f1', { min: 0 }),
  check('RANGE', 'n1', { min: 0, max: 1000 }, true),
  check('RANGE', 'd1', { min: '2020-01-01', max: '2022-01-01' }),
  check('ENUM', 'state', { allowed_values: STATES }),
  check('REGEX', 'email', { pattern: '@example[.]com$' }),
  check('null_percent', 't2'),
  check('null_percent', 'i2'),
  check('min_value', 'i2'),
  check('max_value', 'i2'),
  check('mean', 'n1'),
  check('mean', 'f2'),
]

const lightByHand = `select count(*), count(*) filter (where i1 is null), count(*) filter (where t1 is null),
  count(*) filter (where ts1 is null), count(*) filter (where i1 is null or i1 < 0 or i1 > 900000),
  count(*) filter (where f1 is null or f1 < 0 or f1 = 'NaN'), count(*) filter (where n1 < 0 or n1 > 1000),
  count(*) filter (where d1 is null or d1 < '2020-01-01' or d1 > '2022-01-01'),
  count(*) filter (where state is null or state not in ('new', 'paid', 'sent', 'done')),
  count(*) filter (where email is null or email !~ '@example[.]com$'),
  count(t2), count(i2), min(i2), max(i2), avg(n1), avg(f2) from orders`

const heavy: Check[] = [
  ...light.slice(0, 11),
  check('UNIQUE', 'id'),
  check('UNIQUE', 'email'),
  check('distinct_count', 'state'),
  check('duplicate_count', 'i3'),
  check('percentile', 'f2', { percentile_value: 95 }),
]

const heavyByHand = `${lightByHand.slice(0, lightByHand.indexOf('count(t2)'))} count(t2),
  (select sum(n) from (select count(*) n from orders group by id having count(*) > 1) x),
  (select sum(n) from (select count(*) n from orders where email is not null group by email having count(*) > 1) x),
  count(distinct state), count(i3), count(distinct i3), percentile_cont(0.95) within group (order by f2)
  from orders`

const downs: (() => unknown)[] = []
const source = await startSource({ teardown: down => downs.push(down) })
const config = postgresql.config.validate(source.config).value
const connection = await postgresql.connect(config, {
  egress: { address: host => Promise.resolve(host), file: path => Promise.resolve(path) },
  log: { debug() {}, warn() {} },
})
try {
  await fill()
  const [table] = await connection.introspect()
  if (!table) throw new Error('no table')
  console.log(
    `${rows.toLocaleString('en')} rows, ${table.columns.length} columns, medians of ${rounds} rounds\n`,
  )
  console.log('mix     checks  statements  scan ms  by hand ms  ratio  fastest ratio')
  for (const [name, checks, text] of [
    ['light', light, lightByHand],
    ['heavy', heavy, heavyByHand],
  ] as const) {
    const times: { scan: number[]; hand: number[] } = { scan: [], hand: [] }
    let statements = 0
    for (let round = 0; round <= rounds; round += 1) {
      const measure = [
        async () => {
          const result = await scan(connection, postgresql, table, checks, { timeoutMs: 600_000 })
          const failed = result.outcomes.find(outcome => outcome.status === 'error')
          if (failed) throw new Error(JSON.stringify(failed))
          statements = result.statements
        },
        () => source.query(text),
      ]
      // Who goes first alternates, so that neither finds the other's warm pages more often.
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const startedAt = performance.now()
        await measure[index]?.()
        const taken = performance.now() - startedAt
        if (round > 0) times[index === 0 ? 'scan' : 'hand'].push(taken)
      }
    }
    const [scanMs, handMs] = [median(times.scan), median(times.hand)]
    const fastest = Math.min(...times.scan) / Math.min(...times.hand)
    console.log(
      [
        name.padEnd(6),
        String(checks.length).padStart(7),
        String(statements).padStart(11),
        scanMs.toFixed(0).padStart(8),
        handMs.toFixed(0).padStart(11),
        (scanMs / handMs).toFixed(2).padStart(6),
        fastest.toFixed(2).padStart(14),
      ].join(' '),
    )
  }
} finally {
  await connection.close()
  for (const down of downs.reverse()) await down()
}

/** Twenty columns of five kinds, with NULLs and repeated values, spread evenly. */
async function fill(): Promise<void> {
  await source.query(`create table orders as select
    g as id, g % 1000000 as i1, nullif(g % 97, 0) as i2, g % 5000 as i3, g * 7 as i4,
    (g % 1000) * 0.5::float8 as f1, sqrt(g)::float8 as f2, (g % 777)::float8 as f3,
    (g % 100000) / 100.0 as n1, nullif(g % 13, 0) * 1.25 as n2, g / 3.0 as n3,
    'text ' || g % 1000 as t1, case when g % 11 > 0 then 'note ' || g % 50 end as t2, md5(g::text) as t3,
    (array['new', 'paid', 'sent', 'done'])[1 + g % 4] as state,
    'user' || g % 900000 || '@example.com' as email,
    date '2020-01-01' + g % 700 as d1, timestamp '2024-01-01' + g * interval '1 second' as ts1,
    timestamptz '2024-01-01' + g * interval '1 minute' as ts2, g % 2 = 0 as flag
    from generate_series(1, ${rows}) g`)
  await source.query('vacuum analyze orders')
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
