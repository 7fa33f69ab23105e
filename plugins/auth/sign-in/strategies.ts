import Boom from '@hapi/boom'
import type {
  Plugin,
  Request,
  ResponseToolkit,
  ServerAuthSchemeObject,
  ServerAuthSchemeOptions,
} from '@hapi/hapi'
import * as hapiAuthJwt2 from 'hapi-auth-jwt2'
import { validate as isUuid } from 'uuid'
import { credentialsOf, type Scope } from '../../../server/http/access.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { apiError } from '../../../server/http/errors.ts'
import { ADMIT_KEY, isCountedAtOnce, type Taken } from '../../../server/http/limits.ts'
import { isRefusedWrite } from '../../../server/database/pool.ts'
import type { AuthDeps } from '../deps.ts'
import { findDemoCaller, DEMO_KEY_PREFIX } from './demo-sessions.ts'
import { findSessionCaller } from './sessions.ts'
import { accessTokenKey, isAccessTokenHeader, sha256, verifyOptions, type AccessClaims } from './tokens.ts'

// The package's types say `export =`, yet as a module its plugin is the default export.
export const jwtPlugin = (hapiAuthJwt2 as unknown as { default: Plugin<undefined> }).default

export const API_KEY_PREFIX = 'aa_'

/** The options of the strategy `jwt`, which sets a `Caller` as the credentials. */
export function jwtOptions(deps: AuthDeps): ServerAuthSchemeOptions {
  return {
    async key({ header }: { header: { kid?: unknown } }) {
      const key = isAccessTokenHeader(header) && accessTokenKey(deps.vault, header.kid)
      if (!key) throw unauthorized(MESSAGES.token)
      return { key }
    },
    complete: true,
    verifyOptions,
    tokenType: 'Bearer',
    urlKey: false,
    cookieKey: false,
    payloadKey: false,
    async validate({ sub, sid, exp }: Partial<AccessClaims> & { exp?: number }) {
      if (typeof exp !== 'number' || !isUuid(sub) || !isUuid(sid)) return { isValid: false }
      const credentials = await findSessionCaller(deps, sid as string, sub as string)
      return credentials ? { isValid: true, credentials } : { isValid: false, errorMessage: 'ended' }
    },
    errorFunc: (context: { errorType: string; message?: string; scheme?: string }) =>
      context.errorType === 'unauthorized' && !NO_TOKEN_ERRORS.has(context.message ?? '')
        ? { ...context, errorType: 'boomify', error: unauthorized(messageOf(context.message)) }
        : {
            ...context,
            ...(NO_TOKEN_ERRORS.has(context.message ?? '') && { message: null, scheme: 'Bearer' }),
          },
  }
}

/** The scheme of API keys, which sets a `Caller` as the credentials. */
export function apiKeyScheme(): ServerAuthSchemeObject {
  return { authenticate: authenticateKey }
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
  /** Null or missing when its limit is not known. */
  isAllowed?: boolean | null
  id: string
  companyId: string
  plan: Plan
  scope: Scope
  isRevoked: boolean
  isExpired: boolean
}

/** Finds a key without counting, for a database that takes no writes. */
const KEY_QUERY = `
  select k.id, k.company_id, c.plan, k.scope, k.revoked_at is not null as is_revoked,
     k.expires_at is not null and k.expires_at <= now() as is_expired
   from api_keys k join companies c on c.company_id = k.company_id
   where k.key_hash = :hash`

async function authenticateKey(request: Request, h: ResponseToolkit) {
  const key = /^Bearer +(\S+)$/i.exec(String(request.headers.authorization ?? ''))?.[1]
  // Without a credential, hapi tries the next strategy.
  if (!key?.startsWith(API_KEY_PREFIX)) throw Boom.unauthorized(null, 'ApiKey')
  if (key.startsWith(DEMO_KEY_PREFIX)) {
    const visitor = await findDemoCaller(request.server, key)
    if (!visitor) throw unauthorized(MESSAGES.demoKey)
    return h.authenticated({ credentials: credentialsOf(visitor) })
  }
  const bindings = { hash: sha256(key), is_counted: isCountedAtOnce(request) }
  const { db } = request.server
  const [row] = await db.statement<KeyRow>(ADMIT_KEY, bindings, 'key').catch((error: unknown) => {
    if (!isRefusedWrite(error)) throw error
    // A read-only database can still authenticate keys, without counting.
    return db.statement<KeyRow>(KEY_QUERY, bindings, 'known key')
  })
  // The function gives a row of nulls for an unknown key.
  if (!row?.id) throw unauthorized(MESSAGES.key)
  if (row.isRevoked) throw unauthorized(MESSAGES.revokedKey)
  if (row.isExpired) throw unauthorized(MESSAGES.expiredKey)
  if (typeof row.isAllowed === 'boolean') request.plugins.taken = { ...row, isAllowed: row.isAllowed }
  const { companyId, plan, scope, id: keyId } = row
  return h.authenticated({ credentials: credentialsOf({ kind: 'key', companyId, plan, scope, keyId }) })
}
