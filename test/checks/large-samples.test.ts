import t from 'tap'
import type { RowSample } from '../../checks/check.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

const MEGABYTES = 4 * 1024 * 1024

/** A column by its type, a value of megabytes and a short one, and how both are shown. */
interface LargeColumn {
  type: string
  large: string
  short: string
  shown: [large: RegExp, short: unknown]
}

const POSTGRESQL: LargeColumn[] = [
  { type: 'text', large: `repeat('x', ${MEGABYTES})`, short: `'a'`, shown: [/^x{999}…$/, 'a'] },
  {
    type: 'jsonb',
    large: `jsonb_build_object('a', repeat('x', ${MEGABYTES}))`,
    short: `'{"b": [1]}'`,
    shown: [/^\{"a": "x{992}…$/, { b: [1] }],
  },
  {
    type: 'json',
    large: `json_build_object('a', repeat('x', ${MEGABYTES}))`,
    short: `'[1, "a"]'`,
    shown: [/^\{"a" : "x{991}…$/, [1, 'a']],
  },
  {
    type: 'bytea',
    large: `decode(repeat('ab', ${MEGABYTES}), 'hex')`,
    short: `'\\x0102'`,
    shown: [/^\\x(ab){498}a…$/, '\\x0102'],
  },
  {
    type: 'xml',
    large: `('<a>' || repeat('x', ${MEGABYTES}) || '</a>')::xml`,
    short: `'<a/>'`,
    shown: [/^<a>x{996}…$/, '<a/>'],
  },
  {
    type: 'integer[]',
    large: `array_fill(7, array[${MEGABYTES / 8}])`,
    short: `array[1, 2]`,
    shown: [/^\{(7,){499}…$/, '{1,2}'],
  },
  { type: 'oid', large: '7', short: '1', shown: [/^7$/, 1] },
]

const MARIADB: LargeColumn[] = [
  { type: 'longtext', large: `repeat('x', ${MEGABYTES})`, short: `'a'`, shown: [/^x{999}…$/, 'a'] },
  {
    type: 'json',
    large: `concat('"', repeat('x', ${MEGABYTES}), '"')`,
    short: `'[1]'`,
    shown: [/^"x{998}…$/, '[1]'],
  },
  {
    type: 'longblob',
    large: `repeat(x'ab', ${MEGABYTES})`,
    short: `x'0102'`,
    shown: [/^\\x(ab){498}a…$/, '\\x0102'],
  },
  {
    type: 'linestring',
    large: `st_geomfromtext(concat('linestring(', repeat('1 2,', ${MEGABYTES / 16}), '3 4)'))`,
    short: `st_geomfromtext('linestring(1 2, 3 4)')`,
    shown: [/^\\x[0-9a-f]{997}…$/, /^\\x[0-9a-f]{82,90}$/],
  },
  { type: 'bit(8)', large: `b'11111111'`, short: `b'1'`, shown: [/^\\xff$/, '\\x01'] },
]

const SQLITE: LargeColumn[] = [
  { type: 'text', large: `printf('%.*c', ${MEGABYTES}, 'x')`, short: `'a'`, shown: [/^x{999}…$/, 'a'] },
  { type: 'blob', large: `zeroblob(${MEGABYTES})`, short: `x'0102'`, shown: [/^\\x(00){498}0…$/, '\\x0102'] },
  { type: 'integer', large: `printf('%.*c', ${MEGABYTES}, 'x')`, short: '7', shown: [/^x{999}…$/, 7] },
  { type: 'json', large: `printf('%.*c', ${MEGABYTES}, 'x')`, short: `'[1]'`, shown: [/^x{999}…$/, '[1]'] },
]

const stands = [
  ['PostgreSQL', postgresqlStand, POSTGRESQL, false],
  ['MariaDB', mariadbStand, MARIADB, mariadbAbsent],
  ['SQLite', sqliteStand, SQLITE, false],
] as const

/** The samples of a rule that by its expression every row of a table breaks, and the note beside them. */
async function sample(
  on: EngineTestDatabase,
  name: string,
  { column, limit = 10, expression = 'id < 0' }: { column?: string; limit?: number; expression?: string },
) {
  const [table] = await on.connection.introspect({ tables: [on.ref(name)] })
  if (!table) throw new Error(`no table ${name}`)
  const rule = check('CUSTOM_SQL', column, { sql_expression: expression })
  const [outcome] = (await run(on, table, [rule], { sampleLimit: limit })).outcomes
  if (outcome?.status !== 'counted') throw new Error(JSON.stringify(outcome))
  return outcome
}

for (const [engine, open, columns, skip] of stands) {
  t.test(engine, { skip }, async t => {
    const on = await open(t)
    const make = async (name: string, { type, large, short }: LargeColumn, count = 10) => {
      await on.execute(`create table ${name} (id integer primary key, c ${type})`)
      await on.execute(`insert into ${name} values (1, ${short}), (2, null)`)
      for (let id = 3; id <= count; id++) await on.execute(`insert into ${name} values (${id}, ${large})`)
    }

    for (const [index, column] of columns.entries())
      t.test(`samples of large values of ${column.type} are cut by the engine`, async t => {
        await make(`large${index}`, column)
        const { samples, samplesNote, invalid } = await sample(on, `large${index}`, { column: 'c' })
        t.equal(samplesNote, undefined)
        t.equal(invalid, 10)
        t.strictSame(
          samples.map(({ row_id: id }) => id),
          [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        )
        const [large, short] = column.shown
        t.match(samples[0]?.value, short)
        t.equal(samples[1]?.value, null)
        for (const { value } of samples.slice(2)) t.match(String(value), large)
      })

    t.test('samples that the byte limit leaves out are counted', async t => {
      await on.execute('create table many (id integer primary key, c varchar(999))')
      for (let id = 1; id <= 90; id++)
        await on.execute(`insert into many values (${id}, '${'x'.repeat(900)}')`)
      const { samples, samplesNote } = await sample(on, 'many', { column: 'c', limit: 100 })
      t.equal(samplesNote, `Samples are limited to 64 KiB: ${samples.length} of 90 rows are shown.`)
    })
  })
}

t.test('rows whose values cannot be read are shown by their keys, and the note says why', async t => {
  const on = await sqliteStand(t)
  // The smallest integer has no absolute value.
  await on.execute('create table broken (id integer primary key, x integer)')
  await on.execute('insert into broken values (1, 5), (2, -9223372036854775808)')
  await on.execute('alter table broken add c integer as (abs(x))')
  const { samples, samplesNote } = await sample(on, 'broken', { expression: 'id < 0 and c > 0' })
  const hidden = (id: number): RowSample => ({ row_id: id, value: null, is_hidden: true })
  t.strictSame(samples, [hidden(1), hidden(2)])
  t.match(samplesNote, /^The values could not be read, and rows are shown by their keys: /)

  await on.execute('create table keyless (id integer, x integer)')
  await on.execute('insert into keyless values (1, -9223372036854775808)')
  await on.execute('alter table keyless add c integer as (abs(x))')
  const without = await sample(on, 'keyless', { expression: 'id < 0 and c > 0' })
  t.strictSame([without.invalid, without.samples], [1, []])
  t.match(without.samplesNote, /^The invalid rows could not be read: /)
})
