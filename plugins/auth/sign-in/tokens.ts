import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { stringify as uuidText, parse as uuidBytes } from 'uuid'
import type { Vault } from '../../../server/security/vault.ts'

export const ACCESS_TOKEN_SECONDS = 15 * 60
const ISSUER = 'tidemark'
const AUDIENCE = 'tidemark-api'
/** RFC 9068: keeps other kinds of tokens from being accepted. */
const TOKEN_TYPE = 'at+jwt'

export interface AccessClaims {
  sub: string
  sid: string
}

export const verifyOptions = {
  algorithms: ['HS256' as const],
  issuer: ISSUER,
  audience: AUDIENCE,
  clockTolerance: 5,
}

const ACCESS_KEY_NAME = 'access tokens'

/** The current signing key of access tokens, or the one of a key id; undefined for an id that is gone. */
export function accessTokenKey(vault: Vault): Buffer
export function accessTokenKey(vault: Vault, keyId: unknown): Buffer | undefined
export function accessTokenKey(vault: Vault, keyId?: unknown): Buffer | undefined {
  if (keyId === undefined) return vault.derive(ACCESS_KEY_NAME)
  return vault.deriveAll(ACCESS_KEY_NAME).find(known => known.keyId === keyId)?.key
}

export function signAccessToken(vault: Vault, { sub, sid }: AccessClaims): string {
  return jwt.sign({ sid }, accessTokenKey(vault), {
    algorithm: 'HS256',
    subject: sub,
    issuer: ISSUER,
    audience: AUDIENCE,
    expiresIn: ACCESS_TOKEN_SECONDS,
    header: { alg: 'HS256', typ: TOKEN_TYPE, kid: vault.keyId },
  })
}

export function isAccessTokenHeader(header: unknown): boolean {
  return (header as { typ?: unknown } | undefined)?.typ === TOKEN_TYPE
}

/**
 * A refresh token, base64url of: the session's id, 256 bits, and a MAC ("mark"), which distinguishes a reused token
 * from a made-up one.
 */
export interface RefreshToken {
  sessionId: string
  text: string
  /** Stored instead of the token. */
  hash: Buffer
}

const ID_BYTES = 16
const SECRET_BYTES = 32
const MARK_BYTES = 16
const MARK_KEY_NAME = 'refresh mark'

export function createRefreshToken(vault: Vault, sessionId: string): RefreshToken {
  return buildRefreshToken(vault.derive(MARK_KEY_NAME), sessionId, randomBytes(SECRET_BYTES))
}

/**
 * The successor of a token. It is computed with a secret key, so that two requests with the same token get the same
 * successor although only hashes are stored.
 */
export function nextRefreshToken(vault: Vault, token: RefreshToken): RefreshToken {
  return possibleSuccessors(vault, token)[0]!
}

/** The successor of a token under each key, newest first. */
export function possibleSuccessors(vault: Vault, token: RefreshToken): RefreshToken[] {
  const marks = vault.deriveAll(MARK_KEY_NAME)
  return vault.deriveAll('refresh successor').map(({ key }, index) => {
    return buildRefreshToken(marks[index]!.key, token.sessionId, hmacSha256(key, Buffer.from(token.text)))
  })
}

/** Undefined for malformed text; `isOurs` is whether the mark is valid. */
export function parseRefreshToken(
  vault: Vault,
  text: string,
): (RefreshToken & { isOurs: boolean }) | undefined {
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
    isOurs: vault.deriveAll(MARK_KEY_NAME).some(({ key }) => timingSafeEqual(mark, computeMark(key, body))),
  }
}

/** Sufficient for secrets that are random themselves. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function buildRefreshToken(markKey: Buffer, sessionId: string, secret: Buffer): RefreshToken {
  const body = Buffer.concat([uuidBytes(sessionId), secret])
  const text = Buffer.concat([body, computeMark(markKey, body)]).toString('base64url')
  return { sessionId, text, hash: sha256(text) }
}

const computeMark = (key: Buffer, body: Buffer): Buffer => hmacSha256(key, body).subarray(0, MARK_BYTES)

const hmacSha256 = (key: Buffer, text: Buffer): Buffer => createHmac('sha256', key).update(text).digest()
