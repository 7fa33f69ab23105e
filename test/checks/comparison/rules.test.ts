import t from 'tap'
import type { ValueRule } from '../../../checks/comparison/pairs.ts'
import { ENGINES } from '../rows/orders.ts'
import type { EngineTestDatabase } from '../test-databases.ts'
import { compare, makeTable, waysOf, type TableOn } from './tables.ts'

type EngineName = (typeof ENGINES)[number]['name']

interface RuleCase {
  name: string
  rule: ValueRule
  types: Partial<Record<EngineName, readonly string[]>>
  /** Two values as SQL writes them, and whether the rule takes them for the same. */
  values: readonly (readonly [left: string, right: string, isSame: boolean])[]
}

const DECIMALS = { PostgreSQL: ['numeric'], MariaDB: ['decimal(40, 10)'], SQLite: ['decimal'] }
const DOUBLES = { PostgreSQL: ['double precision'], MariaDB: ['double'], SQLite: ['double'] }
const INTEGERS = { PostgreSQL: ['bigint'], MariaDB: ['bigint'], SQLite: ['bigint'] }
const TEXTS = {
  PostgreSQL: ['text', 'varchar(20)'],
  MariaDB: ['varchar(20)', 'varchar(20) character set latin1'],
  SQLite: ['text'],
}
const MOMENTS = {
  PostgreSQL: ['timestamp', 'timestamptz'],
  MariaDB: ['datetime(6)'],
  SQLite: ['timestamp'],
}

const CASES: readonly RuleCase[] = [
  {
    name: 'a tolerance',
    rule: { tolerance: 0.05 },
    types: DECIMALS,
    values: [
      ['1.00', '1.05', true],
      ['1.00', '1.051', false],
      ['-0.02', '0.03', true],
      ['-0.02', '0.031', false],
      ['1', 'null', false],
      ['null', 'null', true],
    ],
  },
  {
    name: 'a tolerance of whole numbers',
    rule: { tolerance: 5 },
    types: INTEGERS,
    values: [
      ['1', '6', true],
      ['1', '7', false],
      ['6', '1', true],
      ['9223372036854775807', '-9223372036854775808', false],
      ['9223372036854775807', '9223372036854775802', true],
      ['9007199254740993', '9007199254740999', false],
    ],
  },
  {
    name: 'a tolerance of doubles',
    rule: { tolerance: 0.5 },
    types: DOUBLES,
    values: [
      ['1.5e0', '2e0', true],
      ['1.5e0', '2.25e0', false],
      ['1e300', '1e300', true],
      ['1e300', '2e300', false],
    ],
  },
  {
    name: 'a relative tolerance',
    rule: { relativeTolerance: 0.01 },
    types: DECIMALS,
    values: [
      ['99', '100', true],
      ['98.99', '100', false],
      ['-99', '-100', true],
      ['-1', '1', false],
      ['0', '0', true],
      ['0', '0.000001', false],
    ],
  },
  {
    name: 'a relative tolerance of whole numbers',
    rule: { relativeTolerance: 0.01 },
    types: INTEGERS,
    values: [
      ['99', '100', true],
      ['98', '100', false],
      ['9223372036854775807', '-9223372036854775808', false],
      ['9223372036854775807', '9223372036854775000', true],
    ],
  },
  {
    name: 'a relative tolerance of doubles',
    rule: { relativeTolerance: 0.01 },
    types: DOUBLES,
    values: [
      ['99.5e0', '100e0', true],
      ['98e0', '100e0', false],
      ['1e308', '-1e308', false],
      ['1e-310', '1.001e-310', true],
      ['1e-310', '2e-310', false],
    ],
  },
  {
    name: 'rounding',
    rule: { round: 2 },
    types: DECIMALS,
    values: [
      ['1.004', '1', true],
      ['1.004', '1.01', false],
      ['-0.004', '0', true],
      ['1234567890.126', '1234567890.13', true],
    ],
  },
  {
    name: 'rounding of exact decimals',
    rule: { round: 2 },
    types: { PostgreSQL: ['numeric'], MariaDB: ['decimal(40, 10)', 'double'] },
    values: [
      ['1.005', '1.01', true],
      ['-1.005', '-1.01', true],
      ['0.285', '0.29', true],
      ['0.2849', '0.29', false],
    ],
  },
  {
    name: 'rounding of doubles',
    rule: { round: 1 },
    types: DOUBLES,
    values: [
      ['0.26e0', '0.3e0', true],
      ['0.24e0', '0.3e0', false],
      ['1.5e20', '1.5e2', false],
      ['1e300', '1e300', true],
      ['1e300', '1e301', false],
      ['-1e-20', '0e0', true],
    ],
  },
  {
    name: 'blanks at the ends',
    rule: { trim: true },
    types: TEXTS,
    values: [
      [`' a'`, `'a  '`, true],
      [`'a b'`, `'ab'`, false],
      [`'a'`, `'A'`, false],
      [`' '`, `''`, true],
      [`' '`, 'null', false],
      [`'\ta'`, `'a'`, false],
    ],
  },
  {
    name: 'case',
    rule: { ignoreCase: true },
    types: TEXTS,
    values: [
      [`'Abc'`, `'aBC'`, true],
      [`'Ä'`, `'ä'`, true],
      [`'É'`, `'é'`, true],
      [`'a'`, `'ä'`, false],
      [`'a'`, `'a '`, false],
      [`'A'`, 'null', false],
    ],
  },
  {
    name: 'NULL and nothing',
    rule: { nullIsEmpty: true },
    types: TEXTS,
    values: [
      ['null', `''`, true],
      [`''`, 'null', true],
      ['null', 'null', true],
      ['null', `' '`, false],
      ['null', `'~'`, false],
    ],
  },
  {
    name: 'all that texts may have',
    rule: { nullIsEmpty: true, trim: true, ignoreCase: true },
    types: TEXTS,
    values: [
      ['null', `'  '`, true],
      [`' Ab'`, `'aB '`, true],
      [`' Ab'`, `'a b'`, false],
    ],
  },
  {
    name: 'seconds',
    rule: { precision: 'second' },
    types: MOMENTS,
    values: [
      [`'2024-01-01 10:00:00.999'`, `'2024-01-01 10:00:00'`, true],
      [`'2024-01-01 10:00:00.999'`, `'2024-01-01 10:00:01'`, false],
      [`'1969-12-31 23:59:59.5'`, `'1969-12-31 23:59:59.75'`, true],
      [`'2024-01-01 10:00:00'`, 'null', false],
    ],
  },
  {
    name: 'milliseconds',
    rule: { precision: 'millisecond' },
    types: MOMENTS,
    values: [
      [`'2024-01-01 10:00:00.120456'`, `'2024-01-01 10:00:00.12'`, true],
      [`'2024-01-01 10:00:00.1299'`, `'2024-01-01 10:00:00.13'`, false],
      [`'2024-01-01 10:00:00.000999'`, `'2024-01-01 10:00:00'`, true],
    ],
  },
  {
    name: 'seconds of days that only PostgreSQL has',
    rule: { precision: 'second' },
    types: { PostgreSQL: ['timestamp', 'timestamptz'] },
    values: [
      [`'0044-03-15 10:00:00.5 BC'`, `'0044-03-15 10:00:00 BC'`, true],
      [`'0044-03-15 10:00:00 BC'`, `'0044-03-15 10:00:00'`, false],
      [`'12024-03-15 10:00:05'`, `'12024-03-15 10:00:06'`, false],
      [`'infinity'`, `'infinity'`, true],
      [`'infinity'`, `'-infinity'`, false],
    ],
  },
  {
    name: 'numbers that are none, with a tolerance',
    rule: { tolerance: 1, relativeTolerance: 0.5 },
    types: { PostgreSQL: ['numeric', 'double precision'] },
    values: [
      [`'NaN'`, '1', false],
      [`'NaN'`, `'NaN'`, true],
      [`'Infinity'`, '1', false],
      [`'Infinity'`, `'-Infinity'`, false],
      [`'-Infinity'`, `'-Infinity'`, true],
      [`'Infinity'`, `'NaN'`, false],
      ['-0.0', '0.0', true],
    ],
  },
  {
    name: 'numbers that are none',
    rule: {},
    types: { PostgreSQL: ['double precision', 'real', 'numeric'] },
    values: [
      [`'NaN'`, '1', false],
      [`'Infinity'`, '1e30', false],
      [`'Infinity'`, `'Infinity'`, true],
      [`'-0'`, '0', true],
    ],
  },
  ...[['decimal', 'double', 'integer'], ['boolean'], ['date'], ['timestamp'], ['time']].map(types => ({
    name: `texts in columns of ${types.join(', ')}`,
    rule: {},
    types: { SQLite: types },
    values: [
      [`'~'`, 'null', false],
      [`'5|6'`, `'5'`, false],
      [`'abc'`, `'abd'`, false],
      [`'abc'`, `'abc'`, true],
    ] as const,
  })),
]

const stands = new Map<EngineName, Promise<EngineTestDatabase>>()
const present = ENGINES.filter(({ absent }) => !absent)
for (const { name, start } of present) stands.set(name, start(t))
let made = 0

for (const { name, rule, types, values } of CASES)
  void t.test(`${name}: the same on one source as across, whatever the engines`, async t => {
    const sides: { left: TableOn; right: TableOn; label: string }[] = []
    for (const { name: engine } of present)
      for (const type of types[engine] ?? []) {
        made += 1
        const on = await stands.get(engine)!
        const table = (side: string, at: 0 | 1) =>
          makeTable(
            on,
            `${side}${made}`,
            `k integer, v ${type}`,
            values.map((value, place) => `${place}, ${value[at]}`),
          )
        sides.push({
          left: await table('left', 0),
          right: await table('right', 1),
          label: `${engine} ${type}`,
        })
      }
    const expected = values.flatMap(([, , isSame], place) => (isSame ? [] : [String(place)]))
    for (const { left, label } of sides)
      for (const { right, label: other } of sides)
        for (const { way, isOneSource } of waysOf(left, right)) {
          const columns = [{ left: 'v', right: 'v', rule }]
          const found = await compare(left, right, { keys: ['k'], columns, isOneSource })
          const differing = found.samples.map(({ key }) => key[0]!).toSorted((a, b) => Number(a) - Number(b))
          t.same(differing, expected, `${label}, ${other}, ${way}`)
          t.equal(found.byColumn.v, expected.length)
        }
  })
