import type { Request, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../../server/http/access.ts'
import { requestOrigin } from '../../../server/http/audit.ts'
import { exampleIn, failure } from '../../../server/http/envelopes.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { acceptsHtml } from '../../../server/http/input.ts'
import { admitIdentity } from './provider-sign-in.ts'
import { readBrowserToken, attemptCookie, consumeAttempt, type SignInAttempt } from './attempts.ts'
import { beginAttempt, callbackUrl, parseRedirectUri } from './authorization.ts'
import { foreignAnswer, providerFailure } from './provider-errors.ts'
import { linkRoutes } from './link-routes.ts'
import { linkIdentity } from './links.ts'
import { createProviders, findProvider, type OAuthProvider } from './providers.ts'
import { presentSignIn } from '../present.ts'
import { linked, signedIn } from '../replies.ts'
import { providerParams as params } from '../schemas.ts'
import { redeemTicket } from '../sign-in/one-time-tokens.ts'

const route = routesOf('oauth')
const open = access.byAddress({ name: 'oauth', perMinute: 30 })

export function oauthRoutes(server: Server): ServerRoute[] {
  const providers = createProviders(server)
  const find = (request: Request) => findProvider(providers, request.params.provider_type as string)
  return [
    route('GET', '/api/v1/oauth/{provider_type}/authorize', open, {
      id: 'startOauthSignIn',
      description: 'Sign in through a provider',
      notes: 'For browsers: redirects to the provider, and from there to redirect_uri with a ticket.',
      validate: {
        params,
        query: Joi.object({
          redirect_uri: Joi.string()
            .max(2_000)
            .description(
              'Where the browser is sent, with ?ticket=; an address of the origin of BASE_URL. ' +
                'Without it the callback replies like a sign-in.',
            ),
          invitation_token: Joi.string()
            .max(200)
            .description('An invitation: a new user joins the company that sent it.'),
        }),
      },
      response: { status: { 302: true, 503: failure }, sample: 0 },
      handler: (request, h) => authorize(request, h, find(request)),
    }),
    route('GET', '/api/v1/oauth/{provider_type}/callback', open, {
      id: 'finishOauthSignIn',
      description: 'Finish a sign-in through a provider, or the link of one',
      notes:
        'The provider sends the browser here. After a failure a browser is redirected to redirect_uri with ' +
        '?error= (a code) and &error_description=; without redirect_uri, and for programs, the reply is the error.',
      validate: {
        params,
        query: Joi.object({
          state: Joi.string()
            .max(200)
            .required()
            .description('Identifies the attempt; created by authorize.'),
          code: Joi.string().max(8_000).description('The authorization code of the provider.'),
          iss: Joi.string().max(2_000).description('The issuer of the provider.'),
          error: Joi.string().max(200).description('The error code of the provider.'),
          error_description: Joi.string()
            .max(8_000)
            .allow('')
            .description('The error message of the provider.'),
        }).unknown(),
      },
      // A malformed cookie of another application on the host must not fail the request.
      state: { parse: true, failAction: 'ignore' },
      app: { errors: ['INVALID_INVITATION', 'USER_EXISTS', 'CONFLICT'] },
      response: {
        status: {
          200: Joi.alternatives(signedIn, linked)
            .example(exampleIn(signedIn))
            .description('The tokens of the new session; of a link, the provider'),
          302: true,
          401: failure,
          403: failure,
          409: failure,
          503: failure,
        },
        sample: 0,
      },
      handler: (request, h) => finishAttempt(request, h, find(request)),
    }),
    ...linkRoutes(providers),
  ]
}

async function authorize(request: Request, h: ResponseToolkit, provider: OAuthProvider) {
  const { redirect_uri: given, invitation_token: invitation } = request.query as Record<string, string>
  const redirectUri = parseRedirectUri(request.server, given)
  const { address, setCookie } = await beginAttempt(request, provider, { redirectUri, invitation })
  return setCookie(h.redirect(address))
}

async function finishAttempt(request: Request, h: ResponseToolkit, provider: OAuthProvider) {
  const { server } = request
  const state = request.query.state as string
  const attempt = await consumeAttempt(server, provider.name, state, readBrowserToken(request, state))
  if (!attempt) throw foreignAnswer(provider.name)
  const reply = await completeAttempt(request, h, provider, attempt).catch((error: unknown) =>
    redirectWithError(request, h, attempt, error),
  )
  const cookie = attemptCookie(server, state)
  return reply.unstate(cookie.name, cookie.options).header('Cache-Control', 'no-store')
}

async function completeAttempt(
  request: Request,
  h: ResponseToolkit,
  provider: OAuthProvider,
  attempt: SignInAttempt,
) {
  const { server } = request
  const identity = await identify(request, provider, attempt)
  if (attempt.linker) {
    const linked = await linkIdentity(server, provider, identity, attempt.linker, requestOrigin(request))
    if (attempt.redirectUri === null) return h.response(linked)
    return h.redirect(withQuery(attempt.redirectUri, { linked: provider.name }))
  }
  const ticket = await admitIdentity(server, provider, identity, requestOrigin(request), attempt.invitation)
  if (attempt.redirectUri !== null) return h.redirect(withQuery(attempt.redirectUri, { ticket }))
  return h.response(presentSignIn(await redeemTicket(server, ticket, requestOrigin(request))))
}

/** Takes the callback's address from the settings: the Host header is controlled by the client. */
async function identify({ server, url }: Request, provider: OAuthProvider, attempt: SignInAttempt) {
  const callback = new URL(callbackUrl(server, provider))
  callback.search = url.search
  try {
    return await provider.identify(await provider.client(), callback, attempt)
  } catch (error) {
    throw providerFailure(server, provider.name, error)
  }
}

/** Redirects a browser back to its page with the error; everything else gets the error as the reply. */
function redirectWithError(
  request: Request,
  h: ResponseToolkit,
  { redirectUri }: SignInAttempt,
  error: unknown,
) {
  if (redirectUri === null || !acceptsHtml(request) || !hasErrorData(error) || !error.data) throw error
  const query = { error: error.data.code.toLowerCase(), error_description: error.message }
  return h.redirect(withQuery(redirectUri, query))
}

function withQuery(address: string, values: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  return url.href
}
