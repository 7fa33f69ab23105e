/** Admits a request, or refuses it with 401, 429 or 403, in this order and before its body is read. */
import type { Request, ResponseToolkit, Server } from '@hapi/hapi'
import { CALLER_STRATEGY, refusalOf } from './access.ts'
import { refuseEncoding } from './replies.ts'
import { noteCaller } from '../telemetry/requests.ts'

declare module '@hapi/hapi' {
  interface PluginsStates {
    isAdmitted?: true
  }
}

/** The strategies in the order in which they are tried: a key is recognised by its form. */
const STRATEGIES = ['api-key', 'jwt']

/**
 * Registers the strategy of guarded routes. hapi reads the body between authentication and `onCredentials`, so that
 * limit and scope are checked as a part of the authentication: a caller who is refused sends no body.
 */
export function installAdmission(server: Server): void {
  server.auth.scheme(CALLER_STRATEGY, () => ({ authenticate }))
  server.auth.strategy(CALLER_STRATEGY, CALLER_STRATEGY)
  server.auth.default(CALLER_STRATEGY)

  server.ext('onPreAuth', (request, h) => {
    if (!request.route.settings.auth) refuseEncoding(request)
    return h.continue
  })
  server.ext('onCredentials', async (request, h) => {
    // A request injected with credentials was not authenticated.
    if (!request.plugins.isAdmitted) await admit(request)
    await server.limits.count(request)
    return h.continue
  })
}

/** Checks at startup that each route declares its access. Install it after plugins, which may add routes at the start too. */
export function requireDeclaredAccess(server: Server): void {
  server.ext('onPreStart', () => {
    const bare = server.table().find(route => route.settings.plugins?.access === undefined)
    if (bare)
      throw new Error(
        `Route ${bare.method} ${bare.path} does not say who may call it: spread one of access.* into its options`,
      )
  })
}

/** What a strategy throws; `isMissing` where the request has no credential of its form. */
interface Unauthenticated {
  isMissing?: boolean
  output: { headers: Record<string, unknown> }
}

async function authenticate(request: Request, h: ResponseToolkit) {
  const data = await dataOf(request)
  request.auth.credentials = data.credentials
  await admit(request)
  refuseEncoding(request)
  return h.authenticated(data)
}

/** @throws 401 of the strategy that recognises the form of the credential, or one that names all strategies */
async function dataOf(request: Request): ReturnType<Server['auth']['test']> {
  const challenges: unknown[] = []
  for (const strategy of STRATEGIES) {
    try {
      return await request.server.auth.test(strategy, request)
    } catch (error) {
      const { isMissing, output } = error as Unauthenticated
      if (!isMissing) throw error
      challenges.push(output.headers['WWW-Authenticate'])
      if (challenges.length < STRATEGIES.length) continue
      output.headers['WWW-Authenticate'] = challenges.join(', ')
      throw error
    }
  }
  throw new Error('There is no strategy')
}

/** @throws 429, 403 */
async function admit(request: Request): Promise<void> {
  const { limits } = request.server
  request.plugins.isAdmitted = true
  noteCaller(request)
  await limits.admit(request)
  const refusal = refusalOf(request)
  if (!refusal) return
  await limits.count(request)
  throw refusal
}
