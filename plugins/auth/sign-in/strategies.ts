import Boom from '@hapi/boom'
import type { Plugin, Request, ResponseToolkit, Server } from '@hapi/hapi'
import * as hapiAuthJwt2 from 'hapi-auth-jwt2'
import { validate as isUuid } from 'uuid'
import type { Caller, Scope } from '../../../server/http/access.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { apiError } from '../../../server/http/errors.ts'
import { findAndTake, isCountedAtOnce, type Taken } from '../../../server/http/limits.ts'
import { isRefusedWrite } from '../../../server/database/pool.ts'
import { findDemoCaller, DEMO_KEY_PREFIX } from './demo-sessions.ts'
import { findSessionCaller } from './sessions.ts'
import { accessTokenKey, isAccessTokenHeader, sha256, verifyOptions, type AccessClaims } from './tokens.ts'

// The package's types say `export =`, yet as a module its plugin is the default export.
const jwtPlugin = (hapiAuthJwt2 as unknown as { default: Plugin<undefined> }).default

export const API_KEY_PREFIX = 'aa_'

/** Registers the strategies `api-key` and `jwt`; both set a `Caller` as the credentials. */
export async function addStrategies(server: Server): Promise<void> {
  await server.register(jwtPlugin)
  server.auth.strategy('jwt', 'jwt', {
    key: (async ({ header }: { header: unknown }) => {
      const key =
        isAccessTokenHeader(header) && accessTokenKey(server.vault, (header as { kid?: unknown }).kid)
      if (!key) throw unauthorized(MESSAGES.token)
      return { key }
    }) as never,
    complete: true,
    verifyOptions,
    tokenType: 'Bearer',
    urlKey: false,
    cookieKey: false,
    payloadKey: false,
    validate: (async (claims: Partial<AccessClaims> & { exp?: number }) => {
      const { sub, sid, exp } = claims
      if (typeof exp !== 'number' || !isUuid(sub) || !isUuid(sid)) return { isValid: false }
      const credentials = await findSessionCaller(server, sid as string, sub as string)
      return credentials ? { isValid: true, credentials } : { isValid: false, errorMessage: 'ended' }
    }) as never,
    errorFunc: (context: { errorType: string; message?: string; scheme?: string }) =>
      context.errorType === 'unauthorized' && !NO_TOKEN_ERRORS.has(context.message ?? '')
        ? { ...context, errorType: 'boomify', error: unauthorized(messageOf(context.message)) }
        : {
            ...context,
            ...(NO_TOKEN_ERRORS.has(context.message ?? '') && { message: null, scheme: 'Bearer' }),
          },
  } as never)
  server.auth.scheme('api-key', () => ({ authenticate: authenticateKey }))
  server.auth.strategy('api-key', 'api-key')
}

/** Messages of hapi-auth-jwt2 for a missing or malformed token. */
const NO_TOKEN_ERRORS = new Set(['token is null', 'Invalid token format'])

const MESSAGES = {
  token: 'The access token is not valid: sign in with POST /api/v1/auth/login',
  expired: 'The access token has expired: PUT /api/v1/auth/tokens/current returns a new one',
  ended: 'The session has ended: sign in again with POST /api/v1/auth/login',
  key: 'The API key is unknown: check that it was copied completely, or create one with POST /api/v1/api-keys',
  expiredKey: 'The API key has expired: create a new one with POST /api/v1/api-keys',
  revokedKey: 'The API key was revoked: create a new one with POST /api/v1/api-keys',
  demoKey: 'The demo session has ended: POST /api/v1/demo/session returns a new key',
}

function messageOf(message: string | undefined): string {
  if (message === 'Expired token') return MESSAGES.expired
  return message === 'ended' ? MESSAGES.ended : MESSAGES.token
}

function unauthorized(message: string): Boom.Boom {
  const error = apiError('UNAUTHORIZED', message)
  error.output.headers['WWW-Authenticate'] = 'Bearer error="invalid_token"'
  return error
}

interface KeyRow extends Omit<Taken, 'isAllowed'> {
  /** Null or missing when the request was not counted. */
  isAllowed?: boolean | null
  id: string
  companyId: string
  plan: Plan
  scope: Scope
  isRevoked: boolean
  isExpired: boolean
}

const KEY_QUERY = `
  select k.id, k.company_id, c.plan, k.scope, k.revoked_at is not null as is_revoked,
     k.expires_at is not null and k.expires_at <= now() as is_expired,
     k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) as is_good
   from api_keys k join companies c on c.company_id = k.company_id
   where k.key_hash = :hash`

// The time of last use is written at most once per minute.
const COUNTED_KEY_QUERY = findAndTake(
  KEY_QUERY,
  `update api_keys set last_used_at = now()
   where key_hash = :hash and revoked_at is null and (expires_at is null or expires_at > now())
     and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
)

async function authenticateKey(request: Request, h: ResponseToolkit) {
  const key = /^Bearer +(\S+)$/i.exec(String(request.headers.authorization ?? ''))?.[1]
  // Without a credential, hapi tries the next strategy.
  if (!key?.startsWith(API_KEY_PREFIX)) throw Boom.unauthorized(null, 'ApiKey')
  if (key.startsWith(DEMO_KEY_PREFIX)) {
    const visitor = await findDemoCaller(request.server, key)
    if (!visitor) throw unauthorized(MESSAGES.demoKey)
    return h.authenticated({ credentials: visitor as never })
  }
  const bound = { hash: sha256(key), is_counted: isCountedAtOnce(request) }
  const { db } = request.server
  const [row] = await db.statement<KeyRow>(COUNTED_KEY_QUERY, bound, 'key').catch((error: unknown) => {
    if (!isRefusedWrite(error)) throw error
    // A read-only database can still authenticate keys, without counting.
    return db.statement<KeyRow>(KEY_QUERY, bound, 'known key')
  })
  if (!row) throw unauthorized(MESSAGES.key)
  if (row.isRevoked) throw unauthorized(MESSAGES.revokedKey)
  if (row.isExpired) throw unauthorized(MESSAGES.expiredKey)
  if (typeof row.isAllowed === 'boolean') request.plugins.taken = { ...row, isAllowed: row.isAllowed }
  const credentials: Caller = {
    kind: 'key',
    companyId: row.companyId,
    plan: row.plan,
    scope: row.scope,
    keyId: row.id,
  }
  return h.authenticated({ credentials: credentials as never })
}
