/** Resolves to `late()` after `milliseconds`, or rejects when it throws; a late result is ignored. */
export function withTimeout<Answer, Late>(
  promise: Promise<Answer>,
  milliseconds: number,
  late: () => Late,
): Promise<Answer | Late> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, milliseconds)
  return Promise.race([promise, over.promise.then(late)]).finally(() => clearTimeout(timer))
}

/** A call did not end in time, and was given up. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  readonly milliseconds: number

  constructor(milliseconds: number) {
    super(`The call did not end within ${milliseconds / 1_000} s`)
    this.milliseconds = milliseconds
  }
}

/** Timers of Node take little more: 23 days. */
const MAX_DELAY_MS = 2_000_000_000

/**
 * Calls code that may never answer. What it gives or throws too late is ignored.
 * @param call gets a signal that aborts when the call is given up, and with the signal of the caller
 * @param options `signal` of the caller: when it aborts, the call has `graceMs` left to end by itself
 * @throws DeadlineError after `milliseconds`, the reason of `signal` after the grace, and what `call` throws
 */
export async function callWithin<Answer>(
  milliseconds: number,
  call: (signal: AbortSignal) => Answer | PromiseLike<Answer>,
  { signal, graceMs = 0 }: { signal?: AbortSignal; graceMs?: number } = {},
): Promise<Answer> {
  const late = new AbortController()
  const over = Promise.withResolvers<never>()
  const timers: NodeJS.Timeout[] = []
  const giveUpAfter = (delayMs: number, reason: () => unknown) => {
    // An answer that arrived while the event loop was busy is still read: timers come before it.
    const giveUp = () =>
      setImmediate(() => {
        const given = reason()
        over.reject(given)
        late.abort(given)
      })
    timers.push(setTimeout(giveUp, Math.min(delayMs, MAX_DELAY_MS)))
  }
  const onAbort = () => giveUpAfter(graceMs, () => signal?.reason)
  giveUpAfter(milliseconds, () => new DeadlineError(milliseconds))
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const given = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const answer = (async () => call(given))()
    return await Promise.race([answer, over.promise])
  } finally {
    for (const timer of timers) clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
