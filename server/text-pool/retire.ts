/** What a thread of the pool says of itself. */

/** Numbers that a thread shares with the pool for one task. */
export const TASK_FIELDS = {
  /** The id of the thread, from when the task begins. */
  thread: 0,
  /** 1 where the thread is to be ended after the task. */
  isRetired: 1,
} as const

let current: Int32Array | undefined

/** Notes which task runs in this thread. */
export function enterTask(shared: Int32Array): void {
  current = shared
}

/**
 * Lets the pool end this thread after the task, because something that it shares with later tasks may be broken: a parser
 * in WebAssembly that was interrupted frees no memory, and then fails for every text. Outside of the pool it does nothing.
 */
export function retireThread(): void {
  if (current) Atomics.store(current, TASK_FIELDS.isRetired, 1)
}
