import { once } from 'node:events'
import { isIP } from 'node:net'
import { guardedSocket, type EgressPolicy } from '../../../server/security/egress.ts'
import { classifyFailure } from './causes.ts'

/** Milliseconds for the name, the connection and the certificate together: somebody waits for the reply. */
const TIMEOUT_MS = 5_000

/**
 * Looks at an address before alerts are sent there: it is dialled, and its certificate read, but nothing is asked.
 * @returns why nothing will ever be sent there, in a sentence; null when it may be, also when nobody answers now
 */
export async function probeUrl(url: URL, policy: EgressPolicy, mostMs = TIMEOUT_MS): Promise<string | null> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const servername = isIP(host) === 0 ? host : ''
  try {
    const socket = guardedSocket({ host, port: Number(url.port || 443), servername }, policy)
    // What comes after the end of the waiting is nobody's.
    socket.on('error', () => undefined)
    try {
      await once(socket, 'secureConnect', { signal: AbortSignal.timeout(mostMs) })
    } finally {
      socket.destroy()
    }
    return null
  } catch (error) {
    const { isLasting, sentence } = classifyFailure(error as Error, url)
    return isLasting ? sentence : null
  }
}
