import { ApiError, ConnectionError, TimeoutError } from './errors.ts'
import { IDEMPOTENT_POSTS } from './operations.ts'
import { canRetry, retryDelay, sleep } from './retry.ts'
import type { CallOptions, Client, ClientOptions, Reply } from './types.ts'

/** The options of any operation. */
interface AnyOptions extends CallOptions {
  path?: Record<string, string | number>
  query?: Record<string, unknown>
  body?: unknown
}

/**
 * Returns a client of one server.
 * @throws TypeError if `baseUrl` is not an address, or is missing outside a page
 */
export function createClient(settings: ClientOptions = {}): Client {
  const { location } = globalThis as { location?: { href: string } }
  const base = new URL(settings.baseUrl || '/', location?.href).href.replace(/\/+$/, '')

  async function request(method: string, path: string, options: AnyOptions = {}): Promise<Reply<unknown>> {
    const { retries = 2, maxRetryAfterMs = 60_000, onRetry } = { ...settings, ...options }
    const url = base + fillPath(path, options.path) + queryString(options.query)
    const init = { method: method.toUpperCase(), headers: headersOf(method, path, settings, options) }
    const isRepeatable = /get|put|delete/.test(method) || init.headers.has('idempotency-key')
    const signal = AbortSignal.any([settings.signal ?? [], options.signal ?? []].flat())
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(url, init, signal, options)
      } catch (error) {
        if (attempt > retries || !canRetry(error, isRepeatable)) throw error
        const delayMs = retryDelay(attempt, error)
        if (delayMs > maxRetryAfterMs) throw error
        onRetry?.({ attempt, delayMs, error })
        await sleep(delayMs, signal)
      }
    }
  }

  /** One attempt. */
  async function send(
    url: string,
    init: { method: string; headers: Headers },
    signal: AbortSignal,
    options: AnyOptions,
  ): Promise<Reply<unknown>> {
    const { token, timeoutMs = 60_000, fetch = globalThis.fetch, body } = { ...settings, ...options }
    const bearer = typeof token === 'function' ? await token() : token
    if (bearer) init.headers.set('authorization', `Bearer ${bearer}`)
    const timeout = AbortSignal.timeout(timeoutMs)
    let response: Response, text: string
    try {
      response = await fetch(url, {
        ...init,
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: AbortSignal.any([signal, timeout]),
      })
      text = await response.text()
    } catch (cause) {
      signal.throwIfAborted()
      if (timeout.aborted) throw new TimeoutError(`No reply within ${timeoutMs} ms`, { cause })
      throw new ConnectionError('The connection failed', { cause })
    }
    const { status, headers } = response
    return { status, headers, body: parseReply(response, text) }
  }

  async function* iterate(path: string, options: AnyOptions = {}): AsyncGenerator<unknown, void> {
    for (let query = options.query; ;) {
      const { body } = await request('get', path, { ...options, query })
      const { items, next } = readPage(path, body)
      yield* items
      if (!next) return
      query = { ...query, ...next }
    }
  }

  const methods = ['get', 'post', 'put', 'patch', 'delete'].map(method => [
    method,
    async (path: string, options?: AnyOptions) => (await request(method, path, options)).body,
  ])
  // The types of paths, options and replies exist at compile time only.
  return { ...Object.fromEntries(methods), request, iterate } as unknown as Client
}

/** `.` and `..` would change the path of the URL, and an empty text would name another route. */
function fillPath(path: string, values: AnyOptions['path'] = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name} is "${value}"`)
    return encodeURIComponent(value)
  })
}

/** Values become text, lists with commas between; undefined and null are left out. */
function queryString(query: AnyOptions['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value != null) as [string, string][]
  const text = new URLSearchParams(given).toString()
  return text && `?${text}`
}

function headersOf(method: string, path: string, settings: ClientOptions, options: AnyOptions): Headers {
  const { body, idempotencyKey } = options
  // A random one need be no UUID: `crypto.randomUUID` is missing in pages that came over plain HTTP.
  const isHonoured = method === 'post' && IDEMPOTENT_POSTS.includes(path.replace('/api/v1/', ''))
  const key = idempotencyKey ?? (isHonoured && crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const headers = new Headers({ accept: 'application/json' })
  if (body !== undefined)
    headers.set('content-type', typeof body === 'string' ? 'text/plain' : 'application/json')
  if (key) headers.set('idempotency-key', key)
  // Names of headers differ by more than their case.
  for (const given of [settings.headers, options.headers])
    for (const name in given) headers.set(name, given[name]!)
  return headers
}

/** @throws ApiError for a status that is not 2xx, and if the reply claims to be JSON and is not */
function parseReply(response: Response, text: string): unknown {
  let { ok } = response
  let body: unknown = text || undefined
  try {
    if (text && response.headers.get('content-type')?.includes('json')) body = JSON.parse(text)
  } catch {
    ok = false
  }
  if (ok) return body
  throw new ApiError(response, body)
}

interface Position {
  has_more?: boolean
  limit: number
  offset: number
  next_before?: number | null
}

/** Has the list under any name; beside another list, it is `data`. */
interface ListData {
  data?: unknown
  pagination?: Position
}

/** The records of a page, and the query of the next page if there is one. */
function readPage(path: string, body: unknown): { items: unknown[]; next: object | false } {
  const { data, pagination } = body as { data: ListData; pagination?: Position }
  const items = Array.isArray(data) ? data : [data.data, ...Object.values(data)].find(Array.isArray)
  const { has_more, limit, offset, next_before } =
    pagination ?? data.pagination ?? (data as object as Position)
  if (has_more === undefined) throw new TypeError(`${path} is no list`)
  return {
    items: items as unknown[],
    next: has_more && (next_before ? { before: next_before } : { offset: offset + limit }),
  }
}
