import { amendError, classifyError, errorRule, isInEngineWords, OVER_TIME_HINT } from '../errors.ts'
import type { ConnectorError, ConnectorErrorKind, ErrorRule } from '../errors.ts'

const NOT_POSTGRESQL = "What answers there does not speak PostgreSQL's protocol: check host and port."

/**
 * PostgreSQL's errors by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). Rules
 * without `say` keep the server's own message until a session redacts it. What this side threw has the code '': only there is the message matched alone, since the server's contain customers' names.
 */
const POSTGRESQL_RULES: readonly ErrorRule[] = [
  errorRule('credentials', { code: '28000', message: /pg_hba/ }).say(
    'The server takes no sign-in with this user, database, address and encryption: ask for a pg_hba.conf entry, or change sslmode.',
  ),
  errorRule('credentials', { code: '28000', message: /client certificate/ }).say(
    'The server asks this user for a client certificate, which cannot be given: ask for sign-in by password.',
  ),
  errorRule('credentials', { code: /^28/ }).say(
    'The user or the password is wrong: check username and password.',
  ),
  errorRule('credentials', { code: '', message: /client password must be|SASL|SCRAM/ }).say(
    'The server asks for a password that was not given or cannot be used: set password.',
  ),
  errorRule('missing-object', { code: '3D000' }).say(
    'There is no such database on the server: check database.',
  ),
  errorRule('missing-object', { code: '42703', fault: 'column' }),
  errorRule('missing-object', { code: '42P01', fault: 'table' }),
  errorRule('missing-object', { code: '3F000', fault: 'object' }),
  errorRule('permission', { code: '42501' }),
  errorRule('invalid-query', { code: '25006' }).say(
    'The statement writes, and sessions here only read: use a SELECT.',
  ),
  errorRule('other', { code: '57014', message: /user request/ }).say(
    'The statement was cancelled in the database: try again, or ask who cancelled it.',
  ),
  errorRule('timeout', { code: '57014' }).say(OVER_TIME_HINT),
  errorRule('timeout', { code: '55P03' }).say(
    'Another session holds a lock on the table: try again when its change is done.',
  ),
  errorRule('timeout', { code: '40001', message: /recovery/ }).say(
    'The standby ended the statement to keep up with its primary: raise max_standby_streaming_delay, or connect to the primary.',
  ),
  errorRule('network', { code: '53300' }).say(
    'The server has no connection free: try again later, or raise its limit.',
  ),
  errorRule('network', { code: /^57P0/ }).say(
    'The server is starting, shutting down or ended the session: try again when it is up.',
  ),
  errorRule('other', { code: '08P01', message: /startup parameter/ }).say(
    'A connection pooler refuses the session settings: connect to the database itself.',
  ),
  errorRule('network', { code: /^08/ }),
  errorRule('network', { code: '25P03' }).say('The server ended the idle session: try again.'),
  errorRule('other', { code: '55000', message: /accepting connections/ }).say(
    'The database takes no connections: check database, or ask its owner.',
  ),
  errorRule('invalid-query', { code: '55000', message: /has not been populated/ }).say(
    'A materialized view that the SQL reads has not been populated: refresh it.',
  ),
  errorRule('invalid-query', {
    code: '0A000',
    message: /nondeterministic collation.*regular expression/,
  }).say(
    'The collation of the column is nondeterministic, and PostgreSQL has no regular expressions for it: run a discovery of the source, after which REGEX matches by the default collation; in SQL of your own write collate "default".',
  ),
  errorRule('invalid-query', { code: '42601', fault: 'syntax' }),
  errorRule('invalid-query', { code: '42883', fault: 'function' }),
  errorRule('invalid-query', { code: '42704', fault: 'object' }),
  errorRule('invalid-query', { code: /^(42702|42725|42P0[89])$/, fault: 'ambiguous' }),
  errorRule('invalid-query', { code: /^(42804|42846|42P18|42P2[12])$/, fault: 'type' }),
  errorRule('invalid-query', { code: /^(42803|42P20)$/, fault: 'grouping' }),
  errorRule('invalid-query', { code: /^22(P02|P03|007|018)$/, fault: 'value' }),
  errorRule('invalid-query', { code: /^22(003|008|015)$/, fault: 'range' }),
  errorRule('invalid-query', { code: '22012', fault: 'division' }),
  errorRule('invalid-query', { code: '2201B', fault: 'pattern' }),
  errorRule('invalid-query', { code: '21000', fault: 'rows' }),
  errorRule('invalid-query', { code: 'P0001', fault: 'raised' }),
  // Other values and bad SQL; more than the server's limits; a materialized view
  // that was never filled; a function that raised.
  errorRule('invalid-query', { code: /^(0A|21|22|25|42|54|55|P0|38|39|HV)/ }),
  errorRule('tls', { code: '', message: /does not support SSL/ }).say(
    'The server does not offer TLS: turn it on there, or set sslmode to prefer or disable.',
  ),
  errorRule('tls', { code: '', message: /establishing an SSL connection/ }).say(
    'The server broke off the TLS handshake: check its log.',
  ),
  errorRule('tls', { code: /^(ERR_OSSL|HOSTNAME_MISMATCH)/ }).say(
    'The TLS handshake failed: check the certificate and ssl_ca.',
  ),
  errorRule('network', {
    code: '',
    message: /^(Received unexpected|received invalid response|Unknown \w*authentication|error$)/,
  }).say(NOT_POSTGRESQL),
  // Thrown while a message is read that is shorter than it says.
  errorRule('network', { code: /^ERR_(OUT_OF_RANGE|BUFFER_OUT_OF_BOUNDS)$/ }).say(NOT_POSTGRESQL),
  errorRule('network', { message: /^(Connection terminated|Client (was closed|has encountered))/ }).say(
    'The connection to the server was cut: check the network and whether the server restarted.',
  ),
]

/** What to do, added to what is wrong. */
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
  return error === thrown || !advice || !isInEngineWords(error) ? error : amendError(error, { advice })
}
