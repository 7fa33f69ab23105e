/** Asking the service from a command: over HTTP with a key, or in this process on the database of the settings. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import { Option, type Command } from 'commander'
import type { RequestError, Response } from 'got'
import type { Caller } from '../http/access.ts'
import { CommandError, EXIT, unlessAborted, withServer, type Options } from './command.ts'
import { hasErrorData } from '../http/errors.ts'
import { oneLine } from './terminal-text.ts'

/** What the service answered; anything but success was thrown. */
export interface Answer<Body> {
  body: Body
  /** The service's clock when it answered, so that ages do not depend on the one here. */
  at: Date
}

/** The service, as commands see it. */
export interface Client {
  /**
   * Asks one route of the API, `/api/v1` left out.
   * @throws CommandError with a sentence when the answer is no success
   */
  ask<Body>(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: object): Promise<Answer<Body>>
  /** Present on the database of the settings, where jobs may have no workers: work that is asked for runs here. */
  near?: { server: Server; companyId: string }
}

/** Options of commands that also work from afar. */
export interface ClientOptions extends Options {
  url?: string
  key?: string
}

/** Lets a command work from afar. */
export function fromAfar(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'ask the service at this address instead of the database of the settings')
        .env('TIDEMARK_URL')
        .conflicts('company'),
    )
    .addOption(
      new Option('--key <key>', 'the API key to ask it with; better given by its variable').env(
        'TIDEMARK_API_KEY',
      ),
    )
}

/** Works with the service that the options name: the one at `--url`, else the database of the settings. */
export async function withClient<T>(
  options: ClientOptions,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = options.url?.trim() ?? ''
  const key = options.key?.trim() ?? ''
  if (url !== '') return work(far(url, key))
  if (key !== '')
    throw usage('An API key is given, but no address: add --url (or TIDEMARK_URL), or leave the key out')
  return withServer({ signal }, async server => work(near(server, await companyOf(server, options.company))))
}

async function companyOf(server: Server, name: string | undefined): Promise<string> {
  return (await spoken(server.plugins.auth.findCompany(name))).id
}

/** Work in this process, whose refusals end a command as they do from afar. */
export function spoken<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw hasErrorData(error) ? replied(error.output.statusCode, error.message) : error
  })
}

/** The routes of a server of this process, asked as the operator, who holds the database and needs no key. */
export function near(server: Server, companyId: string): Client {
  // Counted as a key of its own, so that the limits of no other caller are used up, and those of no plan apply.
  const operator: Caller = { kind: 'key', companyId, plan: 'enterprise', scope: 'admin', keyId: randomUUID() }
  return {
    near: { server, companyId },
    async ask<Body>(method: string, path: string, signal: AbortSignal, sent?: object) {
      const asking = server.inject({
        method,
        url: `/api/v1${path}`,
        auth: { strategy: 'api-key', credentials: operator as never },
        ...(sent && { payload: sent }),
      })
      const { statusCode, payload } = await unlessAborted(asking, signal)
      const body = parse(payload)
      if (statusCode >= 300)
        throw replied(statusCode, messageOf(body) ?? `The service failed (${statusCode})`)
      return { body: body as Body, at: new Date() }
    },
  }
}

/** Milliseconds for each part of a request. */
const PATIENCE = { lookup: 5_000, connect: 10_000, secureConnect: 10_000, response: 60_000, request: 90_000 }
/** Milliseconds before the second try, where the service names no time. */
const PACE_MS = 1_000
/** Tries after the first: of a request that was one too many, and of one that nobody could answer. */
const TRIES = { limited: 5, silent: 2 }
/** Milliseconds that a service may ask to wait: the longest window of its limits, and a little. */
const LONGEST_WAIT = 75_000
/** Nobody was there to answer, as while a service starts anew. */
const AWAY = [502, 503, 504]

/**
 * A service elsewhere.
 * @param url where its API is, without `/api/v1`
 * @param paceMs milliseconds before the second try where the service names no time, 1,000 unless told; each later one
 *   waits for as many more
 */
export function far(url: string, key: string, paceMs = PACE_MS): Client {
  const base = baseOf(url)
  const authorization = `Bearer ${key}`
  if (key === '') throw usage('An API key is needed with --url: add --key, or set TIDEMARK_API_KEY')
  if (!/^[\x21-\x7e]+$/.test(key)) throw usage('The API key is none: check that it was copied whole')
  return {
    async ask<Body>(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: object) {
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      const request = { method, path: `/api/v1${path}`, headers, ...(body && { body: JSON.stringify(body) }) }
      return exchange<Body>(base, request, paceMs, signal)
    },
  }
}

/**
 * Sends a text to a path of a service elsewhere that anybody may ask.
 * @param path with what stands before it, such as `/api/public/…`
 * @throws CommandError with a sentence when the answer is no success
 */
export async function sendOpenly<Body>(
  url: string,
  sent: { path: string; body: string; contentType: string },
  signal: AbortSignal,
): Promise<Body> {
  const { path, body, contentType } = sent
  const request: Sent = { method: 'POST', path, body, headers: { 'content-type': contentType } }
  return (await exchange<Body>(baseOf(url.trim()), request, PACE_MS, signal)).body
}

interface Sent {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

async function exchange<Body>(
  base: string,
  { path, headers: own, ...request }: Sent,
  paceMs: number,
  signal: AbortSignal,
): Promise<Answer<Body>> {
  // Loaded when it is needed: other commands start faster.
  const { default: got } = await import('got')
  const send = () =>
    got(`${base}${path}`, {
      ...request,
      headers: { ...own, accept: 'application/json' },
      // A key is for this address only.
      followRedirect: false,
      throwHttpErrors: false,
      timeout: PATIENCE,
      retry: { limit: 0 },
      signal,
    }).catch((error: RequestError) => {
      throw signal.aborted ? signal.reason : silent(base, error)
    })
  const response = await patiently(send, paceMs, signal)
  const { statusCode, headers } = response
  if (statusCode >= 300 && statusCode < 400) throw moved(base, headers.location)
  const body = parse(response.body)
  if (statusCode >= 400) throw refused(base, statusCode, body)
  if (body === undefined) throw stranger(base)
  return { body: body as Body, at: clockOf(headers.date) }
}

/** Sends again what may go through later, after the time that the service names or a second or two. */
async function patiently(
  send: () => Promise<Response<string>>,
  paceMs: number,
  signal: AbortSignal,
): Promise<Response<string>> {
  for (let tries = 1; ; tries++) {
    const sent = await send().catch((error: unknown) => {
      if (error instanceof CommandError && error.mayPass && tries <= TRIES.silent) return error
      throw error
    })
    if (sent instanceof CommandError) await pause(tries * paceMs, undefined, { signal })
    else {
      const { statusCode, headers } = sent
      const most = statusCode === 429 ? TRIES.limited : AWAY.includes(statusCode) ? TRIES.silent : 0
      const waitMs = Number(headers['retry-after']) * 1_000 || tries * paceMs
      if (tries > most || waitMs > LONGEST_WAIT) return sent
      await pause(waitMs, undefined, { signal })
    }
  }
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw usage('--url (or TIDEMARK_URL) must be an address such as https://tidemark.example.com')
  if (parsed.username !== '' || parsed.password !== '')
    throw usage('--url (or TIDEMARK_URL) takes no user and password: the key is enough')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

function usage(message: string): CommandError {
  return new CommandError(message, EXIT.usage)
}

function clockOf(date: string | undefined): Date {
  const at = new Date(date ?? '')
  return Number.isNaN(at.getTime()) ? new Date() : at
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** What the service says is wrong, in either form of its errors, with what it suggests. */
function messageOf(body: unknown): string | undefined {
  const { error, detail } = (body ?? {}) as {
    error?: { message?: string; details?: { suggestion?: string } }
    detail?: { msg: string }[]
  }
  if (Array.isArray(detail)) return oneLine(detail.map(({ msg }) => msg).join('; '))
  if (typeof error?.message !== 'string') return undefined
  const suggestion = error.details?.suggestion
  return oneLine(suggestion ? `${error.message}. ${suggestion}` : error.message)
}

/** The codes of answers that are no success; what is not here did not go through, and may later. */
const EXIT_OF_STATUS: Record<number, number> = {
  400: EXIT.usage,
  401: EXIT.usage,
  403: EXIT.usage,
  404: EXIT.notFound,
  409: EXIT.usage,
  413: EXIT.usage,
  422: EXIT.usage,
}

/** An answer that is no success. */
function replied(status: number, message: string): CommandError {
  const mayPass = status >= 500 || status === 429
  return new Refusal(status, message, EXIT_OF_STATUS[status] ?? EXIT.error, { mayPass })
}

/** An answer of the service that is no success. */
export class Refusal extends CommandError {
  readonly status: number

  constructor(status: number, message: string, exit: number, more: { mayPass: boolean }) {
    super(message, exit, more)
    this.status = status
  }
}

/** What answers 4xx in other words than ours is something else, and what knows no such path is not where the API is. */
function refused(base: string, status: number, body: unknown): CommandError {
  const message = messageOf(body)
  const isNoPath = (body as { error?: { code?: string } } | undefined)?.error?.code === 'NOT_FOUND'
  if (message !== undefined && !isNoPath) return replied(status, message)
  return status >= 500 || status === 429
    ? replied(status, `${base} does not answer just now (${status}): try again later`)
    : stranger(base)
}

function stranger(base: string): CommandError {
  return usage(`${base} does not answer as Tidemark does: check --url`)
}

function moved(base: string, location: string | undefined): CommandError {
  const to =
    location !== undefined && URL.canParse(location, base) ? new URL(location, base).origin : undefined
  return usage(
    `${base} sends elsewhere${to === undefined ? '' : `, to ${to}`}: give the address of the service itself`,
  )
}

const OF_TLS =
  /CERT|^ERR_TLS|^ERR_SSL|UNABLE_TO_|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|^EPROTO$/

/** got's errors carry the request with its key, which must not travel: only what went wrong does. */
function silent(base: string, { code, message }: RequestError): CommandError {
  if (OF_TLS.test(code))
    return new CommandError(
      `The certificate of ${base} cannot be trusted (${code}): check --url, or name its authority in NODE_EXTRA_CA_CERTS`,
      EXIT.error,
    )
  return new CommandError(`${base} cannot be reached (${code ?? message})`, EXIT.error, { mayPass: true })
}
