import Joi from 'joi'
import t from 'tap'
import type { AggregateMetric, Check } from '../../../checks/check.ts'
import { findFilterProblem } from '../../../checks/rows/filter.ts'
import { explainScan } from '../../../checks/scan.ts'
import { sql } from '../../../connectors/sql.ts'
import { check, ORDERS, run } from '../scan-helpers.ts'
import { postgresqlStand, sqliteStand } from '../test-databases.ts'
import { CHECKS, ENGINES, expectedOf, numbersOf, randomRows } from './orders.ts'

const FILTERS = [
  'amount > 50',
  "status = 'paid'",
  "amount is null or status like 'n%'",
  'email is not null and amount <= 20',
  'amount < -1000',
  'amount % 3 = 1',
] as const

for (const { name, absent, start } of ENGINES)
  void t.test(`${name}: a filter gives what a table of its rows would give`, { skip: absent }, async t => {
    const on = await start(t)
    const { table } = await on.createTable(ORDERS, randomRows(`filters ${name}`))
    const filtered = FILTERS.map(filter => ({ filter, plain: CHECKS() }))
    const together = filtered.flatMap(({ filter, plain }) => plain.map(each => ({ ...each, filter })))
    const scanned = await run(on, table, [...CHECKS(), ...together])
    const byId = new Map(scanned.outcomes.map(outcome => [outcome.id, outcome]))
    for (const { filter, plain } of filtered) {
      const expected = await expectedOf(on, { name: table.name, columns: ORDERS }, filter, plain)
      const shared = plain.map(({ id }) => numbersOf(byId.get(id)!))
      const own = await run(
        on,
        table,
        plain.map(each => ({ ...each, filter })),
      )
      for (const [place, { id }] of plain.entries()) {
        t.same(shared[place], expected[place], `${id} where ${filter}, beside checks of other rows`)
        t.same(numbersOf(own.outcomes[place]!), expected[place], `${id} where ${filter}, by itself`)
      }
    }
  })

void t.test('filters cost no statement: two hundred checks with ten of them read the table once', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, randomRows('statements'))
  const shared = ['row_count', 'NOT_NULL', 'null_percent', 'min_value', 'mean', 'UNIQUE', 'distinct_count']
  const checks = Array.from({ length: 200 }, (_, index) =>
    check(shared[index % shared.length]!, 'amount', {}, { filter: `amount > ${index % 10}` }),
  )
  const { statements, outcomes } = await run(on, table, [check('row_count'), ...checks])
  t.equal(statements, 1)
  t.ok(outcomes.every(({ status }) => status !== 'error'))
})

void t.test('where all checks of a scan are about the same rows, only these are read', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, [])
  const filter = "status = 'paid'"
  const same = [check('row_count', undefined, {}, { filter }), check('mean', 'amount', {}, { filter })]
  const [only, ...more] = await explainScan(on.engine, table, same)
  t.same(more, [])
  t.match(only!.text, /where \(\s*status = 'paid'\s*\)$/)
  const different = [check('mean', 'amount', {}, { filter: 'amount > 1' }), ...same]
  const [either] = await explainScan(on.engine, table, different)
  t.match(either!.text, /where \(\(\s*amount > 1\s*\) or \(\s*status = 'paid'\s*\)\)$/)
})

void t.test('samples are rows of the filter', async t => {
  const on = await sqliteStand(t)
  const rows = [
    [1, 'new', null],
    [2, 'paid', null],
    [3, 'paid', 'a@b'],
  ]
  const { table } = await on.createTable(ORDERS, rows)
  const checks = [check('row_count'), check('NOT_NULL', 'email', {}, { filter: "status = 'paid'" })]
  const { outcomes } = await run(on, table, checks, { sampleLimit: 10 })
  t.match(outcomes[1], { status: 'counted', total: 2, invalid: 1, samples: [{ row_id: 2, value: null }] })
})

void t.test('a filter that fails on a value is an error of its own checks only', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, [[0, 'new', 'a@b']])
  const failing = check('mean', 'amount', {}, { filter: '1 / amount > 0' })
  const { outcomes } = await run(on, table, [check('row_count'), failing, check('NOT_NULL', 'status')])
  t.match(outcomes, [{ status: 'measured', value: 1 }, { status: 'error' }, { status: 'counted', total: 1 }])
})

void t.test('a type that says nothing of filters is measured on the rows of one', async t => {
  const on = await sqliteStand(t)
  const { table } = await on.createTable(ORDERS, [
    [1, 'new', 'a'],
    [2, 'paid', 'b'],
    [40, 'paid', 'c'],
  ])
  const total: AggregateMetric = {
    family: 'metric',
    name: 'total',
    description: 'The sum.',
    config: Joi.object({}),
    column: 'required',
    measure: ({ column }) => sql`sum(${column})`,
  }
  const reader: AggregateMetric = {
    ...total,
    name: 'reader',
    measure: ({ from }) => sql`(select 1 from ${from})`,
  }
  const of = (type: AggregateMetric): Check => ({
    id: type.name,
    type,
    column: 'amount',
    config: {},
    filter: "status = 'paid'",
  })
  const { outcomes } = await run(on, table, [check('row_count'), of(total), of(reader)])
  t.match(outcomes, [
    { value: 3 },
    { value: 42, total: 2 },
    { status: 'error', message: /leave the filter out/ },
  ])
})

void t.test('a text that is no condition is refused, and the sentence says what is', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, [])
  const problemOf = (text: string) => findFilterProblem(text, { dialect: on.engine.dialect, table })
  t.equal(await problemOf("status = 'paid' and amount between 1 and 5"), null)
  t.match(await problemOf('select 1'), 'not a SELECT')
  t.match(await problemOf('amount in (select 1)'), 'sub-query')
  for (const text of ['1', "'paid'", 'amount + 1', 'amount', 'status'])
    t.match(await problemOf(text), 'must be a condition', text)
  t.match(await problemOf('amount >'), /^filter must be one boolean expression/)
  t.match(await problemOf('pg_sleep(1) is null'), 'The function pg_sleep is not allowed in filter.')
  t.match(await problemOf(`amount > ${'1'.repeat(2_000)}`), 'more than 2000 characters')
})

for (const { name, absent, start } of ENGINES)
  void t.test(`${name}: a filter stays within its own parentheses`, { skip: absent }, async t => {
    const on = await start(t)
    const { table } = await on.createTable(ORDERS, [
      [1, 'paid? $1 :a', null],
      [2, 'sent', null],
    ])
    for (const filter of [
      ...['amount = 1) or (1 = 1', 'amount = 1))', '(amount = 1', 'amount = 1; select 1', 'amount = 1 or'],
      ...['amount = ?', 'amount = :a', 'amount = $1', 'amount = @a', 'amount = 1 /* ', "status = 'paid"],
    ]) {
      const refused = await run(on, table, [check('row_count', undefined, {}, { filter })])
      t.match(refused, { outcomes: [{ status: 'error', message: /filter/ }] }, filter)
      t.equal(refused.statements, 0, filter)
    }
    const { outcomes } = await run(on, table, [
      check('row_count', undefined, {}, { filter: "status = 'paid? $1 :a' -- and no more" }),
      check('row_count', undefined, {}, { filter: 'amount = 1 or 1 = 1' }),
      check('ENUM', 'status', { allowed_values: ['sent'] }, { filter: 'amount = 1 or amount = 2' }),
      check('row_count'),
    ])
    t.match(outcomes, [{ value: 1 }, { value: 2 }, { total: 2, invalid: 1 }, { value: 2 }])
  })

void t.test('CUSTOM_SQL that is a SELECT names its rows itself, and takes no filter', async t => {
  const on = await sqliteStand(t)
  const { table } = await on.createTable(ORDERS, [])
  const custom = check('CUSTOM_SQL', undefined, { sql_expression: 'select 1' }, { filter: 'amount > 1' })
  const { outcomes } = await run(on, table, [custom])
  t.match(outcomes, [{ status: 'error', message: /put the condition into its WHERE/ }])
})

void t.test('an aggregate of a user is validated and measured with a filter, also by itself', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable(ORDERS, [
    [1, 'new', null],
    [20, 'paid', null],
  ])
  const alone = check(
    'custom_sql',
    undefined,
    { sql_expression: 'sum(amount)' },
    { filter: "status = 'paid'" },
  )
  const { outcomes } = await run(on, table, [alone])
  t.match(outcomes, [{ status: 'measured', value: 20, total: 1 }])
})
