import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/** How often the loop is asked, in milliseconds. */
const RESOLUTION_MS = 10

/** What an input within the limits may hold the event loop for, in milliseconds. */
export const MAX_DELAY_MS = 100

/**
 * The longest time for which the event loop of this process was held while some work was done: that which other requests
 * waited. A busy machine keeps the thread off its CPU, which is no fault of the work: so what counts is the lesser of the
 * longest delay and the most CPU time of the thread between two turns.
 * @param work what it asks of the server in this process; what it sends should be made before
 * @returns milliseconds
 */
export async function longestDelay(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let mostCpu = 0
  let before = cpuMs()
  const look = () => {
    const now = cpuMs()
    mostCpu = Math.max(mostCpu, now - before)
    before = now
  }
  const looking = setInterval(look, RESOLUTION_MS)
  delays.enable()
  try {
    // Its first turn sets the time from which it measures.
    await wait(2 * RESOLUTION_MS)
    await work()
    // A turn that has not ended yet counts too.
    await wait(2 * RESOLUTION_MS)
    look()
  } finally {
    delays.disable()
    clearInterval(looking)
  }
  return Math.min(delays.max / 1_000_000, mostCpu)
}

/** The same of the calmest of several tries: collecting garbage of what was before is no fault of the work either. */
export async function calmestDelay(
  work: () => Promise<unknown>,
  { tries = 3, enough }: { tries?: number; enough: number },
): Promise<number> {
  let least = Infinity
  for (let count = 0; count < tries && least > enough; count += 1)
    least = Math.min(least, await longestDelay(work))
  return least
}

/** CPU time of this thread; before Node 23.9, of the process. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}
