/** The service as commands use it: over HTTP with a key, or in this process on the database of the settings. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { Option, type Command } from 'commander'
import type { RequestError, Response } from 'got'
import type { Caller } from '../http/access.ts'
import { CommandError, EXIT, unlessAborted, withServer, type CommandOptions } from './command.ts'
import { hasErrorData } from '../http/errors.ts'
import { errorMessageIn, fieldErrorsIn, serviceError } from './service-error.ts'
import { withCommandTimeout } from './timeouts.ts'

export interface ServiceReply<Body> {
  body: Body
  /** The service's clock at the reply, so that ages do not depend on the local clock. */
  serverTime: Date
}

/** Options of a request that measures. */
export interface RequestOptions {
  /** How long the reply may take, beyond the usual minute. It is then not tried again: the first try may still run. */
  timeoutMs?: number
}

export interface ServiceClient {
  /**
   * Calls a route of the API, given without `/api/v1`.
   * @throws CommandError when the reply is not a success
   */
  request<Body>(
    method: 'GET' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: object,
    options?: RequestOptions,
  ): Promise<ServiceReply<Body>>
  /** Present on the database of the settings, where workers may not run: the command does the work itself. */
  local?: { server: Server; companyId: string }
}

/** Options of commands that also work against a remote service. */
export interface ClientOptions extends CommandOptions {
  url?: string
  key?: string
}

export function withRemoteOptions(command: Command): Command {
  return withServiceOptions(command, '--key')
}

/** As `withRemoteOptions`. @param keyFlag the name of the option with the API key */
export function withServiceOptions(command: Command, keyFlag: '--key' | '--api-key'): Command {
  return command
    .addOption(
      new Option('--url <url>', 'use the service at this address instead of the database of the settings')
        .env('TIDEMARK_URL')
        .conflicts('company'),
    )
    .addOption(
      new Option(`${keyFlag} <key>`, 'the API key of the service; better given by its variable').env(
        'TIDEMARK_API_KEY',
      ),
    )
}

/** As `withClient`, within `--timeout`. @throws CommandError also when the time is over or the command is stopped */
export function withTimedClient<T>(
  options: ClientOptions & { timeout: number },
  stopped: AbortSignal,
  work: (client: ServiceClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withCommandTimeout({ signal: stopped, timeout: options.timeout }, signal =>
    withClient(options, signal, client => work(client, signal)),
  )
}

/** Runs work with a client of the service at `--url`, else of the database of the settings. */
export async function withClient<T>(
  options: ClientOptions,
  signal: AbortSignal,
  work: (client: ServiceClient) => Promise<T>,
): Promise<T> {
  const url = options.url?.trim() ?? ''
  const key = options.key?.trim() ?? ''
  if (url !== '') return work(remoteClient(url, key))
  if (key !== '')
    throw usageError('An API key is given, but no address: add --url (or TIDEMARK_URL), or leave the key out')
  return withServer({ signal }, async server => {
    const company = await withServiceErrors(server.plugins.auth.findCompany(options.company))
    return work(localClient(server, company.id))
  })
}

/** Turns HTTP errors of work in this process into the errors that a remote service causes. */
export function withServiceErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw hasErrorData(error) ? serviceError(error.output.statusCode, error.message) : error
  })
}

/** A client of a server in this process, as the operator, who owns the database and needs no key. */
export function localClient(server: Server, companyId: string): ServiceClient {
  // A key id of its own and the largest plan: no other caller's rate limit is used up.
  const operator: Caller = { kind: 'key', companyId, plan: 'enterprise', scope: 'admin', keyId: randomUUID() }
  return {
    local: { server, companyId },
    async request<Body>(method: string, path: string, signal: AbortSignal, sent?: object) {
      const injected = server.inject({
        method,
        url: `/api/v1${path}`,
        auth: { strategy: 'api-key', credentials: operator as object },
        ...(sent && { payload: sent }),
      })
      const { statusCode, payload } = await unlessAborted(injected, signal)
      const body = parseJson(payload)
      if (statusCode >= 300)
        throw serviceError(
          statusCode,
          errorMessageIn(body) ?? `The service failed (${statusCode})`,
          fieldErrorsIn(body),
        )
      return { body: body as Body, serverTime: new Date() }
    },
  }
}

const TIMEOUTS_MS = {
  lookup: 5_000,
  connect: 10_000,
  secureConnect: 10_000,
  response: 60_000,
  request: 90_000,
}
/** Before the first retry, where the service sends no Retry-After. */
const RETRY_DELAY_MS = 1_000
const MAX_RETRIES = { rateLimited: 5, unavailable: 2 }
/** The longest window of the service's rate limits, and a little. */
const MAX_RETRY_AFTER_MS = 75_000
/** Statuses of a proxy whose service restarts. */
const UNAVAILABLE_STATUSES = [502, 503, 504]

/**
 * A client of a remote service.
 * @param url of its API, without `/api/v1`
 * @param retryDelayMs times the number of tries so far is the delay before a retry, unless the service sends
 *   Retry-After; defaults to 1,000
 */
export function remoteClient(url: string, key: string, retryDelayMs = RETRY_DELAY_MS): ServiceClient {
  const base = baseOf(url)
  const authorization = `Bearer ${key}`
  if (key === '') throw usageError('An API key is needed with --url: add --key, or set TIDEMARK_API_KEY')
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageError('This is not an API key: check that it was copied completely')
  return {
    async request<Body>(
      method: 'GET' | 'POST',
      path: string,
      signal: AbortSignal,
      body?: object,
      { timeoutMs }: RequestOptions = {},
    ) {
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      const request = {
        ...{ method, path: `/api/v1${path}`, headers },
        ...(body && { body: JSON.stringify(body) }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      }
      return sendRequest<Body>(base, request, retryDelayMs, signal)
    },
  }
}

/** Posts a text to a public path of a remote service. @throws CommandError when the reply is not a success */
export async function postPublic<Body>(
  url: string,
  content: { path: string; body: string; contentType: string },
  signal: AbortSignal,
): Promise<Body> {
  const { path, body, contentType } = content
  const request: ServiceRequest = { method: 'POST', path, body, headers: { 'content-type': contentType } }
  return (await sendRequest<Body>(baseOf(url.trim()), request, RETRY_DELAY_MS, signal)).body
}

interface ServiceRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
  /** The limit for the reply; without it the usual one, and retries. */
  timeoutMs?: number
}

async function sendRequest<Body>(
  base: string,
  { path, headers: own, timeoutMs, ...request }: ServiceRequest,
  retryDelayMs: number,
  signal: AbortSignal,
): Promise<ServiceReply<Body>> {
  // Imported here: other commands start faster.
  const { default: got } = await import('got')
  const send = () =>
    got(`${base}${path}`, {
      ...request,
      headers: { ...own, accept: 'application/json' },
      // The key must not be sent to another address.
      followRedirect: false,
      throwHttpErrors: false,
      timeout: {
        ...TIMEOUTS_MS,
        ...(timeoutMs !== undefined && { response: timeoutMs, request: timeoutMs }),
      },
      retry: { limit: 0 },
      signal,
    }).catch((error: RequestError) => {
      throw signal.aborted ? signal.reason : connectionError(base, error)
    })
  const unavailable = timeoutMs === undefined ? MAX_RETRIES.unavailable : 0
  const response = await sendWithRetries(send, { ...MAX_RETRIES, unavailable }, retryDelayMs, signal)
  const { statusCode, headers } = response
  if (statusCode >= 300 && statusCode < 400) throw redirectError(base, headers.location)
  const body = parseJson(response.body)
  if (statusCode >= 400) throw errorReply(base, statusCode, body)
  if (body === undefined) throw notTidemarkError(base)
  return { body: body as Body, serverTime: serverTimeOf(headers.date) }
}

/** Retries what may succeed later, after the time of Retry-After or an increasing delay. */
async function sendWithRetries(
  send: () => Promise<Response<string>>,
  limits: typeof MAX_RETRIES,
  retryDelayMs: number,
  signal: AbortSignal,
): Promise<Response<string>> {
  for (let tries = 1; ; tries++) {
    const sent = await send().catch((error: unknown) => {
      if (error instanceof CommandError && error.isTransient && tries <= limits.unavailable) return error
      throw error
    })
    if (sent instanceof CommandError) await pause(tries * retryDelayMs, undefined, { signal })
    else {
      const { statusCode, headers } = sent
      const maxRetries =
        statusCode === 429
          ? limits.rateLimited
          : UNAVAILABLE_STATUSES.includes(statusCode)
            ? limits.unavailable
            : 0
      const waitMs = Number(headers['retry-after']) * 1_000 || tries * retryDelayMs
      if (tries > maxRetries || waitMs > MAX_RETRY_AFTER_MS) return sent
      await pause(waitMs, undefined, { signal })
    }
  }
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw usageError('--url (or TIDEMARK_URL) must be an address such as https://tidemark.example.com')
  if (parsed.username !== '' || parsed.password !== '')
    throw usageError('--url (or TIDEMARK_URL) takes no user and password: the key is enough')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

const usageError = (message: string): CommandError => new CommandError(message, EXIT.usage)

function serverTimeOf(date: string | undefined): Date {
  const at = new Date(date ?? '')
  return Number.isNaN(at.getTime()) ? new Date() : at
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A 4xx of another shape comes from another program, and an unknown path means that the API is elsewhere. */
function errorReply(base: string, status: number, body: unknown): CommandError {
  const message = errorMessageIn(body)
  const isNoPath = (body as { error?: { code?: string } } | undefined)?.error?.code === 'NOT_FOUND'
  if (message !== undefined && !isNoPath) return serviceError(status, message, fieldErrorsIn(body))
  return status >= 500 || status === 429
    ? serviceError(status, `${base} is unavailable (${status}): try again later`)
    : notTidemarkError(base)
}

function notTidemarkError(base: string): CommandError {
  return usageError(`${base} does not answer as Tidemark does: check --url`)
}

function redirectError(base: string, location: string | undefined): CommandError {
  const to =
    location !== undefined && URL.canParse(location, base) ? new URL(location, base).origin : undefined
  return usageError(
    `${base} redirects${to === undefined ? '' : ` to ${to}`}: give the address of the service itself`,
  )
}

const TLS_ERROR_CODE =
  /CERT|^ERR_TLS|^ERR_SSL|UNABLE_TO_|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|^EPROTO$/

/** Does not keep got's error as the cause: it holds the request with its key. */
function connectionError(base: string, { code, message }: RequestError): CommandError {
  if (TLS_ERROR_CODE.test(code))
    return new CommandError(
      `The certificate of ${base} is not trusted (${code}): check --url, or name its authority in NODE_EXTRA_CA_CERTS`,
      EXIT.error,
    )
  return new CommandError(`${base} cannot be reached (${code ?? message})`, EXIT.error, { isTransient: true })
}
