import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request, Server, ServerStateCookieOptions } from '@hapi/hapi'
import { rows } from '../../../server/database/database.ts'
import type { LinkingSession } from './links.ts'
import type { CallbackChecks } from './providers.ts'
import { sha256 } from '../sign-in/tokens.ts'
import { LOCK_ATTEMPT } from '../locks.ts'

/** What an attempt at a provider is for: a sign-in, or with a `linker` the link of an account to their user. */
export interface NewAttempt {
  /** Where the browser goes on to. */
  redirectUri: string | null
  /** The invitation that whoever is new comes by. */
  invitation?: string
  linker?: LinkingSession
}

/** An attempt that has come back from its provider, to be finished. */
export interface SignInAttempt extends CallbackChecks, NewAttempt {}

/** Seconds in which a user signs in at the provider. */
export const ATTEMPT_SECONDS = 10 * 60

/**
 * Keeps a new attempt: its state and the browser's mark as hashes, the rest sealed.
 * @returns the checks, and the mark that the browser keeps in a cookie
 */
export async function createAttempt(
  server: Server,
  provider: string,
  { redirectUri, ...purpose }: NewAttempt,
): Promise<CallbackChecks & { browser: string }> {
  const [state, browser, nonce, verifier] = [randomToken(), randomToken(), randomToken(), randomToken()]
  const hash = sha256(state)
  await server.db.statement(
    `insert into oauth_attempts (state_hash, browser_hash, provider, sealed, redirect_uri, expires_at)
     values (:hash, :browser, :provider, :sealed, :redirectUri, now() + :seconds * interval '1 second')`,
    {
      hash,
      browser: sha256(browser),
      provider,
      sealed: server.vault.seal(
        JSON.stringify({ nonce, verifier, ...purpose } satisfies SealedAttempt),
        sealContext(hash),
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
export async function consumeAttempt(
  server: Server,
  provider: string,
  state: string,
  browser: string | undefined,
): Promise<SignInAttempt | undefined> {
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
       where state_hash = :hash and provider = :provider ${LOCK_ATTEMPT}`,
      { hash, provider },
    )
    if (!row || !timingSafeEqual(row.browserHash, sha256(browser))) return undefined
    await rows(trx, 'delete from oauth_attempts where state_hash = :hash', { hash })
    return row.isLate ? undefined : row
  })
  if (!taken) return undefined
  const opened = unsealAttempt(server, taken.sealed, hash)
  return opened && { state, ...opened, redirectUri: taken.redirectUri }
}

type SealedAttempt = Omit<SignInAttempt, 'state' | 'redirectUri'>

/** Undefined when the key that sealed it was taken away meanwhile: the user begins anew. */
function unsealAttempt(server: Server, sealed: string, hash: Buffer): SealedAttempt | undefined {
  try {
    return JSON.parse(server.vault.open(sealed, sealContext(hash))) as SealedAttempt
  } catch {
    return undefined
  }
}

/** The cookie of one sign-in: each has its own, so that two tabs do not disturb each other. */
export function attemptCookie(
  server: Server,
  state: string,
): { name: string; options: ServerStateCookieOptions } {
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
export function readBrowserToken(request: Request, state: string): string | undefined {
  const value = (request.state as Record<string, unknown>)[attemptCookie(request.server, state).name]
  return typeof value === 'string' ? value : undefined
}

function sealContext(hash: Buffer): string {
  return `oauth:${hash.toString('hex')}`
}

/** 256 bits, in letters that a verifier of PKCE may have (RFC 7636, section 4.1). */
function randomToken(): string {
  return randomBytes(32).toString('base64url')
}
