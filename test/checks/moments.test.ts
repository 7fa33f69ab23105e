import t from 'tap'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

type Test = Parameters<typeof postgresqlStand>[0]

interface Column {
  type: string
  /** Moments as literals, from the first to the last. */
  moments: readonly string[]
}

/** A bound, and how many of the column's moments are beyond it. */
type Bound = [bound: string, invalid: number]

const FIRST = '0001-01-01 00:00:00'
const LAST = ['9999-12-30 23:59:59', '9999-12-31 00:00:00', '9999-12-31 23:59:59']
const moments = [FIRST, '0099-12-31 12:00:00', '2024-02-29 10:00:00', ...LAST]
const days = ['0001-01-01', '0099-12-31', '2024-02-29', '9999-12-30', '9999-12-31']

/** Bounds of `moments`. */
const MAX: readonly Bound[] = [
  ['0001-01-01', 5],
  ['0099-12-31', 4],
  ['9999-12-30', 2],
  ['9999-12-31', 0],
]
const MIN: readonly Bound[] = [
  ['0001-01-01', 0],
  ['0001-01-02', 1],
  ['0099-12-31', 1],
  ['9999-12-31', 4],
]

const ENGINES: readonly {
  name: string
  absent: string | false
  start(t: Test): Promise<EngineTestDatabase>
  /** Columns with `moments`, and the number of further ones that lie after the year 9999. */
  columns: readonly (Column & { later?: number })[]
}[] = [
  {
    name: 'PostgreSQL',
    absent: false,
    start: postgresqlStand,
    columns: [
      { type: 'timestamp', moments: [...moments, '10000-01-01 00:00:00', 'infinity'], later: 2 },
      { type: 'timestamp(0)', moments },
      { type: 'timestamptz', moments: [...moments, '294276-12-31 00:00:00'], later: 1 },
    ],
  },
  {
    name: 'MariaDB',
    absent: mariadbAbsent,
    start: mariadbStand,
    columns: [
      { type: 'datetime', moments },
      { type: 'datetime(6)', moments: [...moments.slice(0, -1), '9999-12-31 23:59:59.999999'] },
    ],
  },
  {
    name: 'SQLite',
    absent: false,
    start: sqliteStand,
    columns: [
      { type: 'timestamp', moments },
      { type: 'datetime', moments: moments.map(moment => `${moment.replace(' ', 'T')}Z`) },
    ],
  },
]

for (const { name, absent, start, columns } of ENGINES)
  void t.test(`${name}: RANGE takes bounds at the first and the last day`, { skip: absent }, async t => {
    const on = await start(t)
    const make = async (name: string, { type, moments }: Column) => {
      await on.execute(`create table ${name} (id integer primary key, v ${type})`)
      const rows = moments.map((moment, index) => `(${index + 1}, '${moment}')`)
      await on.execute(`insert into ${name} values ${rows.join(', ')}, (${rows.length + 1}, null)`)
      return (await on.connection.introspect({ tables: [on.ref(name)] }))[0]!
    }
    const hold = async (table: Awaited<ReturnType<typeof make>>, bounds: readonly [object, number][]) => {
      const checks = bounds.map(([config]) => check('RANGE', 'v', { ...config }, { nullIsValid: true }))
      const { outcomes } = await run(on, table, checks, { sampleLimit: 100 })
      for (const [index, [config, invalid]] of bounds.entries()) {
        const outcome = outcomes[index]
        const label = `${table.columns[1]?.type} ${JSON.stringify(config)}`
        t.match(outcome, { status: 'counted', invalid }, label)
        if (outcome?.status === 'counted') t.equal(outcome.samples.length, invalid, `${label}: samples`)
      }
    }
    for (const [index, { later = 0, ...column }] of columns.entries()) {
      const table = await make(`t${index}`, column)
      await hold(table, [
        ...MAX.map(([max, invalid]): [object, number] => [{ max }, invalid + later]),
        ...MIN.map(([min, invalid]): [object, number] => [{ min }, invalid]),
        [{ min: '0001-01-01', max: '9999-12-31' }, later],
      ])
    }
    await hold(await make('d', { type: 'date', moments: days }), [
      [{ max: '0001-01-01' }, 4],
      [{ max: '9999-12-30' }, 1],
      [{ max: '9999-12-31' }, 0],
      [{ min: '0001-01-01' }, 0],
      [{ min: '9999-12-31' }, 4],
    ])
  })

t.test(
  'MariaDB: a TIMESTAMP, which ends in 2038, is within a RANGE that ends with the year 9999',
  { skip: mariadbAbsent },
  async t => {
    const on = await mariadbStand(t)
    await on.execute('create table t (id integer primary key, v timestamp null)')
    await on.execute(`insert into t values (1, '1970-01-02 00:00:00'), (2, '2038-01-18 00:00:00')`)
    const [table] = await on.connection.introspect({ tables: [on.ref('t')] })
    const bounds = [{ max: '9999-12-31' }, { min: '0001-01-01' }, { min: '9999-12-31' }]
    const { outcomes } = await run(
      on,
      table!,
      bounds.map(bound => check('RANGE', 'v', bound)),
    )
    t.match(outcomes, [{ invalid: 0 }, { invalid: 0 }, { invalid: 2 }])
  },
)
