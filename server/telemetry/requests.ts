/** Each request under an id of its own, which its log lines, its jobs and its span carry; and how it ended, counted. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, Server as HttpServer } from 'node:http'
import type { Request, Server, ServerInjectOptions } from '@hapi/hapi'
import { trace, type Span } from '@opentelemetry/api'
import { caller } from '../http/access.ts'
import { currentOrigin, noteFields, withOrigin } from './origin.ts'
import { failSpan, startInSpan } from './spans.ts'

/** Ids that proxies and clients give to requests, without anything that a log or a header could trip over. */
const REQUEST_ID = /^[\w.:-]{8,128}$/
/** The client closed the connection before the reply; nginx uses the same number. */
const CLIENT_CLOSED_STATUS = 499

const spans = new WeakMap<Request, Span>()

/** Adds the company of the caller to the log lines and the span of a request. */
export function noteCaller(request: Request): void {
  const { companyId } = caller(request)
  noteFields({ company_id: companyId })
  spans.get(request)?.setAttribute('tidemark.company_id', companyId)
}

/**
 * Gives requests their ids and follows them, those that come in and those that are injected. Behind a proxy an id and
 * a trace that come with the request are kept; elsewhere any client could choose them.
 */
export function followRequests(server: Server): void {
  const isBehindProxy = server.config.trustProxy > 0
  const begin: Begin = (headers, work) => {
    const parent = isBehindProxy ? headers.traceparent : undefined
    const start = { kind: 'server', ...(typeof parent === 'string' && { parent }) } as const
    return withOrigin({ id: '', fields: {} }, () => startInSpan('request', start, work))
  }
  followListener(server.listener as HttpServer, begin)
  followInjected(server, begin)
  server.ext('onRequest', (request, h) => {
    const given = isBehindProxy ? String(request.headers['x-request-id'] ?? '') : ''
    request.info.id = REQUEST_ID.test(given) ? given : randomUUID()
    const origin = currentOrigin()
    // What a feature injects while a job or a request runs goes back to that one.
    if (origin?.id === '') origin.id = request.info.id
    const span = trace.getActiveSpan()
    if (span) spans.set(request, span)
    return h.continue
  })
  server.events.on('response', request => {
    const { headersSent, statusCode } = request.raw.res
    const status = headersSent ? statusCode : CLIENT_CLOSED_STATUS
    const route = routeOf(request)
    // Where no route matches, the client chooses the method.
    const method = route === 'none' ? 'ANY' : request.method.toUpperCase()
    server.telemetry.request(method, route, status, Date.now() - request.info.received)
    const span = spans.get(request)
    if (span) end(span, { method, route, status, id: request.info.id })
  })
}

/** Runs the start of a request, and with it all that follows. */
type Begin = <T>(headers: IncomingHttpHeaders, work: () => T) => T

/** Everything that a request starts is started by this event, so what is current here is current in all of it. */
function followListener(listener: HttpServer, begin: Begin): void {
  const emit = listener.emit.bind(listener) as (event: string | symbol, ...given: unknown[]) => boolean
  listener.emit = (event: string | symbol, ...given: unknown[]) => {
    if (event !== 'request' && event !== 'checkContinue') return emit(event, ...given)
    const [{ headers }] = given as [{ headers: IncomingHttpHeaders }]
    return begin(headers, () => emit(event, ...given))
  }
}

function followInjected(server: Server, begin: Begin): void {
  const inject = server.inject.bind(server)
  server.inject = ((options: string | ServerInjectOptions) => {
    const headers = typeof options === 'string' ? {} : (options.headers ?? {})
    return begin(headers as IncomingHttpHeaders, () => inject(options as ServerInjectOptions))
  }) as typeof server.inject
}

/** The path of a route as it was declared, or `none` where no route matched. */
function routeOf({ route }: Request): string {
  return route.settings.plugins?.access ? route.path : 'none'
}

function end(span: Span, result: { method: string; route: string; status: number; id: string }): void {
  const { method, route, status, id } = result
  span.updateName(`${method} ${route}`)
  span.setAttributes({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'tidemark.request_id': id,
  })
  if (status >= 500) failSpan(span, String(status))
  span.end()
}
