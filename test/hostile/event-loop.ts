import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two looks at the event loop. */
const RESOLUTION_MS = 5

/** Milliseconds for which the event loop of this process was held at the longest while the work was done. */
export async function longestDelay(work: () => Promise<unknown>): Promise<number> {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  monitor.enable()
  // Its timer has to have begun, and to end once more after the work.
  await delay(2 * RESOLUTION_MS)
  monitor.reset()
  await work()
  await setImmediate()
  await delay(2 * RESOLUTION_MS)
  monitor.disable()
  return Math.max(0, monitor.max / 1e6 - RESOLUTION_MS)
}

/** The same of the calmest of several tries: what other processes take of the machine is no delay of this one's. */
export async function calmestDelay(
  work: () => Promise<unknown>,
  { tries = 3, enough }: { tries?: number; enough: number },
): Promise<number> {
  let least = Infinity
  for (let count = 0; count < tries && least > enough; count += 1)
    least = Math.min(least, await longestDelay(work))
  return least
}
