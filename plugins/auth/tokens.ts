import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { stringify as uuidText, parse as uuidBytes } from 'uuid'
import type { Vault } from '../../server/vault.ts'

/** Seconds an access token lives. */
export const ACCESS_SECONDS = 15 * 60
const ISSUER = 'tidemark'
const AUDIENCE = 'tidemark-api'
/** RFC 9068, so that no other kind of token passes for one. */
const TYPE = 'at+jwt'

/** What an access token says. */
export interface AccessClaims {
  /** The user's id. */
  sub: string
  /** The session's id. */
  sid: string
}

/** How access tokens are checked, for `jsonwebtoken`. */
export const verifyOptions = {
  algorithms: ['HS256' as const],
  issuer: ISSUER,
  audience: AUDIENCE,
  clockTolerance: 5,
}

/** The key that access tokens are signed with. */
export function accessKey(vault: Vault): Buffer {
  return vault.derive('access tokens')
}

/** An access token of 15 minutes. */
export function signAccess(vault: Vault, { sub, sid }: AccessClaims): string {
  return jwt.sign({ sid }, accessKey(vault), {
    algorithm: 'HS256',
    subject: sub,
    issuer: ISSUER,
    audience: AUDIENCE,
    expiresIn: ACCESS_SECONDS,
    header: { alg: 'HS256', typ: TYPE },
  })
}

/** Whether a token's header names our kind of token. */
export function isAccessHeader(header: unknown): boolean {
  return (header as { typ?: unknown } | undefined)?.typ === TYPE
}

/**
 * A refresh token: the session's id, 256 bits, and a mark that we made it, in base64url. By the mark an old one
 * that comes again is told from one made up.
 */
export interface RefreshToken {
  sessionId: string
  text: string
  /** What is stored of it. */
  hash: Buffer
}

const ID_BYTES = 16
const SECRET_BYTES = 32
const MARK_BYTES = 16

/** The first refresh token of a session. */
export function firstRefresh(vault: Vault, sessionId: string): RefreshToken {
  return assemble(vault, sessionId, randomBytes(SECRET_BYTES))
}

/**
 * The one token that may follow another. It is computed, so that two requests with the same token get the same
 * successor although only hashes are stored; who has the old token alone cannot compute it.
 */
export function nextRefresh(vault: Vault, token: RefreshToken): RefreshToken {
  return assemble(vault, token.sessionId, mac(vault, 'refresh successor', Buffer.from(token.text)))
}

/** Reads a refresh token; `isOurs` is whether its mark is right. Undefined when it has not the form of one. */
export function readRefresh(vault: Vault, text: string): (RefreshToken & { isOurs: boolean }) | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== ID_BYTES + SECRET_BYTES + MARK_BYTES || bytes.toString('base64url') !== text)
    return undefined
  const mark = bytes.subarray(ID_BYTES + SECRET_BYTES)
  const sessionId = uuidText(bytes.subarray(0, ID_BYTES))
  return {
    sessionId,
    text,
    hash: sha256(text),
    isOurs: timingSafeEqual(mark, markOf(vault, bytes.subarray(0, ID_BYTES + SECRET_BYTES))),
  }
}

/** SHA-256, enough for secrets that are random themselves. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function assemble(vault: Vault, sessionId: string, secret: Buffer): RefreshToken {
  const body = Buffer.concat([uuidBytes(sessionId), secret])
  const text = Buffer.concat([body, markOf(vault, body)]).toString('base64url')
  return { sessionId, text, hash: sha256(text) }
}

function markOf(vault: Vault, body: Buffer): Buffer {
  return mac(vault, 'refresh mark', body).subarray(0, MARK_BYTES)
}

function mac(vault: Vault, purpose: string, text: Buffer): Buffer {
  return createHmac('sha256', vault.derive(purpose)).update(text).digest()
}
