import Boom from '@hapi/boom'
import type { Request, ResponseToolkit, Server } from '@hapi/hapi'
import Joi from 'joi'
import { isAway } from '../database/database.ts'
import {
  codeOfStatus,
  hasErrorData,
  MAX_FAILURES,
  invalidInput,
  unprocessable,
  apiError,
  type ErrorCode,
} from './errors.ts'
import { findPrototype, findUnreadable, NOT_JSON, parseBody } from '../readable-body.ts'
import { failuresOf, inputErrorOf, VALIDATION_OPTIONS } from './validation-messages.ts'
import { WORDED_CENTRALLY } from './sentences.ts'

/** The standard envelope: health, preferences, schema changes, freshness, contracts. */
export interface Envelope<T> {
  success: boolean
  data: T | null
  message: string
  error: string
  meta: object
}

/** Wraps data in the standard envelope. */
export function envelope<T>(data: T, message = '', meta: object = {}): Envelope<T> {
  return { success: true, data, message, error: '', meta }
}

/** The content security policy of replies other than pages: allows nothing. Pages set their own. */
const POLICY = `default-src 'none'; base-uri 'none'; frame-ancestors 'none'`
/** When a request may be sent again where nothing else is known of it. */
const RETRY_AFTER_SECONDS = '2'
const ANSWERS_400 = /^\/api\/v1\/(sdk|api-keys)(\/|$)/

/** Request ids, error bodies and the refusal of text that PostgreSQL cannot store, for every route. */
export function shapeReplies(server: Server): void {
  server.ext('onRequest', (request, h) => {
    if (request.raw.req.url?.includes('%00'))
      throw apiError('BAD_REQUEST', 'The path or query holds a NUL character: remove it')
    if (request.raw.req.httpVersion === '1.1' && request.headers.host === undefined) throw withoutHost()
    // Clients send the content type with requests that have no body.
    if (request.headers['content-length'] === '0') delete request.headers['content-type']
    if (!['get', 'head'].includes(request.method)) decodeBeside(request)
    return h.continue
  })
  // Before a request is counted: one that cannot be read does not count. Open routes have no credentials.
  server.ext('onCredentials', (request, h) => {
    parseBody(request)
    return h.continue
  })
  server.ext('onPostAuth', (request, h) => {
    parseBody(request)
    const problem = encodings.get(request)?.() ?? findUnreadable(request.payload)
    if (problem) throw apiError('BAD_REQUEST', problem)
    refusePrototype(request)
    return h.continue
  })
  server.ext('onPreHandler', (request, h) => {
    refuseUndeclared(request)
    return h.continue
  })
  server.ext('onPreResponse', (request, h) => {
    const { response } = request
    if (!Boom.isBoom(response)) {
      response.header('X-Request-Id', request.info.id)
      response.header('Content-Security-Policy', POLICY, { override: false })
      return h.continue
    }
    return answer(request, h, wrongMethod(request, response.output.statusCode) ?? response)
  })
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/**
 * The 405 for a known path with another method. It needs no credential: there is no operation to protect, and
 * /openapi.json is public.
 */
function wrongMethod({ server, method, path, route }: Request, status: number): Boom.Boom | undefined {
  // A route without access is hapi's own, for unknown paths.
  const isKnown = route.settings.plugins?.access !== undefined
  // A source may have the name of a literal segment, and is read then: only what names nothing is refused.
  const isBadInput = [400, 422].includes(status) && !['get', 'head'].includes(method)
  if (!path.startsWith('/') || !(status === 404 || (isKnown && isBadInput))) return undefined
  const counts = METHODS.map(each => countParameters(server, each, path))
  // `/incidents/summary` is no incident, and takes no method of one.
  const fewest = Math.min(...counts)
  if (fewest === Infinity || (isKnown && countParameters(server, method, path) === fewest)) return undefined
  const taken = METHODS.filter((_, index) => counts[index] === fewest)
  const allow = taken.flatMap(each => (each === 'get' ? ['GET', 'HEAD'] : [each.toUpperCase()]))
  const error = apiError('METHOD_NOT_ALLOWED', `This path takes ${allow.join(', ')}`, { allow })
  error.output.headers.Allow = allow.join(', ')
  return error
}

/** How many parameters the route of a method has at a path; Infinity where no route takes it. */
function countParameters(server: Server, method: string, path: string): number {
  try {
    const route = server.match(method as 'get', path)
    return route?.settings.plugins?.access ? route.path.split('{').length - 1 : Infinity
  } catch {
    // A route matches, but its parameters cannot be decoded from this path.
    return 1
  }
}

/** HTTP/1.1 requires the header, and the connection must not be reused. */
function withoutHost(): Boom.Boom {
  const error = apiError('BAD_REQUEST', 'The request has no Host header: send one')
  error.output.headers.Connection = 'close'
  return error
}

/** The encodings that hapi decodes. */
const ENCODINGS = ['gzip', 'deflate']

/** Refuses a body of an unsupported `Content-Encoding`, which would be read undecoded. @throws 415 */
export function refuseEncoding({ headers }: Request): void {
  const given = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  if (given === '' || given === 'identity' || !hasBody(headers)) return
  // hapi knows the names in small letters only.
  const encoding = given === 'x-gzip' ? 'gzip' : given
  headers['content-encoding'] = encoding
  if (ENCODINGS.includes(encoding)) return
  const error = apiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Send the body without Content-Encoding, or as ${ENCODINGS.join(' or ')}`,
  )
  error.output.headers['Accept-Encoding'] = ENCODINGS.join(', ')
  throw error
}

/** Whether a request has a body, by its headers. */
export function hasBody(headers: Request['headers']): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** What is wrong with the bytes of a complete body, if anything. */
const encodings = new WeakMap<Request, () => string | null>()

/** JSON is parsed with a mark in the place of bytes that are no text, which may also be sent: so they are searched for separately. */
function decodeBeside(request: Request): void {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isText = true
  const decode = (chunk?: Buffer) => {
    try {
      if (isText) decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isText = false
    }
  }
  request.events.on('peek', chunk => decode(Buffer.from(chunk)))
  encodings.set(request, () => {
    decode()
    return isText ? null : 'The body holds bytes that are not UTF-8: send it in that encoding'
  })
}

function answer(request: Request, h: ResponseToolkit, error: Boom.Boom) {
  const status = statusOf(error)
  const body = status >= 500 ? failure(request, error, status) : refusal(request, error, status)
  const reply = h.response(body).code(status).header('X-Request-Id', request.info.id)
  reply.header('Content-Security-Policy', POLICY)
  for (const [name, value] of Object.entries(error.output.headers)) {
    if (value !== undefined && name.toLowerCase() !== 'content-type') reply.header(name, String(value))
  }
  if (status === 503) reply.header('Retry-After', RETRY_AFTER_SECONDS, { override: false })
  return reply.header('Cache-Control', 'no-store')
}

/**
 * A database outage is 503: the same request may succeed later. A value that PostgreSQL cannot store is a client error.
 * When two requests race, 23505 is a duplicate and 23503 a reference to a removed row.
 */
function statusOf(error: Boom.Boom): number {
  if (!hasErrorData(error) && error.isServer && isAway(error)) return 503
  const state = stateOf(error)
  if (state === STATEMENT_TIMEOUT) return 503
  if (state === '23505' || state === '23503') return 409
  return isBadValue(error) ? 400 : error.output.statusCode
}

/** SQLSTATE of a statement that ran into its time limit. */
const STATEMENT_TIMEOUT = '57014'

/** SQLSTATEs of a value that is too long, out of range, or of characters that cannot be stored. */
const BAD_VALUE = /^22(001|003|008|021|P05)$/

/** Whether the cause is a value that the client sent, and not our statement. */
function isBadValue(error: Boom.Boom): boolean {
  const state = stateOf(error)
  if (typeof state !== 'string' || !state.startsWith('22')) return false
  const { nativeError, where } = error as { nativeError?: { where?: string }; where?: string }
  // PostgreSQL names the parameter that it could not read.
  return BAD_VALUE.test(state) || /parameter \$\d+/.test(nativeError?.where ?? where ?? '')
}

/** The SQLSTATE of our own database, where the error comes from there. */
function stateOf(error: Boom.Boom): string | undefined {
  const { nativeError, code } = error as { nativeError?: { code?: string }; code?: string }
  return nativeError?.code ?? code
}

function refusal(request: Request, error: Boom.Boom, status: number) {
  if (hasErrorData(error) && error.data) {
    const { code, details, detail } = error.data
    return { ...(detail && { detail }), error: { code, message: error.message, details } }
  }
  const code: ErrorCode = codeOfStatus(status)
  return { error: { code, message: sayStatus(request, status, error), details: {} } }
}

/** Messages for requests that hapi itself refuses. */
function sayStatus(request: Request, status: number, error: Boom.Boom): string {
  if (status === 401) return 'Send a valid credential in the header Authorization: Bearer <token or API key>'
  if (status === 404) return 'There is nothing at this path; /openapi.json lists what there is'
  if (status === 413) {
    const { maxBytes = 0 } = request.route.settings.payload ?? {}
    const limit = maxBytes < 1_048_576 ? `${maxBytes / 1_024} KiB` : `${maxBytes / 1_048_576} MiB`
    return `The body is larger than ${limit}: send less at a time`
  }
  if (status === 415) {
    const { allow = 'application/json' } = request.route.settings.payload ?? {}
    return `Send the body as Content-Type: ${[allow].flat().join(' or ')}`
  }
  // hapi's message: that of a database holds the statement, which may be about JSON.
  if (status === 400 && error.message.startsWith('Invalid request payload JSON')) return NOT_JSON
  if (status === 409 && stateOf(error) === '23503')
    return 'Something that this needs was removed meanwhile, or is in use: read it again'
  if (status === 409) return 'There is one like it already: read it, or choose another name'
  return status === 400 ? 'The request could not be understood: check its body and headers' : error.message
}

function failure(request: Request, error: Boom.Boom, status: number) {
  const known = hasErrorData(error) ? error.data : undefined
  const { pino } = request.server
  // Errors of `apiError` are no faults and name their origin: no stack.
  if (known) pino.warn({ request_id: request.info.id, status, err: error.message }, 'a request was put off')
  else pino.error({ err: error, request_id: request.info.id }, 'a request failed')
  return {
    error: {
      code: known?.code ?? (status === 503 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'),
      message: known
        ? error.message
        : status === 503
          ? stateOf(error) === STATEMENT_TIMEOUT
            ? 'The database took too long for this: ask for less at a time, or try again later'
            : 'The database does not answer just now: try again in a few seconds'
          : 'Something went wrong on our side; the log has more under this request id',
      details: { ...known?.details, request_id: request.info.id },
    },
  }
}

/** Turns Joi's failures into the 400 or 422 form that the path answers with. */
export function onInvalid(request: Request, _h: ResponseToolkit, error?: Error): never {
  if (!Joi.isError(error)) throw error ?? Boom.badRequest()
  const { output } = error as { output?: { payload?: { validation?: { source?: string } } } }
  refuse(request, output?.payload?.validation?.source ?? 'body', error)
}

function refuse(request: Request, source: string, error: Joi.ValidationError, given?: Joi.Schema): never {
  const where = { payload: 'body', params: 'path', headers: 'header' }[source] ?? source
  const schema = given ?? (request.route.settings.validate as Record<string, unknown> | undefined)?.[source]
  const root = `the ${where === 'header' ? 'headers' : where}`
  const failures = failuresOf(error, schema, { root }, MAX_FAILURES)
  const left = Math.max(0, error.details.length - MAX_FAILURES)
  throw answers400(request.path)
    ? invalidInput(
        failures.map(failure => inputErrorOf(failure, where)),
        {},
        left,
      )
    : unprocessable(
        failures.map(({ path, message, ...failure }) => ({
          loc: [where, ...path],
          msg: message,
          ...failure,
        })),
        left,
      )
}

/** Whether bad input at a path is answered with 400 `VALIDATION_ERROR`; at all others with 422. */
export function answers400(path: string): boolean {
  return ANSWERS_400.test(path)
}

const NOTHING = Joi.object({}).allow(null)

/** Whether a path takes no query and no body that its route has no schema of. Health accepts any query. */
export function refusesUndeclared(path: string): boolean {
  return /^\/api\/v1\/(?!health$)/.test(path)
}

/** No more of it than a request without a query or a body has. */
function isNothing(given: unknown): boolean {
  const isObject = typeof given === 'object' && !Array.isArray(given) && !Buffer.isBuffer(given)
  return given == null || (isObject && Object.keys(given).length === 0)
}

function refuseUndeclared(request: Request): void {
  const { validate, plugins } = request.route.settings
  // A route without access is hapi's own, for unknown paths.
  if (!plugins?.access || !refusesUndeclared(request.path)) return
  for (const source of ['query', 'payload'] as const) {
    if (validate?.[source] || isNothing(request[source])) continue
    const { error } = NOTHING.validate(request[source], VALIDATION_OPTIONS)
    if (error) refuse(request, source, error, NOTHING)
  }
}

/**
 * Refuses a field `__proto__`, which no schema takes, as any other unknown one. Copied from object to object, it would
 * become the prototype of the copy.
 */
function refusePrototype(request: Request): void {
  const path = findPrototype(request.payload)
  if (!path) return
  const context = { label: path.join('.') }
  const error = { path, message: WORDED_CENTRALLY, type: 'object.unknown', context }
  refuse(request, 'payload', { details: [error] } as unknown as Joi.ValidationError)
}
