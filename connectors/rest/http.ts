import { Agent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import type { RequestError } from 'got'
import type { ConnectOptions } from '../connector.ts'
import { waitForEvent, withConnectTimeout, connectSocket, rejectOnAbort } from '../dial.ts'
import type { StageReporter } from '../stages.ts'
import { RestFailure } from './errors.ts'

/** A vendor's service, always over HTTPS. */
export interface RestServer {
  engine: string
  host: string
  /** Defaults to 443. */
  port?: number
}

export interface RestRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** From the slash, each part encoded. */
  path: string
  query?: Record<string, string | number | boolean>
  /** Sent as JSON. */
  body?: object
  headers?: Record<string, string>
  /** Milliseconds to wait for the reply; defaults to 60,000. */
  timeoutMs?: number
  retry: RetryPolicy
  /** What a further try has in place of the query or the body. @param failure of the try before */
  againWith?(failure: unknown): Pick<RestRequest, 'query' | 'body'>
  signal?: AbortSignal
}

/** When a request that failed is sent again. */
export interface RetryPolicy {
  /** Milliseconds before each further try; in place of them, what the server asks for with Retry-After. */
  pausesMs: readonly number[]
  isTransient(failure: unknown): boolean
}

export const NO_RETRIES: RetryPolicy = { pausesMs: [], isTransient: () => false }

const BUSY_STATUSES: readonly number[] = [429, 502, 503, 504]
/** A connection that could not be made is not among them: it would not be made a moment later. */
const CONNECTION_CUT_CODES: readonly string[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']

/** Whether a request may do better a moment later, while it is not known whether the server took this one. */
export function isBusyOrCut(failure: unknown): boolean {
  if (failure instanceof RestFailure) return BUSY_STATUSES.includes(failure.status)
  return CONNECTION_CUT_CODES.includes(String((failure as { code?: unknown }).code))
}

/** For requests of which sending twice does no more than sending once. */
export const REPEATABLE: RetryPolicy = { pausesMs: [1_000, 2_000, 4_000], isTransient: isBusyOrCut }

interface RestReply {
  status: number
  body: unknown
}

/** Requests to one service over kept connections, to the address that was vetted. */
export interface RestClient {
  /**
   * The reply's JSON body, and its status; of the last try, where the request is sent again.
   * @throws RestFailure for a status other than 2xx; what got throws for the rest, without headers
   */
  send(request: RestRequest): Promise<RestReply>
  /** The same of a GET, which is asked again where the server is busy. */
  get(path: string, options?: Pick<RestRequest, 'query' | 'signal'>): Promise<RestReply>
  /** Bytes of the replies until now. */
  received(): number
  close(): void
}

export interface RestClientOptions {
  /** Headers of every request; asked for each, since tokens run out. */
  headers: () => Promise<Record<string, string>> | Record<string, string>
  /** The vendor's code and message in the body of a failure. */
  describe: (body: unknown) => { code?: string; message?: string }
}

const REQUEST_TIMEOUT_MS = 60_000
/** Larger replies are refused: pages of all three vendors are far smaller. */
const MAX_BODY_BYTES = 128 * 1024 * 1024
/** A server that wants to be left alone for longer is not asked again. */
const MAX_RETRY_AFTER_MS = 10_000

/**
 * Prepares to talk to a service: asks egress for the address, and dials no other.
 * @param step when given, a connection is opened at once, and `reach` and `tls` are reported
 */
export async function openRestClient(
  server: RestServer,
  options: ConnectOptions,
  { headers, describe }: RestClientOptions,
  step?: StageReporter,
): Promise<RestClient> {
  const { engine, host, port = 443 } = server
  // Loaded when it is first needed: it would delay each start.
  const { default: got } = await import('got')
  const address = await withConnectTimeout(engine, options, async signal => {
    const vetted = await rejectOnAbort(options.egress.address(host, port), signal)
    if (step) await probeTls({ host, port, address: vetted }, signal, step)
    return vetted
  })
  let received = 0
  const agent = new Agent({ keepAlive: true, maxSockets: 4, lookup: fixedLookup(address) })
  async function sendOnce({ method, path, query, body, headers: more, timeoutMs, signal }: RestRequest) {
    const request = got(`https://${bracketIpv6(host)}:${port}${path}`, {
      method,
      searchParams: query,
      json: body,
      headers: { accept: 'application/json', ...(await headers()), ...more },
      agent: { https: agent },
      followRedirect: false,
      throwHttpErrors: false,
      responseType: 'buffer',
      timeout: { request: timeoutMs ?? REQUEST_TIMEOUT_MS },
      retry: { limit: 0 },
      signal,
    })
    void request.on('downloadProgress', ({ transferred }) => {
      if (transferred > MAX_BODY_BYTES) request.cancel()
    })
    try {
      const { statusCode, body: bytes, headers: replied } = await request
      received += bytes.length
      const parsed = parseBody(bytes)
      if (statusCode >= 200 && statusCode < 300) return { status: statusCode, body: parsed }
      throw new RestFailure(statusCode, {
        ...describe(parsed),
        retryAfterMs: readRetryAfter(replied['retry-after']),
      })
    } catch (error) {
      throw signal?.aborted ? signal.reason : withoutHeaders(error)
    }
  }
  const client: RestClient = {
    send: request => sendWithRetries(request, sendOnce),
    get: (path, options) => client.send({ method: 'GET', path, ...options, retry: REPEATABLE }),
    received: () => received,
    close: () => agent.destroy(),
  }
  return client
}

async function sendWithRetries(
  request: RestRequest,
  sendOnce: (request: RestRequest) => Promise<RestReply>,
): Promise<RestReply> {
  const { retry, againWith, signal } = request
  let tried = request
  for (const pauseMs of retry.pausesMs) {
    try {
      return await sendOnce(tried)
    } catch (failure) {
      const { retryAfterMs = pauseMs } = failure as Partial<RestFailure>
      if (signal?.aborted || !retry.isTransient(failure) || retryAfterMs > MAX_RETRY_AFTER_MS) throw failure
      const slept = await sleep(retryAfterMs, true, { signal }).catch(() => false)
      if (!slept) throw signal?.reason
      tried = { ...request, ...againWith?.(failure) }
    }
  }
  return sendOnce(tried)
}

/** Milliseconds of a Retry-After in seconds or as a date; undefined without one. */
function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Reaches the service and completes a TLS handshake, for the stages of a connection test. */
async function probeTls(
  target: { host: string; port: number; address: string },
  signal: AbortSignal,
  step: StageReporter,
): Promise<void> {
  const socket = await connectSocket(target, signal)
  try {
    step('reach', `${target.host}:${target.port} answers.`)
    const servername = isIP(target.host) === 0 ? { servername: target.host } : {}
    const encrypted = tls.connect({ socket, host: target.host, ...servername })
    encrypted.on('error', () => {})
    await waitForEvent(encrypted, 'secureConnect', signal)
    step('tls', 'The connection is encrypted and the certificate verified.')
  } finally {
    socket.destroy()
  }
}

function fixedLookup(address: string): LookupFunction {
  const family = isIP(address)
  return (_host, options, callback) =>
    options.all ? callback(null, [{ address, family }]) : callback(null, address, family)
}

function bracketIpv6(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}

function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** got's errors carry the request with its Authorization header, which no log must see. */
function withoutHeaders(error: unknown): unknown {
  if (error instanceof RestFailure) return error
  const { name, code, message } = error as RequestError
  if (name === 'CancelError')
    return Object.assign(new Error('The reply is too large.'), { code: 'TOO_LARGE' })
  return Object.assign(new Error(message), { code })
}
