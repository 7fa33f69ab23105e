import t from 'tap'
import type { Check, CheckType } from '../../checks/check.ts'
import { referential } from '../../checks/referential.ts'
import type { ColumnKind } from '../../connectors/catalog.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { share } from '../helpers/share.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from './test-databases.ts'

/** What a column keeps of a number that it is given. */
type Precision = 'exact' | 'double' | 'single'

interface Column {
  type: string
  kind: ColumnKind
  precision: Precision
  /** Decimal texts. */
  values: readonly string[]
}

/** A bound or an allowed value as it is given: a JSON number, or a text of its digits. */
type BoundInput = number | string

const SMALL = ['-32768', '-2', '0', '1', '7', '32767']
const MIDDLE = ['-2147483648', '-1', '0', '1', '16777216', '16777217', '2147483647']
const BIG = ['-9223372036854775808', '-1', '0', '9007199254740992', '9007199254740993', '9223372036854775807']
const DECIMALS = ['-0.25', '0', '0.1', '0.3', '0.5', '9007199254740992.1', '9007199254740992.2']
const FLOATS = ['-0.25', '0', '0.1', '0.3', '0.5', '0.7', '16777216', '0.0000001', `3${'0'.repeat(38)}`]

const INFINITE = [...FLOATS, 'Infinity', '-Infinity']

const integers = (type: string, values: readonly string[]): Column => ({
  type,
  kind: 'integer',
  precision: 'exact',
  values,
})
const floats = (type: string, precision: Precision, values = FLOATS): Column => ({
  type,
  kind: 'float',
  precision,
  values,
})

const engines = [
  {
    name: 'PostgreSQL',
    open: postgresqlStand,
    skip: false,
    columns: [
      integers('smallint', SMALL),
      integers('integer', MIDDLE),
      integers('bigint', BIG),
      { type: 'numeric(30,4)', kind: 'decimal', precision: 'exact', values: DECIMALS },
      { type: 'numeric', kind: 'decimal', precision: 'exact', values: DECIMALS },
      floats('real', 'single', INFINITE),
      floats('little', 'single', INFINITE),
      floats('double precision', 'double', INFINITE),
    ],
  },
  {
    name: 'MariaDB',
    open: mariadbStand,
    skip: mariadbAbsent,
    columns: [
      integers('smallint', SMALL),
      integers('int', MIDDLE),
      integers('int unsigned', ['0', '1', '16777217', '4294967295']),
      integers('bigint', BIG),
      integers('bigint unsigned', ['0', '9007199254740993', '9223372036854775808', '18446744073709551615']),
      { type: 'decimal(30,4)', kind: 'decimal', precision: 'exact', values: DECIMALS },
      floats('float', 'single'),
      floats(
        'float unsigned',
        'single',
        FLOATS.filter(value => !value.startsWith('-')),
      ),
      floats('double', 'double'),
    ],
  },
  {
    name: 'SQLite',
    open: sqliteStand,
    skip: false,
    columns: [
      integers('smallint', SMALL),
      integers('integer', MIDDLE),
      integers('bigint', BIG),
      // SQLite keeps all of these as doubles, whatever they are called.
      { type: 'decimal(30,4)', kind: 'decimal', precision: 'double', values: DECIMALS },
      floats('real', 'double', INFINITE),
      floats('float', 'double', INFINITE),
      floats('double', 'double', INFINITE),
    ],
  },
] as const

/** Digits after the point that exact numbers are compared by. */
const SCALE = 20

/** What a column keeps of a number, in a form that `<=` and `===` compare; null where it keeps none that is finite. */
function kept(given: BoundInput, precision: Precision): bigint | number {
  if (precision === 'exact') {
    const [whole = '', fraction = ''] = plain(given).split('.')
    return BigInt(whole + fraction.padEnd(SCALE, '0'))
  }
  const double = Number(given)
  const single = Math.fround(double)
  const isHeld = Number.isFinite(single) && (single !== 0 || double === 0)
  return precision === 'single' && isHeld ? single : double
}

/** A number without an exponent. */
function plain(given: BoundInput): string {
  if (typeof given === 'string' || !String(given).includes('e')) return String(given)
  return Number.isInteger(given) ? String(BigInt(given)) : given.toFixed(SCALE)
}

/** Numbers that a column is compared with: some that it holds, some between, and some that it cannot hold. */
function givenFor({ values, kind }: Column): BoundInput[] {
  const finite = values.filter(value => Number.isFinite(Number(value)))
  const held = finite.filter((_, index) => index % 2 === 0 || finite.length < 6)
  const numbers = finite.map(Number).filter(value => !Number.isInteger(value) || Number.isSafeInteger(value))
  const others = kind === 'float' ? [1e300, -1e300, 1e-50] : ['1' + '0'.repeat(30), '-1' + '0'.repeat(30)]
  return [...new Set<BoundInput>([...held, ...numbers, 0.1, '0.10000001', 0.30000000000000004, ...others])]
}

/** A rule of a column: its type, its config, and what it says of a value that is kept. */
interface Case {
  type: 'ENUM' | 'RANGE'
  config: Record<string, unknown>
  isValid(value: bigint | number): boolean
}

function casesFor(column: Column): Case[] {
  const given = givenFor(column)
  const as = (value: BoundInput) => kept(value, column.precision)
  const lists = given.flatMap((_, index) => [1, 2, 3].map(count => given.slice(index, index + count)))
  const pairs = given
    .flatMap(min => given.map(max => ({ min, max })))
    .filter(({ min, max }) => as(min) < as(max))
  const ranges = [
    ...given.flatMap(value => [{ min: value }, { max: value }, { min: value, max: value }]),
    ...pairs.filter((_, index) => index % 5 === 0),
  ]
  return [
    ...lists.map((allowed_values): Case => ({
      type: 'ENUM',
      config: { allowed_values },
      isValid: value => allowed_values.some(allowed => as(allowed) === value),
    })),
    ...ranges.map((config: { min?: BoundInput; max?: BoundInput }): Case => ({
      type: 'RANGE',
      config,
      isValid: value =>
        (config.min === undefined || as(config.min) <= value) &&
        (config.max === undefined || value <= as(config.max)),
    })),
  ]
}

for (const { name, open, skip, columns } of engines) {
  t.test(`${name}: a number is judged as its column keeps it`, { skip }, async t => {
    const on = await open(t)
    if (name === 'PostgreSQL') await on.execute('create domain little as real')
    for (const column of columns as readonly Column[]) {
      const { kind, type, values, precision } = column
      const { table } = await on.createTable(
        [{ name: 'v', kind, type }],
        values.map(value => [value]),
      )
      const cases = share(casesFor(column), `numbers of ${type} on ${name}`)
      const checks = cases.map(item => check(item.type, 'v', item.config))
      const { outcomes, statements } = await run(on, table, checks)
      const wrong = cases.flatMap((item, index) => {
        const outcome = outcomes[index]!
        const invalid = values.filter(value => !item.isValid(kept(value, precision))).length
        const found = outcome.status === 'counted' ? outcome.invalid : JSON.stringify(outcome)
        return found === invalid ? [] : [`${JSON.stringify(item.config)}: ${found}, expected ${invalid}`]
      })
      t.same(wrong, [], `${type}, ${cases.length} rules`)
      t.equal(statements, 1, 'in one statement')
    }

    const floating = columns.filter(({ kind }) => kind === 'float')
    for (const { type } of floating) {
      const { table } = await on.createTable(
        [{ name: 'v', kind: 'float', type }],
        ['0.3', '0.1', '0.1', '0.7'].map(value => [value]),
      )
      const { outcomes } = await run(
        on,
        table,
        [
          check('min_value', 'v'),
          check('max_value', 'v'),
          check('min_value', 'v', {}, { groupBy: ['v'] }),
          check('UNIQUE', 'v'),
          check('distinct_count', 'v'),
        ],
        { sampleLimit: 9 },
      )
      const [least, greatest, grouped, unique, distinct] = outcomes
      t.match([least, greatest], [{ value: 0.1 }, { value: 0.7 }], `${type}: the least and the greatest`)
      const groups =
        grouped?.status === 'grouped' ? grouped.groups.map(({ group, value }) => [group.v, value]) : grouped
      t.same(
        Array.isArray(groups) ? groups.toSorted() : groups,
        [
          [0.1, 0.1],
          [0.3, 0.3],
          [0.7, 0.7],
        ],
        `${type}: groups`,
      )
      t.match(unique, { invalid: 2, samples: [{ value: 0.1 }, { value: 0.1 }] }, `${type}: repeated values`)
      t.match(distinct, { value: 3 }, `${type}: distinct values`)
    }

    const fractions = columns.filter(({ kind }) => kind !== 'integer')
    const held = ['0.1', '0.3', '0.5', '0.7']
    for (const parent of fractions)
      for (const child of fractions) {
        const make = async ({ kind, type }: { kind: ColumnKind; type: string }, values: readonly string[]) =>
          (
            await on.createTable(
              [{ name: 'v', kind, type }],
              values.map(value => [value]),
            )
          ).table
        const parents = await make(parent, held)
        const children = await make(child, [...held, '0.2', '0.1'])
        const references: Check = {
          id: 'reference',
          type: referential as unknown as CheckType,
          column: 'v',
          config: { parent: parents, parentColumn: 'v', minChildren: 1, maxChildren: 1 },
        }
        const { outcomes } = await run(on, children, [references], { sampleLimit: 9 })
        t.match(
          outcomes,
          [
            {
              status: 'counted',
              invalid: 1,
              measured: { below: 0, above: 1 },
              samples: [{ row_id: 5, value: /^0.20*$/ }],
            },
          ],
          `${child.type} that refers to ${parent.type}`,
        )
      }
  })
}
