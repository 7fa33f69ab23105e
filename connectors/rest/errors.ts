import { amendError, classifyError, ConnectorError, errorRule, type ErrorRule } from '../errors.ts'

/** A reply that is no success. `code` is the vendor's own, or `HTTP_<status>` where it gives none. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  readonly status: number
  readonly code: string
  /** How long the server wants to be left alone, where it says so. */
  readonly retryAfterMs: number | undefined

  constructor(
    status: number,
    { code, message, retryAfterMs }: { code?: string; message?: string; retryAfterMs?: number },
  ) {
    super(message ?? `The server answered with status ${status}`)
    this.status = status
    this.code = code ?? `HTTP_${status}`
    this.retryAfterMs = retryAfterMs
  }
}

/** What the statuses of HTTP mean where the vendor's own code says nothing. */
const STATUS_RULES: readonly ErrorRule[] = [
  errorRule('credentials', { code: 'HTTP_401' }),
  errorRule('permission', { code: 'HTTP_403' }),
  errorRule('missing-object', { code: 'HTTP_404' }),
  errorRule('timeout', { code: /^HTTP_(408|504)$/ }),
  errorRule('network', { code: 'HTTP_429' }).say(
    'The warehouse takes no more requests just now: try again later, or check fewer tables at once.',
  ),
  errorRule('network', { code: /^HTTP_3/ }).say('The host sends us elsewhere: check the host.'),
  errorRule('network', { code: /^HTTP_5/ }).say('The warehouse is not available just now: try again later.'),
  errorRule('timeout', { code: 'ETIMEDOUT' }),
  errorRule('other', { code: /^(ERR_BODY_PARSE_FAILURE|TOO_LARGE)$/ }),
]

/** Classifies what a request threw: by the engine's rules, then by the status of the reply. */
export function classifyRestError(
  engine: string,
  rules: readonly ErrorRule[],
  thrown: unknown,
): ConnectorError {
  const error = classifyError(engine, [...rules, ...STATUS_RULES], thrown)
  if (error.kind !== 'other' || !(thrown instanceof RestFailure)) return error
  const { message } = error
  const { kind } = classifyError(engine, STATUS_RULES, { code: `HTTP_${thrown.status}`, message })
  return kind === 'other' ? error : amendError(error, { kind })
}

/**
 * Whether a request did not get through, so that the statement it asked after may run on: the network failed, the
 * token was refused or the service was busy. Other failures are the statement's own.
 */
export function isTransportFailure(thrown: unknown): boolean {
  if (!(thrown instanceof RestFailure)) return !(thrown instanceof ConnectorError)
  return thrown.status === 401 || thrown.status === 429 || thrown.status >= 500
}
