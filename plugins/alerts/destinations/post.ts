import type { TLSSocket } from 'node:tls'
import type { Method } from 'got'
import { guardedAgent, type EgressPolicy } from '../../../server/security/egress.ts'
import { classifyFailure } from './request-failures.ts'
import { answeredOutcome, failedOutcome, type DeliveryOutcome } from './destination.ts'

/** The connection is destroyed after so much of the answer. */
const MAX_RESPONSE_BYTES = 16 * 1024
/** From the start to the end of the answer. */
const TIMEOUT_MS = 30_000

/**
 * One request over TLS, a POST unless another `method` is given, to an address that the policy allows, without redirects, retries or decompression, in at most 30
 * seconds, reading at most 16 KiB. A 2xx status is success, even if its body breaks off. Never rejects: errors of the HTTP
 * client contain the request's headers.
 */
export async function postGuarded(
  url: string,
  request: {
    method?: string
    headers: Record<string, string>
    body?: string
    policy: EgressPolicy
    signal?: AbortSignal
    timeoutMs?: number
  },
): Promise<DeliveryOutcome> {
  const target = URL.canParse(url) ? new URL(url) : null
  if (target?.protocol !== 'https:')
    return failedOutcome(
      'configuration',
      'The address does not start with https://: correct it in the destination',
    )
  const { method = 'POST', headers, body, policy, signal, timeoutMs = TIMEOUT_MS } = request
  // Loaded when it is first needed: it would delay each start.
  const { default: got } = await import('got')
  const startedAt = performance.now()
  const elapsed = () => Math.round(performance.now() - startedAt)
  const stream = got.stream(target, {
    method: method as Method,
    ...(body !== undefined && { body }),
    headers: { ...headers, 'accept-encoding': 'identity' },
    agent: { https: guardedAgent(policy) },
    http2: false,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    timeout: {
      lookup: 5_000,
      connect: 5_000,
      secureConnect: 5_000,
      send: 10_000,
      response: timeoutMs,
      request: timeoutMs,
    },
    signal,
  })
  return new Promise(resolve => {
    let answer: DeliveryOutcome | undefined
    // Null before the connection, and before the TLS handshake.
    const reached: Pick<DeliveryOutcome, 'address' | 'tlsVersion'> = { address: null, tlsVersion: null }
    const kept: Buffer[] = []
    let bytes = 0
    const end = (outcome: DeliveryOutcome) => {
      resolve(
        answer
          ? { ...answer, responseBody: Buffer.concat(kept).subarray(0, MAX_RESPONSE_BYTES).toString('utf8') }
          : outcome,
      )
      stream.destroy()
    }
    stream.on('socket', (socket: TLSSocket) => {
      // Read early: a closed socket has neither.
      socket.once('connect', () => (reached.address = socket.remoteAddress ?? null))
      socket.once('secureConnect', () => (reached.tlsVersion = socket.getProtocol()))
    })
    stream.on('response', ({ statusCode }: { statusCode: number }) => {
      answer = answeredOutcome(statusCode, { latencyMs: elapsed(), ...reached })
    })
    stream.on('data', (chunk: Buffer) => {
      kept.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_RESPONSE_BYTES) end(failedOutcome('other', ''))
    })
    const fail = (error: Error) => {
      const { errorClass, sentence } = classifyFailure(error, target)
      end(failedOutcome(errorClass, sentence, { latencyMs: elapsed(), ...reached }))
    }
    stream.on('error', fail)
    for (const event of ['end', 'close']) stream.on(event, () => fail(new Error('no answer')))
  })
}
