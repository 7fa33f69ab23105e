import { constants } from 'node:os'
import { trimEnd } from './trim-end.ts'
import { engineWordsOf, withEngineWords, type StatementFault } from './redaction/engine-words.ts'

/** Why talking to a monitored database failed. The kind decides everything downstream. */
export type ConnectorErrorKind =
  | 'credentials'
  | 'network'
  | 'timeout'
  | 'tls'
  | 'permission'
  | 'missing-object'
  | 'invalid-query'
  | 'driver-missing'
  | 'egress-refused'
  /** Another holds what is wanted, or a quota is used up: try later. No outage, and no check is to blame. */
  | 'busy'
  | 'other'

/**
 * Kinds that one check can be to blame for. All others are the connection's, save `other`: of that, a scan finds out by
 * asking whether the connection still answers.
 */
export const CHECK_ERROR_KINDS: ReadonlySet<ConnectorErrorKind> = new Set([
  'invalid-query',
  'missing-object',
  'permission',
  'timeout',
])

/** Kinds that say that a connection failed. A statement may raise such an error too: see `withStatementBlame`. */
export const CONNECTION_ERROR_KINDS: ReadonlySet<ConnectorErrorKind> = new Set([
  'network',
  'tls',
  'credentials',
])

/** The code of an error of kind `invalid-query`: the statement would read more bytes than it may, and was not run. */
export const OVER_BYTE_LIMIT = 'OVER_BYTE_LIMIT'

const BRAND = Symbol.for('tidemark.ConnectorError')

/** A failure of a monitored database, classified, with a message that is safe to show to its owner. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError'
  readonly [BRAND] = true
  readonly kind: ConnectorErrorKind
  /** The engine's own code (SQLSTATE, errno), or the empty string. */
  readonly code: string
  readonly engine: string

  /** Also of the class that an extension brings when its bundler has copied this module into it. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  constructor(fields: {
    kind: ConnectorErrorKind
    engine: string
    message: string
    code?: string
    cause?: unknown
  }) {
    super(fields.message, { cause: fields.cause })
    this.kind = fields.kind
    this.engine = fields.engine
    this.code = fields.code ?? ''
  }
}

/**
 * One row of an engine's error table: when it matches, the error is of this kind. A driver's
 * message that no row matches is shown only with a code of the engine's own: see `classify`.
 */
export interface ErrorRule {
  kind: ConnectorErrorKind
  /** Matches the driver's code exactly, or by its first characters. */
  code?: string | RegExp
  /** Matches the driver's message; for drivers without codes. */
  message?: RegExp
  /** What went wrong and what to do, one sentence; without it the driver's own message is used. */
  hint?: string
  /**
   * What a statement did wrong: a session shows its sentence in place of the driver's message, which may quote rows.
   * Defaults to what the kind says.
   */
  fault?: StatementFault
}

/** A row of an error table; `say` gives it a hint. */
export function errorRule(kind: ConnectorErrorKind, match: Pick<ErrorRule, 'code' | 'message' | 'fault'>) {
  const rule: ErrorRule = { kind, ...match }
  return { ...rule, say: (hint: string): ErrorRule => ({ ...rule, hint }) }
}

/** Failures of the network and of TLS, the same whatever engine is at the other end. */
const TRANSPORT_RULES: readonly ErrorRule[] = [
  errorRule('network', { code: 'ENOTFOUND' }).say('The host name does not resolve: check the host.'),
  errorRule('network', { code: 'EAI_AGAIN' }).say(
    'The host name could not be resolved just now: check the host and DNS.',
  ),
  errorRule('network', { code: 'ECONNREFUSED' }).say(
    'The host refused the connection: check host and port, and that the database is running.',
  ),
  errorRule('network', {
    code: /^(ECONNRESET|ECANCELED|EPIPE|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ERR_SOCKET_CLOSED.*)$/,
  }).say('The connection was cut or the host cannot be reached: check host, port and firewall.'),
  errorRule('timeout', { code: 'ETIMEDOUT' }).say(
    'The host did not answer in time: check host, port and firewall.',
  ),
  errorRule('tls', { code: /^(ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|EPROTO)/ }).say(
    'The TLS handshake failed: check the certificate of the server, and the TLS settings of the source.',
  ),
]

const SECRET_PATTERN = /((?:password|passwd|pwd|token|secret|key)\s*[=:]\s*)("[^"]*"|'[^']*'|\S+)/gi
const URL_CREDENTIALS_PATTERN = /:\/\/[^@\s/]+@/g

/** Takes credentials out of a driver's message, and keeps it to one line of 500 characters. */
export function redactMessage(message: string): string {
  return redactCredentials(message).replaceAll(/\s+/g, ' ').trim().slice(0, 500)
}

/** Takes out what looks like a credential: `password=…`, and the user of a URL. */
export function redactCredentials(text: string): string {
  return text.replace(URL_CREDENTIALS_PATTERN, '://…@').replace(SECRET_PATTERN, '$1…')
}

function matchesRule(rule: ErrorRule, code: string, message: string): boolean {
  if (rule.code === undefined && rule.message === undefined) return false
  if (typeof rule.code === 'string' && rule.code !== code) return false
  if (rule.code instanceof RegExp && !rule.code.test(code)) return false
  return rule.message === undefined || rule.message.test(message)
}

/** Characters of an engine's message in which names and places are looked for. */
const MAX_WORDS = 2_000

/** The message of an error that no rule knows and that is not the engine's. */
export const UNKNOWN_CAUSE_MESSAGE =
  'Something failed for a reason that is not known here: try again; the log has the cause.'

interface DriverError {
  code?: unknown
  message?: unknown
  position?: unknown
  isRunTime?: unknown
}

/**
 * Marks what a driver threw after the engine had accepted the statement: a function of a customer, or a value that is read
 * as a name, can claim to be an error of its text.
 */
export function markRunTime(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null ? Object.assign(thrown, { isRunTime: true }) : thrown
}

/**
 * Turns whatever a driver threw into a `ConnectorError` by the first rule that matches: the engine's own rules, then
 * those of network and TLS, else kind `other`. What no rule matches has the engine's message where it has a code of the
 * engine; otherwise the words are the driver's or Node's own, and stay in `cause`. `makeSession` takes the engine's message
 * out of what a statement threw.
 */
export function classifyError(engine: string, rules: readonly ErrorRule[], thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError) return thrown
  const given = (thrown ?? {}) as DriverError
  const { code: rawCode, message: rawMessage, position: rawPosition } = given
  const code = rawCode === undefined || rawCode === null ? '' : String(rawCode)
  const words = typeof rawMessage === 'string' && rawMessage !== '' ? rawMessage : String(thrown)
  const message = redactMessage(words)
  const rule = [...rules, ...TRANSPORT_RULES].find(candidate => matchesRule(candidate, code, message))
  const isQuoted = rule ? rule.hint === undefined : isEngineCode(code)
  const error = new ConnectorError({
    kind: rule?.kind ?? 'other',
    engine,
    code,
    message: rule?.hint ?? (isQuoted ? message : UNKNOWN_CAUSE_MESSAGE),
    cause: thrown,
  })
  if (!isQuoted) return error
  const position = rawPosition === undefined ? undefined : Number(rawPosition)
  const isRunTime = given.isRunTime === true
  return withEngineWords(error, {
    message: words.slice(0, MAX_WORDS),
    position,
    isRunTime,
    fault: rule?.fault,
  })
}

/** Whether a code is an engine's own, not one of Node.js or of the operating system. */
function isEngineCode(code: string): boolean {
  return code !== '' && !code.startsWith('ERR_') && !Object.hasOwn(constants.errno, code)
}

/** Whether an error came as the engine's reply, and not from a socket, a driver or HTTP. */
export function isEngineReply({ code }: ConnectorError): boolean {
  return isEngineCode(code) && !/^(HTTP|PROTOCOL|HANDSHAKE)_/.test(code)
}

/** A statement raised an error that would mean a failed connection, in a session that still answers. */
export function raisedByStatementError({ engine, code }: ConnectorError): ConnectorError {
  const message = `The statement raised an error as if its connection had failed (${code}), while the session still answers: check the foreign tables, functions and views that it reads.`
  return new ConnectorError({ kind: 'invalid-query', engine, code, message })
}

/** The statement was given up because its caller's signal aborted. */
export function abortedError(engine: string, cause?: unknown): ConnectorError {
  const message = 'The work was given up before it ended.'
  return new ConnectorError({ kind: 'other', code: 'ABORTED', engine, message, cause })
}

/** The server was silent for too long, so that the connection was cut from this side. */
export function noResponseError(engine: string, what: string): ConnectorError {
  const message = `The server did not ${what} in time: check host, port, firewall and the load of the server.`
  return new ConnectorError({ kind: 'timeout', code: 'ETIMEDOUT', engine, message })
}

/** What is said of a statement that was ended because it ran over its time. */
export const OVER_TIME_HINT =
  'The statement ran over its time and was ended: allow more time, or check fewer rows or columns at once.'

/** The statement was ended because it ran over its time. */
export function timeoutError(engine: string, code: string, cause?: unknown): ConnectorError {
  return new ConnectorError({ kind: 'timeout', engine, code, message: OVER_TIME_HINT, cause })
}

/** The session has been closed, or was cut earlier. */
export function closedError(engine: string, cause?: unknown): ConnectorError {
  const message = 'The session is closed: open a new one.'
  return new ConnectorError({ kind: 'network', code: 'CLOSED', engine, message, cause })
}

/** The statement is not one that may be sent, or does not do what it may. */
export function invalidQueryError(engine: string, message: string, cause?: unknown): ConnectorError {
  return new ConnectorError({ kind: 'invalid-query', engine, message, cause })
}

/** The statement holds something that cannot be sent. */
export function unsendableError(engine: string, cause: unknown): ConnectorError {
  return invalidQueryError(engine, `The statement cannot be sent: ${(cause as Error).message}`, cause)
}

/** What differs in an amended error. */
export interface ErrorAmendment {
  kind?: ConnectorErrorKind
  code?: string
  cause?: unknown
  /** What to do: the message goes on with it. */
  advice?: string
}

/** The same error with some fields changed, whose message is still the engine's where it was. */
export function amendError(error: ConnectorError, { advice, ...changes }: ErrorAmendment): ConnectorError {
  const { kind, code, engine, cause } = error
  const message = advice === undefined ? error.message : `${trimEnd(error.message, '. ')}: ${advice}`
  const amended = new ConnectorError({ kind, code, engine, cause, message, ...changes })
  const words = engineWordsOf(error)
  return words ? withEngineWords(amended, { ...words, ...(advice !== undefined && { advice }) }) : amended
}

/** Whether the message of an error is the engine's own. */
export function isInEngineWords(error: ConnectorError): boolean {
  return engineWordsOf(error) !== undefined
}

/** The same error in words of ours. */
export function rewordError({ kind, code, engine, cause }: ConnectorError, message: string): ConnectorError {
  return new ConnectorError({ kind, code, engine, message, cause })
}
