import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts stored secrets with AES-256-GCM (NIST SP 800-38D): a random 96-bit nonce each, the key's id in
 * the text, and the place of the secret as additional data, so that a ciphertext moved to another row or
 * another company does not open.
 */
export interface Vault {
  /** @param place where the secret is stored: `source:<company>:<id>` */
  seal(plain: string, place: string): string
  /** @throws Error when the text was moved, changed, or its key is gone */
  open(sealed: string, place: string): string
  /** HMAC-SHA256 under the newest key, for a named purpose; hex. */
  hmac(purpose: string, text: string): string
  /** A 32-byte key derived from the newest key (HKDF, RFC 5869) for a named purpose. */
  derive(purpose: string): Buffer
  /** The keys themselves, newest first, for what the contract keys with them directly. */
  keys: readonly Buffer[]
}

/** @param secretKey one or more keys of 32 bytes in base64, separated by commas, newest first */
export function makeVault(secretKey: string): Vault {
  const keys = secretKey.split(',').map(text => Buffer.from(text.trim(), 'base64'))
  const newest = keys[0]
  if (!newest || keys.some(key => key.length !== 32))
    throw new Error('SECRET_KEY must be keys of 32 bytes in base64')
  const byId = new Map(keys.map(key => [keyId(key), sealingKey(key)]))
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', newest, '', `tidemark ${purpose}`, 32))

  return {
    keys,
    derive,
    hmac: (purpose, text) => createHmac('sha256', derive(purpose)).update(text).digest('hex'),
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealingKey(newest), nonce).setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return ['v1', keyId(newest), Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')].join(
        '.',
      )
    },
    open(sealed, place) {
      const [version, id, body] = sealed.split('.')
      const key = byId.get(id ?? '')
      if (version !== 'v1' || !body) throw new Error('This is not a sealed secret')
      if (!key)
        throw new Error(
          `The key ${id} that sealed this secret is not in SECRET_KEY: add it behind the newest one`,
        )
      const bytes = Buffer.from(body, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}

/** Eight hex digits that name a key without telling it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('tidemark key id').update(key).digest('hex').slice(0, 8)
}

function sealingKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'tidemark seal', 32))
}
