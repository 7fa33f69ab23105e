import {
  amendError,
  classifyError,
  ConnectorError,
  errorRule,
  isInEngineWords,
  OVER_TIME_HINT,
} from '../errors.ts'
import type { ConnectorErrorKind, ErrorRule } from '../errors.ts'

const NOT_MYSQL = "What answers there does not speak MySQL's protocol: check host and port."

/**
 * Errors of both servers, by number and SQLSTATE as `1045/28000`
 * (https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html,
 * https://mariadb.com/kb/en/mariadb-error-code-reference/), and those of mysql2 by its own codes. Rules without
 * `say` keep the server's message until a session redacts it.
 */
const MYSQL_RULES: readonly ErrorRule[] = [
  errorRule('credentials', { code: /^(1045|1698)\// }).say(
    'The user or the password is wrong, or the account may not sign in from here or without TLS: check username, password and ssl.',
  ),
  errorRule('credentials', { code: /^(1130)\// }).say(
    'The server takes no sign-in from this address: ask for an account that may come from it.',
  ),
  errorRule('credentials', { code: /^(1820|1862|3118|4151)\// }).say(
    'The account is locked or its password has expired: ask the owner of the server.',
  ),
  errorRule('credentials', {
    code: /^(AUTH_SWITCH_PLUGIN_ERROR|MYSQL_CLEAR_PASSWORD_NOT_ENABLED|1251\/.*|1524\/.*|2059\/.*)$/,
  }).say(
    'The account signs in by a method that is not supported here: use one of mysql_native_password or caching_sha2_password.',
  ),
  errorRule('tls', { code: /^(3159|4105)\// }).say(
    'The server takes only encrypted connections: set ssl to require, or leave it out.',
  ),
  errorRule('permission', { code: /^1044\// }).say(
    'There is no such database, or the account may not use it: check database, and grant the account SELECT on it.',
  ),
  errorRule('missing-object', { code: /^1049\// }).say(
    'There is no such database on the server: check database.',
  ),
  errorRule('permission', { code: /^1370\//, fault: 'execute' }),
  errorRule('permission', { code: /^(1142|1143|1345)\// }),
  errorRule('permission', { code: /^1227\// }).say(
    'The statement needs a right beyond reading: use a plain SELECT.',
  ),
  errorRule('missing-object', { code: /^1054\//, fault: 'column' }),
  errorRule('missing-object', { code: /^(1051|1109|1146)\//, fault: 'table' }),
  errorRule('missing-object', { code: /^1305\//, fault: 'function' }),
  // It quotes what it could not read, which may come from a row.
  errorRule('invalid-query', { message: /^XPATH syntax error/ }).say(
    'The XPath of an XML function is no valid one.',
  ),
  errorRule('invalid-query', { message: /^Only constant XPATH/ }).say(
    'An XML function takes a constant XPath only: write it as a text.',
  ),
  // A view that no longer fits what it is made of, or whose owner may no longer read it.
  errorRule('invalid-query', { code: /^(1356|1449)\// }),
  errorRule('invalid-query', { code: /^1792\// }).say(
    'The statement writes, and sessions here only read: use a SELECT.',
  ),
  errorRule('timeout', { code: /^(1969|3024)\// }).say(OVER_TIME_HINT),
  errorRule('timeout', { code: /^1205\// }).say(
    'Another session holds a lock on the table: try again when its change is done.',
  ),
  errorRule('timeout', { code: /^1213\// }).say('The statement met a deadlock and was ended: try again.'),
  errorRule('other', { code: /^1317\// }).say(
    'The statement was ended in the database: try again, or ask who ended it.',
  ),
  errorRule('network', { code: /^(1040|1203)\// }).say(
    'The server or the account has no connection free: try again later, or raise the limit.',
  ),
  errorRule('network', { code: /^1226\// }).say(
    'The account has used up what it may use in an hour or at once: try again later, or raise its limits.',
  ),
  errorRule('network', { code: /^1129\// }).say(
    'The server has blocked this address after too many failed connections: run FLUSH HOSTS there.',
  ),
  errorRule('invalid-query', { code: /^1153\// }).say(
    'The statement is longer than the server takes: check fewer values at once, or raise max_allowed_packet.',
  ),
  errorRule('network', {
    code: /^(1053|1077|1079|1080|1152|1158|1159|1160|1161|1184|1927|2006|2013|4031)\//,
  }).say('The server is shutting down or ended the session: try again when it is up.'),
  errorRule('tls', { code: 'HANDSHAKE_NO_SSL_SUPPORT' }).say(
    'The server does not offer TLS: turn it on there, or set ssl to prefer or disable.',
  ),
  errorRule('tls', {
    code: /^(HANDSHAKE_SSL_ERROR|ERR_TLS_CERT_ALTNAME_INVALID)$/,
    message: /does not match|altnames/i,
  }).say("The server's certificate is for another host: check host, or set ssl to verify-ca."),
  errorRule('tls', { code: 'HANDSHAKE_SSL_ERROR', message: /expired|not yet valid/i }).say(
    "The server's certificate has expired or is not yet valid: renew it.",
  ),
  errorRule('tls', { code: 'HANDSHAKE_SSL_ERROR', message: /self.signed|unable to|issuer|untrusted/i }).say(
    "The server's certificate is not signed by an authority that is known here: check ssl_ca.",
  ),
  errorRule('tls', { code: 'HANDSHAKE_SSL_ERROR' }).say(
    'The TLS handshake failed: check the certificate of the server, ssl_ca and ssl.',
  ),
  errorRule('network', { code: 'HANDSHAKE_UNKNOWN_ERROR' }).say(
    'What answers there does not sign in as MySQL does: check host and port.',
  ),
  errorRule('network', { message: /^Not a MySQL server/ }).say(NOT_MYSQL),
  // Thrown while a packet is read that is shorter than it says.
  errorRule('network', { code: /^ERR_(OUT_OF_RANGE|BUFFER_OUT_OF_BOUNDS)$/ }).say(NOT_MYSQL),
  // Not the server's, whose messages repeat the text of the statement.
  errorRule('credentials', { code: /^\D*$/, message: /unknown plugin|authentication plugin/i }).say(
    'The account signs in by a method that is not supported here: use one of mysql_native_password or caching_sha2_password.',
  ),
  errorRule('network', { code: /^PROTOCOL_/ }).say(
    'The connection to the server was cut: check the network and whether the server restarted.',
  ),
  errorRule('network', { message: /^(Connection (lost|terminated)|Can't (add new command|write))/ }).say(
    'The connection to the server was cut: check the network and whether the server restarted.',
  ),
  errorRule('invalid-query', { code: /^(1064|1149)\//, fault: 'syntax' }),
  errorRule('invalid-query', { code: /^1052\//, fault: 'ambiguous' }),
  errorRule('invalid-query', { code: /^(1111|1056|1140|1055)\//, fault: 'grouping' }),
  errorRule('invalid-query', { code: /^(1264|1690|1441)\//, fault: 'range' }),
  errorRule('invalid-query', { code: /^(1292|1366|1411|1525)\//, fault: 'value' }),
  errorRule('invalid-query', { code: /^1365\//, fault: 'division' }),
  errorRule('invalid-query', { code: /^1242\//, fault: 'rows' }),
  errorRule('invalid-query', { code: /^(1139|36[89]\d|370\d)\//, fault: 'pattern' }),
  errorRule('invalid-query', { code: /^1644\/|\/45000$/, fault: 'raised' }),
  // Collations that do not meet, values of the wrong kind
  // (4078 and 4079 of MariaDB, for an operator or a function).
  errorRule('invalid-query', {
    code: /^(1210|1235|1267|1270|1271|1295|1312|1436|1815|3[67]\d\d|3988|3995|4078|4079)\//,
  }),
  errorRule('invalid-query', { code: /^1060\// }).say(
    'Two columns of a sub-query have the same name: give each a name of its own with AS.',
  ),
  // Bad SQL, bad values, more than one row where one must be, transactions, limits.
  errorRule('invalid-query', { code: /^\d+\/(0A|21|22|25|42|44|54)/ }),
]

/** What to do, added to what is wrong. */
const ADVICE: Partial<Record<ConnectorErrorKind, string>> = {
  permission: 'grant the account SELECT on it',
  'missing-object':
    'run a discovery if it was renamed or dropped; texts stand in single quotes, names in backticks',
}

/**
 * Classifies what a statement of an open session threw: that a sign-in is refused is then said of the owner of a view
 * (by MariaDB, of one who does not exist), and not of us.
 */
export function classifyStatementError(engine: string, thrown: unknown): ConnectorError {
  const error = classifyMysqlError(engine, thrown)
  const { code } = error
  if (code !== '1045') return error
  const message =
    'The statement reads a view whose owner (its definer) does not exist: make the view anew with one that does.'
  return new ConnectorError({ kind: 'invalid-query', engine, code, message, cause: thrown })
}

/** Classifies what mysql2 or a socket threw. */
export function classifyMysqlError(engine: string, thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError) return thrown
  const { code, errno, sqlState, message, isRunTime } = (thrown ?? {}) as Record<string, unknown>
  // Numbers of the operating system are negative.
  const isServers = typeof errno === 'number' && errno > 0
  const key = isServers ? `${errno}/${typeof sqlState === 'string' ? sqlState : ''}` : code
  const error = classifyError(engine, MYSQL_RULES, {
    code: key,
    message: message ?? String(thrown),
    isRunTime,
  })
  const advice = ADVICE[error.kind]
  return amendError(error, {
    cause: thrown,
    ...(isServers && { code: String(errno) }),
    ...(advice !== undefined && isInEngineWords(error) && { advice }),
  })
}
