import type { ServerRoute } from '@hapi/hapi'
import { access, caller, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { failure } from '../../../server/http/envelopes.ts'
import { param } from '../../../server/http/input.ts'
import { ATTEMPT_SECONDS } from './attempts.ts'
import { beginAttempt, parseRedirectUri } from './authorization.ts'
import { requireLinkPassword, listLinks, removePassword, unlinkProvider } from './links.ts'
import { findProvider, type OAuthProvider } from './providers.ts'
import { replies } from '../replies.ts'
import { providerParams, schemas } from '../schemas.ts'

const route = routesOf('oauth')
const path = '/api/v1/oauth/{provider_type}/link'

export function linkRoutes(providers: ReadonlyMap<string, OAuthProvider>): ServerRoute[] {
  return [
    route('GET', '/api/v1/oauth/links', access.session, {
      description: 'List the providers linked to your user, and whether it has a password',
      notes:
        'Use it before unlinking a provider or removing the password: the last way to sign in cannot be removed.',
      validate: { query: schemas.none },
      response: replies.links,
      app: { errors: ['USER_NOT_FOUND'] },
      handler: request => listLinks(request, providers),
    }),
    route('POST', path, access.sessionLimited, {
      description: 'Link a provider to your user',
      notes: [
        'A user who has a password must send it as old_password.',
        'Send the browser to authorization_url within 10 minutes; it must be the browser that received this reply',
        'with its cookie. The provider sends it back to the callback, which links the account and redirects to',
        'redirect_uri with ?linked= and the name of the provider, or with ?error= and &error_description=. Without',
        'redirect_uri the callback replies with the link. The emails may differ.',
      ],
      validate: { params: providerParams, payload: schemas.link, query: schemas.none },
      response: { status: { ...replies.linking.status, 503: failure }, sample: 0 },
      app: { errors: ['INVALID_PASSWORD', 'NOT_FOUND', 'USER_NOT_FOUND'] },
      async handler(request, h) {
        const provider = findProvider(providers, param(request, 'provider_type'))
        const { redirect_uri: given, old_password: password } = request.payload ?? {}
        const redirectUri = parseRedirectUri(request.server, given, 'body')
        await requireLinkPassword(request, provider, password)
        const { address, setCookie } = await beginAttempt(request, provider, {
          redirectUri,
          linker: linkingSession(request),
        })
        return setCookie(h.response({ authorization_url: address, expires_in: ATTEMPT_SECONDS }))
      },
    }),
    route('DELETE', path, access.sessionLimited, {
      description: 'Unlink a provider from your user',
      notes: 'Sessions stay open. The last way to sign in cannot be unlinked.',
      validate: { params: providerParams, query: schemas.none },
      response: replies.nothing,
      app: { errors: ['CONFLICT', 'NOT_FOUND', 'USER_NOT_FOUND'] },
      async handler(request, h) {
        await unlinkProvider(request, providers, param(request, 'provider_type'))
        return h.response().code(204)
      },
    }),
    route('POST', '/api/v1/auth/remove-password', access.sessionLimited, {
      id: 'removePassword',
      description: 'Remove your password and end all your sessions; requires a linked provider',
      notes: 'For users who sign in through a provider only. All sessions end, this one too.',
      tags: ['api', 'auth'],
      validate: { payload: schemas.removePassword, query: schemas.none },
      response: replies.nothing,
      app: { errors: ['INVALID_PASSWORD', 'CONFLICT', 'USER_NOT_FOUND'] },
      async handler(request, h) {
        const { old_password: password } = request.payload
        await removePassword(request, providers, password)
        return h.response().code(204)
      },
    }),
  ]
}

function linkingSession(request: AnyRequest) {
  const { companyId, userId, sessionId } = caller(request)
  return { companyId, userId: userId as string, sessionId: sessionId as string }
}
