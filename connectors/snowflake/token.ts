import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import type { SnowflakeConfig } from './config.ts'
import { unusableKeyError } from './errors.ts'
import { extractFastKey } from './key-extraction.ts'

/** Seconds that a token is good for; Snowflake takes at most an hour. */
const LIFETIME_SECONDS = 59 * 60
/** Seconds before its end at which a token is replaced. */
const RENEWAL_SECONDS = 5 * 60
const MIN_KEY_BITS = 2048

/** The headers that sign a request, by the time in milliseconds. */
export type SnowflakeSigner = (now: number) => Record<string, string>

/**
 * Prepares to sign requests: with a programmatic access token as it is, or with tokens made with the private key
 * (https://docs.snowflake.com/en/developer-guide/sql-api/authenticating).
 * @throws ConnectorError of kind `credentials` when the key cannot be read
 */
export function makeSnowflakeSigner(config: SnowflakeConfig): SnowflakeSigner {
  if (config.private_key === undefined) {
    const headers = authorizationHeaders('PROGRAMMATIC_ACCESS_TOKEN', config.password ?? '')
    return () => headers
  }
  const key = readPrivateKey(config.private_key, config.private_key_passphrase)
  const user = `${tokenAccount(config.account)}.${config.username.toUpperCase()}`
  const issuer = `${user}.${fingerprint(key)}`
  let token = ''
  let renewAt = -Infinity
  return now => {
    if (now >= renewAt) {
      const iat = Math.floor(now / 1000)
      const claims = { iss: issuer, sub: user, iat, exp: iat + LIFETIME_SECONDS }
      token = jwt.sign(claims, key, { algorithm: 'RS256' })
      renewAt = now + (LIFETIME_SECONDS - RENEWAL_SECONDS) * 1000
    }
    return authorizationHeaders('KEYPAIR_JWT', token)
  }
}

function authorizationHeaders(type: string, token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'x-snowflake-authorization-token-type': type }
}

/** The account as tokens name it: upper case, a locator without its region (`.global` ones without the suffix). */
export function tokenAccount(account: string): string {
  const end = account.includes('.global') ? account.indexOf('-') : account.indexOf('.')
  return (end > 0 ? account.slice(0, end) : account).toUpperCase()
}

/** `SHA256:` and the digest of the public key, as RSA_PUBLIC_KEY_FP of DESCRIBE USER prints it. */
export function fingerprint(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return `SHA256:${createHash('sha256').update(der).digest('base64')}`
}

function readPrivateKey(pem: string, passphrase: string | undefined): KeyObject {
  // Keys that came through a JSON file or an environment variable have their line breaks written out.
  const key = openPrivateKey(pem.replaceAll(String.raw`\n`, '\n'), passphrase)
  if (key.asymmetricKeyType !== 'rsa')
    throw unusableKeyError('private_key is no RSA key: make an RSA key pair.')
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < MIN_KEY_BITS)
    throw unusableKeyError(`private_key has ${bits} bits: make a key of ${MIN_KEY_BITS} bits or more.`)
  return key
}

function openPrivateKey(pem: string, passphrase: string | undefined): KeyObject {
  const block = extractFastKey(pem)
  const isEncrypted = /ENCRYPTED/.test(block ?? pem)
  if (isEncrypted && passphrase === undefined)
    throw unusableKeyError('private_key is encrypted: set private_key_passphrase.')
  try {
    return createPrivateKey({ key: block ?? '', format: 'pem', ...(isEncrypted && { passphrase }) })
  } catch {
    // OpenSSL's reason is left out: it might reveal parts of the key.
    throw unusableKeyError(
      isEncrypted
        ? 'private_key cannot be opened: check private_key_passphrase and that the key is whole.'
        : 'private_key cannot be read: check that it is whole, with its BEGIN and END lines.',
    )
  }
}
