import t from 'tap'
import type { Check, CheckWindow } from '../../../checks/check.ts'
import { completeBuckets, type BucketGrid } from '../../../checks/rows/buckets.ts'
import { keepingOf } from '../../../checks/rows/bucket-conditions.ts'
import { explainScan } from '../../../checks/scan.ts'
import type { TableInfo } from '../../../connectors/catalog.ts'
import { randomOf } from '../../bench/detector-random.ts'
import { check, ORDERS, run } from '../scan-helpers.ts'
import { postgresqlStand, type EngineTestDatabase } from '../test-databases.ts'
import { CHECKS, ENGINES, expectedOf, numbersOf, randomRows } from './orders.ts'

/** Clocks go back in Berlin at 01:00 UTC of October 25th. */
const END = new Date('2026-10-26T12:30:00Z')

const COLUMNS = (on: EngineTestDatabase) =>
  [
    ...ORDERS,
    { name: 'at', kind: 'timestamp' },
    { name: 'moment', kind: 'timestamp', type: zonedType(on) },
    { name: 'day', kind: 'date' },
  ] as const

function zonedType({ traits }: EngineTestDatabase): string | undefined {
  const zoned = traits?.zoned
  return typeof zoned === 'string' ? zoned : undefined
}

/** Random orders of the six days before, a few without a time. */
function rows(seed: string): unknown[][] {
  const random = randomOf(seed).uniform
  return randomRows(seed).map(row => {
    if (random() < 0.05) return [...row, null, null, null]
    const moment = new Date(END.getTime() - Math.floor(random() * 6 * 86_400) * 1_000)
    const text = moment.toISOString().slice(0, 19).replace('T', ' ')
    return [...row, text, moment.toISOString(), text.slice(0, 10)]
  })
}

function windowOf(
  on: EngineTestDatabase,
  table: TableInfo,
  column: string,
  size: string,
  count: number,
): CheckWindow {
  const info = table.columns.find(({ name }) => name === column)!
  const timezone = 'Europe/Berlin'
  const grid: BucketGrid = { size, timezone, keeping: keepingOf(info, on.engine.dialect) }
  return { column, grid: `${size} ${timezone}`, buckets: completeBuckets(grid, END, count) }
}

for (const { name, absent, start } of ENGINES)
  void t.test(`${name}: each bucket gives what a table of its rows would give`, { skip: absent }, async t => {
    const on = await start(t)
    const columns = COLUMNS(on)
    const { table } = await on.createTable(columns, rows(`windows ${name}`))
    for (const [column, size, count] of [
      ['at', '6h', 9],
      ['at', '1d', 1],
      ['moment', '1d', 1],
      ['day', '1d', 3],
      ['moment', '1d', 3],
    ] as const) {
      if (column === 'moment' && name === 'SQLite') continue
      const window = windowOf(on, table, column, size, count)
      const plain = CHECKS()
      const filtered = CHECKS().map((each): Check => ({ ...each, filter: "status <> 'sent'" }))
      const all = [...plain, ...filtered].map(each => ({ ...each, window }))
      const { outcomes } = await run(on, table, all)
      for (const [place, { from, to }] of window.buckets.entries()) {
        const within = `${column} >= '${from}' and ${column} < '${to}'`
        const expected = [
          ...(await expectedOf(on, { name: table.name, columns }, within, plain)),
          ...(await expectedOf(
            on,
            { name: table.name, columns },
            `${within} and status <> 'sent'`,
            filtered,
          )),
        ]
        for (const [index, outcome] of outcomes.entries()) {
          const { id, filter = 'all rows' } = all[index]!
          const found = outcome.status === 'windowed' ? numbersOf(outcome.buckets[place]!.outcome) : outcome
          t.same(found, expected[index], `${id} of ${filter}, ${column} by ${size} from ${from}`)
        }
      }
    }
  })

void t.test('all buckets of all checks are one statement, whose predicate is on the bare column', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(COLUMNS(on), [])
  const window = windowOf(on, table, 'at', '1d', 3)
  const older = { ...window, buckets: window.buckets.slice(0, 2) }
  const checks = [
    check('row_count', undefined, {}, { window }),
    check('NOT_NULL', 'status', {}, { window: older }),
    check('percentile', 'amount', { percentile_value: 90 }, { window, filter: 'amount > 1' }),
    check('distinct_count', 'status', {}, { window }),
  ]
  const [only, ...more] = await explainScan(on.engine, table, checks)
  t.same(more, [])
  t.match(
    only!.text,
    /where "at" >= '2026-10-22 22:00:00' and "at" < '2026-10-25 23:00:00'|where "at" >= '2026-10-23 00:00:00' and "at" < '2026-10-26 00:00:00'/,
  )
  const { statements, outcomes } = await run(on, table, checks)
  t.equal(statements, 1)
  t.same(
    outcomes.map(outcome => outcome.status === 'windowed' && outcome.buckets.length),
    [3, 2, 3, 3],
  )
})

void t.test('a bucket without rows counts none, and fails no rule', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(COLUMNS(on), [])
  const window = windowOf(on, table, 'at', '1d', 2)
  const checks = [
    check('row_count'),
    check('mean', 'amount'),
    check('NOT_NULL', 'status'),
    check('UNIQUE', 'email'),
  ]
  const { outcomes } = await run(
    on,
    table,
    checks.map(each => ({ ...each, window })),
  )
  const first = outcomes.map(outcome => outcome.status === 'windowed' && outcome.buckets[0]!.outcome)
  t.match(first, [
    { status: 'measured', value: 0, total: 0 },
    { status: 'measured', value: null, total: 0 },
    { status: 'counted', invalid: 0, total: 0 },
    { status: 'counted', invalid: 0, total: 0 },
  ])
})

void t.test('each of many buckets may have as many groups as a whole table, and no more', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(COLUMNS(on), [])
  const name = on.engine.dialect.table(on.ref(table.name)).strings[0]
  const fill = (groups: number, from: string) =>
    on.execute(
      `insert into ${name} (amount, at) select g, h from generate_series(1, ${groups}) g,
         generate_series(timestamp '${from}', timestamp '2026-10-26 12:00:00', interval '1 hour') h`,
    )
  const window = windowOf(on, table, 'at', '1h', 100)
  const checks = [check('row_count', undefined, {}, { window, groupBy: ['amount'] })]
  await fill(1_000, '2026-10-25 00:00:00')
  const [outcome] = (await run(on, table, checks)).outcomes
  const ofBuckets = (of: typeof outcome) =>
    of?.status === 'windowed' ? of.buckets.map(({ outcome: own }) => own) : []
  const last = ofBuckets(outcome).at(-1)
  t.equal(last?.status === 'grouped' && last.groups.length, 1_000)
  await fill(1_001, '2026-10-26 12:00:00')
  const [more] = (await run(on, table, checks)).outcomes
  t.match(ofBuckets(more).slice(-2), [{ status: 'grouped' }, { status: 'error', kind: 'too-many-groups' }])
})

void t.test('a column without time, and a SELECT that names its rows, take no window', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(COLUMNS(on), [])
  const window = windowOf(on, table, 'at', '1d', 2)
  const { outcomes } = await run(on, table, [
    check('row_count', undefined, {}, { window: { ...window, column: 'amount' } }),
    check('row_count', undefined, {}, { window: { ...window, column: 'gone' } }),
    check('CUSTOM_SQL', undefined, { sql_expression: 'select 1' }, { window }),
  ])
  t.match(outcomes, [
    { status: 'error', message: /needs a column of dates or timestamps/ },
    { status: 'error', message: /The column gone does not exist/ },
    { status: 'error', message: /put the condition into its WHERE/ },
  ])
})

void t.test('samples are rows of the newest bucket', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(COLUMNS(on), [
    [1, null, null, '2026-10-24 10:00:00', null, null],
    [2, null, null, '2026-10-25 10:00:00', null, null],
    [3, null, null, '2026-10-26 10:00:00', null, null],
  ])
  const window = windowOf(on, table, 'at', '1d', 2)
  const { outcomes } = await run(on, table, [check('NOT_NULL', 'status', {}, { window })], { sampleLimit: 9 })
  t.match(outcomes, [
    {
      buckets: [
        { outcome: { invalid: 1, samples: [] } },
        { outcome: { invalid: 1, samples: [{ row_id: 2 }] } },
      ],
    },
  ])
})
