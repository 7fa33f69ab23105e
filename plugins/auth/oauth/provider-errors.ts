import * as openid from 'openid-client'
import { apiError, hasErrorData } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'

/** Codes of openid-client for an answer that does not belong to the sign-in it claims. */
const FOREIGN_ANSWER_CODES = new Set([
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
])

/** Only error codes of the protocol are shown, not other text of a provider. */
const PROTOCOL_WORD = /^[a-z_]{1,40}$/

/**
 * The error for a failure at a provider: 401 for an answer of another sign-in, 403 when the user cancelled, else 503.
 * The operator's log has more details; neither holds a code, token or secret.
 */
export function providerFailure(deps: AuthDeps, provider: string, error: unknown): Error {
  if (hasErrorData(error)) return error
  const { code = '', cause } = error as { code?: string; cause?: { code?: string; message?: string } }
  const reason = cause instanceof Error ? cause.message : undefined
  const refusal = error instanceof openid.ResponseBodyError ? error.error : undefined
  deps.pino.warn(
    { provider, code: code || undefined, reason, cause: cause?.code, refusal: protocolWord(refusal) },
    'a sign-in through a provider failed',
  )
  if (error instanceof openid.AuthorizationResponseError) return authorizationRefused(provider, error.error)
  if (refusal === 'invalid_grant' || FOREIGN_ANSWER_CODES.has(code) || isForeignAnswer(code, reason))
    return foreignAnswer(provider)
  if (refusal !== undefined) return providerMisconfigured(provider, refusal)
  return apiError(
    'UNAVAILABLE',
    `The provider ${provider} does not answer correctly at the moment: try again in a minute, or sign in another way`,
    { provider },
  )
}

/** The 401 of an answer that does not belong to an attempt of this browser. */
export function foreignAnswer(provider: string) {
  return apiError(
    'INVALID_TOKEN',
    'This attempt was started in another browser, was finished before, or took longer than 10 minutes: ' +
      `start the sign-in again at GET /api/v1/oauth/${provider}/authorize, ` +
      `or start the link again with POST /api/v1/oauth/${provider}/link`,
    { provider },
  )
}

/** The library has one code for a wrong answer through the browser and for one of the provider itself. */
function isForeignAnswer(code: string, reason = ''): boolean {
  return (
    (code === 'OAUTH_INVALID_RESPONSE' &&
      /response parameter|callbackParameters|"parameters"/.test(reason)) ||
    (code === 'OAUTH_INVALID_RESPONSE' && /signature verification failed|claim missing/.test(reason))
  )
}

function authorizationRefused(provider: string, word: string) {
  if (word === 'access_denied') {
    const message = `The sign-in was cancelled at ${provider}: start again, or sign in another way`
    return apiError('FORBIDDEN', message, { provider, reason: word })
  }
  if (word === 'server_error' || word === 'temporarily_unavailable') {
    const message = `The provider ${provider} cannot sign you in at the moment: try again later`
    return apiError('UNAVAILABLE', message, { provider, reason: word })
  }
  return providerMisconfigured(provider, word)
}

function providerMisconfigured(provider: string, word: string) {
  const settings = `OAUTH_${provider.toUpperCase()}_…`
  return apiError(
    'UNAVAILABLE',
    `The provider ${provider} refuses this service (${protocolWord(word) ?? 'without a reason'}): ` +
      `the operator can check the settings ${settings} and the redirect address there`,
    { provider, reason: protocolWord(word) ?? null },
  )
}

function protocolWord(word: string | undefined): string | undefined {
  return word !== undefined && PROTOCOL_WORD.test(word) ? word : undefined
}
