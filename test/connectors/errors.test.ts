import t from 'tap'
import { importDriver } from '../../connectors/driver.ts'
import {
  CHECK_ERROR_KINDS,
  classifyError,
  ConnectorError,
  redactMessage,
  type ErrorRule,
} from '../../connectors/errors.ts'
import { classifyPostgresqlError } from '../../connectors/postgresql/errors.ts'

const thrown = (code: unknown, message = 'it broke') => Object.assign(new Error(message), { code })

t.test('the first rule that matches decides, code and message both where both are given', async t => {
  const rules: ErrorRule[] = [
    { kind: 'permission', code: '42501', hint: 'Ask for it.' },
    { kind: 'missing-object', code: /^42/, message: /no such/ },
    { kind: 'invalid-query', code: /^42/ },
    { kind: 'timeout', message: /too slow/ },
  ]
  const of = (error: unknown) => classifyError('test', rules, error)
  t.match(of(thrown('42501')), { kind: 'permission', code: '42501', engine: 'test', message: 'Ask for it.' })
  t.match(of(thrown('42000', 'no such table')), { kind: 'missing-object', message: 'no such table' })
  t.match(of(thrown('42000')), { kind: 'invalid-query', message: 'it broke' })
  t.match(of(thrown(undefined, 'too slow')), { kind: 'timeout', code: '' })
  t.match(of(thrown(1234, 'who knows')), { kind: 'other', code: '1234', message: 'who knows' })
  t.equal(of(thrown('42501')).cause instanceof Error, true)
})

t.test('a rule that names nothing matches nothing, and an error is classified once', async t => {
  t.equal(classifyError('test', [{ kind: 'tls' }], thrown('x')).kind, 'other')
  const error = new ConnectorError({ kind: 'tls', engine: 'inner', message: 'm' })
  t.equal(classifyError('test', [{ kind: 'other', message: /m/ }], error), error)
})

t.test('failures of network and TLS are the same for every engine', async t => {
  const kinds: Record<string, string> = {
    ENOTFOUND: 'network',
    EAI_AGAIN: 'network',
    ECONNREFUSED: 'network',
    ECONNRESET: 'network',
    EHOSTUNREACH: 'network',
    ETIMEDOUT: 'timeout',
    ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
    SELF_SIGNED_CERT_IN_CHAIN: 'tls',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
    CERT_HAS_EXPIRED: 'tls',
    ERR_SSL_WRONG_VERSION_NUMBER: 'tls',
  }
  for (const [code, kind] of Object.entries(kinds))
    t.equal(classifyError('test', [], thrown(code)).kind, kind, code)
})

t.test('whatever is thrown, there is a message', async t => {
  for (const odd of [undefined, null, 'text', 7, {}, { message: '' }, new Error('')]) {
    const error = classifyError('test', [], odd)
    t.equal(error.kind, 'other')
    t.ok(error.message.length > 0)
  }
})

t.test('words of a driver or of Node.js that no rule knows stay in the cause', async t => {
  const odd = [undefined, '', 'EISDIR', 'ERR_INVALID_STATE'].map(code => thrown(code, 'raw words'))
  for (const error of [...odd, new TypeError('raw words'), 'raw words']) {
    const { kind, message, cause } = classifyError('test', [], error)
    t.equal(kind, 'other')
    t.match(message, /^Something failed for a reason that is not known here: /)
    t.equal(cause, error)
  }
  t.equal(classifyError('test', [], thrown('XX000', 'of the engine')).message, 'of the engine')
  t.equal(
    classifyError('test', [{ kind: 'other', code: '', message: /raw/ }], thrown('', 'raw words')).message,
    'raw words',
  )
})

t.test('messages carry no credentials, no line breaks and at most 500 characters', async t => {
  t.equal(redactMessage('cannot reach postgres://eve:hunter2@db/x'), 'cannot reach postgres://…@db/x')
  t.equal(redactMessage(`password=hunter2 user=eve`), 'password=… user=eve')
  t.equal(redactMessage(`Token: "abc def", pwd='x y'`), 'Token: …, pwd=…')
  t.equal(redactMessage('one\n  two'), 'one two')
  t.equal(redactMessage('x'.repeat(1000)).length, 500)
})

t.test('a check is blamed only for what a check can do', async t => {
  t.same([...CHECK_ERROR_KINDS].sort(), ['invalid-query', 'missing-object', 'permission', 'timeout'])
})

t.test("a missing driver says how to install it, and a driver's own fault is not hidden", async t => {
  const missing = importDriver('oracle', { package: '@nowhere/no-such-driver', version: '1.2.3' })
  await t.rejects(missing, {
    kind: 'driver-missing',
    message: /npm install @nowhere\/no-such-driver@1\.2\.3/,
  })
  t.type(
    (await importDriver<typeof import('pg')>('postgresql', { package: 'pg', version: '8' })).default.Client,
    'function',
  )
})

t.test('SQLSTATEs of PostgreSQL', async t => {
  const cases: [string, string, string][] = [
    ['28P01', 'password authentication failed', 'credentials'],
    ['28000', 'no pg_hba.conf entry for host', 'credentials'],
    ['3D000', 'database "x" does not exist', 'missing-object'],
    ['42P01', 'relation "x" does not exist', 'missing-object'],
    ['42703', 'column "x" does not exist', 'missing-object'],
    ['3F000', 'schema "x" does not exist', 'missing-object'],
    ['42501', 'permission denied for table x', 'permission'],
    ['42601', 'syntax error', 'invalid-query'],
    ['42883', 'function x() does not exist', 'invalid-query'],
    ['22012', 'division by zero', 'invalid-query'],
    ['22P02', 'invalid input syntax', 'invalid-query'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 'invalid-query'],
    ['P0001', 'raised by a function', 'invalid-query'],
    ['54011', 'target lists can have at most 1664 entries', 'invalid-query'],
    ['57014', 'canceling statement due to statement timeout', 'timeout'],
    ['57014', 'canceling statement due to user request', 'other'],
    ['55P03', 'canceling statement due to lock timeout', 'timeout'],
    ['40001', 'canceling statement due to conflict with recovery', 'timeout'],
    ['53300', 'too many connections', 'network'],
    ['57P01', 'terminating connection due to administrator command', 'network'],
    ['57P03', 'the database system is starting up', 'network'],
    ['08006', 'connection failure', 'network'],
    ['08P01', 'unsupported startup parameter: options', 'other'],
    ['XX000', 'internal error', 'other'],
    ['55000', 'materialized view "x" has not been populated', 'invalid-query'],
    ['55000', 'database "x" is not currently accepting connections', 'other'],
    // Words of the customer's, which only look like the driver's.
    ['42703', 'column "SASL" does not exist', 'missing-object'],
    ['42P01', 'relation "does not support SSL" does not exist', 'missing-object'],
    ['', 'The server does not support SSL connections', 'tls'],
    ['', 'Connection terminated unexpectedly', 'network'],
    ['', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string', 'credentials'],
    ['ERR_OSSL_PEM_NO_START_LINE', 'no start line', 'tls'],
  ]
  for (const [code, message, kind] of cases) {
    const error = classifyPostgresqlError('postgresql', thrown(code, message))
    t.equal(error.kind, kind, `${code} ${message}`)
    t.equal(error.code, code)
  }
  t.equal(
    classifyPostgresqlError('postgresql', thrown('42501', 'permission denied for table x')).message,
    'permission denied for table x: grant the role USAGE on the schema and SELECT on the table',
  )
  t.match(
    classifyPostgresqlError('postgresql', thrown('42601', 'syntax error at or near "from"')).message,
    /^syntax error at or near/,
  )
})
