import { Worker } from 'node:worker_threads'

/** Ends this process when a statement outlives its time. */
export interface Watch {
  begin(timeoutMs: number): void
  end(): void
}

/** Milliseconds that the host has for ending the process before it ends itself. */
const GRACE = 2000

/** Waits while `turn` is even; while it is odd, a statement runs, and after `limit` milliseconds it is too late. */
const WATCHING = `
  const { workerData: state } = require('node:worker_threads')
  for (;;) {
    const turn = Atomics.load(state, 0)
    const limit = turn % 2 === 0 ? Infinity : Atomics.load(state, 1)
    if (Atomics.wait(state, 0, turn, limit) === 'timed-out') process.kill(process.pid, 'SIGKILL')
  }
`

/**
 * Starts the watching thread. The host ends a late reader itself; this is for a host that was killed meanwhile:
 * inside SQLite the reader does not notice, and a statement without an end would run for ever.
 */
export function watch(): Watch {
  const state = new Int32Array(new SharedArrayBuffer(8))
  new Worker(WATCHING, { eval: true, workerData: state, execArgv: [], env: {} }).unref()
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
