import type { Lifecycle, Request, Server } from '@hapi/hapi'
import { makeFairSlots, SlotRefusedError } from './fair-slots.ts'
import { caller } from '../http/access.ts'
import { apiError } from '../http/errors.ts'

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    /** Whether a request may hold a connection of the pool for long: few of a company run at once. */
    isHeavy?: true
  }
}

/** Heavy requests at once in a process: the rest of its ten connections is left to all others. */
const MAX_RUNNING = 4
/** At once for one company. */
const MAX_RUNNING_OF_COMPANY = 2
/** More of one company wait, for some seconds. */
const MAX_WAITING_OF_COMPANY = 8
const MAX_WAIT_MS = 10_000
const RETRY_AFTER_SECONDS = 5

/**
 * Lets few heavy requests of a company run at once, so that no company takes the connections of all; the others wait, and
 * are answered with 503 and `Retry-After` when they waited in vain.
 */
export function installHeavyRequests(server: Server): void {
  const slots = makeFairSlots(MAX_RUNNING, { perOwner: MAX_RUNNING_OF_COMPANY })
  server.ext('onPreStart', () => {
    for (const { settings } of server.table())
      if (settings.app?.isHeavy && typeof settings.handler === 'function')
        settings.handler = inTurn(settings.handler as Lifecycle.Method)
  })

  function inTurn(handler: Lifecycle.Method): Lifecycle.Method {
    return async function (request, h) {
      const release = await takeSlot(request)
      try {
        return await handler.call(this, request, h)
      } finally {
        release()
      }
    }
  }

  async function takeSlot(request: Request): Promise<() => void> {
    const signal = AbortSignal.timeout(MAX_WAIT_MS)
    try {
      return await slots.take(caller(request).companyId, { maxWaiting: MAX_WAITING_OF_COMPANY, signal })
    } catch (error) {
      if (!signal.aborted && !(error instanceof SlotRefusedError)) throw error
      const busy = apiError(
        'UNAVAILABLE',
        'Other requests of the company are still being answered: send fewer of them at once, and try again',
        { retry_after: RETRY_AFTER_SECONDS },
      )
      busy.output.headers['Retry-After'] = String(RETRY_AFTER_SECONDS)
      throw busy
    }
  }
}
