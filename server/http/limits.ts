import type { Request, Server } from '@hapi/hapi'
import Boom from '@hapi/boom'
import ipaddr from 'ipaddr.js'
import { caller, type AddressLimit, type AnyRequest } from './access.ts'
import type { Plan } from '../settings/config.ts'
import { apiError } from './errors.ts'
import { isRefusedWrite } from '../database/pool.ts'
import { hasBody } from './replies.ts'

/** The limits of each API key of a plan, and the number of keys. */
export const PLAN_LIMITS: Record<Plan, { perMinute: number; burst: number; maxKeys: number | null }> = {
  free_trial: { perMinute: 20, burst: 2, maxKeys: 1 },
  starter: { perMinute: 30, burst: 3, maxKeys: 1 },
  growth: { perMinute: 500, burst: 25, maxKeys: 10 },
  professional: { perMinute: 1_000, burst: 50, maxKeys: 25 },
  enterprise: { perMinute: 5_000, burst: 100, maxKeys: null },
}

/** Requests with lineage events of one key or user, whatever its plan. */
const LINEAGE_LIMITS = { perMinute: 6_000, burst: 300 }

/** At most so many, counted from the first one on. */
export interface Window {
  limit: number
  seconds: number
}

/** The window nearest to its limit, as the headers show it. */
interface Standing {
  limit: number
  remaining: number
  /** Epoch seconds. */
  resetsAt: number
}

/** Rate limits, exact over all processes. */
export interface Limits {
  /**
   * Counts one against a limit; what is refused is not counted. With the request, its reply carries the limit's headers.
   * Not for use inside a transaction: it takes a connection of its own.
   * @param name what is limited and who it counts: `discovery:<asset id>`
   * @throws 429 `RATE_LIMITED` with `Retry-After`
   */
  take(name: string, limit: number, seconds: number, request?: AnyRequest): Promise<void>
  /**
   * Holds a guarded request to the limit of its route before its body is read: counts it where there is no body,
   * else only looks whether the limit is used up, since a body that cannot be read does not count.
   * @throws 429 `RATE_LIMITED`
   */
  admit(request: Request): Promise<void>
  /** Counts a guarded request against the limit of its route, unless it was counted. @throws 429 `RATE_LIMITED` */
  count(request: Request): Promise<void>
}

declare module '@hapi/hapi' {
  interface Server {
    limits: Limits
  }
  interface PluginsStates {
    limits?: Standing
    /** How its limit stood when its sender was looked up; counted already where `isCountedAtOnce`. */
    taken?: Taken
    isCounted?: true
  }
}

/** How a limit stands after a request was counted, or refused. */
export interface Taken {
  used: number
  burstUsed: number
  resetsIn: number
  burstResetsIn: number
  now: number
  isAllowed: boolean
}

const LIMIT_ARGUMENTS = '(:name, :limit, :seconds, :burst_limit, :burst_seconds)'
const TAKE = `select * from take_limit${LIMIT_ARGUMENTS}`
const PEEK = `select * from peek_limit${LIMIT_ARGUMENTS}`

const PLAN_LIST = Object.values(PLAN_LIMITS)

/**
 * SQL that finds an API key by `:hash` and reads how its limit stands; when `:is_counted`, it counts the request. The
 * columns of the limit are null where the key is revoked or expired, and all are for an unknown one.
 */
export const ADMIT_KEY = `select * from admit_key(:hash, :is_counted, '{${Object.keys(PLAN_LIMITS).join()}}',
  '{${PLAN_LIST.map(({ perMinute }) => perMinute).join()}}', '{${PLAN_LIST.map(({ burst }) => burst).join()}}') k`

/** Whether a request is counted as soon as its sender is known: one with a body only once that was read. */
export function isCountedAtOnce({ route, headers }: Request): boolean {
  const limit = route.settings.plugins?.access?.limit
  return (limit === 'asset' || limit === 'auth') && !hasBody(headers)
}

const isRead = ({ method }: Request) => method === 'get' || method === 'head'

interface Bucket {
  name: string
  whole: Window
  burst: Window
}

/** The limit of a route without a caller; null for other routes. */
function addressLimitOf({ route }: Request): AddressLimit | null {
  const limit = route.settings.plugins?.access?.limit
  return typeof limit === 'object' ? limit : null
}

function bucketOfAddress(request: Request): Bucket | null {
  const limit = addressLimitOf(request)
  if (!limit) return null
  const whole =
    'perHour' in limit ? { limit: limit.perHour, seconds: 3_600 } : { limit: limit.perMinute, seconds: 60 }
  const address = addressOf(request, request.server.config.trustProxy)
  return { name: `${limit.name}:${address}`, whole, burst: whole }
}

/** What counts a request of a caller; null where its route has no limit. */
function bucketOfCaller(request: Request): Bucket | null {
  const limit = request.route.settings.plugins?.access?.limit
  if (limit !== 'asset' && limit !== 'auth' && limit !== 'lineage') return null
  const { userId, keyId, plan } = caller(request)
  if (limit === 'lineage') {
    const { perMinute, burst } = LINEAGE_LIMITS
    return {
      name: `lineage:${keyId ?? userId}`,
      whole: { limit: perMinute, seconds: 60 },
      burst: { limit: burst, seconds: 1 },
    }
  }
  if (!keyId) {
    const whole = { limit: limit === 'asset' ? 100 : 5, seconds: 60 }
    return { name: `${limit}:${userId}`, whole, burst: whole }
  }
  const { perMinute, burst } = PLAN_LIMITS[plan]
  return {
    name: `key:${keyId}`,
    whole: { limit: perMinute, seconds: 60 },
    burst: { limit: burst, seconds: 1 },
  }
}

/** Adds `server.limits` and holds the routes without a caller to the limits that they state. */
export function installLimits(server: Server): void {
  const ask = async (statement: 'limit' | 'limit peek', { name, whole, burst }: Bucket): Promise<Taken> => {
    const bound = {
      name,
      limit: whole.limit,
      seconds: whole.seconds,
      burst_limit: burst.limit,
      burst_seconds: burst.seconds,
    }
    const [taken] = await server.db.statement<Taken>(statement === 'limit' ? TAKE : PEEK, bound, statement)
    if (!taken) throw new Error(`The limit ${name} gave no answer`)
    return taken
  }
  const take = async (bucket: Bucket | null, request?: AnyRequest) => {
    if (bucket) judge(await ask('limit', bucket), bucket, request)
  }
  const peek = async (bucket: Bucket | null, request: Request) => {
    if (bucket) judge(await ask('limit peek', bucket), bucket, request)
  }

  const limits: Limits = {
    take: (name, limit, seconds, request) => {
      const whole = { limit, seconds }
      return take({ name, whole, burst: whole }, request)
    },
    async admit(request) {
      const bucket = bucketOfCaller(request)
      const { taken } = request.plugins
      const isAtOnce = isCountedAtOnce(request)
      if (isAtOnce) request.plugins.isCounted = true
      if (!bucket) return
      // Looking up a key reads the limit of its plan, which these do not have.
      const isOfPlan = request.route.settings.plugins?.access?.limit !== 'lineage'
      if (taken && isOfPlan) return judge(taken, bucket, request)
      if (!isAtOnce) return peek(bucket, request)
      await take(bucket, request).catch((error: unknown) => {
        // Reads go on uncounted while the database takes no writes.
        if (!(isRefusedWrite(error) && isRead(request))) throw error
      })
    },
    async count(request) {
      if (request.plugins.isCounted) return
      request.plugins.isCounted = true
      await take(bucketOfCaller(request), request)
    },
  }
  server.decorate('server', 'limits', limits)
  server.ext('onPreAuth', async (request, h) => {
    const isFirst = addressLimitOf(request)?.isCountedFirst === true
    // As for a caller: a client over the limit sends no body.
    if (isFirst) await take(bucketOfAddress(request), request)
    else if (!isRead(request)) await peek(bucketOfAddress(request), request)
    return h.continue
  })
  server.ext('onPostAuth', async (request, h) => {
    if (!addressLimitOf(request)?.isCountedFirst) await take(bucketOfAddress(request), request)
    return h.continue
  })
  server.ext('onPreResponse', (request, h) => {
    const { response } = request
    const standing = request.plugins.limits
    if (standing && !Boom.isBoom(response)) {
      response.header('X-RateLimit-Limit', String(standing.limit))
      response.header('X-RateLimit-Remaining', String(standing.remaining))
      response.header('X-RateLimit-Reset', String(standing.resetsAt))
    }
    return h.continue
  })
}

/** Notes how a limit stands for the reply's headers. @throws 429 when it did not let the request through */
function judge(taken: Taken, { whole, burst }: Bucket, request?: AnyRequest): void {
  const standing = nearest(
    {
      limit: whole.limit,
      remaining: whole.limit - taken.used,
      resetsAt: Math.ceil(taken.now + taken.resetsIn),
    },
    {
      limit: burst.limit,
      remaining: burst.limit - taken.burstUsed,
      resetsAt: Math.ceil(taken.now + taken.burstResetsIn),
    },
  )
  if (request) request.plugins.limits = nearest(standing, request.plugins.limits)
  if (taken.isAllowed) return
  const wait = Math.max(
    taken.used >= whole.limit ? taken.resetsIn : 0,
    taken.burstUsed >= burst.limit ? taken.burstResetsIn : 0,
  )
  throw tooMany(standing, Math.max(1, Math.ceil(wait)))
}

function nearest(one: Standing, other: Standing = one): Standing {
  return other.remaining < one.remaining ? other : one
}

function tooMany(standing: Standing, seconds: number): Boom.Boom {
  const error = apiError('RATE_LIMITED', `Too many requests: wait ${seconds} s and try again`, {
    limit: standing.limit,
    retry_after: seconds,
  })
  error.output.headers['Retry-After'] = String(seconds)
  return error
}

/**
 * The address that a request is counted for: the socket's address, or the one that the outermost trusted
 * proxy saw. IPv6 counts by /64, the smallest network that a client gets.
 * @param hops how many proxies stand in front, each adding to `X-Forwarded-For`
 */
export function addressOf(request: Pick<Request, 'info' | 'headers'>, hops: number): string {
  const socket = request.info.remoteAddress
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(part => withoutPort(part.trim()))
  const path = [socket, ...forwarded.filter(Boolean).reverse()]
  const claimed = path[Math.min(hops, path.length - 1)] ?? socket
  return block(ipaddr.isValid(claimed) ? claimed : socket)
}

/** Some proxies write the port too: `1.2.3.4:5678`, `[2001:db8::1]:5678`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

function block(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}
