import t from 'tap'
import { ENGINES } from '../rows/orders.ts'
import type { EngineTestDatabase } from '../test-databases.ts'
import { compare, makeTable, waysOf, type TableOn } from './tables.ts'

type EngineName = (typeof ENGINES)[number]['name']

/** A value as SQL writes it; on some engines otherwise, or not at all. */
type Literal = string | (Partial<Record<EngineName, string | null>> & { usual?: string })

interface TypeCase {
  name: string
  types: Partial<Record<EngineName, readonly string[]>>
  /** Values of which no two are equal. */
  values: readonly Literal[]
  /** Types that do not hold all values, with those that they do not hold by their places. */
  lacking?: Readonly<Record<string, readonly number[]>>
  /** Whether columns of these types can be a key. */
  isKey?: false
}

const only = (engine: EngineName, text: string): Literal => ({ [engine]: text })
const but = (engine: EngineName, usual: string, text: string | null): Literal => ({ usual, [engine]: text })

const TEXT_TYPES = {
  PostgreSQL: ['text', 'varchar(60)', 'name_text', 'citext', 'text collate without_case'],
  MariaDB: ['varchar(60) character set utf8mb4 collate utf8mb4_bin', 'varchar(60)', 'longtext'],
  SQLite: ['text', 'text collate nocase'],
} as const

const CASES: readonly TypeCase[] = [
  {
    name: 'integers',
    types: {
      PostgreSQL: ['bigint', 'numeric(20)', 'numeric', 'whole'],
      MariaDB: ['bigint', 'decimal(20)', 'decimal(30, 4)'],
      SQLite: ['integer'],
    },
    values: ['0', '1', '-1', '100', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
  },
  {
    name: 'unsigned integers',
    types: { PostgreSQL: ['numeric'], MariaDB: ['bigint unsigned', 'decimal(20)'] },
    values: ['0', '1', '9223372036854775808', '18446744073709551615'],
  },
  {
    name: 'decimals of 38 digits',
    types: { PostgreSQL: ['numeric(38, 10)', 'numeric'], MariaDB: ['decimal(38, 10)', 'decimal(60, 20)'] },
    values: [
      '0',
      '-0.1',
      '1e-10',
      '1234567890123456789012345678.0123456789',
      '1234567890123456789012345678.012345679',
      '-1234567890123456789012345678.0123456789',
      '9999999999999999999999999999.9999999999',
      '1200',
    ],
  },
  {
    name: 'decimals beyond numbers',
    types: { PostgreSQL: ['numeric', 'numeric_domain'] },
    values: ['1', `'NaN'`, `'Infinity'`, `'-Infinity'`, '1e60', '-1e60'],
  },
  {
    name: 'doubles',
    types: { PostgreSQL: ['double precision'], MariaDB: ['double'], SQLite: ['double'] },
    isKey: false,
    values: [
      '0e0',
      '1e0',
      '1e2',
      '1.5e20',
      '1.5e2',
      '1e-320',
      '5e-324',
      '1.7976931348623157e308',
      '0.1e0',
      '1.00000000000001e0',
      '123456789.123456e0',
      but('SQLite', `'Infinity'`, '9e999') as Literal,
      but('SQLite', `'-Infinity'`, '-9e999') as Literal,
      only('PostgreSQL', `'NaN'`),
    ].map(value =>
      typeof value === 'object' && value.usual?.includes('Infinity') ? { ...value, MariaDB: null } : value,
    ),
  },
  {
    name: 'floats of 32 bits',
    types: { PostgreSQL: ['real', 'double precision'], MariaDB: ['float', 'double'], SQLite: ['double'] },
    isKey: false,
    values: ['0e0', '0.1e0', '16777216e0', '1.234567e10', '3.402823e38', '1.234568e-5'],
  },
  {
    name: 'floats of 32 bits that have the first digits in common',
    types: { PostgreSQL: ['real'], MariaDB: ['float'] },
    isKey: false,
    values: ['16777216e0', '16777214e0', '1.0000001e0', '1.0000002e0', '1e0'],
  },
  {
    name: 'truth values',
    types: {
      PostgreSQL: ['boolean', 'smallint', 'numeric(4, 2)'],
      MariaDB: ['boolean', 'bit(1)', 'tinyint(1)', 'int'],
      SQLite: ['boolean', 'integer'],
    },
    values: ['0', '1'].map(digit => ({ usual: digit, PostgreSQL: `'${digit}'` })),
  },
  {
    name: 'texts',
    types: TEXT_TYPES,
    values: [
      ...[
        `''`,
        `'a'`,
        `' a'`,
        `'a '`,
        `'A'`,
        `'ä'`,
        `'Ä'`,
        `'a|b'`,
        `'~'`,
        `'1:~'`,
        `'漢字'`,
        `'😀'`,
        `'NULL'`,
      ],
      ...[`'it''s'`, `'tab\tline\n'`, `'ß'`, `'ss'`],
      { usual: `'a\u0308'` },
      { PostgreSQL: `e'\\\\'`, MariaDB: `'\\\\'`, SQLite: `'\\'` },
    ],
  },
  {
    name: 'padded texts',
    types: {
      PostgreSQL: ['char(12)', 'text'],
      MariaDB: ['char(12)', 'char(12) character set latin1', 'varchar(12)'],
      SQLite: ['char(12)'],
    },
    values: [`''`, `'a'`, `'A'`, `' a'`, `'ä'`, `'é'`],
  },
  {
    name: 'texts of Latin letters',
    types: {
      PostgreSQL: ['text'],
      MariaDB: [
        'varchar(20) character set latin1',
        'varchar(20) character set latin1 collate latin1_bin',
        'text',
      ],
      SQLite: ['text'],
    },
    values: [`'a'`, `'A'`, `'ä'`, `'Ä'`, `'é'`, `'€'`, `'ñandú'`],
  },
  {
    name: 'labels',
    types: {
      PostgreSQL: ['mood', 'text'],
      MariaDB: [`enum('sad', 'ok', 'Ok')`.replace(`, 'Ok'`, ''), 'text'],
      SQLite: ['text'],
    },
    values: [`'sad'`, `'ok'`],
  },
  {
    name: 'days',
    types: { PostgreSQL: ['date', 'day'], MariaDB: ['date'], SQLite: ['date'] },
    values: [
      ...[`'1970-01-01'`, `'1969-12-31'`, `'1000-01-01'`, `'9999-12-31'`, `'2024-02-29'`, `'1582-10-15'`],
      only('PostgreSQL', `'0044-03-15 BC'`),
      only('PostgreSQL', `'0044-03-15'`),
      only('PostgreSQL', `'infinity'`),
      only('PostgreSQL', `'-infinity'`),
      only('PostgreSQL', `'12024-02-29'`),
    ],
  },
  {
    name: 'moments',
    types: {
      PostgreSQL: ['timestamp', 'timestamptz', 'moment'],
      MariaDB: ['datetime(6)'],
      SQLite: ['timestamp', 'timestamp with time zone'],
    },
    values: [
      ...[`'1970-01-01 00:00:00'`, `'1969-12-31 23:59:59.999999'`, `'1969-12-31 23:59:59.5'`],
      ...[`'1000-01-01 00:00:00'`, `'9999-12-31 23:59:59.999999'`, `'2024-02-29 12:00:00.000001'`],
      { usual: `'2024-06-01 12:00:00.25'`, SQLite: `'2024-06-01T12:00:00.250Z'` },
      { usual: `'2024-06-02 12:00:00'`, SQLite: `'2024-06-02 12:00:00+00:00'` },
      only('PostgreSQL', `'0044-03-15 10:00:00 BC'`),
      only('PostgreSQL', `'0044-03-15 10:00:00'`),
      only('PostgreSQL', `'12024-03-15 10:00:00.5'`),
      only('PostgreSQL', `'infinity'`),
      only('PostgreSQL', `'-infinity'`),
    ],
  },
  {
    name: 'moments of a zone',
    types: {
      PostgreSQL: ['timestamptz', 'timestamptz(3)'],
      MariaDB: ['timestamp(3) null', 'datetime(3)'],
      SQLite: ['timestamp'],
    },
    values: [
      { usual: `'2024-06-01 10:00:00.125'`, PostgreSQL: `'2024-06-01 12:00:00.125+02'` },
      { usual: `'2024-06-01 12:00:00.125'`, PostgreSQL: `'2024-06-01 12:00:00.125Z'` },
      { usual: `'2024-10-27 00:30:00'`, PostgreSQL: `'2024-10-27 02:30:00 +02:00'` },
      { usual: `'2024-10-27 01:30:00'`, PostgreSQL: `'2024-10-27 02:30:00 +01:00'` },
      `'1970-01-02 00:00:00'`,
      `'2038-01-19 03:14:07'`,
    ],
  },
  {
    name: 'times of a day',
    types: { PostgreSQL: ['time', 'time_of_day'], MariaDB: ['time(6)'], SQLite: ['time'] },
    values: [`'00:00:00'`, `'23:59:59.999999'`, `'12:30:00.5'`, `'12:30:00'`, `'24:00:00'`],
  },
  {
    name: 'UUIDs',
    types: {
      PostgreSQL: ['uuid', 'text', 'varchar(40)'],
      MariaDB: ['uuid', 'char(36)', 'varchar(40)'],
      SQLite: ['uuid', 'text'],
    },
    values: [
      `'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`,
      `'00000000-0000-0000-0000-000000000000'`,
      `'ffffffff-ffff-ffff-ffff-ffffffffffff'`,
    ],
  },
  {
    name: 'bytes',
    types: { PostgreSQL: ['bytea'], MariaDB: ['varbinary(20)', 'blob'], SQLite: ['blob'] },
    values: ['', '00', 'ff00', 'ff', '7c7e', '20', '2020'].map(hex => ({
      usual: `x'${hex}'`,
      PostgreSQL: `'\\x${hex}'`,
    })),
  },
  {
    name: 'documents of PostgreSQL',
    types: { PostgreSQL: ['json', 'jsonb'] },
    isKey: false,
    values: [`'{"b": 1, "a": "|~"}'`, `'{"a": 1}'`, `'[]'`, `'null'`, `'"~"'`, `'{"a": 1.50}'`],
  },
]

const literalOf = (value: Literal, engine: EngineName): string | null =>
  typeof value === 'string' ? value : (value[engine] ?? (engine in value ? null : (value.usual ?? null)))

/** A table of values by their places, and one in which each place has the value of the next. */
interface HeldValues {
  type: string
  places: number[]
  same: TableOn
  turned: TableOn
}

let made = 0

async function hold(on: EngineTestDatabase, engine: EngineName, type: string, values: readonly Literal[]) {
  const literals = values.map(value => literalOf(value, engine))
  const places = values.flatMap((_, place) => (literals[place] === null ? [] : [place]))
  const rows = (shift: number) =>
    places.map((place, at) => `${place}, ${literals[places[(at + shift) % places.length]!]!}`)
  made += 1
  return {
    type,
    places,
    same: await makeTable(on, `same${made}`, `k integer, v ${type}`, [...rows(0), '1000, null']),
    turned: await makeTable(on, `turned${made}`, `k integer, v ${type}`, [...rows(1), '1000, null']),
  }
}

const stands = new Map<EngineName, Promise<EngineTestDatabase>>()
const present = ENGINES.filter(({ absent }) => !absent)

void t.before(async () => {
  for (const { name, start } of present) stands.set(name, start(t))
  const postgresql = await stands.get('PostgreSQL')!
  for (const statement of [
    'create extension if not exists citext',
    `create type mood as enum ('sad', 'ok')`,
    'create domain name_text as text',
    'create domain whole as bigint',
    'create domain numeric_domain as numeric',
    'create domain day as date',
    'create domain moment as timestamptz',
    'create domain time_of_day as time',
  ])
    await postgresql.execute(statement)
})

for (const { name, types, values, isKey = true } of CASES)
  void t.test(`${name}: equal values are equal and others are not, whatever their types`, async t => {
    const held: HeldValues[] = []
    for (const { name: engine } of present)
      for (const type of types[engine] ?? [])
        held.push(await hold(await stands.get(engine)!, engine, type, values))
    for (const left of held)
      for (const right of held) {
        const both = left.places.filter(place => right.places.includes(place))
        for (const { way, isOneSource } of waysOf(left.same, right.same)) {
          const label = `${left.same.on.engine.name} ${left.type}, ${right.same.on.engine.name} ${right.type}, ${way}`
          const equal = await compare(left.same, right.same, { keys: ['k'], isOneSource })
          const found = equal.samples.filter(({ kind }) => kind === 'differs')
          t.same(found, [], `${label}: equal`)
          t.equal(equal.differing, 0, `${label}: none is counted`)
          const turned = await compare(left.same, right.turned, { keys: ['k'], isOneSource })
          const missed = both.filter(place => !turned.samples.some(({ key }) => key[0] === String(place)))
          // The values of a side that has fewer are turned at other places, of which one may meet its own.
          if (left.places.length === right.places.length)
            t.same(missed, [], `${label}: what differs is found`)
          if (!isKey) continue
          const byValue = await compare(left.same, right.same, { keys: ['v'], isOneSource })
          const { onlyLeft, onlyRight, differing } = byValue
          t.same(
            { onlyLeft, onlyRight, differing },
            {
              onlyLeft: left.places.length - both.length + 1,
              onlyRight: right.places.length - both.length + 1,
              differing: 0,
            },
            `${label}: as a key`,
          )
        }
      }
  })
