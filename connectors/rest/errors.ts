import { classifyError, ConnectorError, type ErrorRule } from '../errors.ts'

/** A reply that is no success. `code` is the vendor's own, or `HTTP_<status>` where it gives none. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure'
  readonly status: number
  readonly code: string

  constructor(status: number, { code, message }: { code?: string; message?: string }) {
    super(message ?? `The server answered with status ${status}`)
    this.status = status
    this.code = code ?? `HTTP_${status}`
  }
}

/** What the statuses of HTTP mean where the vendor's own code says nothing. */
const STATUS_RULES: readonly ErrorRule[] = [
  { kind: 'credentials', code: 'HTTP_401' },
  { kind: 'permission', code: 'HTTP_403' },
  { kind: 'missing-object', code: 'HTTP_404' },
  { kind: 'timeout', code: /^HTTP_(408|504)$/ },
  {
    kind: 'network',
    code: 'HTTP_429',
    hint: 'The warehouse takes no more requests just now: try again later, or check fewer tables at once.',
  },
  { kind: 'network', code: /^HTTP_3/, hint: 'The host sends us elsewhere: check the host.' },
  {
    kind: 'network',
    code: /^HTTP_5/,
    hint: 'The warehouse is not available just now: try again later.',
  },
  { kind: 'timeout', code: 'ETIMEDOUT' },
  {
    kind: 'other',
    code: /^(ERR_BODY_PARSE_FAILURE|TOO_LARGE)$/,
  },
]

/** Classifies what a request threw: by the engine's rules, then by the status of the reply. */
export function classifyRestError(
  engine: string,
  rules: readonly ErrorRule[],
  thrown: unknown,
): ConnectorError {
  const error = classifyError(engine, [...rules, ...STATUS_RULES], thrown)
  if (error.kind !== 'other' || !(thrown instanceof RestFailure)) return error
  const byStatus = classifyError(engine, STATUS_RULES, {
    code: `HTTP_${thrown.status}`,
    message: thrown.message,
  })
  if (byStatus.kind === 'other') return error
  return new ConnectorError({ ...pick(error), kind: byStatus.kind, message: error.message, cause: thrown })
}

/**
 * Whether a request did not get through, so that the statement it asked after may run on: the network failed, the
 * token was refused or the service was busy. Other failures are the statement's own.
 */
export function isTransportFailure(thrown: unknown): boolean {
  if (!(thrown instanceof RestFailure)) return !(thrown instanceof ConnectorError)
  return thrown.status === 401 || thrown.status === 429 || thrown.status >= 500
}

function pick({ code, engine }: ConnectorError) {
  return { code, engine }
}
