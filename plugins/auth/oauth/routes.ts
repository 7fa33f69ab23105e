import type { Request, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access } from '../../../server/http/access.ts'
import { requestOrigin } from '../../../server/http/audit.ts'
import { failure } from '../../../server/http/envelopes.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { acceptsHtml } from '../../../server/http/input.ts'
import { admitIdentity } from './provider-sign-in.ts'
import { readBrowserToken, attemptCookie, consumeAttempt, type SignInAttempt } from './attempts.ts'
import { beginAttempt, callbackUrl, parseRedirectUri } from './authorization.ts'
import { foreignAnswer, providerFailure } from './provider-errors.ts'
import { linkRoutes } from './link-routes.ts'
import { linkIdentity } from './links.ts'
import { createProviders, findProvider, type ProviderIdentity, type OAuthProvider } from './providers.ts'
import { presentUser } from '../present.ts'
import { linked, signedIn, signedInExample } from '../replies.ts'
import { providerParams as params } from '../schemas.ts'
import { redeemTicket } from '../sign-in/one-time-tokens.ts'

const tags = ['api', 'oauth']
/** Signing in through a provider, there and back, and linking one. */
export function oauthRoutes(server: Server): ServerRoute[] {
  const providers = createProviders(server)
  const find = (request: Request) => findProvider(providers, request.params.provider_type as string)
  return [
    {
      method: 'GET',
      path: '/api/v1/oauth/{provider_type}/authorize',
      options: {
        ...access.oauth,
        description: 'Sign in through a provider',
        notes: 'For browsers: leads to the provider, and from there to redirect_uri with a ticket.',
        tags,
        validate: {
          params,
          query: Joi.object({
            redirect_uri: Joi.string()
              .max(2_000)
              .description(
                'Where the browser goes on to, with ?ticket=; an address of the origin of BASE_URL. ' +
                  'Without it the callback answers as a sign-in does.',
              ),
            invitation_token: Joi.string()
              .max(200)
              .description('Of an invitation, for whoever is new here and would join the company it is to.'),
          }),
        },
        response: { status: { 302: true, 503: failure }, sample: 0 },
      },
      handler: (request, h) => authorize(request, h, find(request)),
    },
    {
      method: 'GET',
      path: '/api/v1/oauth/{provider_type}/callback',
      options: {
        ...access.oauth,
        description: 'Finish a sign-in through a provider, or the link of one',
        notes:
          'Where the provider sends the browser. A browser that cannot be signed in goes on to redirect_uri with ' +
          '?error= (a code) and &error_description=; without it, and to a program, the reply is the error.',
        tags,
        validate: {
          params,
          query: Joi.object({
            state: Joi.string()
              .max(200)
              .required()
              .description('Which attempt it is about; made by authorize.'),
            code: Joi.string().max(8_000).description('What the provider exchanges for who it was.'),
            iss: Joi.string().max(2_000).description('The provider, as it calls itself.'),
            error: Joi.string().max(200).description('Why the provider signed nobody in.'),
            error_description: Joi.string().max(8_000).allow('').description('The same for people.'),
          }).unknown(),
        },
        // Another cookie of the host that is not well-formed is no affair of ours.
        state: { parse: true, failAction: 'ignore' },
        app: { errors: ['INVALID_INVITATION', 'USER_EXISTS', 'CONFLICT'] },
        response: {
          status: {
            200: Joi.alternatives(signedIn, linked).example(signedInExample),
            302: true,
            401: failure,
            403: failure,
            409: failure,
            503: failure,
          },
          sample: 0,
        },
      },
      handler: (request, h) => finishAttempt(request, h, find(request)),
    },
    ...linkRoutes(providers),
  ]
}

async function authorize(request: Request, h: ResponseToolkit, provider: OAuthProvider) {
  const { redirect_uri: given, invitation_token: invitation } = request.query as Record<string, string>
  const redirectUri = parseRedirectUri(request.server, given)
  const { address, mark } = await beginAttempt(request, provider, { redirectUri, invitation })
  return mark(h.redirect(address))
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
  const { user, company, ...tokens } = await redeemTicket(server, ticket, requestOrigin(request))
  return h.response({ ...tokens, user: presentUser(user, company) })
}

/** The address that we were called at is taken from the settings: the Host of a request is anybody's word. */
async function identify(
  { server, url }: Request,
  provider: OAuthProvider,
  attempt: SignInAttempt,
): Promise<ProviderIdentity> {
  const callback = new URL(callbackUrl(server, provider))
  callback.search = url.search
  try {
    return await provider.identify(await provider.client(), callback, attempt)
  } catch (error) {
    throw providerFailure(server, provider.name, error)
  }
}

/** Somebody who looks at a page is told where they came from; all others by the reply. */
function redirectWithError(
  request: Request,
  h: ResponseToolkit,
  { redirectUri }: SignInAttempt,
  error: unknown,
) {
  if (redirectUri === null || !acceptsHtml(request) || !hasErrorData(error) || !error.data) throw error
  const told = { error: error.data.code.toLowerCase(), error_description: error.message }
  return h.redirect(withQuery(redirectUri, told))
}

function withQuery(address: string, values: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  return url.href
}
