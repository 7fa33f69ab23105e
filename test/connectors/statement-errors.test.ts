import { inspect } from 'node:util'
import t from 'tap'
import { classifyBigqueryError } from '../../connectors/bigquery/errors.ts'
import { classifyDatabricksError, toStatementFailure } from '../../connectors/databricks/errors.ts'
import { classifyError, ConnectorError, markRunTime } from '../../connectors/errors.ts'
import { classifyMysqlError } from '../../connectors/mysql/errors.ts'
import { classifyPostgresqlError } from '../../connectors/postgresql/errors.ts'
import { RestFailure } from '../../connectors/rest/errors.ts'
import { makeSession } from '../../connectors/session.ts'
import { makeSnowflakeClassifier } from '../../connectors/snowflake/errors.ts'
import { sql } from '../../connectors/sql.ts'
import { redactStatementError } from '../../connectors/redaction/statement-errors.ts'

const TEXT = `select "Amount", o.status from "public"."orders" o\nwhere naïve🦆 = 'it''s' and lower(x) > 1`

const postgresql = (fields: object, message = 'secret') =>
  redactStatementError(classifyPostgresqlError('postgresql', Object.assign(new Error(message), fields)), TEXT)
/** The place of a part of the text, as PostgreSQL counts it. */
const positionOf = (part: string) => String([...TEXT.slice(0, TEXT.indexOf(part))].length + 1)

t.test('what is shown of a fault is the part of the statement at its place', async t => {
  const at = (code: string, part: string) => postgresql({ code, position: positionOf(part) }).message
  t.equal(
    at('42703', '"Amount"'),
    'The column "Amount" does not exist (42703): run a discovery if it was renamed or dropped.',
  )
  t.match(at('42703', 'o.status'), /^The column "o\.status" does not exist/)
  t.match(at('42P01', '"public"'), /^The table "public\.orders" does not exist \(42P01\)/)
  t.match(at('42883', 'lower'), /^There is no function or operator "lower" for values of these types/)
  t.equal(at('42601', `'it`), `The SQL has a syntax error at "'it''s'" (42601).`, 'after signs of two units')
  t.match(at('42804', '1'), /^The SQL has the wrong type at "1" \(42804\): a condition must be boolean/)
  t.match(postgresql({ code: '42601', position: String(TEXT.length * 2) }).message, /error \(42601\)\.$/)
  t.match(postgresql({ code: '42601', position: String([...TEXT].length + 1) }).message, /at its end/)
})

t.test('a place or a name that a running statement claims is not looked up', async t => {
  for (const code of ['42601', '42703', '42P01', '42883', '42704', '42702', '42804', '42803']) {
    const thrown = markRunTime(
      Object.assign(new Error('column "Amount" does not exist'), { code, position: '8' }),
    )
    const { message } = redactStatementError(classifyPostgresqlError('postgresql', thrown), TEXT)
    t.equal(
      message,
      `The engine could not run this SQL over the rows (${code}). The engine's message is not shown: it may quote rows.`,
    )
  }
})

t.test('a name is shown where it stands in the statement, and nothing else that is quoted', async t => {
  const denied = (message: string) => postgresql({ code: '42501' }, message).message
  t.match(
    denied('permission denied for table orders'),
    /^The account may not read "public\.orders" \(42501\)/,
  )
  t.match(denied('permission denied for table payroll'), /^The account may not read something/)
  const unknown = (message: string, text = TEXT) =>
    redactStatementError(classifyMysqlError('mysql', { errno: 1054, sqlState: '42S22', message }), text)
      .message
  t.match(unknown(`Unknown column 'o.status' in 'where clause'`), /^The column "o\.status" does not exist/)
  t.match(unknown(`Unknown column 'SSN-123' in 'where clause'`), /^A column that the SQL needs/)
  t.match(
    unknown(`Unknown column 'it''s' in 'where clause'`),
    /^A column that the SQL needs/,
    'a text is no name',
  )
  const near = (rest: string) =>
    redactStatementError(
      classifyMysqlError('mysql', {
        ...{ errno: 1064, sqlState: '42000' },
        message: `You have an error in your SQL syntax; check the manual near '${rest}' at line 123456789`,
      }),
      TEXT,
    ).message
  t.equal(near(`> 1`), 'The SQL has a syntax error at ">" (1064).')
  t.equal(near('SSN-123'), 'The SQL has a syntax error (1064).')
  t.equal(near(''), 'The SQL has a syntax error at its end (1064).')
})

t.test('the services name columns in their own ways', async t => {
  const shown = (error: ConnectorError, text: string) => redactStatementError(error, text).message
  const bigquery = (code: string, message: string) =>
    classifyBigqueryError(new RestFailure(400, { code, message }))
  const text = 'select totl from `p`.`d`.`orders`'
  t.match(shown(bigquery('invalidQuery', 'Unrecognized name: totl at [1:8]'), text), /^The column "totl"/)
  t.match(shown(bigquery('invalidQuery', 'Unrecognized name: SSN-1'), text), /^A column that/)
  t.match(shown(bigquery('invalidQuery', 'Unrecognized name: SSN-1 at [99:1]'), text), /^A column that/)
  t.match(
    shown(bigquery('notFound', 'Not found: Table p:d.orders was not found in location US'), text),
    /^The table "p\.d\.orders" does not exist \(notFound\)/,
  )
  const snowflake = makeSnowflakeClassifier({ private_key: undefined })
  t.match(
    shown(
      snowflake(
        new RestFailure(422, {
          code: '000904',
          message: "SQL compilation error: error line 1 at position 7\ninvalid identifier 'TOTL'",
        }),
      ),
      text,
    ),
    /^The column "totl" does not exist \(000904\)/,
  )
  t.equal(
    shown(
      snowflake(new RestFailure(422, { code: '100038', message: "Numeric value 'SSN-1' is not recognized" })),
      text,
    ),
    "A value cannot be converted to the type that the SQL asks for (100038). The engine's message is not shown: it may quote rows.",
  )
  const databricks = (message: string, sqlState: string) =>
    classifyDatabricksError(
      'databricks',
      toStatementFailure({
        state: 'FAILED',
        error: { error_code: 'BAD_REQUEST', message },
        sql_state: sqlState,
      }),
    )
  t.match(
    shown(
      databricks(
        '[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `totl` cannot be resolved. Did you mean `total`? SQLSTATE: 42703; line 1 pos 7',
        '42703',
      ),
      text,
    ),
    /^The column "totl" does not exist \(UNRESOLVED_COLUMN\.WITH_SUGGESTION\)/,
  )
  t.equal(
    shown(databricks('[USER_RAISED_EXCEPTION] SSN-1 SQLSTATE: P0001', 'P0001'), text),
    "A function that the SQL calls raised an error (USER_RAISED_EXCEPTION). The engine's message is not shown: it may quote rows.",
  )
  t.notMatch(
    inspect(redactStatementError(databricks('java.lang.RuntimeException: [SSN_1] raised', ''), text)),
    /SSN_1/,
    'the text of raise_error has the form of a condition',
  )
})

t.test('a code is shown where it is documented', async t => {
  t.match(postgresql({ code: '22012' }), { code: '22012', message: 'The SQL divides by zero (22012).' })
  t.match(postgresql({ code: 'QX7ZK' }), {
    code: '',
    message: /^The engine could not run this SQL over the rows\. /,
  })
  t.match(postgresql({ code: 'P0001' }).message, /raised an error \(P0001\)/)
})

t.test('only fixed reasons of a pattern are shown', async t => {
  const pattern = (message: string) => postgresql({ code: '2201B' }, message).message
  t.match(
    pattern('invalid regular expression: parentheses () not balanced'),
    /: parentheses \(\) not balanced\.$/,
  )
  t.equal(
    pattern('invalid regular expression: SSN-1'),
    'The pattern is not a regular expression that the engine accepts (2201B).',
  )
})

t.test('a session lets no words of the engine and no cause out, and keeps ours', async t => {
  const open = (thrown: unknown) =>
    makeSession<ReturnType<typeof sql>>({
      engine: 'x',
      classify: error =>
        classifyError('x', [{ kind: 'timeout', code: '7', hint: 'Allow more time.' }], error),
      runStatement: () => Promise.reject(thrown as Error),
      validateStatement: () => Promise.reject(thrown as Error),
      end: async () => {},
    })
  const limits = { timeoutMs: 1000 }
  const coded = (code: string) => Object.assign(new Error('SSN-1'), { code, detail: 'SSN-1' })
  for (const thrown of [
    coded('XX000'),
    coded('ERR_X'),
    coded('7'),
    new TypeError('SSN-1'),
    'SSN-1',
    undefined,
  ]) {
    for (const ask of ['run', 'validate'] as const) {
      const error: unknown = await open(thrown)[ask]!(sql`select 1`, limits).then(
        () => undefined,
        (given: unknown) => given,
      )
      t.ok(error instanceof ConnectorError)
      t.notMatch(inspect(error, { depth: 9, showHidden: true }), /SSN-1/, `${ask} ${String(thrown)}`)
    }
  }
  await t.rejects(open(coded('7')).run(sql`select 1`, limits), {
    kind: 'timeout',
    message: 'Allow more time.',
  })
  const fault = await open(new TypeError('SSN-1'))
    .run(sql`select 1`, limits)
    .catch((error: Error) => error)
  t.match(
    (fault as Error).cause,
    { name: 'TypeError', stack: /^TypeError\n +at / },
    'where it failed is known',
  )
})
