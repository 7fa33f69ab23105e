import got, { type Method } from 'got'
import type { CustomFetch } from 'openid-client'
import { guardedAgent, type EgressPolicy } from '../../../server/security/egress.ts'

/** Milliseconds that a provider has for each answer. */
const TIMEOUT_MS = 5_000
/** What a provider has to say is a few KiB. */
const MAX_BYTES = 512 * 1024

/**
 * The one way to a provider: over TLS, to what the policy allows, without redirects and retries, at most 5 seconds
 * and 512 KiB. The operator names the providers, so that they may be on any port. An error of the HTTP client carries the
 * request with its secrets, so that only its code goes on.
 */
export function guardedFetch({ ports: _ports, ...anyPort }: EgressPolicy): CustomFetch {
  return async (url, { method, headers, body }) => {
    if (new URL(url).protocol !== 'https:') throw failure('not https', 'ERR_PROTOCOL')
    const asked = got(url, {
      method: method as Method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body != null && { body: String(body as URLSearchParams) }),
      agent: { https: guardedAgent(anyPort) },
      http2: false,
      followRedirect: false,
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: false,
      responseType: 'buffer',
      timeout: { request: TIMEOUT_MS },
    })
    void asked.on('downloadProgress', ({ transferred }) => {
      if (transferred > MAX_BYTES) asked.cancel()
    })
    const response = await asked.catch((error: { code?: string }) => {
      throw failure(asked.isCanceled ? 'the answer is too long' : 'no answer', error.code ?? 'ERR_UNKNOWN')
    })
    const answered = new Headers()
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) answered.set(name, String(value))
    }
    const isEmpty = [204, 205, 304].includes(response.statusCode)
    return new Response(isEmpty ? null : new Uint8Array(response.body), {
      status: response.statusCode,
      headers: answered,
    })
  }
}

function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code })
}
