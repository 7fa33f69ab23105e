import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request, Server, ServerStateCookieOptions } from '@hapi/hapi'
import { rows } from '../../../server/database/database.ts'
import type { Linker } from './links.ts'
import type { Checks } from './providers.ts'
import { sha256 } from '../sign-in/tokens.ts'

/** What an attempt at a provider is for: a sign-in, or with a `linker` the link of an account to their user. */
export interface NewAttempt {
  /** Where the browser goes on to. */
  redirectUri: string | null
  /** The invitation that whoever is new comes by. */
  invitation?: string
  linker?: Linker
}

/** An attempt that has come back from its provider, to be finished. */
export interface Attempt extends Checks, NewAttempt {}

/** Seconds in which a user signs in at the provider. */
export const ATTEMPT_SECONDS = 10 * 60

/**
 * Keeps a new attempt: its state and the browser's mark as hashes, the rest sealed.
 * @returns the checks, and the mark that the browser keeps in a cookie
 */
export async function keepAttempt(
  server: Server,
  provider: string,
  { redirectUri, ...purpose }: NewAttempt,
): Promise<Checks & { browser: string }> {
  const [state, browser, nonce, verifier] = [random(), random(), random(), random()]
  const hash = sha256(state)
  await server.db.statement(
    `insert into oauth_attempts (state_hash, browser_hash, provider, sealed, redirect_uri, expires_at)
     values (:hash, :browser, :provider, :sealed, :redirectUri, now() + :seconds * interval '1 second')`,
    {
      hash,
      browser: sha256(browser),
      provider,
      sealed: server.vault.seal(
        JSON.stringify({ nonce, verifier, ...purpose } satisfies Sealed),
        placeOf(hash),
      ),
      redirectUri,
      seconds: ATTEMPT_SECONDS,
    },
  )
  return { state, browser, nonce, verifier }
}

/**
 * Takes the sign-in of a state, once: of two that come at the same time one finds it. Another browser and another
 * provider neither find it nor spoil it.
 */
export async function takeAttempt(
  server: Server,
  provider: string,
  state: string,
  browser: string | undefined,
): Promise<Attempt | undefined> {
  if (browser === undefined) return undefined
  const hash = sha256(state)
  const taken = await server.db.system(async trx => {
    const [row] = await rows<{
      browserHash: Buffer
      sealed: string
      redirectUri: string | null
      isLate: boolean
    }>(
      trx,
      `select browser_hash, sealed, redirect_uri, expires_at <= now() as is_late from oauth_attempts
       where state_hash = :hash and provider = :provider for update`,
      { hash, provider },
    )
    if (!row || !timingSafeEqual(row.browserHash, sha256(browser))) return undefined
    await rows(trx, 'delete from oauth_attempts where state_hash = :hash', { hash })
    return row.isLate ? undefined : row
  })
  if (!taken) return undefined
  const opened = openSealed(server, taken.sealed, hash)
  return opened && { state, ...opened, redirectUri: taken.redirectUri }
}

type Sealed = Omit<Attempt, 'state' | 'redirectUri'>

/** Undefined when the key that sealed it was taken away meanwhile: the user begins anew. */
function openSealed(server: Server, sealed: string, hash: Buffer): Sealed | undefined {
  try {
    return JSON.parse(server.vault.open(sealed, placeOf(hash))) as Sealed
  } catch {
    return undefined
  }
}

/** The cookie of one sign-in: each has its own, so that two tabs do not disturb each other. */
export function cookieOf(server: Server, state: string): { name: string; options: ServerStateCookieOptions } {
  const isSecure = server.config.baseUrl.startsWith('https:')
  const id = sha256(state).toString('base64url').slice(0, 16)
  return {
    // The prefix keeps other hosts of the domain, and plain http, from setting it.
    name: `${isSecure ? '__Host-' : ''}tidemark-oauth-${id}`,
    options: {
      isSecure,
      isHttpOnly: true,
      // Lax, since the way back from the provider starts there.
      isSameSite: 'Lax',
      path: '/',
      ttl: ATTEMPT_SECONDS * 1_000,
      encoding: 'none',
      strictHeader: true,
    },
  }
}

/** The mark that the browser was given with a state. */
export function browserOf(request: Request, state: string): string | undefined {
  const value = (request.state as Record<string, unknown>)[cookieOf(request.server, state).name]
  return typeof value === 'string' ? value : undefined
}

function placeOf(hash: Buffer): string {
  return `oauth:${hash.toString('hex')}`
}

/** 256 bits, in letters that a verifier of PKCE may have (RFC 7636, section 4.1). */
function random(): string {
  return randomBytes(32).toString('base64url')
}
