import { ApiError, ConnectionError } from './errors.ts'

/** A retry that is about to be waited for. */
export interface Retry {
  /** 1 for the first retry. */
  attempt: number
  delayMs: number
  /** What the attempt before it ended with. */
  error: ApiError | ConnectionError
}

/**
 * Whether the same request may be sent again.
 * @param isRepeatable whether repeating it has no further effect: GET, PUT, DELETE, and POST with an `Idempotency-Key`
 */
export function canRetry(error: unknown, isRepeatable: boolean): error is ApiError | ConnectionError {
  if (!(error instanceof ApiError)) return isRepeatable && error instanceof ConnectionError
  const { status, retryAfterMs } = error
  // 429: a request beyond a limit was not begun, so that any may be repeated.
  // 409 with Retry-After: the first request with this Idempotency-Key is still being answered.
  const isPassing = status === 409 ? retryAfterMs !== undefined : [502, 503, 504].includes(status)
  return status === 429 || (isRepeatable && isPassing)
}

/**
 * Returns the milliseconds before a retry: what the server asks for, else exponential backoff with full jitter,
 * at most 0.5 seconds for the first and 8 for any.
 * @param attempt 1 for the first retry
 */
export function retryDelay(attempt: number, error: object, random = Math.random): number {
  const asked = 'retryAfterMs' in error ? (error.retryAfterMs as number | undefined) : undefined
  return asked ?? random() * Math.min(8_000, 250 * 2 ** attempt)
}

/** Waits; rejects with the reason of the signal as soon as it aborts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
