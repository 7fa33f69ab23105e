import type { Request, Server } from '@hapi/hapi'
import Boom from '@hapi/boom'
import ipaddr from 'ipaddr.js'
import { caller } from './access.ts'
import type { Plan } from './config.ts'
import { apiError } from './errors.ts'
import { isRefusedWrite } from './pool.ts'

/** What a plan allows each of its API keys, and how many keys. */
export const PLAN_LIMITS: Record<Plan, { perMinute: number; burst: number; maxKeys: number | null }> = {
  free_trial: { perMinute: 20, burst: 2, maxKeys: 1 },
  starter: { perMinute: 30, burst: 3, maxKeys: 1 },
  growth: { perMinute: 500, burst: 25, maxKeys: 10 },
  professional: { perMinute: 1_000, burst: 50, maxKeys: 25 },
  enterprise: { perMinute: 5_000, burst: 100, maxKeys: null },
}

/** How many a minute of each address, where nobody is signed in yet. */
const BY_ADDRESS = new Map<unknown, number>([
  ['login', 5],
  ['register', 3],
  ['tickets', 5],
  ['oauth', 30],
  ['demo', 5],
  ['magic', 30],
  ['events', 120],
  ['beta', 60],
])

/** A guess of a password or a token counts even when its body cannot be read, or its sender is refused. */
const COUNTED_FIRST = new Set<unknown>(['login', 'magic'])

/** At most so many, counted from the first one on. */
export interface Window {
  limit: number
  seconds: number
}

/** The window nearest to its limit, as the headers tell it. */
interface Standing {
  limit: number
  remaining: number
  /** Epoch seconds. */
  resetsAt: number
}

/** Rate limits, exact over all processes. */
export interface Limits {
  /**
   * Counts one against a limit; what is refused is not counted. With the request, its reply tells of the limit.
   * Not for use inside a transaction: it takes a connection of its own.
   * @param name what is limited and who it counts: `discovery:<asset id>`
   * @throws 429 `RATE_LIMITED` with `Retry-After`
   */
  take(name: string, limit: number, seconds: number, request?: Request): Promise<void>
}

declare module '@hapi/hapi' {
  interface Server {
    limits: Limits
  }
  interface PluginsStates {
    limits?: Standing
    /** That it was counted when its sender was looked up. */
    taken?: Taken
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

/**
 * SQL that counts one against each limit that a CTE `asked` names (`name, cost, lim, seconds, burst_limit, burst_seconds`).
 * The row's lock makes the count exact; both windows are in it, so that one statement takes both or neither.
 */
const TAKEN = `
  insert into rate_windows as w
  select name, cost, now() + seconds * interval '1 second', cost, now() + burst_seconds * interval '1 second', true
  from asked
  on conflict (name) do update set (used, ends_at, burst_used, burst_ends_at, is_allowed) = (
    select
      case when fits then so_far + cost else so_far end,
      case when w.ends_at > now() then w.ends_at else excluded.ends_at end,
      case when fits then burst_so_far + cost else burst_so_far end,
      case when w.burst_ends_at > now() then w.burst_ends_at else excluded.burst_ends_at end,
      fits
    from asked
    cross join lateral (select
      case when w.ends_at > now() then w.used else 0 end as so_far,
      case when w.burst_ends_at > now() then w.burst_used else 0 end as burst_so_far
    ) as counted
    cross join lateral (
      select so_far + cost <= lim and burst_so_far + cost <= burst_limit as fits
    ) as judged
  )
  returning
    used, burst_used, is_allowed,
    extract(epoch from now())::float8 as now,
    extract(epoch from ends_at - now())::float8 as resets_in,
    extract(epoch from burst_ends_at - now())::float8 as burst_resets_in`

const TAKE = `
  with asked as (
    select cast(:name as text) as name, cast(:cost as integer) as cost,
      cast(:limit as integer) as lim, cast(:seconds as float8) as seconds,
      cast(:burst_limit as integer) as burst_limit, cast(:burst_seconds as float8) as burst_seconds
  )
  ${TAKEN}`

/** The plans as SQL values: what a key may by the minute and by the second. */
const PLANS_SQL = Object.entries(PLAN_LIMITS)
  .map(([plan, { perMinute, burst }]) => `('${plan}', ${perMinute}, ${burst})`)
  .join(', ')

/**
 * SQL that finds an API key and, when `:is_counted`, counts the request of one that is good, in one statement. The
 * columns of the limit are null where nothing was counted.
 * @param known a SELECT of `id`, `plan`, `is_good`, and what else is to be known
 * @param used what is written down of its use
 */
export function findAndTake(known: string, used: string): string {
  return `
    with known as (${known}),
    used as (${used}),
    asked as (
      select 'key:' || id as name, 1 as cost, 60 as seconds, p.per_minute as lim, 1 as burst_seconds, p.burst as burst_limit
      from known join (values ${PLANS_SQL}) p(plan, per_minute, burst) on p.plan = known.plan
      where is_good and :is_counted
    ),
    taken as (${TAKEN})
    select * from known left join taken on true`
}

/** Whether a request is counted as soon as its sender is known: one with a body only once that was read. */
export function isCountedAtOnce({ route, method }: Request): boolean {
  return route.settings.plugins?.access?.limit === 'asset' && (method === 'get' || method === 'head')
}

/** Adds `server.limits` and holds each route to the limit that its guard names, before its scope is looked at. */
export function installLimits(server: Server): void {
  const take = async (
    name: string,
    whole: Window,
    request?: Request,
    burst = whole,
    cost = 1,
  ): Promise<void> => {
    const bound = {
      ...{ name, cost, limit: whole.limit, seconds: whole.seconds },
      ...{ burst_limit: burst.limit, burst_seconds: burst.seconds },
    }
    const [taken] = await server.db.statement<Taken>(TAKE, bound, 'limit')
    if (!taken) throw new Error(`The limit ${name} gave no answer`)
    judge(taken, whole, burst, request)
  }

  /** Counts a request against the limit of its route. */
  const count = async (request: Request, cost = 1): Promise<void> => {
    const limit = request.route.settings.plugins?.access?.limit
    const ofAddress = BY_ADDRESS.get(limit)
    if (ofAddress !== undefined) {
      const name = `${limit}:${addressOf(request, server.config.trustProxy)}`
      return take(name, { limit: ofAddress, seconds: 60 }, request, undefined, cost)
    }
    if (limit !== 'asset' && limit !== 'auth') return
    const { userId, keyId, plan } = caller(request)
    if (keyId) {
      const { perMinute, burst } = PLAN_LIMITS[plan]
      const [minute, second] = [
        { limit: perMinute, seconds: 60 },
        { limit: burst, seconds: 1 },
      ] as const
      const { taken } = request.plugins
      if (taken) return judge(taken, minute, second, request)
      return take(`key:${keyId}`, minute, request, second, cost)
    }
    return take(
      `${limit}:${userId}`,
      { limit: limit === 'asset' ? 100 : 5, seconds: 60 },
      request,
      undefined,
      cost,
    )
  }

  const limits: Limits = {
    take: (name, limit, seconds, request) => take(name, { limit, seconds }, request),
  }
  server.decorate('server', 'limits', limits)
  server.ext('onPreAuth', async (request, h) => {
    if (COUNTED_FIRST.has(request.route.settings.plugins?.access?.limit)) await count(request)
    return h.continue
  })
  server.ext('onCredentials', async (request, h) => {
    await count(request).catch((error: unknown) => {
      // Where nothing can be written, what is only read goes on uncounted.
      if (!(isRefusedWrite(error) && isCountedAtOnce(request))) throw error
    })
    return h.continue
  })
  server.ext('onPostAuth', async (request, h) => {
    const limit = request.route.settings.plugins?.access?.limit
    if (!COUNTED_FIRST.has(limit) && BY_ADDRESS.has(limit)) await count(request)
    return h.continue
  })
  server.ext('onPreResponse', async (request, h) => {
    const { response } = request
    const limited = request.route.settings.plugins?.access?.limit
    // A body that cannot be read ends a request before it is counted; its reply tells how things stand.
    if (limited && !request.plugins.limits && (BY_ADDRESS.has(limited) || request.auth.isAuthenticated)) {
      await count(request, 0).catch(() => undefined)
    }
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
function judge(taken: Taken, whole: Window, burst: Window, request?: Request): void {
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
 * Who a request comes from, for limits by address: the socket's address, or the one that the outermost trusted
 * proxy saw. Of IPv6 the /64, since that is the least a client gets.
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
