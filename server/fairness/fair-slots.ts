/** Gives a fixed number of slots to owners in turns, however much each asks for. */
export interface FairSlots {
  /**
   * Waits for a slot.
   * @param owner a company, or an address that has none
   * @returns a function that gives the slot back
   * @throws SlotRefusedError when too many tasks of the owner, or of all owners, wait already
   */
  take(owner: string, options?: SlotOptions): Promise<() => void>
  /** Takes a slot if the owner may have one now. @returns what gives it back; undefined where it would wait */
  takeNow(owner: string): (() => void) | undefined
  /** How many tasks wait. */
  waiting(): number
  /** Rejects what waits; nothing is given any more. */
  stop(): void
}

export interface SlotOptions {
  /** Tasks of the owner that may wait; Infinity for jobs, which are bounded elsewhere. Defaults to 1. */
  maxWaiting?: number
  /** Jobs wait behind what people asked for of the same owner. */
  isBackground?: boolean
  /** Gives the place in the queue up. */
  signal?: AbortSignal | undefined
}

export interface FairSlotsOptions {
  perOwner?: number | ((free: number) => number)
  maxWaiting?: number
}

export class SlotRefusedError extends Error {
  override readonly name = 'SlotRefusedError'
}

/** Tasks of all owners that people wait for. */
const MAX_WAITING_OF_ALL = 64

interface Waiting {
  isBackground: boolean
  isCounted: boolean
  start(release: () => void): void
  reject(error: Error): void
}

/**
 * @param options.perOwner slots that one owner has at most at a time, or how many it may have while so many are free
 * @param options.maxWaiting tasks of all owners that people wait for
 */
export function makeFairSlots(
  slots: number,
  { perOwner = 1, maxWaiting = MAX_WAITING_OF_ALL }: FairSlotsOptions = {},
): FairSlots {
  /** In the order in which owners get their turn. */
  const queues = new Map<string, Waiting[]>()
  const running = new Map<string, number>()
  let isStopped = false

  const heldBy = (owner: string) => running.get(owner) ?? 0
  const countHeld = () => [...running.values()].reduce((sum, held) => sum + held, 0)
  const mayTake = (owner: string) => {
    const free = slots - countHeld()
    return free > 0 && heldBy(owner) < (typeof perOwner === 'number' ? perOwner : perOwner(free))
  }
  const startNext = (): void => {
    for (const [owner, queue] of queues) {
      if (countHeld() >= slots) return
      if (!mayTake(owner)) continue
      const next = queue.findIndex(({ isBackground }) => !isBackground)
      const [task] = queue.splice(Math.max(next, 0), 1)
      queues.delete(owner)
      // Its owner goes to the end of the line.
      if (queue.length > 0) queues.set(owner, queue)
      task?.start(hold(owner))
    }
  }
  const release = (owner: string) => () => {
    const left = heldBy(owner) - 1
    if (left > 0) running.set(owner, left)
    else running.delete(owner)
    startNext()
  }
  const hold = (owner: string) => {
    running.set(owner, heldBy(owner) + 1)
    return release(owner)
  }
  const countOfAll = () =>
    [...queues.values()].reduce((sum, queue) => sum + queue.filter(({ isCounted }) => isCounted).length, 0)

  return {
    takeNow: owner => (isStopped || !mayTake(owner) ? undefined : hold(owner)),
    take(owner, { maxWaiting: maxOfOwner = 1, isBackground = false, signal } = {}) {
      const queue = queues.get(owner) ?? []
      const isIdle = mayTake(owner)
      const isCounted = Number.isFinite(maxOfOwner)
      const ofOwner = queue.filter(waiting => waiting.isCounted).length
      const isFull = isCounted && !isIdle && (ofOwner >= maxOfOwner || countOfAll() >= maxWaiting)
      if (isStopped || isFull)
        return Promise.reject(new SlotRefusedError(isStopped ? 'The service is stopping' : 'Too many wait'))
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiting: Waiting = { isBackground, isCounted, start: resolve, reject }
      queues.set(owner, [...queue, waiting])
      const giveUp = () => {
        const left = (queues.get(owner) ?? []).filter(other => other !== waiting)
        if (left.length > 0) queues.set(owner, left)
        else queues.delete(owner)
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      if (signal?.aborted) giveUp()
      startNext()
      return promise.finally(() => signal?.removeEventListener('abort', giveUp))
    },
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.length, 0),
    stop() {
      isStopped = true
      for (const queue of queues.values())
        for (const { reject } of queue) reject(new SlotRefusedError('The service is stopping'))
      queues.clear()
    },
  }
}
