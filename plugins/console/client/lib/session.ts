import { createSignal } from './signal.ts'

/** The signed-in user, as the API's record. */
export interface User {
  id: string
  email: string
  full_name: string | null
  role: 'viewer' | 'member' | 'admin' | 'owner'
  company: { name: string }
  timezone: string
}

export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  timezone: string
  table_page_size: number
  /** The tour that the API knows, of other clients too. */
  onboarding: { completed: boolean }
  /** What clients keep for the user. */
  custom: Record<string, unknown>
}

/** Who looks at the console; `user` is null in the demo, which reads only. */
export interface Session {
  user: User | null
  preferences: Preferences | null
}

interface SessionReply extends Session {
  token: string
  expires_in: number
}

/** Whose session a ticket opens. */
export interface TicketHolder {
  email: string
  company: string
}

/** What a person gives to sign in. */
export type Credentials = { email: string; password: string } | { ticket: string } | { demo: true }

/** An error of the session's own requests, with the sentence of the server. */
export class SignInError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const PATH = '/console/session'
/** A token that ends sooner is exchanged first: the request and the clocks take time. */
const MARGIN_MS = 30_000

/** Undefined until it is known whether there is a session; null without one. */
export const session = createSignal<Session | null | undefined>(undefined)
/** Whether a session that was open has ended, so that its screen is kept behind the sign-in. */
export const hasExpired = createSignal(false)

/** The token of the link that opened the page: it does not stay in the address. */
export const linkToken = createSignal('')

let token: { text: string; expiresAt: number } | undefined
let resuming: Promise<string> | undefined

/** The token of a request; a new one if the last is about to end. @throws SignInError with 401 without a session */
export async function getToken(): Promise<string> {
  if (token && Date.now() < token.expiresAt - MARGIN_MS) return token.text
  return resumeSession()
}

/** Forgets a token that the server refused, unless another request has renewed it since. */
export function dropToken(refused: string | null): void {
  if (token && refused === `Bearer ${token.text}`) token = undefined
}

/** Continues the session of the browser's cookie. Requests at the same time share one answer. */
export function resumeSession(): Promise<string> {
  resuming ??= inTurn(async () => {
    const reply = await send('PUT')
    if (!reply) throw new SignInError(401, '')
    return accept(reply)
  })
    .catch((error: unknown) => {
      if (error instanceof SignInError && error.status === 401) expire()
      throw error
    })
    .finally(() => (resuming = undefined))
  return resuming
}

/** Whose session a ticket opens; the ticket can still be used. @throws SignInError with 401 when it cannot */
export async function findTicketHolder(ticket: string): Promise<TicketHolder> {
  return (await send<TicketHolder>('POST', { ticket }, '/console/tickets'))!
}

export async function signIn(credentials: Credentials): Promise<void> {
  accept((await send('POST', credentials))!)
}

/** Ends the session at the server and in this browser. @throws SignInError if the server did not do so */
export async function signOut(): Promise<void> {
  await send('DELETE')
  token = undefined
  hasExpired.set(false)
  session.set(null)
}

export function updatePreferences(preferences: Preferences): void {
  if (session.value) session.set({ ...session.value, preferences })
}

export function updateUser(user: User): void {
  if (session.value) session.set({ ...session.value, user })
}

/** Whether the user may manage people and keys, and read the audit log. */
export function canAdminister(): boolean {
  const role = session.value?.user?.role
  return role === 'admin' || role === 'owner'
}

/** Whether the user may change data: acknowledge, accept, discover. */
export function canWrite(): boolean {
  const role = session.value?.user?.role
  return role !== undefined && role !== 'viewer'
}

function accept({ token: text, expires_in, ...who }: SessionReply): string {
  token = { text, expiresAt: Date.now() + expires_in * 1_000 }
  hasExpired.set(false)
  const { value } = session
  // Equal records must not render every screen again.
  if (JSON.stringify(value) !== JSON.stringify(who)) session.set(who)
  return text
}

function expire(): void {
  token = undefined
  if (session.value) hasExpired.set(true)
  else session.set(null)
}

/** Tabs exchange tokens one after another, where the browser has locks: it has none over plain HTTP to other hosts. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const { locks } = navigator as { locks?: LockManager }
  return locks ? await locks.request('tidemark.session', work) : work()
}

/** Undefined without content. */
async function send<Reply extends object = SessionReply>(
  method: string,
  body?: object,
  path = PATH,
): Promise<Reply | undefined> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  } catch {
    throw new SignInError(0, '')
  }
  if (response.status === 204) return undefined
  const reply = (await response.json().catch(() => ({}))) as Reply & { error?: { message?: string } }
  if (!response.ok) throw new SignInError(response.status, reply.error?.message ?? '')
  return reply
}
