import { setImmediate } from 'node:timers/promises'

/** Milliseconds for which a piece of work holds the thread before others get their turn. */
const MAX_HELD_MS = 10

/**
 * Lets long work be done in turns with everything else: what it returns is awaited between items, and pauses once the
 * thread was held for some milliseconds.
 */
export function makePauses(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < MAX_HELD_MS) return undefined
    return setImmediate().then(() => {
      began = performance.now()
    })
  }
}
