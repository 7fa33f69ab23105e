import t from 'tap'
import { discreet } from '../../checks/discretion.ts'
import { ConnectorError, type ConnectorErrorKind } from '../../connectors/errors.ts'
import { check, run } from './scans.ts'
import { postgresqlStand } from './stands.ts'

const SECRET = /ann@x\.org/

t.test('what an engine quotes of rows is in no outcome', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.make([{ name: 'email', kind: 'text' }], [['ann@x.org']])
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

t.test('what is wrong with a text is still told', async t => {
  const on = await postgresqlStand(t)
  const { table } = await on.make([{ name: 'email', kind: 'text' }], [['ann@x.org']])
  const { outcomes } = await run(on, table, [
    check('CUSTOM_SQL', undefined, { sql_expression: 'emial > 0' }),
    check('REGEX', 'email', { pattern: '(' }),
  ])
  t.match(outcomes, [{ message: /emial/ }, { message: /parentheses/ }])
})

t.test('kinds that quote nothing keep their sentence', async t => {
  const error = (kind: ConnectorErrorKind) => new ConnectorError({ kind, engine: 'x', message: `"a" is b` })
  for (const kind of ['timeout', 'network', 'permission', 'credentials'] as const) {
    t.equal(discreet(error(kind), true).message, '"a" is b')
  }
  t.equal(discreet(error('invalid-query'), false).message, '"…" is b')
  t.equal(discreet(error('missing-object'), false).message, '"a" is b', 'names of objects are no values')
})
