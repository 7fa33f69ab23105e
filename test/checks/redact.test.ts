import t from 'tap'
import { redactError } from '../../checks/redact.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../connectors/errors.ts'
import { classifyMysqlError } from '../../connectors/mysql/errors.ts'
import { check, run } from './scan-helpers.ts'
import { postgresqlStand } from './test-databases.ts'

const SECRET = /ann@x\.org/

t.test('what an engine quotes of rows is in no outcome', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.createTable([{ name: 'email', kind: 'text' }], [['ann@x.org']])
  await on.execute(`create view numbers as select email::int as n, email as email from "${table.name}"`)
  const [view] = await on.connection.introspect({ tables: [on.ref('numbers')] })
  if (!view) throw new Error('no view')
  for (const one of [
    check('CUSTOM_SQL', undefined, { sql_expression: 'email::int > 0' }),
    check('CUSTOM_SQL', undefined, { sql_expression: 'email::regclass is null' }),
    check('CUSTOM_SQL', undefined, { sql_expression: `encode('a', email) is null` }),
    check('CUSTOM_SQL', undefined, {
      sql_expression: `select 1 as one from "${table.name}" where (select string_agg(email, ',') from "${table.name}")::int > 0`,
    }),
  ]) {
    const { outcomes } = await run(on, table, [one])
    t.match(outcomes, [{ status: 'error', message: /could not run this SQL over the rows/ }])
    t.notMatch(JSON.stringify(outcomes), SECRET, String(one.config.sql_expression))
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
  t.match(outcomes, [{ message: /emial/ }, { message: /parentheses/ }])
})

t.test('kinds that quote nothing keep their sentence', async t => {
  const error = (kind: ConnectorErrorKind) => new ConnectorError({ kind, engine: 'x', message: `"a" is b` })
  for (const kind of ['timeout', 'network', 'permission', 'credentials'] as const) {
    t.equal(redactError(error(kind), true).message, '"a" is b')
  }
  t.equal(redactError(error('invalid-query'), false).message, '"…" is b')
  t.equal(redactError(error('missing-object'), false).message, '"a" is b', 'names of objects are no values')
})

t.test('no value comes through by its own quotes, by its length, or where an engine quotes none', async t => {
  const shown = (message: string) =>
    redactError(new ConnectorError({ kind: 'invalid-query', engine: 'x', message }), false).message
  t.equal(
    shown('invalid input syntax for type integer: "a"b"c"'),
    'invalid input syntax for type integer: "…"',
  )
  t.equal(shown(`Incorrect DOUBLE value: 'o'neill'`), `Incorrect DOUBLE value: '…'`)
  const long = `invalid input syntax for type integer: "${'secret '.repeat(100)}"`.slice(0, 500)
  t.equal(shown(long), 'invalid input syntax for type integer: "…')
  const late = `the "n" of "${'x" is "'.repeat(100)}`.slice(0, 500)
  t.equal(shown(late), 'the "…')
  const xpath = classifyMysqlError('mysql', {
    errno: 1105,
    sqlState: 'HY000',
    message: `XPATH syntax error: '~ann@x.org'`,
  })
  t.notMatch(xpath.message, SECRET, 'nor by a question that reads no rows')
  t.equal(shown('Bad int64 value: 123-45-6789'), 'Bad int64 value: …')
  t.equal(shown('division by zero: 53 / 0'), 'division by zero: …')
  t.equal(
    shown('value "70000" is out of range for type smallint'),
    'value "…" is out of range for type smallint',
  )
})
