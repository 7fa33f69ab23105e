import type { Request, ResponseToolkit, ServerRoute, ServerStateCookieOptions } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { held, record } from '../../server/http/envelopes.ts'
import { apiError, hasCode } from '../../server/http/errors.ts'
import { hasBody } from '../../server/http/replies.ts'
import type { AuthApi } from '../auth/api.ts'

const SESSION_DAYS = 30
const path = '/console/session'
const route = routesOf('console')

const credentials = Joi.object<{ email?: string; password?: string; ticket?: string; demo?: true }>({
  email: Joi.string()
    .max(254)
    .meta({ openapi: { format: 'email' } })
    .description('With `password`.'),
  password: Joi.string().max(1_000),
  ticket: Joi.string().max(200).description('The ticket of a sign-in link or of a provider.'),
  demo: Joi.valid(true).description('Look at the demo without an account.'),
})
  .and('email', 'password')
  .xor('email', 'ticket', 'demo')
  .required()
  .example({ email: 'ada@example.com', password: 'correct horse battery staple' })
  .label('ConsoleSignInRequest')

const session = record(
  {
    token: Joi.string().description('For `Authorization: Bearer`; a page keeps it in memory only.'),
    expires_in: held.integer.description('Seconds until the token ends.'),
    user: Joi.object().allow(null).description('As GET /api/v1/auth/me returns it; null in the demo.'),
    preferences: Joi.object()
      .allow(null)
      .description('As GET /api/v1/auth/preferences returns them; null in the demo.'),
  },
  { token: 'eyJhbGciOiJIUzI1NiJ9.e30.x', expires_in: 900, user: null, preferences: null },
).label('ConsoleSession')

const ticketHolder = record(
  {
    email: Joi.string().description('The address of the user whose session the ticket opens.'),
    company: Joi.string().description('The name of the company of that user.'),
  },
  { email: 'ada@example.com', company: 'Example' },
).label('ConsoleTicketHolder')

/** What a sign-in or a refresh of the API returns. */
interface Tokens {
  access_token: string
  refresh_token: string
  expires_in: number
}

/** The routes by which the console signs in, resumes after a reload, and signs out. */
export function sessionRoutes({ auth, baseUrl }: { auth: AuthApi; baseUrl: string }): ServerRoute[] {
  const cookie = nameCookie(baseUrl)
  const options: ServerStateCookieOptions = {
    isHttpOnly: true,
    isSecure: cookie.startsWith('__Host-'),
    isSameSite: 'Strict',
    path: '/',
    encoding: 'none',
    strictHeader: true,
  }
  const shared = {
    state: cookieParsing,
    ext: { onPreAuth: { method: refuseOtherSites } },
  }
  const setCookie = (h: ResponseToolkit, value: string, seconds: number) =>
    h.state(cookie, value, { ...options, ttl: seconds * 1_000 })
  const sendSession = (h: ResponseToolkit, reply: object) =>
    h.response(reply).header('Cache-Control', 'no-store')
  const sendUserSession = async (request: Request, h: ResponseToolkit, tokens: Tokens) => {
    const { access_token: token, refresh_token: refresh, expires_in } = tokens
    // At once: if the requests below fail, the browser must not keep a token that was exchanged.
    setCookie(h, refresh, SESSION_DAYS * 86_400)
    const [user, preferences] = await Promise.all([
      askApi<object>(request, 'GET', '/auth/me', { token }),
      askApi<{ data: object }>(request, 'GET', '/auth/preferences', { token }),
    ])
    return sendSession(h, { token, expires_in, user, preferences: preferences.data })
  }
  const sendDemoSession = async (h: ResponseToolkit, key: string) => {
    const seconds = await auth.getDemoSecondsLeft(key)
    if (seconds === 0) {
      h.unstate(cookie, options)
      throw apiError('UNAUTHORIZED', 'The demo session has ended: open the demo again')
    }
    setCookie(h, key, seconds)
    return sendSession(h, { token: key, expires_in: seconds, user: null, preferences: null })
  }
  return [
    route('POST', path, access.open, {
      ...shared,
      id: 'createConsoleSession',
      description: 'Sign in to the console',
      notes:
        'As POST /api/v1/auth/login, /auth/tickets or /demo/session, with their limits; the refresh token goes into a cookie that scripts cannot read.',
      validate: { payload: credentials },
      response: { status: { 200: session } },
      app: {
        errors: [
          'BAD_REQUEST',
          'INVALID_CREDENTIALS',
          'ACCOUNT_LOCKED',
          'INVALID_TOKEN',
          'FORBIDDEN',
          'NOT_FOUND',
          'RATE_LIMITED',
        ],
      },
      async handler(request, h) {
        const body = request.payload
        if (body.demo) {
          const demo = await askApi<{ data: { api_key: string } }>(request, 'POST', '/demo/session', {
            payload: {},
          })
          return sendDemoSession(h, demo.data.api_key)
        }
        const where = body.ticket === undefined ? '/auth/login' : '/auth/tickets'
        return sendUserSession(request, h, await askApi<Tokens>(request, 'POST', where, { payload: body }))
      },
    }),
    route(
      'POST',
      '/console/tickets',
      access.byAddress({ name: 'console-tickets', perMinute: 30, isCountedFirst: true }),
      {
        ...shared,
        id: 'previewConsoleTicket',
        description: 'See whose session a ticket opens',
        notes:
          'Does not use the ticket up. The console asks a person who opens a sign-in link before it signs them in: the link may be of another person.',
        validate: {
          payload: Joi.object<{ ticket: string }>({ ticket: Joi.string().min(1).max(200).required() })
            .required()
            .example({ ticket: 'k7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0' })
            .label('ConsoleTicketRequest'),
        },
        response: { status: { 200: ticketHolder } },
        app: { errors: ['INVALID_TOKEN', 'FORBIDDEN', 'RATE_LIMITED'] },
        async handler(request, h) {
          const { ticket } = request.payload
          return sendSession(h, await auth.findTicketHolder(ticket))
        },
      },
    ),
    route('PUT', path, access.open, {
      ...shared,
      id: 'refreshConsoleSession',
      description: 'Resume the session of the console after a reload',
      notes:
        'Returns a new access token for the cookie. The refresh token changes at most once in ten minutes, so that tabs do not end the sessions of each other. Without a session: 204; with one that has ended: 401, and the cookie is removed.',
      response: { status: { 200: session, 204: true } },
      app: { errors: ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'] },
      async handler(request, h) {
        const value = readSessionCookie(request)
        // Most visitors of the sign-in page have none, which is no error.
        if (value === undefined) return h.response().code(204)
        if (auth.isDemoKey(value)) return sendDemoSession(h, value)
        try {
          return await sendUserSession(request, h, await auth.resumeSession(value, request))
        } catch (error) {
          if (hasCode(error, 'UNAUTHORIZED')) h.unstate(cookie, options)
          throw error
        }
      },
    }),
    route('DELETE', path, access.open, {
      ...shared,
      id: 'deleteConsoleSession',
      description: 'Sign out of the console',
      notes: 'Ends the session, as POST /api/v1/auth/logout does, and removes the cookie.',
      response: { status: { 204: true } },
      app: { errors: ['FORBIDDEN', 'RATE_LIMITED'] },
      async handler(request, h) {
        const value = readSessionCookie(request)
        if (value !== undefined && !auth.isDemoKey(value)) await endSession(auth, request, value)
        return h.response().code(204).unstate(cookie, options)
      },
    }),
  ]
}

/** A cookie of another program on the same host must not make a request fail. */
export const cookieParsing = { parse: true, failAction: 'ignore' as const }

/** What the browser keeps of its session: a refresh token, or a key of the demo. */
export function readSessionCookie({ state, server }: Request): string | undefined {
  const value: unknown = (state as Record<string, unknown> | null)?.[nameCookie(server.config.baseUrl)]
  return typeof value === 'string' ? value : undefined
}

/** Over HTTPS no other host may set it. Cookies know no ports, so that two servers of one host need two names. */
function nameCookie(baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl)
  return protocol === 'https:' ? '__Host-tidemark' : `tidemark_${port || '80'}`
}

/** Ends the session of a refresh token; one that has ended already is no error. */
async function endSession(auth: AuthApi, request: Request, refreshToken: string): Promise<void> {
  try {
    const { access_token: token } = await auth.resumeSession(refreshToken, request)
    await askApi(request, 'POST', '/auth/logout', { token })
  } catch (error) {
    if (!hasCode(error, 'UNAUTHORIZED')) throw error
  }
}

/**
 * `SameSite` keeps the cookie from other sites; this also refuses their attempts to sign a visitor in as another user.
 * Browsers send `Sec-Fetch-Site` to trustworthy hosts only, and some not at all, but `Origin` with each request that may
 * change something. A form can send no JSON, so that a page of another site has to ask first, which is never allowed.
 */
function refuseOtherSites(request: Request, h: ResponseToolkit) {
  const { 'sec-fetch-site': site, origin, 'content-type': type } = request.headers as Record<string, string>
  // A proxy may change the host, so that the browser's own judgement counts where there is one.
  const isOwn =
    site === undefined ? origin === undefined || isOwnOrigin(request, origin) : site === 'same-origin'
  if (!isOwn) throw apiError('FORBIDDEN', 'Only the pages of this host may do this')
  if (request.method === 'post' && hasBody(request.headers) && !/^application\/json\b/i.test(type ?? ''))
    throw apiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
  return h.continue
}

/** Whether a page belongs to the host that was asked, or to the address that the service is known by. */
function isOwnOrigin({ info, server }: Request, origin: string): boolean {
  if (origin === new URL(server.config.baseUrl).origin) return true
  return URL.canParse(origin) && new URL(origin).host === info.host
}

/**
 * Asks the public API for the browser, from the browser's address, so that its limits and its audit log apply.
 * @returns the body of the reply
 * @throws the API's own error
 */
async function askApi<Reply>(
  request: Request,
  method: string,
  where: string,
  { token, payload }: { token?: string; payload?: object },
): Promise<Reply> {
  const { 'x-forwarded-for': forwarded, 'user-agent': agent } = request.headers as Record<string, string>
  const { statusCode, result } = await request.server.inject({
    method,
    url: `/api/v1${where}`,
    remoteAddress: request.info.remoteAddress,
    headers: {
      ...(forwarded && { 'x-forwarded-for': forwarded }),
      ...(agent && { 'user-agent': agent }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(payload && { payload }),
  })
  if (statusCode < 300) return result as Reply
  const { error } = result as {
    error?: { code: string; message: string; details: Record<string, unknown> }
  }
  if (error && error.code !== 'VALIDATION_ERROR')
    throw apiError(error.code as Parameters<typeof apiError>[0], error.message, error.details)
  // The details of a refused field name a path that the browser has not asked.
  throw apiError('BAD_REQUEST', error?.message ?? 'Enter a valid email address and the password')
}
