import { Agent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
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
  /** Whether asking twice does no more than asking once; then a busy server is asked again. */
  isRepeatable: boolean
  signal?: AbortSignal
}

interface RestReply {
  status: number
  body: unknown
}

/** Requests to one service over kept connections, to the address that was vetted. */
export interface RestClient {
  /**
   * The reply's JSON body, and its status.
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
const BUSY_STATUSES = [429, 502, 503, 504]
/**
 * A kept connection that was cut is asked again. One that could not be made is not: got would reject without the
 * reason, and go on asking behind our back.
 */
const CONNECTION_CUT_CODES = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']

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
  const client: RestClient = {
    async send({ method, path, query, body, headers: more, timeoutMs, isRepeatable, signal }) {
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
        retry: isRepeatable
          ? {
              limit: 3,
              methods: [method],
              statusCodes: BUSY_STATUSES,
              errorCodes: CONNECTION_CUT_CODES,
              maxRetryAfter: 10_000,
            }
          : { limit: 0 },
        signal,
      })
      void request.on('downloadProgress', ({ transferred }) => {
        if (transferred > MAX_BODY_BYTES) request.cancel()
      })
      try {
        const { statusCode, body: bytes } = await request
        received += bytes.length
        const parsed = parseBody(bytes)
        if (statusCode >= 200 && statusCode < 300) return { status: statusCode, body: parsed }
        throw new RestFailure(statusCode, describe(parsed))
      } catch (error) {
        throw signal?.aborted ? signal.reason : withoutHeaders(error)
      }
    },
    get: (path, options) => client.send({ method: 'GET', path, ...options, isRepeatable: true }),
    received: () => received,
    close: () => agent.destroy(),
  }
  return client
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
