import type { Method } from 'got'
import type { CustomFetch } from 'openid-client'
import { guardedAgent, type EgressPolicy } from '../../../server/security/egress.ts'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 512 * 1024

/**
 * A fetch for providers: TLS only, egress policy, no redirects or retries, at most 5 seconds and 512 KiB. Any port is
 * allowed, since the operator configures the providers. Errors of the HTTP client hold the request with its secrets,
 * so only their codes are passed on.
 */
export function guardedFetch({ ports: _ports, ...anyPort }: EgressPolicy): CustomFetch {
  return async (url, { method, headers, body }) => {
    if (new URL(url).protocol !== 'https:') throw failure('not https', 'ERR_PROTOCOL')
    // Loaded when it is first needed: it would delay each start.
    const { default: got } = await import('got')
    const request = got(url, {
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
    void request.on('downloadProgress', ({ transferred }) => {
      if (transferred > MAX_BYTES) request.cancel()
    })
    const response = await request.catch((error: { code?: string }) => {
      throw failure(request.isCanceled ? 'the answer is too long' : 'no answer', error.code ?? 'ERR_UNKNOWN')
    })
    const responseHeaders = new Headers()
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) responseHeaders.set(name, String(value))
    }
    const isEmpty = [204, 205, 304].includes(response.statusCode)
    return new Response(isEmpty ? null : new Uint8Array(response.body), {
      status: response.statusCode,
      headers: responseHeaders,
    })
  }
}

const failure = (message: string, code: string): Error => Object.assign(new Error(message), { code })
