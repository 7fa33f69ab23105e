import { createPrivateKey } from 'node:crypto'
import jwt from 'jsonwebtoken'
import type { ServiceAccount } from './config.ts'

/** Seconds that a token is good for; Google takes at most an hour. */
const LIFETIME_SECONDS = 59 * 60
/** Seconds before its end at which a token is replaced. */
const RENEWAL_SECONDS = 5 * 60

/** What a token may be used for. https://developers.google.com/identity/protocols/oauth2/scopes#bigquery */
const SCOPES = {
  /** "View your data": queries and lists. Statements are run with no more than this. */
  read: 'https://www.googleapis.com/auth/bigquery.readonly',
  /** Cancelling a job is the one request that needs it. */
  cancel: 'https://www.googleapis.com/auth/bigquery',
} as const

/** The `authorization` header for a purpose. */
export type BigquerySigner = (purpose: keyof typeof SCOPES) => string

/**
 * Signs requests with tokens made here with the account's key, which BigQuery takes as they are
 * (https://cloud.google.com/bigquery/docs/json-web-tokens, https://google.aip.dev/auth/4111): nothing is asked of an
 * authorization server, and so not of a `token_uri`.
 * @param now milliseconds since 1970
 */
export function makeBigquerySigner(account: ServiceAccount, now = Date.now): BigquerySigner {
  const key = createPrivateKey(account.private_key)
  const tokens = new Map<string, { header: string; renewAt: number }>()
  return purpose => {
    const known = tokens.get(purpose)
    if (known && now() < known.renewAt) return known.header
    const iat = Math.floor(now() / 1000)
    const { client_email: email } = account
    const claims = { iss: email, sub: email, scope: SCOPES[purpose], iat, exp: iat + LIFETIME_SECONDS }
    const token = jwt.sign(claims, key, {
      algorithm: 'RS256',
      ...(account.private_key_id !== undefined && { keyid: account.private_key_id }),
    })
    const signed = { header: `Bearer ${token}`, renewAt: now() + (LIFETIME_SECONDS - RENEWAL_SECONDS) * 1000 }
    tokens.set(purpose, signed)
    return signed.header
  }
}
