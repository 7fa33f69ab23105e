import type {
  AuthCredentials,
  Lifecycle,
  Request,
  ResponseToolkit,
  RouteDefMethods,
  RouteOptions,
  RouteOptionsValidate,
  ServerRoute,
} from '@hapi/hapi'
import type Joi from 'joi'
import type { Plan } from '../settings/config.ts'
import type { Transaction } from '../database/database.ts'
import { apiError } from './errors.ts'

/** What a credential may do, least first. */
export const SCOPES = ['read-only', 'read-write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The scope that a user's role stands for. */
export const SCOPE_OF_ROLE: Record<Role, Scope> = {
  viewer: 'read-only',
  member: 'read-write',
  admin: 'admin',
  owner: 'admin',
}

/** The caller, as a strategy puts it into `request.auth.credentials`. */
export interface Caller {
  kind: 'session' | 'key'
  companyId: string
  plan: Plan
  scope: Scope
  /** The ids of a session's user and of the session, or of the key. */
  userId?: string
  sessionId?: string
  keyId?: string
  /** Present when the credential may only read: the message for other requests. */
  readOnlyReason?: string
}

/** The rate limit of a route without a caller. */
export type AddressLimit = {
  /** Routes of the same name share their counts. */
  name: string
  /** Counts requests whose body cannot be read or whose sender is refused, too: attempts at a password or a token. */
  isCountedFirst?: true
  /** Requests of one address; those of an IPv6 network count together. */
} & ({ perMinute: number } | { perHour: number })

/** How a route is guarded; every route carries one of these. */
export interface Guard {
  /** The minimum scope; absent for open routes. */
  scope?: Scope
  /** Accepts a session (JWT) only, as for a user's own settings. */
  sessionOnly?: true
  /** The rate limit that counts the calls; `null` for none. */
  limit: 'asset' | 'auth' | 'lineage' | AddressLimit | null
}

declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    access?: Guard
  }
}

/** The strategy of guarded routes, which `admission.ts` registers. */
export const CALLER_STRATEGY = 'caller'

function guarded(guard: Guard): RouteOptions {
  return { auth: CALLER_STRATEGY, plugins: { access: guard } }
}

/** Route options: who may call a route, and what counts the calls. */
export const access = {
  /** No credential needed. */
  open: { auth: false, plugins: { access: { limit: null } } } as RouteOptions,
  /** No credential needed, but an address may not call it as often as it likes. */
  byAddress: (limit: AddressLimit): RouteOptions => ({ auth: false, plugins: { access: { limit } } }),
  read: guarded({ scope: 'read-only', limit: 'asset' }),
  write: guarded({ scope: 'read-write', limit: 'asset' }),
  admin: guarded({ scope: 'admin', limit: 'asset' }),
  /** Events of pipelines, which come in bursts and are not sent again when they are refused: a limit of their own. */
  lineage: guarded({ scope: 'read-write', limit: 'lineage' }),
  /** A user's own settings: reads are not limited, operations on credentials are. */
  session: guarded({ sessionOnly: true, limit: null }),
  /** The same where every call leaves something behind. */
  sessionCounted: guarded({ sessionOnly: true, limit: 'asset' }),
  /** What a signed-in user makes for the whole company. */
  sessionWrite: guarded({ scope: 'read-write', sessionOnly: true, limit: 'asset' }),
  sessionLimited: guarded({ sessionOnly: true, limit: 'auth' }),
  /** Users and invitations: for signed-in admins. */
  users: guarded({ scope: 'admin', sessionOnly: true, limit: null }),
  /** Keys are managed by sessions and keys of scope admin. */
  keys: guarded({ scope: 'admin', limit: null }),
} as const

/** A request whose body and query were validated: their types are those of the schemas. */
export type ValidRequest<Body, Query> = Omit<Request, 'payload' | 'query'> & { payload: Body; query: Query }

/** A request, whatever its body and its query are. */
export type AnyRequest = ValidRequest<unknown, unknown>

/** The type of a schema; a schema that names none, as `Joi.object({…})`, gives what hapi says of any request. */
type Typed<T, Otherwise> = 0 extends T & 1 ? Otherwise : T

/** The options of hapi with a handler, which takes the types of the schemas `payload` and `query` in `validate`. */
interface ValidRouteOptions<Body, Query> extends Omit<RouteOptions, 'handler' | 'validate'> {
  validate?: Omit<RouteOptionsValidate, 'payload' | 'query'> & {
    payload?: Joi.AnySchema<Body>
    query?: Joi.AnySchema<Query>
  }
  handler(
    request: ValidRequest<Typed<Body, Request['payload']>, Typed<Query, Request['query']>>,
    h: ResponseToolkit,
  ): Lifecycle.ReturnValue
}

/**
 * Makes the function that writes the routes of one section of the API: a method, a path, one of `access`, and the options
 * of hapi, with the handler. A schema such as `Joi.object<NewTeam>({…})` gives the body or query in the handler its type.
 * @param tag names the section in `/openapi.json`; a route with `tags` of its own belongs to others
 */
export function routesOf(tag: string) {
  return <Body = Request['payload'], Query = Request['query']>(
    method: Uppercase<RouteDefMethods>,
    path: string,
    guard: RouteOptions,
    options: ValidRouteOptions<Body, Query>,
  ): ServerRoute => ({
    method,
    path,
    options: { tags: ['api', tag], ...guard, ...(options as RouteOptions) },
  })
}

/** The caller of a guarded route. */
export function caller(request: AnyRequest): Caller {
  return request.auth.credentials as unknown as Caller
}

/** A caller as hapi takes it from a strategy: what `caller` returns. */
export function credentialsOf(who: Caller): AuthCredentials {
  return who as unknown as AuthCredentials
}

/** How histories name a caller: `user:<id>` or `key:<id>`. */
export function actorOf(who: Caller): string {
  return who.kind === 'session' ? `user:${who.userId}` : `key:${who.keyId}`
}

/** Runs work in a transaction of the caller's company. */
export function inCompany<T>(request: AnyRequest, work: (trx: Transaction) => Promise<T>): Promise<T> {
  return request.server.db.company(caller(request).companyId, work)
}

/** True when a scope is at least another. */
export function covers(scope: Scope, required: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(required)
}

/** The 403 for a credential of the wrong kind or with too small a scope for the route; null if it is sufficient. */
export function refusalOf(request: AnyRequest): Error | null {
  const guard = request.route.settings.plugins?.access
  const who = caller(request)
  if (guard?.sessionOnly && who.kind !== 'session') {
    const message = 'This endpoint takes a sign-in token, not an API key: POST /api/v1/auth/login gives one'
    return apiError('FORBIDDEN', message, { current_scope: who.scope, required_scope: 'session' })
  }
  if (guard?.scope && !covers(who.scope, guard.scope)) return scopeRefusal('This', who.scope, guard.scope)
  // The scope alone does not decide: a dry run needs read-only, but puts load on a source.
  if (who.readOnlyReason !== undefined && request.method !== 'get' && request.method !== 'head')
    return apiError('FORBIDDEN', who.readOnlyReason, {
      current_scope: who.scope,
      required_scope: 'read-write',
    })
  return null
}

/**
 * Requires more than the guard of the route for some of its requests.
 * @param what needs the scope, at the start of a sentence: `SQL of your own`
 * @throws 403
 */
export function requireScope(request: AnyRequest, scope: Scope, what: string): void {
  const who = caller(request)
  if (!covers(who.scope, scope)) throw scopeRefusal(what, who.scope, scope)
}

function scopeRefusal(what: string, current: Scope, required: Scope): Error {
  return apiError('FORBIDDEN', `${what} needs the scope ${required}; the credential has ${current}`, {
    current_scope: current,
    required_scope: required,
  })
}
