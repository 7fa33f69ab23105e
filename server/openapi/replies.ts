import type { RequestRoute } from '@hapi/hapi'
import Joi from 'joi'
import { CODE_NAMES, statusOf, type ErrorCode } from '../http/errors.ts'
import { failure, unusable } from '../http/envelopes.ts'
import { asComponent, pascalCase } from './components.ts'
import { exampleOf } from './examples.ts'
import { describeSchema, jsonSchema, type JsonSchema } from './json-schema.ts'
import { keepsReplies } from '../http/idempotency.ts'
import { replyText } from './reply-texts.ts'
import { answers400, refusesUndeclared } from '../http/replies.ts'
import { NOT_JSON } from '../readable-body.ts'

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    /**
     * Error codes of a route that follow neither from its path nor its schemas. Not-found codes replace those that
     * these would give.
     */
    errors?: readonly ErrorCode[]
    /** The path as it is described, where hapi's cannot be: `/docs/{path}.md` of a route `/docs/{path*}`. */
    path?: string
  }
}

const header = (type: string, description: string) => ({ description, schema: { type } })

/** Headers that replies of several operations carry. */
export const HEADERS = {
  'X-Request-Id': header('string', 'Names this request in the log; every reply carries it.'),
  'X-RateLimit-Limit': header('integer', 'Requests allowed in the window.'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the window.'),
  'X-RateLimit-Reset': header('integer', 'When the window resets, in epoch seconds.'),
  'Retry-After': header('integer', 'Seconds to wait before the next try; an error 500 has none.'),
  'Idempotency-Replayed': header(
    'string',
    '`true` when this is the reply to an earlier request of the same Idempotency-Key.',
  ),
}

const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

const DESCRIPTIONS: Record<string, string> = {
  400: 'The input cannot be used; details.field and details.error name the first failure, details.errors all',
  401: 'No valid credential was sent',
  403: 'The credential is not allowed to do this; details hold current_scope and required_scope',
  404: 'There is no such thing, or it belongs to another company',
  409: 'It conflicts with what is there',
  413: 'The body is too large',
  414: 'The URL is too long: with the headers it may have 16 KiB',
  415: 'The body is of another content type',
  422: 'Path, query, header or body are not as described',
  429: 'Too many requests',
  '5XX':
    '500 is a fault of ours; 503: the database, or what the request is about, does not answer just now. ' +
    'details.request_id finds either in the log',
}

/** What a code means, for its example. What is missing is not found. */
const MEANINGS: Partial<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'limit must be at most 100, not 1000',
  BAD_REQUEST: NOT_JSON,
  WEAK_PASSWORD: 'Choose another password: it is too common',
  INVALID_INVITATION: 'This invitation is not good, or not for this email: ask for another',
  UNAUTHORIZED: 'Send a valid credential in the header Authorization: Bearer <token or API key>',
  INVALID_CREDENTIALS: 'The email or the password is wrong: check both and try again',
  INVALID_PASSWORD: 'The old password is wrong: check it and try again',
  INVALID_TOKEN: 'This token was used before, or has expired: ask for another',
  FORBIDDEN: 'This needs the scope read-write; the credential has read-only',
  ACCOUNT_LOCKED: 'Too many wrong passwords: wait 15 minutes and try again',
  CONFLICT: 'There is one like it already: read it, or choose another name',
  USER_EXISTS: 'There is a user with this email already: sign in, or use another email',
  LIMIT_REACHED: 'A company may have at most 1000 of these: delete one first',
  KEY_LIMIT: 'The plan allows no more keys: revoke one first',
  PAYLOAD_TOO_LARGE: 'The body is larger than 1 MiB: send less at a time',
  URI_TOO_LONG: 'The URL is too long: URL and headers together take at most 16 KiB',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as Content-Type: application/json',
  RATE_LIMITED: 'Too many requests: wait 12 s and try again',
  INTERNAL_ERROR: 'Something went wrong on our side; the log has more under this request id',
  UNAVAILABLE: 'The database does not answer just now: try again in a few seconds',
}

const REQUEST_ID = '5f0c8f5e-9d3b-4c55-8a51-2f6f3f1c7a10'

/** Details that a code always carries. */
const DETAILS: Partial<Record<ErrorCode, object>> = {
  VALIDATION_ERROR: {
    field: 'limit',
    error: 'limit must be at most 100, not 1000',
    errors: [{ field: 'limit', error: 'limit must be at most 100, not 1000' }],
  },
  FORBIDDEN: { current_scope: 'read-only', required_scope: 'read-write' },
  LIMIT_REACHED: { cap: 'items', limit: 1_000 },
  RATE_LIMITED: { limit: 100, retry_after: 12 },
  INTERNAL_ERROR: { request_id: REQUEST_ID },
  UNAVAILABLE: { request_id: REQUEST_ID },
}

function errorExample(code: ErrorCode) {
  const thing = code
    .replace(/_?NOT_FOUND$/, '')
    .toLowerCase()
    .replaceAll('_', ' ')
  const message =
    MEANINGS[code] ?? (thing ? `There is no ${thing} of this id` : 'There is nothing of this name')
  return { value: { error: { code, message, details: DETAILS[code] ?? {} } } }
}

/** Names of the sets of codes that most operations have. */
const SHORT_NAMES: Partial<Record<string, string>> = {
  BadRequestOrValidationError: 'InvalidInput',
  InternalErrorOrUnavailable: 'Failure',
}

/** An error reply with the codes that it may carry: of 422 none, since its body has no code. */
function errorReply(status: string, given: readonly ErrorCode[]): JsonSchema {
  const codes = [...given].sort()
  const names: (keyof typeof HEADERS)[] = [
    'X-Request-Id',
    ...(status === '429' || status === '5XX' ? (['Retry-After'] as const) : []),
    ...(status === '429' ? LIMIT_HEADERS : []),
  ]
  const examples = Object.fromEntries(codes.map(code => [code, errorExample(code)]))
  const joined = codes.map(pascalCase).join('Or') || 'ValidationFailure'
  const name = SHORT_NAMES[joined] ?? joined
  return asComponent('responses', name, {
    description: DESCRIPTIONS[status] ?? 'It could not be done',
    headers: headers(...names),
    content: {
      'application/json': {
        schema: jsonSchema(status === '422' ? unusable : failure, 'output'),
        ...(status !== '422' && { examples }),
      },
    },
  })
}

/** Every reply that a route can give, by status. */
export function repliesOf(route: RequestRoute): Record<string, object> {
  return { ...successes(route), ...failures(route) }
}

/** What a route says of its replies; without a word, some object under any good status. One may always refuse. */
function successes(route: RequestRoute): Record<string, object> {
  const { method, settings } = route
  const { status = {}, schema } = settings.response ?? {}
  const replies: [string, unknown][] = Object.entries(status)
  if (Joi.isSchema(schema)) replies.unshift(['200', schema])
  if (replies.length === 0) replies.unshift([method === 'get' ? '200' : '2XX', Joi.object().unknown()])
  return Object.fromEntries(replies.map(([code, body]) => [code, replyOf(route, code, body)]))
}

function replyOf(route: RequestRoute, code: string, schema: unknown) {
  const isKept = /^20[12]$/.test(code) && keepsReplies(route)
  const carried = isKept ? { headers: headers('Idempotency-Replayed') } : {}
  if (/^3/.test(code)) {
    const location = header('string', 'The address to go on at.')
    return { description: 'A redirect', headers: { Location: location } }
  }
  const described = Joi.isSchema(schema) ? describeSchema(schema) : undefined
  const { label, description: written } = described?.flags ?? {}
  const [firstType] = Joi.isSchema(schema) ? formsOf(schema).flatMap(form => contentType(form) ?? []) : []
  const description =
    written ??
    replyText(label, { method: route.method, status: code, contentType: firstType }) ??
    (Number(code) >= 400 ? 'The reply when it could not be done' : 'The reply')
  if (!Joi.isSchema(schema) || code === '204') return { description, ...carried }
  const content = formsOf(schema).map(form => {
    const type = contentType(form) ?? 'application/json'
    return [type, contentOf(type, form)]
  })
  return { description, ...carried, content: Object.fromEntries(content) }
}

/** A reply that comes in several content types is the alternatives of them. */
function formsOf(schema: Joi.Schema): Joi.Schema[] {
  if (schema.type !== 'alternatives') return [schema]
  const { matches } = schema.$_terms as { matches: { schema?: Joi.Schema }[] }
  const forms = matches.flatMap(({ schema: form }) => form ?? [])
  return forms.some(contentType) ? forms : [schema]
}

function contentType(schema: Joi.Schema): string | undefined {
  return describeSchema(schema).metas?.find(meta => meta.contentType)?.contentType
}

function contentOf(type: string, joi: Joi.Schema) {
  const schema = jsonSchema(joi, 'output')
  const example = exampleOf(schema)
  return { schema, ...(type === 'application/json' && example !== undefined && { example }) }
}

function failures(route: RequestRoute): Record<string, object> {
  const own = codesOf(route)
  const declared = route.settings.response?.status ?? {}
  const statuses = [...own.keys()].filter(status => !declared[Number(status)]).sort()
  return Object.fromEntries(statuses.map(status => [status, errorReply(status, own.get(status) ?? [])]))
}

/** The codes that a route may answer, by status. */
function codesOf(route: RequestRoute): Map<string, ErrorCode[]> {
  const { path, method, settings } = route
  const guard = settings.plugins?.access
  const { params, query, payload } = settings.validate ?? {}
  const isGuarded = guard?.scope !== undefined || guard?.sessionOnly === true
  const hasBody = method !== 'get'
  const refusesInput =
    refusesUndeclared(path) || [params, query, payload].some(schema => Joi.isSchema(schema))
  const declared = settings.app?.errors ?? []
  const codes = new Map<string, ErrorCode[]>()
  const add = (applies: boolean, ...more: ErrorCode[]) => {
    for (const code of applies ? more : []) {
      const status = statusOf(code) >= 500 ? '5XX' : String(statusOf(code))
      codes.set(status, [...new Set([...(codes.get(status) ?? []), code])])
    }
  }
  add(refusesInput && answers400(path), 'VALIDATION_ERROR')
  // Also for a NUL in the path or the query, of whatever route.
  add(true, 'BAD_REQUEST')
  add(path.includes('{') || fieldsOf(query).length > 0, 'URI_TOO_LONG')
  add(hasBody, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE')
  add(isGuarded, 'UNAUTHORIZED', 'FORBIDDEN')
  if (!declared.some(code => statusOf(code) === 404)) add(true, ...missing(route))
  add(isGuarded && hasBody, 'CONFLICT')
  add(isGuarded && (method === 'post' || method === 'put'), 'LIMIT_REACHED')
  add((guard !== undefined && guard.limit !== null) || keepsReplies(route), 'RATE_LIMITED')
  add(true, 'INTERNAL_ERROR', 'UNAVAILABLE', ...declared)
  if ((refusesInput || keepsReplies(route)) && !answers400(path)) codes.set('422', [])
  return codes
}

/** What may be missing of what a path, a query or a body names, in the words of the table of errors. */
function missing({ path, settings }: RequestRoute): ErrorCode[] {
  const words = path.split('/')
  const places = words.flatMap((word, index) => {
    const [, name] = /^\{(\w+)/.exec(word) ?? []
    // `{id}` is of what the words before it name.
    return name === undefined ? [] : [name === 'id' ? (words[index - 1] ?? '') : name]
  })
  const { query, payload } = settings.validate ?? {}
  const names = [...places, ...keysOf(query), ...keysOf(payload)]
  const found = names.flatMap(name => notFound(name))
  if (places.some(name => notFound(name).length === 0)) found.push('NOT_FOUND')
  return [...new Set(found)]
}

/** `rule_ids` may be `RULE_NOT_FOUND`, where there is such a code. */
function notFound(name: string): ErrorCode[] {
  if (name === 'anonymous_id') return []
  const thing = name
    .replace(/_ids?$/, '')
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
    .replaceAll('-', '_')
    .toUpperCase()
  return CODE_NAMES.filter(code => code.endsWith('_NOT_FOUND')).filter(code => {
    const known = code.replace('_NOT_FOUND', '')
    return thing === known || (/_ids?$/.test(name) && thing.endsWith(`_${known}`))
  })
}

const keysOf = (schema: unknown): string[] => fieldsOf(schema).filter(key => /(_ids?|^asset)$/.test(key))

function fieldsOf(schema: unknown): string[] {
  return Joi.isSchema(schema) ? Object.keys(describeSchema(schema).keys ?? {}) : []
}
