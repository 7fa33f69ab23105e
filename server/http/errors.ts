import Boom from '@hapi/boom'
import { writeChoice } from './sentences.ts'

/** Every error code of the API with its status. A code not in this table cannot be answered. */
const CODES = {
  VALIDATION_ERROR: 400,
  BAD_REQUEST: 400,
  WEAK_PASSWORD: 400,
  INVALID_INVITATION: 400,
  UNAUTHORIZED: 401,
  INVALID_CREDENTIALS: 401,
  INVALID_PASSWORD: 401,
  INVALID_TOKEN: 401,
  FORBIDDEN: 403,
  ACCOUNT_LOCKED: 403,
  BOT_REFUSED: 403,
  NOT_FOUND: 404,
  ASSET_NOT_FOUND: 404,
  RULE_NOT_FOUND: 404,
  METRIC_NOT_FOUND: 404,
  REFERENTIAL_CHECK_NOT_FOUND: 404,
  COMPARISON_NOT_FOUND: 404,
  JOB_NOT_FOUND: 404,
  CHANGE_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  TAG_NOT_FOUND: 404,
  ALERT_NOT_FOUND: 404,
  INCIDENT_NOT_FOUND: 404,
  DESTINATION_NOT_FOUND: 404,
  DELIVERY_NOT_FOUND: 404,
  BADGE_NOT_FOUND: 404,
  CONTRACT_NOT_FOUND: 404,
  API_KEY_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  INVITATION_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  USER_EXISTS: 409,
  KEY_LIMIT: 409,
  LIMIT_REACHED: 409,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof CODES

export const CODE_NAMES = Object.keys(CODES) as ErrorCode[]

export function statusOf(code: ErrorCode): number {
  return CODES[code]
}

/** What is wrong with one field of the input. */
export interface InputError {
  /** As a client writes it, with dots: `rule_config.pattern`, `items.3.name`; `body` or `query` for all of it. */
  field: string
  /** A sentence that says what is allowed. */
  error: string
  /** Names that the caller may have meant; only such that the caller may see. */
  candidates?: string[]
}

/** One failure of the 422 form. */
export interface Detail {
  /** `path`, `query`, `header` or `body`, then the field. */
  loc: string[]
  msg: string
  type: string
}

/** The data that `apiError` attaches for `replies.ts`. */
export interface ErrorData {
  code: ErrorCode
  details: Record<string, unknown>
  /** Present when the answer is a 422. */
  detail?: Detail[]
}

/**
 * An HTTP error with a code of the table.
 * @param message a sentence that says what to do
 * @param details field names, suggestions; never a secret
 */
export function apiError(
  code: ErrorCode,
  message: string,
  details: Record<string, unknown> = {},
): Boom.Boom<ErrorData> {
  return new Boom.Boom(message, { statusCode: CODES[code], data: { code, details } })
}

/** Failures that a reply lists; a thousand sentences would not help. */
export const MAX_FAILURES = 100

/**
 * 400 for invalid input, with the list that every refusal of input has: `details.errors`, the first of it in `details`
 * too.
 * @param more what the details hold beside it
 * @param errors of which the first `MAX_FAILURES` are listed
 * @param left how many errors more there are than `errors` has
 */
export function invalidInput(
  errors: readonly InputError[],
  more: Record<string, unknown> = {},
  left = 0,
): Boom.Boom<ErrorData> {
  const listed = errors.slice(0, MAX_FAILURES)
  const message = summarize(listed, left + errors.length - listed.length)
  return apiError('VALIDATION_ERROR', message, { ...listed[0], ...more, errors: listed })
}

/**
 * 400 for one field.
 * @param predicate what is wrong, as it follows the field: `is required for MEAN`
 */
export function invalidField(
  field: string,
  predicate: string,
  more: Record<string, unknown> = {},
): Boom.Boom<ErrorData> {
  return invalidInput([{ field, error: `${field} ${predicate}` }], more)
}

/** 400 for a name that is none of those known, with the nearest. @param names only such that the caller may see */
export function unknownName(field: string, given: unknown, names: readonly string[]): Boom.Boom<ErrorData> {
  const { text, ...more } = writeChoice(field, names, given)
  return invalidInput([{ field, error: text, ...more }])
}

/** 422 for failures that no schema can see: the `detail` array, and beside it the error body of 400. */
export function unprocessable(
  failures: readonly (Detail & Pick<InputError, 'candidates'>)[],
  left = 0,
): Boom.Boom<ErrorData> {
  const listed = failures.slice(0, MAX_FAILURES)
  const errors = listed.map(({ loc: [place = 'body', ...path], msg, candidates }): InputError => {
    return { field: path.join('.') || place, error: msg, ...(candidates && { candidates }) }
  })
  return new Boom.Boom(summarize(errors, left + failures.length - listed.length), {
    statusCode: 422,
    data: {
      code: 'VALIDATION_ERROR',
      details: { ...errors[0], errors },
      detail: listed.map(({ loc, msg, type }) => ({ loc, msg, type })),
    },
  })
}

/** The same for failures of a body, or of a query, that are known by their fields. */
export function unprocessableInput(
  errors: readonly InputError[],
  placeOf: (field: string) => 'body' | 'query' = () => 'body',
): Boom.Boom<ErrorData> {
  return unprocessable(
    errors.map(({ field, error: msg, candidates }) => {
      const place = placeOf(field)
      const loc = field === place ? [place] : [place, ...field.split('.')]
      return { loc, msg, type: 'any.invalid', ...(candidates && { candidates }) }
    }),
  )
}

/** The message of a list: its sentences, each with its field. */
function summarize(errors: readonly InputError[], left: number): string {
  const sentences = errors.map(({ field, error }) =>
    error.includes(field) || WHOLES.has(field) ? error : `${field}: ${error}`,
  )
  return [...new Set(sentences), ...(left > 0 ? [`and ${left} more`] : [])].join('; ')
}

/** The fields of errors that concern no single one. */
const WHOLES: ReadonlySet<string> = new Set(['body', 'query', 'path', 'header'])

/** True for an error made by this file, or by hapi with our data added. */
export function hasErrorData(error: unknown): error is Boom.Boom<ErrorData> {
  // A caught error may have other data here, with a code of its own.
  return Boom.isBoom(error) && Object.hasOwn(CODES, (error.data as ErrorData | null)?.code ?? '')
}

export function hasCode(error: unknown, code: ErrorCode): boolean {
  return hasErrorData(error) && error.data?.code === code
}

/** The code that an error of hapi itself (404 of the router, 413 of the payload) is answered with. */
export function codeOfStatus(status: number): ErrorCode {
  const byStatus: Record<number, ErrorCode> = {
    400: 'BAD_REQUEST',
    401: 'UNAUTHORIZED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    409: 'CONFLICT',
    413: 'PAYLOAD_TOO_LARGE',
    415: 'UNSUPPORTED_MEDIA_TYPE',
    422: 'VALIDATION_ERROR',
    429: 'RATE_LIMITED',
    503: 'UNAVAILABLE',
  }
  return byStatus[status] ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_ERROR')
}
