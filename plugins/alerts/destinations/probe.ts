import { once } from 'node:events'
import { isIP } from 'node:net'
import { guardedSocket, type EgressPolicy } from '../../../server/security/egress.ts'
import { classifyFailure } from './request-failures.ts'

/** For DNS, connection and TLS together: a person waits for the reply. */
const TIMEOUT_MS = 5_000

/**
 * Opens a TLS connection to an address without sending a request.
 * @returns why messages can never be sent there, in a sentence; null if they can, also if it does not answer just now
 */
export async function probeUrl(
  url: URL,
  policy: EgressPolicy,
  timeoutMs = TIMEOUT_MS,
): Promise<string | null> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const servername = isIP(host) === 0 ? host : ''
  try {
    const socket = guardedSocket({ host, port: Number(url.port || 443), servername }, policy)
    // Errors after the timeout are ignored.
    socket.on('error', () => undefined)
    try {
      await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) })
    } finally {
      socket.destroy()
    }
    return null
  } catch (error) {
    const { isLasting, sentence } = classifyFailure(error as Error, url)
    return isLasting ? sentence : null
  }
}
