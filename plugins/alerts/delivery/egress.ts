import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { guardedSocket, guardedTcpSocket, type EgressPolicy } from '../../../server/security/egress.ts'
import {
  EgressFailure,
  type DeliveryContext,
  type DeliveryEgress,
  type EgressPlace,
} from '../destinations/destination.ts'
import { postGuarded } from '../destinations/post.ts'
import { classifyFailure } from '../destinations/request-failures.ts'

/** For DNS, connection and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000

/** The way out of one attempt, and what ends it. */
export interface OpenEgress {
  egress: DeliveryEgress
  /** Closes the connections that the attempt left open. */
  close(): void
}

/** @param options `signal` ends requests and connections */
export function openEgress({
  policy,
  requestId,
  signal,
}: {
  policy: EgressPolicy
  requestId: string
  signal: AbortSignal
}): OpenEgress {
  const sockets = new Set<Duplex>()
  return {
    egress: {
      request: (url, { method = 'GET', headers = {}, body } = {}) =>
        postGuarded(url, {
          method,
          headers: { ...headers, 'x-request-id': requestId },
          ...(body !== undefined && { body }),
          policy,
          signal,
        }),
      async connect(place) {
        const socket = await connectGuarded(place, policy, signal)
        sockets.add(socket)
        return socket
      },
    },
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** That of a demo destination, which reaches nothing. */
export function demoEgress(post: DeliveryContext<never>['post']): OpenEgress {
  return {
    egress: {
      request: (url, { headers = {}, body = '' } = {}) => post(url, { headers, body }),
      connect: () =>
        Promise.reject(new EgressFailure('configuration', 'A demo destination connects to nothing')),
    },
    close: () => undefined,
  }
}

/** Opens a connection where the policy allows. @throws EgressFailure */
async function connectGuarded(
  { host, port, tls = true }: EgressPlace,
  policy: EgressPolicy,
  signal: AbortSignal,
): Promise<Duplex> {
  const bare = host.replace(/^\[|\]$/g, '')
  const target = isIP(bare) === 6 ? `tcp://[${bare}]:${port}` : `tcp://${bare}:${port}`
  if (!URL.canParse(target) || new URL(target).hostname === '')
    throw new EgressFailure('configuration', 'host must be a name or an address, and port a number to 65535')
  const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS)
  let socket: Duplex | undefined
  try {
    socket = tls
      ? guardedSocket({ host: bare, port, servername: isIP(bare) === 0 ? bare : '' }, policy)
      : guardedTcpSocket({ host: bare, port }, policy)
    // An error between two calls of the extension must not end the process: the next read or write shows it.
    socket.on('error', () => undefined)
    await once(socket, tls ? 'secureConnect' : 'connect', { signal: AbortSignal.any([signal, timeout]) })
    return socket
  } catch (error) {
    socket?.destroy()
    // As the HTTP client marks it.
    const late = Object.assign(new Error(), { code: 'ETIMEDOUT', event: 'request' })
    const { errorClass, sentence } = classifyFailure(
      timeout.aborted ? late : (error as Error),
      new URL(target),
    )
    throw new EgressFailure(errorClass, sentence)
  }
}
