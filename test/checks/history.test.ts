import t, { type Test } from 'tap'
import Joi from 'joi'
import type { AggregateMetric, Check, CheckType, DerivedMetric, RowRule } from '../../checks/check.ts'
import { createTestDatabase } from '../../checks/conformance.ts'
import {
  measureHistory,
  timestampColumn,
  type CheckHistory,
  type HistoryOptions,
} from '../../checks/history.ts'
import { scan } from '../../checks/scan.ts'
import type { ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Connection, Connector } from '../../connectors/connector.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { mariadbAbsent, mysqlSettings, startShop } from '../helpers/mariadb.ts'
import { connectOptions } from '../helpers/source.ts'
import { check } from './scan-helpers.ts'
import { postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

/** MariaDB, through its connector and as an account that may only read. */
async function mariadbStand(t: Test): Promise<EngineTestDatabase> {
  const shop = await startShop(t)
  const connection = await mysql.connect(mysqlSettings(shop.config), connectOptions)
  t.teardown(() => connection.close())
  await shop.query(`set time_zone = '+00:00'`)
  const execute = (text: string) => shop.query(text)
  const ref = (name: string) => ({ catalog: shop.name, schema: shop.name, name })
  const options = {
    ...{ connector: mysql as unknown as Connector, connection, execute, tableRef: ref },
    columnTypes: { text: 'varchar(100)', timestamp: 'datetime(6)', float: 'double' },
  }
  return { ...createTestDatabase(options), connection, execute, ref }
}

const STANDS = [
  { engine: 'PostgreSQL', open: postgresqlStand, zoned: { type: 'timestamp with time zone', suffix: '+02' } },
  { engine: 'SQLite', open: sqliteStand, zoned: { type: 'timestamp', suffix: '+02:00' } },
  // Its offset stands in no text: the zone is the session's, which is UTC.
  { engine: 'MariaDB', open: mariadbStand, zoned: { type: 'timestamp(6) null', suffix: '' } },
]

const HOUR = 3600
const DAY = 24 * HOUR
const WEEK = 7 * DAY

const evenIds: RowRule = {
  family: 'rule',
  name: 'EVEN_ID',
  description: 'A rule that looks at no column.',
  config: Joi.object({}),
  column: 'ignored',
  valid: ({ dialect }) => sql`mod(${dialect.quote('id')}, 2) = 0`,
}

const sumValue: AggregateMetric = {
  family: 'metric',
  name: 'sum_value',
  description: 'A metric of a third party with a rollup.',
  config: Joi.object({}),
  column: 'required',
  measure: ({ column }) => sql`sum(${column})`,
  rollup: { value: 'sum' },
}

const spread: DerivedMetric = {
  family: 'metric',
  name: 'spread',
  description: 'A metric of a third party with measures of two kinds.',
  config: Joi.object({}),
  column: 'required',
  measures: ({ column }) => ({ low: sql`min(${column})`, high: sql`max(${column})` }),
  readMeasures: ({ low = null, high = null }) => (low === null || high === null ? null : high - low),
  rollup: { low: 'min', high: 'max' },
}

const own = (type: CheckType, column?: string): Check => ({
  id: `own ${type.name}`,
  type,
  column,
  config: {},
})

const everyCheck = () => [
  check('row_count'),
  check('null_percent', 'email'),
  check('distinct_count', 'email'),
  check('distinct_count', 'amount'),
  check('duplicate_count', 'email'),
  check('min_value', 'amount'),
  check('max_value', 'amount'),
  check('mean', 'amount'),
  check('mean', 'rare'),
  check('sum', 'amount'),
  check('sum', 'rare'),
  check('standard_deviation', 'amount'),
  check('standard_deviation', 'rare'),
  check('min_length', 'email'),
  check('mean_length', 'email'),
  check('max_length', 'email'),
  check('NOT_NULL', 'email'),
  check('NOT_NULL', 'email', {}, { nullIsValid: true }),
  check('UNIQUE', 'email'),
  check('UNIQUE', 'email', {}, { nullIsValid: true }),
  check('UNIQUE', 'id'),
  check('RANGE', 'amount', { min: -50, max: 80.5 }),
  check('RANGE', 'amount', { min: 0 }, { nullIsValid: true }),
  check('ENUM', 'email', { allowed_values: ['user1@example.com', 'user2@example.com'] }),
  check('REGEX', 'email', { pattern: '[13579]@' }),
  check('DATE_FORMAT', 'label', { format: '%Y-%m-%d' }),
  own(evenIds),
  own(sumValue, 'amount'),
  own(spread, 'amount'),
]

const COLUMNS = [
  { name: 'amount', kind: 'integer' },
  { name: 'rare', kind: 'float' },
  { name: 'email', kind: 'text' },
  { name: 'label', kind: 'text' },
] as const

/** Numbers that look random and are the same every time, from 0 up to a limit (Park and Miller, 1988). */
function randomly(seed: number): (limit: number) => number {
  let state = seed
  return limit => {
    state = (state * 48271) % 2147483647
    return state % limit
  }
}

/** `2024-01-31 23:59:59.999999`, with the clock moved on by an offset of two hours where one is written. */
function momentText(seconds: number, fraction: string, suffix = ''): string {
  const shown = new Date((seconds + (suffix === '' ? 0 : 2 * HOUR)) * 1000)
  return shown.toISOString().slice(0, 19).replace('T', ' ') + fraction + suffix
}

interface World {
  on: EngineTestDatabase
  table: TableInfo
  /** Adds rows of a moment, as text, or without one. */
  add(moments: readonly (string | null)[]): Promise<void>
}

async function makeTable(on: EngineTestDatabase, time: { kind: ColumnKind; type?: string }): Promise<World> {
  const { table } = await on.createTable([...COLUMNS, { name: 'created_at', ...time }], [])
  const random = randomly(table.name.length + 7)
  let id = 0
  const add: World['add'] = async moments => {
    const rows = moments.map(moment => {
      const email = random(5) === 0 ? 'null' : `'user${random(60)}@example.com'`
      const amount = random(7) === 0 ? 'null' : random(200) - 100
      const rare = random(9) === 0 ? random(1000) / 8 : 'null'
      const label = random(2) === 0 ? `'2024-02-${10 + random(25)}'` : 'null'
      return `(${[(id += 1), amount, rare, email, label, moment === null ? 'null' : `'${moment}'`].join(', ')})`
    })
    const name = on.engine.dialect.table(table).strings.join('')
    if (rows.length > 0) await on.execute(`insert into ${name} values ${rows.join(', ')}`)
  }
  return { on, table, add }
}

/** Runs with the statements counted. */
async function ask(
  { on, table }: Pick<World, 'on' | 'table'>,
  asked: Check,
  periods: HistoryOptions['periods'],
  column = 'created_at',
): Promise<{ history: CheckHistory; statements: number }> {
  let statements = 0
  const connection: Pick<Connection, 'query'> = {
    query(statement, options) {
      statements += 1
      return on.connection.query(statement, options)
    },
  }
  const history = await measureHistory(connection, on.engine, table, asked, {
    column,
    periods,
    timeoutMs: 60_000,
  })
  return { history, statements }
}

interface Numbers {
  total: number
  invalid?: number
  value?: number | null
}

/** The numbers that the real scan gives now, by check. */
async function scanned({ on, table }: World, checks: readonly Check[]): Promise<Map<string, Numbers>> {
  const { outcomes } = await scan(on.connection, on.engine, table, checks, { timeoutMs: 60_000 })
  return new Map(
    outcomes.map((outcome): [string, Numbers] => {
      if (outcome.status === 'counted')
        return [outcome.id, { total: outcome.total, invalid: outcome.invalid }]
      if (outcome.status === 'measured') return [outcome.id, { total: outcome.total, value: outcome.value }]
      throw new Error(`${outcome.id}: ${JSON.stringify(outcome)}`)
    }),
  )
}

/** Numbers as they are, those of means and deviations to twelve digits: they were added up in another order. */
function rounded(numbers: Numbers, { type }: Check): Numbers {
  const { value } = numbers
  const isSummed = ['mean', 'mean_length', 'standard_deviation'].includes(type.name)
  if (!isSummed || value === undefined || value === null) return numbers
  return { ...numbers, value: Number(value.toPrecision(12)) }
}

/** Fills a table period by period, with a scan after each, and holds every history to what the scans gave. */
async function keepsThePromise(
  t: Test,
  world: World,
  { seconds, count, write }: { seconds: number; count: number; write(at: number, random: number): string },
): Promise<void> {
  const from = Date.UTC(2024, 0, 29) / 1000
  const checks = everyCheck()
  const random = randomly(seconds)
  await world.add([null, null, null, null])
  await world.add([write(from - 1, 999_999), write(from - seconds, 0), write(from - 900 * DAY, 0)])
  const scans: Map<string, Numbers>[] = []
  for (let index = 0; index < count; index += 1) {
    const start = from + index * seconds
    const moments = Array.from({ length: random(20) }, () =>
      write(start + random(seconds), random(1_000_000)),
    )
    // One period has no rows at all, and in the others there is one in the first and one in the last moment.
    const edges = [write(start, 0), write(start + seconds - 1, 999_999)]
    if (index !== 2) await world.add([...moments, ...edges])
    scans.push(await scanned(world, checks))
  }
  const end = from + count * seconds
  await world.add([write(end, 0), write(end + 400 * DAY, 0), write(end + seconds, 0)])
  for (const asked of checks) {
    const { history, statements } = await ask(world, asked, { from: new Date(from * 1000), seconds, count })
    if ('none' in history) return void t.fail(`${asked.id}: ${history.none}`)
    t.strictSame(
      history.points.map(({ at, ...numbers }) => ({ at, ...rounded(numbers, asked) })),
      scans.map((numbers, index) => ({
        at: new Date((from + (index + 1) * seconds) * 1000),
        ...rounded(numbers.get(asked.id) as Numbers, asked),
      })),
      asked.id,
    )
    t.equal(statements, 1, `${asked.id}: one statement`)
    t.equal(history.undated, 4, `${asked.id}: the rows without a time are counted`)
  }
}

const micros = (fraction: number) => `.${String(fraction).padStart(6, '0')}`

for (const { engine, open, zoned } of STANDS) {
  t.test(engine, { skip: engine === 'MariaDB' && mariadbAbsent }, async t => {
    const on = await open(t)

    t.test('of days, what the scan gave after each day', async t => {
      const world = await makeTable(on, { kind: 'timestamp' })
      const write = (at: number, fraction: number) => momentText(at, micros(fraction))
      await keepsThePromise(t, world, { seconds: DAY, count: 12, write })
    })

    t.test('of hours, by moments with a zone', async t => {
      const world = await makeTable(on, { kind: 'timestamp', type: zoned.type })
      const write = (at: number, fraction: number) => momentText(at, micros(fraction), zoned.suffix)
      await keepsThePromise(t, world, { seconds: HOUR, count: 5, write })
    })

    t.test('of weeks, by dates', async t => {
      const world = await makeTable(on, { kind: 'date' })
      await keepsThePromise(t, world, {
        ...{ seconds: WEEK, count: 4 },
        write: at => momentText(at, '').slice(0, 10),
      })
    })

    t.test('an empty table has points like any other', async t => {
      const world = await makeTable(on, { kind: 'timestamp' })
      const periods = { from: new Date('2024-01-01T00:00:00Z'), seconds: DAY, count: 2 }
      const checks = everyCheck()
      const now = await scanned(world, checks)
      for (const asked of checks) {
        const { history } = await ask(world, asked, periods)
        if ('none' in history) return void t.fail(`${asked.id}: ${history.none}`)
        const numbers = history.points.map(({ at: _, ...rest }) => rest)
        t.strictSame(numbers, [now.get(asked.id), now.get(asked.id)], asked.id)
      }
    })

    t.test(
      'NaN and the like make it none',
      { skip: engine !== 'PostgreSQL' && 'only PostgreSQL here has NaN' },
      async t => {
        const { table } = await on.createTable(
          [...COLUMNS, { name: 'created_at', kind: 'timestamp' }],
          [
            [1, 'NaN', 'a', null, '2024-01-01 12:00:00'],
            [1, 2, 'a', null, 'infinity'],
          ],
        )
        const periods = { from: new Date('2024-01-01T00:00:00Z'), seconds: DAY, count: 2 }
        for (const name of ['max_value', 'mean']) {
          const { history } = await ask({ on, table }, check(name, 'rare'), periods)
          t.match(history, { none: /NaN, which is not a finite number/ }, name)
        }
        const { history } = await ask({ on, table }, check('row_count'), periods)
        t.match(history, { undated: 0, points: [{ total: 2 }, { total: 2 }] }, 'an infinite time is none')
      },
    )
  })
}

t.test('what has no history says why, and asks nothing', async t => {
  const on = await sqliteStand(t)
  const { table } = await on.createTable([...COLUMNS, { name: 'created_at', kind: 'timestamp' }], [])
  const periods = { from: new Date('2024-01-01T00:00:00Z'), seconds: DAY, count: 2 }
  const foreign: CheckType = { ...spread, name: 'foreign', rollup: undefined }
  const partial: CheckType = { ...spread, name: 'partial', rollup: { low: 'min' } }
  const cases: [Check, RegExp, string?][] = [
    [
      check('percentile', 'amount', { percentile_value: 50 }),
      /percentile has no history: its value of many days/,
    ],
    [check('CUSTOM_SQL', undefined, { sql_expression: 'amount > 0' }), /CUSTOM_SQL has no history: its SQL/],
    [check('row_count', undefined, {}, { groupBy: ['email'] }), /group_by has no history/],
    [own(foreign, 'amount'), /foreign has no history: its value of many days/],
    [own(partial, 'amount'), /partial has no rollup for its measure high/],
    [check('row_count'), /The column amount is of type integer: .* date or timestamp/, 'amount'],
    [check('row_count'), /The column nothing does not exist in main\.main\./, 'nothing'],
    [check('mean', 'gone'), /The column gone does not exist/],
    [check('mean', 'email'), /mean works on .* columns; email is/],
  ]
  for (const [asked, none, column] of cases) {
    const { history, statements } = await ask({ on, table }, asked, periods, column)
    t.match(history, { none }, String(none))
    t.equal(statements, 0)
  }
})

const thrown = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (error: unknown) => error,
  )

t.test('what goes wrong is thrown', async t => {
  const on = await sqliteStand(t)
  const { table } = await on.createTable([...COLUMNS, { name: 'created_at', kind: 'timestamp' }], [])
  const day = { from: new Date('2024-01-01T00:00:00Z'), seconds: DAY, count: 2 }
  const gone = { ...table, name: 'gone' }
  t.match(await thrown(ask({ on, table: gone }, check('row_count'), day)), { kind: 'missing-object' })
  for (const change of [{ seconds: 0 }, { seconds: 1.5 }, { count: 0 }, { from: new Date(NaN) }]) {
    await t.rejects(ask({ on, table }, check('row_count'), { ...day, ...change }), RangeError)
  }
  const other: CheckType = { ...sumValue, measure: () => raw('nothing_of_this_name') }
  t.match(await thrown(ask({ on, table }, own(other, 'amount'), day)), { kind: 'missing-object' })
  const options = { column: 'created_at', periods: day, timeoutMs: 1000, signal: AbortSignal.abort() }
  await t.rejects(measureHistory(on.connection, on.engine, table, check('row_count'), options), {
    name: 'AbortError',
  })
})

t.test('periods may lie before 1970 and begin within a second', async t => {
  const on = await sqliteStand(t)
  const world = await makeTable(on, { kind: 'timestamp' })
  await world.add([
    '1969-12-30 00:00:00',
    '1969-12-31 12:00:00',
    '1970-01-01 00:00:00',
    '1970-01-02 00:00:00',
  ])
  const from = new Date('1969-12-31T00:00:00.900Z')
  for (const asked of [check('row_count'), check('UNIQUE', 'id'), check('distinct_count', 'id')]) {
    const { history } = await ask(world, asked, { from, seconds: DAY, count: 2 })
    t.match(history, {
      points: [
        { at: new Date('1970-01-01T00:00:00Z'), total: 2 },
        { at: new Date('1970-01-02T00:00:00Z'), total: 3 },
      ],
    })
  }
})

t.test('a time of creation comes before one of an update', async t => {
  const column = (name: string, kind: ColumnKind) => ({ name, kind }) as TableInfo['columns'][number]
  const found = (...columns: TableInfo['columns']) => timestampColumn({ columns })?.name
  t.equal(found(column('updated_at', 'timestamp'), column('Created_At', 'timestamp')), 'Created_At')
  t.equal(found(column('created_at', 'text'), column('ts', 'integer'), column('date', 'date')), 'date')
  t.equal(found(column('last_updated', 'timestamp'), column('updated_at', 'date')), 'updated_at')
  t.equal(found(column('born', 'date')), undefined)
})
