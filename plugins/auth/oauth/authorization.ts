import type { ResponseToolkit } from '@hapi/hapi'
import * as openid from 'openid-client'
import type { AnyRequest } from '../../../server/http/access.ts'
import { unprocessable } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { attemptCookie, createAttempt, type NewAttempt } from './attempts.ts'
import { providerFailure } from './provider-errors.ts'
import type { OAuthProvider } from './providers.ts'

/**
 * Begins an attempt at a provider.
 * @returns the provider's address for the browser, and a function that sets the browser's cookie on a reply
 * @throws 503 when the provider does not answer
 */
export async function beginAttempt(
  { server }: AnyRequest,
  provider: OAuthProvider,
  attempt: NewAttempt,
): Promise<{
  address: string
  setCookie: (reply: ReturnType<ResponseToolkit['response']>) => ReturnType<ResponseToolkit['response']>
}> {
  const client = await provider.client().catch((error: unknown) => {
    throw providerFailure(server, provider.name, error)
  })
  const { state, nonce, verifier, browser } = await createAttempt(server, provider.name, attempt)
  const address = openid.buildAuthorizationUrl(client, {
    response_type: 'code',
    redirect_uri: callbackUrl(server, provider),
    scope: provider.scopes,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(provider.isOpenId && { nonce }),
  })
  const { name, options } = attemptCookie(server, state)
  return {
    address: address.href,
    setCookie: reply => reply.state(name, browser, options).header('Cache-Control', 'no-store'),
  }
}

export function callbackUrl({ config }: AuthDeps, { name }: OAuthProvider): string {
  return `${config.baseUrl}/api/v1/oauth/${name}/callback`
}

/**
 * Returns the address as browsers parse it, so that the checked address is the one they follow.
 * @param source the part of the request that holds it, for the error
 * @throws 422 for an address of another origin
 */
export function parseRedirectUri(
  { config }: AuthDeps,
  given: string | undefined,
  source: 'query' | 'body' = 'query',
): string | null {
  if (given === undefined) return null
  const { origin, protocol } = new URL(config.baseUrl)
  const target = URL.canParse(given) ? new URL(given) : undefined
  // The origin of blob:https://… is that of the inner address.
  const isOurs = target?.protocol === protocol && target.origin === origin
  if (isOurs && !target.username && !target.password) return target.href
  throw unprocessable([
    {
      loc: [source, 'redirect_uri'],
      msg: `redirect_uri must be an address of this service, such as ${origin}/`,
      type: 'string.uri',
    },
  ])
}
