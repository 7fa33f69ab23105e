import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { stringify as uuidText, parse as uuidBytes } from 'uuid'
import type { Vault } from '../../../server/security/vault.ts'

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

const ACCESS = 'access tokens'

/** The key that access tokens are signed with, or the one that a token names; undefined when that one is gone. */
export function accessKey(vault: Vault): Buffer
export function accessKey(vault: Vault, keyId: unknown): Buffer | undefined
export function accessKey(vault: Vault, keyId?: unknown): Buffer | undefined {
  if (keyId === undefined) return vault.derive(ACCESS)
  return vault.deriveAll(ACCESS).find(known => known.keyId === keyId)?.key
}

/** An access token of 15 minutes. */
export function signAccess(vault: Vault, { sub, sid }: AccessClaims): string {
  return jwt.sign({ sid }, accessKey(vault), {
    algorithm: 'HS256',
    subject: sub,
    issuer: ISSUER,
    audience: AUDIENCE,
    expiresIn: ACCESS_SECONDS,
    header: { alg: 'HS256', typ: TYPE, kid: vault.keyId },
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
const MARK = 'refresh mark'

/** The first refresh token of a session. */
export function firstRefresh(vault: Vault, sessionId: string): RefreshToken {
  return assemble(vault.derive(MARK), sessionId, randomBytes(SECRET_BYTES))
}

/**
 * The one token that may follow another. It is computed, so that two requests with the same token get the same
 * successor although only hashes are stored; who has the old token alone cannot compute it.
 */
export function nextRefresh(vault: Vault, token: RefreshToken): RefreshToken {
  return nextRefreshes(vault, token)[0]!
}

/** What may have followed a token: its successor under each key, the newest first. */
export function nextRefreshes(vault: Vault, token: RefreshToken): RefreshToken[] {
  const marks = vault.deriveAll(MARK)
  return vault.deriveAll('refresh successor').map(({ key }, index) => {
    return assemble(marks[index]!.key, token.sessionId, mac(key, Buffer.from(token.text)))
  })
}

/** Reads a refresh token; `isOurs` is whether its mark is right. Undefined when it has not the form of one. */
export function readRefresh(vault: Vault, text: string): (RefreshToken & { isOurs: boolean }) | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== ID_BYTES + SECRET_BYTES + MARK_BYTES || bytes.toString('base64url') !== text)
    return undefined
  const mark = bytes.subarray(ID_BYTES + SECRET_BYTES)
  const body = bytes.subarray(0, ID_BYTES + SECRET_BYTES)
  const sessionId = uuidText(bytes.subarray(0, ID_BYTES))
  return {
    sessionId,
    text,
    hash: sha256(text),
    isOurs: vault.deriveAll(MARK).some(({ key }) => timingSafeEqual(mark, markOf(key, body))),
  }
}

/** SHA-256, enough for secrets that are random themselves. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function assemble(markKey: Buffer, sessionId: string, secret: Buffer): RefreshToken {
  const body = Buffer.concat([uuidBytes(sessionId), secret])
  const text = Buffer.concat([body, markOf(markKey, body)]).toString('base64url')
  return { sessionId, text, hash: sha256(text) }
}

function markOf(key: Buffer, body: Buffer): Buffer {
  return mac(key, body).subarray(0, MARK_BYTES)
}

function mac(key: Buffer, text: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
