import { ApiError, createClient } from 'tidemark/client'
import { dropToken, getToken, session, SignInError } from './session.ts'

/**
 * Retries once with a new token: the server refuses one whose session was ended elsewhere, or after a restart. It names
 * the credential that it wants then; a wrong password in the body is a 401 too, and would be tried twice.
 */
const fetchWithSession: typeof fetch = async (input, init) => {
  await awaitTurn(init?.signal)
  const response = await fetch(input, init)
  if (response.status !== 401 || !response.headers.has('www-authenticate')) return response
  const headers = new Headers(init?.headers)
  dropToken(headers.get('authorization'))
  headers.set('authorization', `Bearer ${await getToken()}`)
  return fetch(input, { ...init, headers })
}

/** A key of the demo may ask twice in a second. */
const DEMO_PAUSE_MS = 550
let lastTurn = 0

/** Waits for a turn, in the demo only: its limit would refuse what a screen asks for at the same time. */
async function awaitTurn(signal: AbortSignal | null | undefined): Promise<void> {
  if (!session.value || session.value.user) return
  const now = Date.now()
  lastTurn = Math.max(now, lastTurn + DEMO_PAUSE_MS)
  await new Promise(resolve => setTimeout(resolve, lastTurn - now))
  signal?.throwIfAborted()
}

/** The public API, with the token of the session. */
export const api = createClient({
  token: getToken,
  fetch: fetchWithSession,
  timeoutMs: 20_000,
  // A person does not wait longer for a screen; the error has a button that tries again.
  maxRetryAfterMs: 3_000,
})

/** What the fields of a form make. */
export type FormBody = Record<string, unknown>

/**
 * The body of a request from the fields of a form, which the description of the API has no types for: the server
 * validates it, and what it refuses stands beside the fields.
 */
export const bodyOf = <T>(fields: FormBody) => fields as T

/** Whether a request failed because the session has ended; the sign-in is shown then. */
export function isSignedOut(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].some(it => it instanceof SignInError && it.status === 401)
}

/** Whether the record that was asked for does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
