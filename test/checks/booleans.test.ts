import t from 'tap'
import type { Value } from '../../connectors/connector.ts'
import type { TopValue } from '../../plugins/profiles/api.ts'
import { readFewValues, readTopValues } from '../../plugins/profiles/top-values.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

type Test = Parameters<typeof postgresqlStand>[0]

interface StoredCase {
  name: string
  absent: string | false
  start(t: Test): Promise<EngineTestDatabase>
  type: string
  /** Literals of the rows; NULL is added. */
  rows: readonly string[]
  /** The distinct values as they are shown, by the literal. */
  shown: Record<string, { profile: TopValue['value']; group: Value }>
  /** Lists of allowed values, and how many rows are in none of them. */
  enums: readonly [allowed: unknown[], invalid: number][]
  /** The numbers of the column; null where numeric checks are refused. */
  numbers: { min: number; max: number; mean: number; median: number; above2: number } | null
}

const same = (value: Value & TopValue['value']) => ({ profile: value, group: value })

const CASES: readonly StoredCase[] = [
  {
    name: 'MariaDB tinyint(1)',
    absent: mariadbAbsent,
    start: mariadbStand,
    type: 'tinyint(1)',
    rows: ['0', '0', '1', '1', '2', '2', '3', '3', '4', '4', '-7', '-7'],
    shown: Object.fromEntries(['0', '1', '2', '3', '4', '-7'].map(each => [each, same(Number(each))])),
    enums: [
      [[0, 1], 8],
      [[false, true], 8],
      [['0', 'true'], 8],
      [[0, 1, 2, 3, 4], 2],
      [['-7', 2], 8],
    ],
    numbers: { min: -7, max: 4, mean: 0.5, median: 1.5, above2: 4 },
  },
  {
    name: 'MariaDB bit(1)',
    absent: mariadbAbsent,
    start: mariadbStand,
    type: 'bit(1)',
    rows: [`b'0'`, `b'0'`, `b'0'`, `b'1'`, `b'1'`],
    shown: { [`b'0'`]: same(false), [`b'1'`]: same(true) },
    enums: [
      [[0, 1], 0],
      [[true], 3],
      [['f'], 2],
    ],
    numbers: null,
  },
  {
    name: 'SQLite boolean',
    absent: false,
    start: sqliteStand,
    type: 'boolean',
    rows: ['0', '0', '1', '1', '2', '2', `'yes'`, `'yes'`, `'true'`, `'true'`],
    shown: {
      0: same(0),
      1: same(1),
      2: same(2),
      [`'yes'`]: same('yes'),
      [`'true'`]: same('true'),
    },
    enums: [
      [[0, 1], 6],
      [[false, true], 6],
      [['yes', 1], 6],
      [['true', 0], 4],
      [[0, 1, 2, 'yes', 'true'], 0],
    ],
    numbers: null,
  },
  {
    name: 'PostgreSQL boolean',
    absent: false,
    start: postgresqlStand,
    type: 'boolean',
    rows: ['false', 'false', 'false', 'true', 'true'],
    shown: { false: same(false), true: same(true) },
    enums: [
      [[0, 1], 0],
      [['t'], 3],
      [[false], 2],
    ],
    numbers: null,
  },
]

for (const { name, absent, start, type, rows, shown, enums, numbers } of CASES)
  void t.test(`${name} is compared and shown by what it stores`, { skip: absent }, async t => {
    const on = await start(t)
    const { dialect } = on.engine
    await on.execute(`create table flags (id integer primary key, v ${type})`)
    const given = [...rows, 'null'].map((row, index) => `(${index + 1}, ${row})`)
    await on.execute(`insert into flags values ${given.join(', ')}`)
    const [table] = await on.connection.introspect({ tables: [on.ref('flags')] })
    const column = table!.columns.find(each => each.name === 'v')!
    t.equal(column.kind, 'boolean')

    const skipNull = { nullIsValid: true }
    const { outcomes } = await run(
      on,
      table!,
      enums.map(([allowed]) => check('ENUM', 'v', { allowed_values: allowed }, skipNull)),
      { sampleLimit: 100 },
    )
    for (const [index, [allowed, invalid]] of enums.entries()) {
      const outcome = outcomes[index]!
      t.match(outcome, { status: 'counted', invalid }, `ENUM ${JSON.stringify(allowed)}`)
      if (outcome.status !== 'counted') continue
      const values = outcome.samples.map(sample => [Number(sample.row_id), sample.value] as const)
      for (const [id, value] of values) t.same(value, shown[rows[id - 1]!]?.group, `sample ${id}`)
      t.equal(values.length, invalid)
    }

    const counts = Object.fromEntries(
      Object.keys(shown).map(literal => [literal, rows.filter(row => row === literal).length]),
    )
    const ask = (statement: Parameters<typeof on.connection.query>[0]) =>
      on.connection.query(statement, { timeoutMs: 20_000 })
    const from = dialect.table(table!)
    const found = [(await readTopValues([column], from, dialect, ask)).get('v') ?? []]
    if (dialect.hasGroupingSets)
      found.push((await readFewValues([column], from, dialect, ask)).get('v')?.topValues ?? [])
    const expected = Object.entries(shown).map(([literal, { profile }]) => ({
      value: profile,
      count: counts[literal]!,
    }))
    const byValue = (one: TopValue, other: TopValue) => String(one.value).localeCompare(String(other.value))
    for (const topValues of found)
      t.strictSame(topValues.toSorted(byValue), expected.toSorted(byValue), 'the values of a profile')

    const grouped = await run(on, table!, [check('row_count', undefined, {}, { groupBy: ['v'] })])
    const [outcome] = grouped.outcomes
    const groups = outcome?.status === 'grouped' ? outcome.groups : []
    t.strictSame(
      new Map(groups.map(({ group, total }) => [JSON.stringify(group.v), total])),
      new Map([
        ...groups.flatMap(({ group }): [string, number][] =>
          Object.entries(shown)
            .filter(([, { group: value }]) => value === group.v)
            .map(([literal, { group: value }]) => [JSON.stringify(value), counts[literal]!]),
        ),
        ['null', 1],
      ]),
      'the groups of a metric',
    )
    t.equal(groups.length, Object.keys(shown).length + 1)

    const numeric = await run(on, table!, [
      check('min_value', 'v'),
      check('max_value', 'v'),
      check('mean', 'v'),
      check('percentile', 'v', { percentile_value: 50 }),
      check('RANGE', 'v', { max: 2 }, skipNull),
    ])
    if (!numbers)
      t.ok(
        numeric.outcomes.every(each => each.status === 'error' && each.kind === 'invalid-check'),
        'numeric checks are refused',
      )
    else
      t.match(numeric.outcomes, [
        { value: numbers.min },
        { value: numbers.max },
        { value: numbers.mean },
        { value: numbers.median },
        { status: 'counted', invalid: numbers.above2 },
      ])
  })
