/** Whether this tab has gone to a provider to sign in, so that the ticket it comes back with is its own. */

const KEY = 'tidemark.provider'
/** As long as an attempt at a provider may take. */
const MAX_ATTEMPT_MS = 600_000

export function noteAttempt(): void {
  try {
    sessionStorage.setItem(KEY, String(Date.now()))
  } catch {
    // Without storage, the person is asked.
  }
}

/** Whether there was an attempt of late; it counts once. */
export function takeAttempt(): boolean {
  try {
    const at = Number(sessionStorage.getItem(KEY) ?? NaN)
    sessionStorage.removeItem(KEY)
    return Date.now() - at < MAX_ATTEMPT_MS
  } catch {
    return false
  }
}
