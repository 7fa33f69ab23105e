import { Worker } from 'node:worker_threads'

/** Ends this process when a request outlives its time, or takes more memory than it may. */
export interface Watch {
  begin(timeoutMs: number): void
  end(): void
}

/** Milliseconds that the host has for ending the process before it ends itself. */
const GRACE = 2000

/** Milliseconds between two looks at the memory. */
const LOOK = 100

/** The signal that a reader ends itself with when it takes too much memory: it ends a process and leaves no dump. */
export const OUT_OF_MEMORY_SIGNAL = 'SIGUSR2'

/** Waits while `turn` is even; while it is odd, a request runs, and after `limit` milliseconds it is too late. */
const WATCHING = `
  const { workerData: { state, most, look } } = require('node:worker_threads')
  for (;;) {
    const turn = Atomics.load(state, 0)
    if (turn % 2 === 0) {
      Atomics.wait(state, 0, turn)
      continue
    }
    const end = performance.now() + Atomics.load(state, 1)
    while (Atomics.wait(state, 0, turn, Math.min(look, Math.max(0, end - performance.now()))) === 'timed-out') {
      if (performance.now() >= end) process.kill(process.pid, 'SIGKILL')
      if (process.memoryUsage.rss() > most) process.kill(process.pid, '${OUT_OF_MEMORY_SIGNAL}')
    }
  }
`

/**
 * Starts the watching thread. The host ends a late reader itself; this is for a host that was killed meanwhile: within the
 * engine's own code the reader does not notice, and a statement without an end would run for ever.
 * @param memoryBytes what the process may take in all, also outside of JavaScript's heap
 */
export function watch(memoryBytes: number): Watch {
  const state = new Int32Array(new SharedArrayBuffer(8))
  const workerData = { state, most: memoryBytes, look: LOOK }
  new Worker(WATCHING, { eval: true, workerData, execArgv: [], env: {} }).unref()
  const turn = () => {
    Atomics.add(state, 0, 1)
    Atomics.notify(state, 0)
  }
  return {
    begin(timeoutMs) {
      Atomics.store(state, 1, Math.min(timeoutMs + GRACE, 2 ** 31 - 1))
      turn()
    },
    end: turn,
  }
}
