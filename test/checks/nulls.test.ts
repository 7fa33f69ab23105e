import t from 'tap'
import { referential } from '../../checks/referential.ts'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import { readFewValues, readTopValues } from '../../plugins/profiles/top-values.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

type Test = Parameters<typeof postgresqlStand>[0]

interface TypeCase {
  type: string
  /** Distinct values as literals. The first stands in two rows, and the last one in two more; NULL is added. */
  values: readonly string[]
}

const plain: readonly TypeCase[] = [
  { type: 'date', values: [`'2024-01-31'`, `'2024-02-29'`] },
  { type: 'integer', values: ['1', '0', '-7'] },
]

const ENGINES: readonly {
  name: string
  absent: string | false
  start(t: Test): Promise<EngineTestDatabase>
  before?: readonly string[]
  cases: readonly TypeCase[]
}[] = [
  {
    name: 'PostgreSQL',
    absent: false,
    start: postgresqlStand,
    before: [
      'create type money_amount as (currency text, amount numeric)',
      'create type priced as (label text, price money_amount)',
      'create domain positive_amount as money_amount',
      `create type mood as enum ('sad', 'ok', 'glad')`,
    ],
    cases: [
      ...plain,
      { type: 'numeric', values: ['1.5', '0', `'NaN'`] },
      { type: 'double precision', values: ['1.5', '0'] },
      { type: 'text', values: [`'a'`, `' '`, `'null'`] },
      { type: 'boolean', values: ['true', 'false'] },
      { type: 'timestamptz', values: [`'2024-01-31T10:00Z'`, `'2024-01-31T11:00Z'`] },
      { type: 'time', values: [`'10:00'`, `'11:00'`] },
      { type: 'bytea', values: [`'\\x01'`, `'\\x00'`] },
      { type: 'jsonb', values: [`'{"a": 1}'`, `'null'`] },
      { type: 'uuid', values: [`'${'0'.repeat(32)}'`, `'${'1'.repeat(32)}'`] },
      { type: 'int4range', values: [`'[1,2)'`, `'empty'`] },
      {
        type: 'text[]',
        values: [`array['a']`, `array['a', null]`, `array[]::text[]`, `array[null]::text[]`],
      },
      { type: 'mood', values: [`'ok'`, `'sad'`] },
      {
        type: 'money_amount',
        values: [`row('EUR', 5)`, `row('EUR', null)`, `row(null, 5)`, 'row(null, null)'],
      },
      { type: 'positive_amount', values: [`row('EUR', 5)`, 'row(null, null)', `row('EUR', null)`] },
      {
        type: 'priced',
        values: [`row('a', row('EUR', 5))`, 'row(null, row(null, null))', 'row(null, null)'],
      },
      {
        type: 'money_amount[]',
        values: [`array[row('EUR', 5)]::money_amount[]`, `array[row(null, null)]::money_amount[]`],
      },
    ],
  },
  {
    name: 'MariaDB',
    absent: mariadbAbsent,
    start: mariadbStand,
    cases: [
      ...plain,
      { type: 'decimal(10,2)', values: ['1.5', '0'] },
      { type: 'double', values: ['1.5', '0'] },
      { type: 'varchar(20)', values: [`'a'`, `'null'`] },
      { type: 'tinyint(1)', values: ['1', '0', '2'] },
      { type: 'bit(1)', values: [`b'1'`, `b'0'`] },
      { type: 'bit(4)', values: [`b'1000'`, `b'0'`] },
      { type: 'datetime', values: [`'2024-01-31 10:00'`, `'0000-00-00 00:00'`] },
      { type: 'time', values: [`'10:00:00'`, `'00:00:00'`] },
      { type: 'varbinary(9)', values: [`x'01'`, `x'00'`] },
      { type: 'json', values: [`'{"a": 1}'`, `'null'`] },
      { type: `enum('a', 'b')`, values: [`'a'`, `'b'`] },
      { type: `set('a', 'b')`, values: [`'a'`, `'a,b'`] },
      { type: 'inet6', values: [`'::1'`, `'::'`] },
    ],
  },
  {
    name: 'SQLite',
    absent: false,
    start: sqliteStand,
    cases: [
      ...plain,
      { type: 'real', values: ['1.5', '0.5'] },
      { type: 'text', values: [`'a'`, `'null'`] },
      { type: 'boolean', values: ['1', '0', '2', `'yes'`] },
      { type: 'timestamp', values: [`'2024-01-31 10:00'`, `'2024-01-31 11:00'`] },
      { type: 'blob', values: [`x'01'`, `x'00'`] },
      { type: 'json', values: [`'{"a": 1}'`, `'null'`] },
    ],
  },
]

/** Rows of a column as literals: repeated values, single ones, and NULL. */
function rowsOf({ values }: TypeCase): (string | null)[] {
  return [...values, null, values[0]!, values.at(-1)!, null]
}

for (const { name, absent, start, before = [], cases } of ENGINES)
  void t.test(`${name}: NULL is what the engine stores as NULL, in each type`, { skip: absent }, async t => {
    const on = await start(t)
    const { dialect } = on.engine
    for (const statement of before) await on.execute(statement)
    const make = async (name: string, type: string, rows: readonly (string | null)[]) => {
      await on.execute(`create table ${name} (id integer primary key, v ${type})`)
      const given = rows.map((row, index) => `(${index + 1}, ${row ?? 'null'})`)
      await on.execute(`insert into ${name} values ${given.join(', ')}`)
      return (await on.connection.introspect({ tables: [on.ref(name)] }))[0]!
    }
    for (const [index, given] of cases.entries()) {
      const rows = rowsOf(given)
      const table = await make(`t${index}`, given.type, rows)
      const parents = [given.values[0]!, given.values.at(-1)!]
      const parent = await make(`p${index}`, given.type, [...parents, null])
      const column = table.columns.find(each => each.name === 'v')!
      const ask = (statement: Sql) => on.connection.query(statement, { timeoutMs: 20_000 })

      const present = rows.filter(row => row !== null)
      const nulls = rows.length - present.length
      const distinct = new Set(present).size
      const repeated = present.filter(row => present.filter(other => other === row).length > 1).length
      const others = present.filter(row => row !== rows[0]).length
      const orphans = present.filter(row => !parents.includes(row)).length
      const ids = (is: (row: string | null) => boolean) =>
        rows.flatMap((row, position) => (is(row) ? [position + 1] : []))

      const [first] = await ask(
        sql`select ${dialect.asText(dialect.quote('v'))} as x from ${dialect.table(table)} where id = 1`,
      )
      const isNumber = ['integer', 'decimal', 'float'].includes(column.kind)
      const allowed = isNumber ? Number(first?.x) : column.kind === 'boolean' ? true : String(first?.x)
      const nullIsValid = { nullIsValid: true }
      const never = { pattern: '^$' }
      const expected: [ReturnType<typeof check>, object][] = [
        [check('NOT_NULL', 'v'), { invalid: nulls, ids: ids(row => row === null) }],
        [check('UNIQUE', 'v'), { invalid: repeated + nulls }],
        [check('UNIQUE', 'v', {}, nullIsValid), { invalid: repeated }],
        [check('ENUM', 'v', { allowed_values: [allowed] }), { invalid: others + nulls }],
        [
          check('ENUM', 'v', { allowed_values: [allowed] }, nullIsValid),
          { invalid: others, ids: ids(row => row !== null && row !== rows[0]) },
        ],
        [check('REGEX', 'v', never), { invalid: rows.length }],
        [check('REGEX', 'v', never, nullIsValid), { invalid: present.length, ids: ids(row => row !== null) }],
        [check('null_percent', 'v'), { value: (100 * nulls) / rows.length }],
        [check('distinct_count', 'v'), { value: distinct }],
        [check('duplicate_count', 'v'), { value: present.length - distinct }],
        [
          { id: 'orphans', type: referential, column: 'v', config: { parent, parentColumn: 'v' } },
          { invalid: orphans, ids: ids(row => row !== null && !parents.includes(row)) },
        ],
      ]
      const asked = expected.filter(([{ type }]) => !type.kinds || type.kinds.includes(column.kind))
      const { outcomes } = await run(on, table, asked.map(([one]) => one), { sampleLimit: 100 }) // prettier-ignore
      for (const [one, { ids: sampled, ...counts }] of asked as [
        (typeof asked)[0][0],
        { ids?: number[] },
      ][]) {
        const outcome = outcomes.find(({ id }) => id === one.id)
        const label = `${given.type} ${one.type.name}${one.nullIsValid ? ' without NULL' : ''}`
        t.match(outcome, counts, label)
        if (sampled === undefined || outcome?.status !== 'counted') continue
        t.same(outcome.samples.map(({ row_id: id }) => Number(id)).sort(), sampled, `${label}: samples`)
      }

      const masked = { sampleLimit: 100, maskedColumns: new Set(['v']) }
      const { outcomes: hidden } = await run(on, table, [check('UNIQUE', 'v')], masked)
      if (hidden[0]?.status === 'counted')
        t.equal(
          hidden[0].samples.filter(sample => sample.is_hidden).length,
          repeated,
          `${given.type}: a value that is hidden is no NULL`,
        )

      const listed = await topValues([column], on, dialect.table(table))
      for (const counts of listed)
        t.same(
          counts,
          [...new Set(present)]
            .map(value => present.filter(row => row === value).length)
            .sort((a, b) => b - a),
          `${given.type}: the frequent values of a profile`,
        )
    }
  })

/** How often each value stands in a column, as profiles count them, by each of their statements. */
async function topValues(columns: readonly ColumnInfo[], on: EngineTestDatabase, from: Sql) {
  if (columns.some(({ kind }) => kind === 'json' || kind === 'binary')) return []
  const { dialect } = on.engine
  const ask = (statement: Sql) => on.connection.query(statement, { timeoutMs: 20_000 })
  const found = [(await readTopValues(columns, from, dialect, ask)).get('v') ?? []]
  if (dialect.hasGroupingSets)
    found.push((await readFewValues(columns, from, dialect, ask)).get('v')?.topValues ?? [])
  return found.map(values => values.map(({ count }) => count))
}
