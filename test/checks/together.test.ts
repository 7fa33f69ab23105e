import t, { type Test as Tap } from 'tap'
import type { Check, CheckOutcome } from '../../checks/check.ts'
import { describeUnsuitedColumn } from '../../checks/suited-columns.ts'
import { columnChecks, type ColumnMeasuring } from '../../plugins/profiles/measures.ts'
import type { ColumnInfo, TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { toNumber } from '../../checks/measures.ts'
import { sql } from '../../connectors/sql.ts'
import { randomOf } from '../bench/detector-random.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

type Test = Parameters<typeof postgresqlStand>[0]

/** Columns with the values of their rows as literals; those with fewer values have NULL in the others. */
type Columns = Record<string, { type: string; values: readonly string[] }>

const repeat = (values: readonly string[], times: number) =>
  Array.from({ length: times }, () => values).flat()
const numbers = Array.from({ length: 40 }, (_, index) => index)

const shared: Columns = {
  few: { type: 'integer', values: repeat(['1', '2', 'null', '3', '2'], 8) },
  huge: {
    type: 'bigint',
    values: numbers.map(number => String(9_223_372_036_854_775_807n - BigInt(number))),
  },
  share: { type: 'double precision', values: numbers.map(number => String(number / 7)) },
  overflowing: { type: 'double precision', values: repeat(['1e308'], 40) },
  opposite: { type: 'double precision', values: repeat(['1e308', '1e308', '-1.7e308'], 13) },
  tiny: { type: 'double precision', values: repeat(['5e-324', '-2.2250738585072014e-308', '0'], 13) },
  single: { type: 'real', values: numbers.map(number => String(number / 10)) },
  exact: {
    type: 'decimal(38,10)',
    values: numbers.map(number => `${12_345_678_901_234_567n * BigInt(number + 1)}.0000000001`),
  },
  label: { type: 'varchar(40)', values: repeat([`'a'`, `'A'`, `'é'`, `''`, `' '`, `'null'`], 6) },
  day: { type: 'date', values: repeat([`'0001-01-01'`, `'2024-02-29'`, `'9999-12-31'`], 9) },
  empty: { type: 'double precision', values: [] },
}

const ENGINES: readonly {
  name: string
  absent: string | false
  start(t: Test): Promise<EngineTestDatabase>
  columns: Columns
}[] = [
  {
    name: 'PostgreSQL',
    absent: false,
    start: postgresqlStand,
    columns: {
      ...shared,
      unreal: { type: 'double precision', values: [`'NaN'`, `'Infinity'`, `'-Infinity'`, '1'] },
      beyond: { type: 'numeric', values: [`'Infinity'`, `'NaN'`, '1e400', '1'] },
      fields: { type: 'pair', values: [`row(1, null)`, `row(null, null)`, `row(1, 2)`, `row(1, null)`] },
      moment: { type: 'timestamp', values: [`'infinity'`, `'2024-02-29 10:00'`] },
    },
  },
  {
    name: 'MariaDB',
    absent: mariadbAbsent,
    start: mariadbStand,
    columns: {
      ...shared,
      single: { type: 'float', values: shared.single!.values },
      flag: { type: 'tinyint(1)', values: repeat(['0', '1', '2', '-7'], 5) },
      bits: { type: 'bit(1)', values: repeat([`b'0'`, `b'1'`], 5) },
      moment: { type: 'datetime(3)', values: [`'0000-00-00 00:00'`, `'2024-02-29 10:00'`] },
    },
  },
  {
    name: 'SQLite',
    absent: false,
    start: sqliteStand,
    columns: {
      ...shared,
      infinite: { type: 'real', values: ['9e999', '-9e999', '1'] },
      mixed: { type: 'integer', values: [`'x'`, '1', '2.5', `'9'`] },
      flag: { type: 'boolean', values: repeat(['0', '1', '2', `'yes'`], 5) },
    },
  },
]

const SEED = 'measures alone and together'
const ROUNDS = 60

/** A reading of what was measured, without what differs from run to run. */
function resultOf({ id: _id, durationMs: _durationMs, ...result }: CheckOutcome): unknown {
  return result
}

const MEASURING: ColumnMeasuring = {
  masked: new Set(),
  isDistinctApproximate: false,
  patterns: new Map(),
  counted: new Set(),
}

/** Every built-in check of a column that it can have, in both NULL policies, and what a profile measures of it. */
function checksOf(column: ColumnInfo, dialect: Dialect): Check[] {
  const { name, kind } = column
  const isNumber = ['integer', 'decimal', 'float'].includes(kind)
  const range = isNumber ? { min: 0, max: 1e15 } : { min: '0001-01-02', max: '9999-12-30' }
  const rules: [string, Record<string, unknown>][] = [
    ['NOT_NULL', {}],
    ['UNIQUE', {}],
    ['ENUM', { allowed_values: isNumber || kind === 'boolean' ? [1, 0] : ['a', '2024-02-29'] }],
    ['REGEX', { pattern: '[a1]' }],
    ['RANGE', range],
  ]
  return [
    ...rules.flatMap(([type, config]) =>
      [true, false].map(nullIsValid => check(type, name, config, { nullIsValid })),
    ),
    ...['null_percent', 'distinct_count', 'duplicate_count', 'min_value', 'max_value', 'mean'].map(type =>
      check(type, name),
    ),
    ...[0, 37.5, 50, 100].map(percentage => check('percentile', name, { percentile_value: percentage })),
    check('row_count'),
    ...columnChecks(column, MEASURING, dialect),
  ].filter(({ type }) => describeUnsuitedColumn(type, column, dialect) === null)
}

for (const { name, absent, start, columns } of ENGINES)
  void t.test(
    `${name}: what a check measures does not depend on the checks beside it`,
    { skip: absent },
    async t => {
      const on = await start(t)
      if (columns.fields) await on.execute('create type pair as (one integer, other integer)')
      const length = Math.max(...Object.values(columns).map(({ values }) => values.length))
      const declared = Object.entries(columns).map(([column, { type }]) => `${column} ${type}`)
      for (const [table, count] of [
        ['full', length],
        ['bare', 0],
      ] as const) {
        await on.execute(`create table ${table}_rows (id integer primary key, ${declared.join(', ')})`)
        const rows = Array.from({ length: count }, (_, row) =>
          [row + 1, ...Object.values(columns).map(({ values }) => values[row] ?? 'null')].join(', '),
        )
        if (rows.length > 0)
          await on.execute(`insert into ${table}_rows values ${rows.map(row => `(${row})`).join(', ')}`)
        const [found] = await on.connection.introspect({ tables: [on.ref(`${table}_rows`)] })
        await compare(t, on, found!, table === 'full' ? ROUNDS : ROUNDS / 4)
      }
    },
  )

async function compare(t: Tap, on: EngineTestDatabase, table: TableInfo, rounds: number) {
  const all = table.columns.flatMap(column => checksOf(column, on.engine.dialect))
  const alone = new Map<string, unknown>()
  for (const one of all) {
    const { outcomes } = await run(on, table, [one], { sampleLimit: 3 })
    alone.set(one.id, resultOf(outcomes[0]!))
  }
  const random = randomOf(SEED).uniform
  for (let round = 0; round < rounds; round++) {
    const chosen = all
      .map(one => ({ one, rank: random() }))
      .toSorted((a, b) => a.rank - b.rank)
      .slice(0, 2 + Math.floor(random() ** 2 * 60))
      .map(({ one }) => one)
    const { outcomes } = await run(on, table, chosen, { sampleLimit: 3 })
    for (const [index, outcome] of outcomes.entries()) {
      const { type, column } = chosen[index]!
      t.strictSame(resultOf(outcome), alone.get(outcome.id), `round ${round}: ${type.name} of ${column}`)
    }
  }
}

t.test('MariaDB: a mean has every digit of its double', { skip: mariadbAbsent }, async t => {
  const on = await mariadbStand(t)
  const random = randomOf(SEED).uniform
  const bits = new DataView(new ArrayBuffer(8))
  const doubles = Array.from({ length: 500 }, () => {
    bits.setUint32(0, random() * 2 ** 32)
    bits.setUint32(4, random() * 2 ** 32)
    return bits.getFloat64(0)
  }).filter(Number.isFinite)
  const { dialect } = on.engine
  for (const double of [
    ...doubles,
    0.1,
    1 / 3,
    2 ** 53,
    1e15,
    1e22,
    Number.MAX_VALUE,
    2.2250738585072014e-308,
  ]) {
    const [row] = await on.connection.query(
      sql`select ${dialect.mean(sql`d.x`)} as m from (select ${dialect.numberLiteral(String(double))} + 0e0 as x) d`,
      { timeoutMs: 20_000 },
    )
    if (toNumber(row?.m) !== double) t.equal(toNumber(row?.m), double)
  }
  t.pass('each is the same')
})
