import { createHmac, webcrypto } from 'node:crypto'
import type { Lifecycle, Request, RequestRoute, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi'
import { actorOf, caller } from './access.ts'
import { rows } from '../database/database.ts'
import { apiError, hasCode, invalidField, unprocessable } from './errors.ts'
import { answers400 } from './replies.ts'

export const KEPT_HOURS = 24
/** After the lease, a request that never ended counts as lost with its process. */
const LEASE_MINUTES = 5
const MAX_KEY_CHARACTERS = 255
/** New keys of a company within 24 hours: what bounds the rows that it has here. */
const MAX_KEYS_A_DAY = 100_000
/** Characters of a reply as JSON that are stored; replies to what is created have a few thousand. */
const MAX_REPLY_CHARACTERS = 65_536
const DAY_SECONDS = 86_400

/** A key is scoped to its caller, whatever its text. */
interface Claim {
  companyId: string
  actor: string
  key: string
}

interface Kept {
  requestHash: Buffer
  status: number | null
  body: string | null
  headers: Record<string, string> | null
}

/** Headers that are replayed with a reply. */
const KEPT_HEADERS = ['location', 'cache-control']

/** Whether a route replays its reply under the same `Idempotency-Key`: a guarded POST that creates something. */
export function keepsReplies({ method, settings }: Pick<RequestRoute, 'method' | 'settings'>): boolean {
  const { scope, sessionOnly } = settings.plugins?.access ?? {}
  const { status = {} } = settings.response ?? {}
  return (
    method === 'post' && (scope !== undefined || sessionOnly === true) && (201 in status || 202 in status)
  )
}

/**
 * Honours `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) on requests that create something: a retry
 * after a lost reply gets that reply, and nothing is created twice. Replies are sealed, as some hold secrets
 * that are shown once. A request that failed changed nothing, and so its key may be used again.
 */
export function installIdempotency(server: Server): void {
  server.retention.push({ table: 'idempotent_replies', column: 'created_at', days: KEPT_HOURS / 24 })
  server.ext('onPreStart', () => {
    for (const { method, settings } of server.table()) {
      const { handler } = settings
      // Around the handler: later hooks do not run for a client that hung up, and that client will retry.
      if (keepsReplies({ method, settings }) && typeof handler === 'function')
        settings.handler = once(handler as Lifecycle.Method)
    }
  })
}

function once(handler: Lifecycle.Method): Lifecycle.Method {
  return async function (this: unknown, request, h) {
    const { server } = request
    const claim = claimOf(request)
    if (!claim) return handler.call(this as never, request, h)
    const hashes = await hashesOf(request)
    const kept = await take(server, claim, hashes[0]!)
    if (kept) return again(server, claim, kept, hashes, h)
    try {
      await countKey(server, claim)
      const reply = await handler.call(this as never, request, h)
      const response = isResponse(reply) ? reply : h.response(reply as object)
      await quietly(server, keep(server, claim, response))
      return response
    } catch (error) {
      await quietly(server, release(server, claim))
      throw error
    }
  }
}

function isResponse(reply: unknown): reply is ResponseObject {
  return typeof reply === 'object' && reply !== null && 'source' in reply && 'statusCode' in reply
}

/** A failure to store the reply does not fail the request: the key is free again after its lease. */
async function quietly(server: Server, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) =>
    server.pino.warn({ err: error }, 'a reply could not be kept for its Idempotency-Key'),
  )
}

/** @throws 409 while the first request is in progress, 400 or 422 when it was a different one */
function again(
  server: Server,
  claim: Claim,
  { requestHash, status, body, headers }: Kept,
  hashes: readonly Buffer[],
  h: ResponseToolkit,
): ResponseObject {
  if (!hashes.some(hash => requestHash.equals(hash))) throw otherRequest(h.request)
  if (status === null) throw stillRunning()
  if (body === null) throw lostReply('is too large to be kept')
  const reply = h.response(JSON.parse(opened(server, claim, body)) as object).code(status)
  for (const [name, value] of Object.entries(headers ?? {})) reply.header(name, value)
  return reply.header('Idempotency-Replayed', 'true')
}

function claimOf(request: Request): Claim | null {
  const given = request.headers['idempotency-key'] as string | undefined
  if (given === undefined || !keepsReplies(request.route as unknown as RequestRoute)) return null
  if (given.length > MAX_KEY_CHARACTERS || !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(given))
    throw badKey(request)
  const who = caller(request)
  return { companyId: who.companyId, actor: actorOf(who), key: given }
}

/**
 * Hashes of method, path, query and body, independent of the order of fields: one with each key of the vault, the newest
 * first. A hash without a key would let a password in a body be guessed. What is no JSON value is hashed by its bytes, in a
 * thread of the pool: walking through them would take seconds a megabyte. The values of JSON are counted before.
 */
async function hashesOf({ server, method, url, payload }: Request): Promise<Buffer[]> {
  const body = Buffer.isBuffer(payload) ? [null, await digestOf(payload)] : [sorted(payload ?? null)]
  const asked = JSON.stringify([method, url.pathname, url.search, ...body])
  return server.vault
    .deriveAll('idempotent request')
    .map(({ key }) => createHmac('sha256', key).update(asked).digest())
}

async function digestOf(bytes: Buffer): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString(
    'base64',
  )
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, item]) => [name, sorted(item)]))
}

/** Claims a key for a request, or returns what is stored of the request that has it. */
function take({ db }: Server, claim: Claim, requestHash: Buffer): Promise<Kept | null> {
  const bound = { ...claim, requestHash, kept: KEPT_HOURS, lease: LEASE_MINUTES }
  return db.company(claim.companyId, async trx => {
    const taken = await rows(
      trx,
      `insert into idempotent_replies as r (company_id, actor, key, request_hash)
       values (:companyId, :actor, :key, :requestHash)
       on conflict (company_id, actor, key) do update
         set request_hash = excluded.request_hash, status = null, body = null, headers = null, created_at = now()
         where r.created_at < now() - case when r.status is null then :lease * interval '1 minute' else :kept * interval '1 hour' end
       returning 1 as one`,
      bound,
    )
    if (taken.length > 0) return null
    const [kept] = await rows<Kept>(
      trx,
      `select request_hash, status, body, headers from idempotent_replies
        where company_id = :companyId and actor = :actor and key = :key`,
      bound,
    )
    // The first request failed meanwhile and released the key.
    if (!kept) throw stillRunning()
    return kept
  })
}

/** @throws 429 for a company that used too many keys; other companies are not affected */
async function countKey({ limits }: Server, { companyId }: Claim): Promise<void> {
  try {
    await limits.take(`idempotency:${companyId}`, MAX_KEYS_A_DAY, DAY_SECONDS)
  } catch (error) {
    if (!hasCode(error, 'RATE_LIMITED')) throw error
    const message = `A company may use ${MAX_KEYS_A_DAY} Idempotency-Keys in 24 hours: send the request without one`
    throw Object.assign(error as Error, { message })
  }
}

async function keep({ db, vault }: Server, claim: Claim, response: ResponseObject): Promise<void> {
  const reply = JSON.stringify(response.source ?? null)
  const body = reply.length > MAX_REPLY_CHARACTERS ? null : vault.seal(reply, placeOf(claim))
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap(name =>
      response.headers[name] === undefined ? [] : [[name, response.headers[name]]],
    ),
  )
  await db.company(claim.companyId, trx =>
    trx.raw(
      `update idempotent_replies set status = :status, body = :body, headers = cast(:headers as jsonb), created_at = now()
        where company_id = :companyId and actor = :actor and key = :key and status is null`,
      { ...claim, status: response.statusCode, body, headers: JSON.stringify(headers) },
    ),
  )
}

async function release({ db }: Server, claim: Claim): Promise<void> {
  await db.company(claim.companyId, trx =>
    trx.raw(
      `delete from idempotent_replies
        where company_id = :companyId and actor = :actor and key = :key and status is null`,
      { ...claim },
    ),
  )
}

const placeOf = ({ companyId, actor, key }: Claim): string => `idempotent_reply:${companyId}:${actor}:${key}`

/** A reply sealed with a key that was removed since is lost; the request is still not run again. */
function opened({ vault }: Server, claim: Claim, body: string): string {
  try {
    return vault.open(body, placeOf(claim))
  } catch {
    throw lostReply('can be read no more')
  }
}

function lostReply(problem: string): Error {
  const message = `This was done, but its reply ${problem}: look for what it made, or use another Idempotency-Key`
  return apiError('CONFLICT', message)
}

function stillRunning(): Error {
  const error = apiError(
    'CONFLICT',
    'A request with this Idempotency-Key is still being answered: try again in a second',
  )
  error.output.headers['Retry-After'] = '1'
  return error
}

function otherRequest(request: Request): Error {
  const message = 'was used for another request: take a new key for each request'
  return refusedKey(request, message, 'idempotency.reused')
}

function badKey(request: Request): Error {
  const msg = `must be 1 to ${MAX_KEY_CHARACTERS} visible ASCII characters, such as a UUID`
  return refusedKey(request, msg, 'idempotency.key')
}

/** Has the same error body as any other invalid input at the path. */
function refusedKey({ path }: Request, problem: string, type: string): Error {
  const name = 'idempotency-key'
  return answers400(path)
    ? invalidField(name, problem)
    : unprocessable([{ loc: ['header', name], msg: `${name} ${problem}`, type }])
}
