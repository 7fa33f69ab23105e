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
  /** Names the newest key without telling it: eight hex digits. */
  readonly keyId: string
  /** How texts begin that the newest key sealed. */
  readonly sealStart: string
  /** HMAC-SHA256 under the newest key, for a named purpose; hex. */
  hmac(purpose: string, text: string): string
  /** A 32-byte key derived from the newest key (HKDF, RFC 5869) for a named purpose. */
  derive(purpose: string): Buffer
  /** The same of each key, newest first: what an older one vouched for stays good until that key is taken out. */
  deriveAll(purpose: string): readonly { keyId: string; key: Buffer }[]
  /** The keys themselves, newest first, for what the contract keys with them directly. */
  readonly keys: readonly Buffer[]
}

/**
 * @param secretKey one or more keys of 32 bytes in base64, separated by commas, newest first; a function gives what
 *   they are now, and is asked each time, so that keys may change while the process runs
 */
export function makeVault(secretKey: string | (() => string)): Vault {
  const now = typeof secretKey === 'string' ? () => secretKey : secretKey
  let text = now()
  let ring = makeRing(text)
  const current = (): Ring => {
    const given = now()
    if (given !== text) {
      ring = makeRing(given)
      text = given
    }
    return ring
  }
  const derive = (purpose: string) => current().derived(purpose)[0]!.key

  return {
    derive,
    deriveAll: purpose => current().derived(purpose),
    hmac: (purpose, text) => createHmac('sha256', derive(purpose)).update(text).digest('hex'),
    get keys() {
      return current().keys.map(({ key }) => key)
    },
    get keyId() {
      return current().newest.keyId
    },
    get sealStart() {
      return startOf(current().newest.keyId)
    },
    seal(plain, place) {
      const { keyId, sealing } = current().newest
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return startOf(keyId) + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')
    },
    open(sealed, place) {
      const [version, id, body] = sealed.split('.')
      const key = current().keys.find(({ keyId }) => keyId === id)
      if (version !== VERSION || !body) throw new Error('This is not a sealed secret')
      if (!key)
        throw new Error(
          `The key ${id} that sealed this secret is not in SECRET_KEY: add it behind the newest one`,
        )
      const bytes = Buffer.from(body, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key.sealing, bytes.subarray(0, 12), {
        authTagLength: 16,
      })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}

const VERSION = 'v1'

/** A sealed text is `v1.<key id>.<nonce, tag and ciphertext in base64>`. */
const startOf = (id: string): string => `${VERSION}.${id}.`

interface RingKey {
  key: Buffer
  keyId: string
  sealing: Buffer
}

interface Ring {
  newest: RingKey
  keys: RingKey[]
  derived(purpose: string): { keyId: string; key: Buffer }[]
}

function makeRing(secretKey: string): Ring {
  const keys = secretKey.split(',').map(part => {
    const key = Buffer.from(part.trim(), 'base64')
    return { key, keyId: keyId(key), sealing: sealingKey(key) }
  })
  const newest = keys[0]
  if (!newest || keys.some(({ key }) => key.length !== 32))
    throw new Error('SECRET_KEY must be keys of 32 bytes in base64')
  const known = new Map<string, { keyId: string; key: Buffer }[]>()
  return {
    newest,
    keys,
    derived(purpose) {
      const found =
        known.get(purpose) ??
        keys.map(({ key, keyId }) => ({
          keyId,
          key: Buffer.from(hkdfSync('sha256', key, '', `tidemark ${purpose}`, 32)),
        }))
      known.set(purpose, found)
      return found
    },
  }
}

/** Eight hex digits that name a key without telling it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('tidemark key id').update(key).digest('hex').slice(0, 8)
}

const sealingKey = (key: Buffer): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'tidemark seal', 32))

/** A column of sealed secrets, in a table whose rows have a `company_id` and an `id`. */
export interface SealedColumn {
  table: string
  column: string
  /** What its texts are sealed for, as `Vault.seal` takes it. */
  place(companyId: string, id: string): string
}
