/** Graceful shutdown of HTTP: refuses new connections and finishes requests in flight. */
import { Server as NetServer } from 'node:net'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'

/** Milliseconds that requests in flight get. */
const REQUESTS_MS = 20_000
/**
 * Milliseconds that idle connections are kept, which is a little longer than clients were promised they could use
 * them: one that is closed under a request that is just coming in fails that request.
 */
const KEPT_MS = 6_000

export interface Drain {
  /** Whether the process has begun to end; /health says so. */
  isOn(): boolean
  /**
   * Stops accepting connections and waits, 20 s at most, until those that there are have been served.
   * @param isHurried closes idle connections at once: a person waits for the end
   */
  begin(isHurried: boolean): Promise<void>
}

declare module '@hapi/hapi' {
  interface Server {
    drain: Drain
  }
}

export function installDrain(server: Server): void {
  const inFlight = new Set<ServerResponse>()
  let isOn = false
  server.listener.on('request', (_request, response: ServerResponse) => {
    inFlight.add(response)
    response.once('close', () => inFlight.delete(response))
  })
  server.ext('onPreResponse', ({ response }, h) => {
    if (isOn && !('isBoom' in response)) response.header('Connection', 'close')
    return h.continue
  })
  server.decorate('server', 'drain', {
    isOn: () => isOn,
    async begin(isHurried) {
      isOn = true
      if (!server.listener.listening) return
      let isOpen = true
      server.listener.once('close', () => (isOpen = false))
      // As `close` of an HTTP server, but for the idle connections, which that one ends.
      NetServer.prototype.close.call(server.listener)
      const began = performance.now()
      const isWithin = (milliseconds: number) => performance.now() - began < milliseconds
      while (isOpen && isWithin(REQUESTS_MS) && (inFlight.size > 0 || (!isHurried && isWithin(KEPT_MS))))
        await wait(20)
      if (inFlight.size > 0) server.pino.warn({ requests: inFlight.size }, 'requests are cut short')
    },
  } satisfies Drain)
}
