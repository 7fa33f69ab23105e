import { classifyError, ConnectorError, type ConnectorErrorKind, type ErrorRule } from '../errors.ts'

const NOT_POSTGRESQL = "What answers there does not speak PostgreSQL's protocol: check host and port."

/**
 * PostgreSQL's errors by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). Rules
 * without `say` keep the server's own message, which names the table, the column or the place in the text. What
 * this side threw has the code '': only there is the message matched alone, since the server's contain customers' names.
 */
const POSTGRESQL_RULES: readonly ErrorRule[] = [
  {
    kind: 'credentials',
    code: '28000',
    message: /pg_hba/,
    hint: 'The server takes no sign-in with this user, database, address and encryption: ask for a pg_hba.conf entry, or change sslmode.',
  },
  {
    kind: 'credentials',
    code: '28000',
    message: /client certificate/,
    hint: 'The server asks this user for a client certificate, which cannot be given: ask for sign-in by password.',
  },
  {
    kind: 'credentials',
    code: /^28/,
    hint: 'The user or the password is wrong: check username and password.',
  },
  {
    kind: 'credentials',
    code: '',
    message: /client password must be|SASL|SCRAM/,
    hint: 'The server asks for a password that was not given or cannot be used: set password.',
  },
  {
    kind: 'missing-object',
    code: '3D000',
    hint: 'There is no such database on the server: check database.',
  },
  { kind: 'missing-object', code: /^(42P01|42703|3F000)$/ },
  { kind: 'permission', code: '42501' },
  {
    kind: 'invalid-query',
    code: '25006',
    hint: 'The statement writes, and sessions here only read: use a SELECT.',
  },
  {
    kind: 'other',
    code: '57014',
    message: /user request/,
    hint: 'The statement was cancelled in the database: try again, or ask who cancelled it.',
  },
  {
    kind: 'timeout',
    code: '57014',
    hint: 'The statement ran over its time and was ended: allow more time, or check fewer rows or columns at once.',
  },
  {
    kind: 'timeout',
    code: '55P03',
    hint: 'Another session holds a lock on the table: try again when its change is done.',
  },
  {
    kind: 'timeout',
    code: '40001',
    message: /recovery/,
    hint: 'The standby ended the statement to keep up with its primary: raise max_standby_streaming_delay, or connect to the primary.',
  },
  {
    kind: 'network',
    code: '53300',
    hint: 'The server has no connection free: try again later, or raise its limit.',
  },
  {
    kind: 'network',
    code: /^57P0/,
    hint: 'The server is starting, shutting down or ended the session: try again when it is up.',
  },
  {
    kind: 'other',
    code: '08P01',
    message: /startup parameter/,
    hint: 'A connection pooler refuses the session settings: connect to the database itself.',
  },
  { kind: 'network', code: /^08/ },
  { kind: 'network', code: '25P03', hint: 'The server ended the idle session: try again.' },
  {
    kind: 'other',
    code: '55000',
    message: /accepting connections/,
    hint: 'The database takes no connections: check database, or ask its owner.',
  },
  {
    kind: 'invalid-query',
    code: '0A000',
    message: /nondeterministic collation.*regular expression/,
    hint: 'The collation of the column is nondeterministic, and PostgreSQL has no regular expressions for it: run a discovery of the source, after which REGEX matches by the default collation; in SQL of your own write collate "default".',
  },
  // Text that is no value of its type, division by zero; bad SQL; more than the server's limits; a materialized view
  // that was never filled; a function that raised.
  { kind: 'invalid-query', code: /^(0A|21|22|25|42|54|55|P0|38|39|HV)/ },
  {
    kind: 'tls',
    code: '',
    message: /does not support SSL/,
    hint: 'The server does not offer TLS: turn it on there, or set sslmode to prefer or disable.',
  },
  {
    kind: 'tls',
    code: '',
    message: /establishing an SSL connection/,
    hint: 'The server broke off the TLS handshake: check its log.',
  },
  {
    kind: 'tls',
    code: /^(ERR_OSSL|HOSTNAME_MISMATCH)/,
    hint: 'The TLS handshake failed: check the certificate and ssl_ca.',
  },
  {
    kind: 'network',
    code: '',
    message: /^(Received unexpected|received invalid response|Unknown \w*authentication|error$)/,
    hint: NOT_POSTGRESQL,
  },
  // Thrown while a message is read that is shorter than it says.
  { kind: 'network', code: /^ERR_(OUT_OF_RANGE|BUFFER_OUT_OF_BOUNDS)$/, hint: NOT_POSTGRESQL },
  {
    kind: 'network',
    message: /^(Connection terminated|Client (was closed|has encountered))/,
    hint: 'The connection to the server was cut: check the network and whether the server restarted.',
  },
]

/** What to do, added to the server's own message. */
const ADVICE: Partial<Record<ConnectorErrorKind, string>> = {
  permission: 'grant the role USAGE on the schema and SELECT on the table',
  'missing-object': 'run a discovery if it was renamed or dropped',
}

/**
 * Classifies what `pg` or a socket threw.
 * @param rules those of an engine that speaks the same protocol, which go before PostgreSQL's
 */
export function classifyPostgresqlError(
  engine: string,
  thrown: unknown,
  rules: readonly ErrorRule[] = [],
): ConnectorError {
  const error = classifyError(engine, [...rules, ...POSTGRESQL_RULES], thrown)
  const advice = ADVICE[error.kind]
  if (error === thrown || !advice || error.message !== serverMessage(thrown)) return error
  return new ConnectorError({ ...pick(error), message: `${error.message}: ${advice}`, cause: thrown })
}

function pick({ kind, code, engine }: ConnectorError) {
  return { kind, code, engine }
}

function serverMessage(thrown: unknown): string | undefined {
  return (thrown as { message?: string } | undefined)?.message
}
