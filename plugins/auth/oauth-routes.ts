import type { Request, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import * as openid from 'openid-client'
import { access } from '../../server/access.ts'
import { placeOf } from '../../server/audit.ts'
import { failure } from '../../server/envelopes.ts'
import { hasErrorData, unprocessable } from '../../server/errors.ts'
import { admit } from './oauth-accounts.ts'
import { browserOf, cookieOf, keepAttempt, takeAttempt, type Attempt } from './oauth-attempts.ts'
import { foreign, providerFailure } from './oauth-errors.ts'
import { makeProviders, providerOf, type Identity, type Provider } from './oauth-providers.ts'
import { presentUser } from './present.ts'
import { signedIn } from './records.ts'
import { redeemTicket } from './tickets.ts'

const tags = ['api', 'oauth']
const params = Joi.object({
  provider_type: Joi.string()
    .max(100)
    .required()
    .description('google, github, slack, or any other of the settings OAUTH_<PROVIDER>_…'),
})

/** Signing in through a provider: there, and back. */
export function oauthRoutes(server: Server): ServerRoute[] {
  const providers = makeProviders(server)
  const find = (request: Request) => providerOf(providers, request.params.provider_type as string)
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
        description: 'Finish a sign-in through a provider',
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
        app: { errors: ['INVALID_INVITATION'] },
        response: {
          status: { 200: signedIn, 302: true, 401: failure, 403: failure, 409: failure, 503: failure },
          sample: 0,
        },
      },
      handler: (request, h) => finish(request, h, find(request)),
    },
  ]
}

async function authorize(request: Request, h: ResponseToolkit, provider: Provider) {
  const { server } = request
  const redirectUri = redirectTarget(server, request.query.redirect_uri as string | undefined)
  const client = await provider.client().catch((error: unknown) => {
    throw providerFailure(server, provider.name, error)
  })
  const { state, nonce, verifier, browser } = await keepAttempt(server, provider.name, {
    redirectUri,
    invitation: request.query.invitation_token as string | undefined,
  })
  const address = openid.buildAuthorizationUrl(client, {
    response_type: 'code',
    redirect_uri: callbackOf(server, provider),
    scope: provider.scopes,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(provider.isOpenId && { nonce }),
  })
  const cookie = cookieOf(server, state)
  return h
    .redirect(address.href)
    .state(cookie.name, browser, cookie.options)
    .header('Cache-Control', 'no-store')
}

async function finish(request: Request, h: ResponseToolkit, provider: Provider) {
  const { server } = request
  const state = request.query.state as string
  const attempt = await takeAttempt(server, provider.name, state, browserOf(request, state))
  if (!attempt) throw foreign(provider.name)
  const reply = await enter(request, h, provider, attempt).catch((error: unknown) =>
    tellBrowser(request, h, attempt, error),
  )
  const cookie = cookieOf(server, state)
  return reply.unstate(cookie.name, cookie.options).header('Cache-Control', 'no-store')
}

async function enter(request: Request, h: ResponseToolkit, provider: Provider, attempt: Attempt) {
  const { server } = request
  const identity = await identify(request, provider, attempt)
  const ticket = await admit(server, provider, identity, placeOf(request), attempt.invitation)
  if (attempt.redirectUri !== null) return h.redirect(withQuery(attempt.redirectUri, { ticket }))
  const { user, company, ...tokens } = await redeemTicket(server, ticket, placeOf(request))
  return h.response({ ...tokens, user: presentUser(user, company) })
}

/** The address that we were called at is taken from the settings: the Host of a request is anybody's word. */
async function identify({ server, url }: Request, provider: Provider, attempt: Attempt): Promise<Identity> {
  const callback = new URL(callbackOf(server, provider))
  callback.search = url.search
  try {
    return await provider.identify(await provider.client(), callback, attempt)
  } catch (error) {
    throw providerFailure(server, provider.name, error)
  }
}

/** Somebody who looks at a page is told where they came from; all others by the reply. */
function tellBrowser(request: Request, h: ResponseToolkit, { redirectUri }: Attempt, error: unknown) {
  const isBrowser = String(request.headers.accept ?? '').includes('text/html')
  if (redirectUri === null || !isBrowser || !hasErrorData(error) || !error.data) throw error
  const told = { error: error.data.code.toLowerCase(), error_description: error.message }
  return h.redirect(withQuery(redirectUri, told))
}

function callbackOf({ config }: Server, { name }: Provider): string {
  return `${config.baseUrl}/api/v1/oauth/${name}/callback`
}

/** The address as browsers read it, so that what was judged is what they go to. */
function redirectTarget({ config }: Server, given: string | undefined): string | null {
  if (given === undefined) return null
  const { origin, protocol } = new URL(config.baseUrl)
  const target = URL.canParse(given) ? new URL(given) : undefined
  // blob:https://… has the origin of what stands behind it.
  const isOurs = target?.protocol === protocol && target.origin === origin
  if (isOurs && !target.username && !target.password) return target.href
  throw unprocessable([
    {
      loc: ['query', 'redirect_uri'],
      msg: `redirect_uri must be an address of this service, such as ${origin}/`,
      type: 'string.uri',
    },
  ])
}

function withQuery(address: string, values: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  return url.href
}
