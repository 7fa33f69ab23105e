import { makeFairSlots } from './fair-slots.ts'

/** How companies share the connections of a pool. */
export interface ConnectionShares {
  /**
   * Does work that takes one connection for a company.
   * @throws an error for which `isAway` holds, when its share of them was in use for too long
   */
  hold<T>(companyId: string, work: () => Promise<T>): Promise<T>
  /** How much work waits. */
  waiting(): number
}

/**
 * One company takes another connection while it holds fewer than twice the free ones. So it holds seven of ten at most, the
 * next two of the others, and one is left. What waits for its share takes no connection from others.
 * @param waitMs milliseconds that work waits at most
 */
export function shareConnections(connections: number, waitMs: number): ConnectionShares {
  const slots = makeFairSlots(connections, { perOwner: free => 2 * free })
  const waitForShare = (companyId: string) => {
    const signal = AbortSignal.timeout(waitMs)
    return slots.take(companyId, { maxWaiting: Infinity, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
      throw new Error('Timeout acquiring a connection: the company holds its share of them', { cause: error })
    })
  }
  return {
    async hold(companyId, work) {
      // Most statements find a free connection, and need no timer.
      const release = slots.takeNow(companyId) ?? (await waitForShare(companyId))
      try {
        return await work()
      } finally {
        release()
      }
    },
    waiting: slots.waiting,
  }
}
