import t from 'tap'
import { check, run } from './scan-helpers.ts'
import { postgresqlStand } from './test-databases.ts'

const SECRET = /ann@x\.org/

t.test('what an engine quotes of rows is in no outcome', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable([{ name: 'email', kind: 'text' }], [['ann@x.org']])
  await on.execute(`create view numbers as select email::int as n, email as email from "${table.name}"`)
  const [view] = await on.connection.introspect({ tables: [on.ref('numbers')] })
  if (!view) throw new Error('no view')
  for (const [text, message] of [
    ['email::int > 0', /^A value cannot be converted .* \(22P02\)\. The engine's message is not shown/],
    ['email::regclass is null', /^The engine could not run this SQL over the rows \(3F000\)\./],
    [`encode('a', email) is null`, /^The engine could not run this SQL over the rows \(22023\)\./],
    [
      `select 1 as one from "${table.name}" where (select string_agg(email, ',') from "${table.name}")::int > 0`,
      /^A value cannot be converted .* \(22P02\)/,
    ],
  ] as const) {
    const { outcomes } = await run(on, table, [check('CUSTOM_SQL', undefined, { sql_expression: text })])
    t.match(outcomes, [{ status: 'error', message }], text)
    t.notMatch(JSON.stringify(outcomes), SECRET, text)
  }
  const { outcomes } = await run(on, view, [
    check('RANGE', 'n', { min: 0 }),
    check('mean', 'n'),
    check('NOT_NULL', 'email'),
  ])
  t.match(outcomes, [{ status: 'error' }, { status: 'error' }, { status: 'counted', invalid: 0 }])
  t.notMatch(JSON.stringify(outcomes), SECRET)
})

t.test('what is wrong with a text is still shown', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable([{ name: 'email', kind: 'text' }], [['ann@x.org']])
  const { outcomes } = await run(on, table, [
    check('CUSTOM_SQL', undefined, { sql_expression: 'emial > 0' }),
    check('REGEX', 'email', { pattern: '(' }),
  ])
  t.match(outcomes, [
    { message: /^The column "emial" does not exist \(42703\): run a discovery/ },
    { message: /^The pattern is not a regular expression .* \(2201B\): parentheses \(\) not balanced/ },
  ])
})
