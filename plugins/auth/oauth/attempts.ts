import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request, ServerStateCookieOptions } from '@hapi/hapi'
import { rows } from '../../../server/database/database.ts'
import type { AuthDeps } from '../deps.ts'
import type { LinkingSession } from './links.ts'
import type { CallbackChecks } from './providers.ts'
import { sha256 } from '../sign-in/tokens.ts'
import { LOCK_ATTEMPT } from '../locks.ts'

/** The purpose of an attempt: a sign-in, or with a `linker` the link of an account to their user. */
export interface NewAttempt {
  /** Where the browser is sent afterwards. */
  redirectUri: string | null
  /** The invitation token of a new user. */
  invitation?: string
  linker?: LinkingSession
}

/** An attempt that came back from its provider. */
export interface SignInAttempt extends CallbackChecks, NewAttempt {}

export const ATTEMPT_SECONDS = 10 * 60

/**
 * Stores a new attempt: its state and the browser token as hashes, the rest sealed.
 * @returns the checks, and the browser token for a cookie
 */
export async function createAttempt(
  deps: AuthDeps,
  provider: string,
  { redirectUri, ...purpose }: NewAttempt,
): Promise<CallbackChecks & { browser: string }> {
  const [state, browser, nonce, verifier] = [randomToken(), randomToken(), randomToken(), randomToken()]
  const hash = sha256(state)
  await deps.db.statement(
    `insert into oauth_attempts (state_hash, browser_hash, provider, sealed, redirect_uri, expires_at)
     values (:hash, :browser, :provider, :sealed, :redirectUri, now() + :seconds * interval '1 second')`,
    {
      hash,
      browser: sha256(browser),
      provider,
      sealed: deps.vault.seal(
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
 * Consumes the attempt of a state: only one of two concurrent calls gets it. A call from another browser or provider
 * neither gets nor consumes it.
 */
export async function consumeAttempt(
  deps: AuthDeps,
  provider: string,
  state: string,
  browser: string | undefined,
): Promise<SignInAttempt | undefined> {
  if (browser === undefined) return undefined
  const hash = sha256(state)
  const consumed = await deps.db.system(async trx => {
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
  if (!consumed) return undefined
  const opened = unsealAttempt(deps, consumed.sealed, hash)
  return opened && { state, ...opened, redirectUri: consumed.redirectUri }
}

type SealedAttempt = Omit<SignInAttempt, 'state' | 'redirectUri'>

/** Undefined when the sealing key was removed meanwhile: the user has to start again. */
function unsealAttempt(deps: AuthDeps, sealed: string, hash: Buffer): SealedAttempt | undefined {
  try {
    return JSON.parse(deps.vault.open(sealed, sealContext(hash))) as SealedAttempt
  } catch {
    return undefined
  }
}

/** The cookie of one attempt: each has its own, so that two tabs do not interfere. */
export function attemptCookie(
  deps: AuthDeps,
  state: string,
): { name: string; options: ServerStateCookieOptions } {
  const isSecure = deps.config.baseUrl.startsWith('https:')
  const id = sha256(state).toString('base64url').slice(0, 16)
  return {
    // The prefix keeps other hosts of the domain, and plain http, from setting the cookie.
    name: `${isSecure ? '__Host-' : ''}tidemark-oauth-${id}`,
    options: {
      isSecure,
      isHttpOnly: true,
      // Lax, since the provider's site starts the request back.
      isSameSite: 'Lax',
      path: '/',
      ttl: ATTEMPT_SECONDS * 1_000,
      encoding: 'none',
      strictHeader: true,
    },
  }
}

export function readBrowserToken(request: Request, state: string): string | undefined {
  const value = (request.state as Record<string, unknown>)[attemptCookie(request.server, state).name]
  return typeof value === 'string' ? value : undefined
}

const sealContext = (hash: Buffer): string => `oauth:${hash.toString('hex')}`

/** 256 bits in the characters of a PKCE verifier (RFC 7636, section 4.1). */
const randomToken = (): string => randomBytes(32).toString('base64url')
