/** Joins the work of attempts of one company into sets. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** One member of a set. */
export interface Member<Item> {
  item: Item
  /** Runs something under the cause and the span of the attempt that asked, not those of the set. */
  inContext<Result>(work: () => Result): Result
}

interface Waiting<Item, Result> extends Member<Item> {
  answer: PromiseWithResolvers<Result>
}

/**
 * Runs what is asked for while an earlier set of the same key runs as the next set, so that sets grow with the load and
 * nothing waits for company when there is none.
 * @param run in a transaction, all or nothing; a set that fails is run again one by one, so that one member's error is its own
 */
export function joinCalls<Item, Result>(
  run: (key: string, members: readonly Member<Item>[]) => Promise<Result[]>,
): (key: string, item: Item) => Promise<Result> {
  const queues = new Map<string, Waiting<Item, Result>[]>()

  async function runSet(key: string, set: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(key, set)
      set.forEach(({ answer }, place) => answer.resolve(results[place]!))
    } catch (error) {
      const [only] = set
      if (set.length === 1) return only?.answer.reject(error)
      for (const one of set) await runSet(key, [one])
    }
  }

  async function drain(key: string, queue: Waiting<Item, Result>[]): Promise<void> {
    while (queue.length > 0) await runSet(key, queue.splice(0))
    queues.delete(key)
  }

  return (key, item) => {
    const answer = Promise.withResolvers<Result>()
    const waiting = { item, answer, inContext: AsyncLocalStorage.snapshot() }
    const queue = queues.get(key)
    if (queue) queue.push(waiting)
    else {
      const started = [waiting]
      queues.set(key, started)
      // Those that the event loop has ready by now join the first set.
      setImmediate(() => void drain(key, started))
    }
    return answer.promise
  }
}
