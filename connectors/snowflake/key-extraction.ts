import { unusableKeyError } from './errors.ts'

/** Rounds of a key derivation that take two or three seconds; OpenSSL's own defaults are 2,048 and 131,072. */
const MAX_DERIVATION_ROUNDS = 5_000_000

const KEY_LABELS = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'RSA PRIVATE KEY']

/** The first block of a text that holds a key. */
function findKeyBlock(pem: string): { block: string; label: string; body: string } | undefined {
  const found = KEY_LABELS.flatMap(label => {
    const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`]
    const at = pem.indexOf(begin)
    const until = at === -1 ? -1 : pem.indexOf(end, at + begin.length)
    if (until === -1) return []
    return [
      { at, label, block: pem.slice(at, until + end.length), body: pem.slice(at + begin.length, until) },
    ]
  })
  return found.sort((a, b) => a.at - b.at)[0]
}

/**
 * Takes the first key out of a text, and refuses an encrypted one whose derivation would take long: opening a key
 * holds up the whole process, and the number of rounds stands in the key, which is untrusted. OpenSSL must
 * be given only what this returns, since it tries every block of a text.
 * @returns null where there is no key
 */
export function extractFastKey(pem: string): string | null {
  const found = findKeyBlock(pem)
  if (!found) return null
  const { block, label, body } = found
  // The older encryption of RSA keys, whose headers stand before the text, has one round.
  if (label === 'RSA PRIVATE KEY') return block
  // Whether a key is encrypted is read from what it holds, whatever it is called.
  if (!/^[A-Za-z0-9+/=\s]*$/.test(body)) return null
  if (countDerivationRounds(Buffer.from(body, 'base64')) > MAX_DERIVATION_ROUNDS)
    throw unusableKeyError('private_key is encrypted with too many rounds: encrypt it again with fewer.')
  return block
}

const SEQUENCE = 0x30
const INTEGER = 0x02

/**
 * The rounds of a key derivation in nested sequences of DER, at most: the largest INTEGER, such as the
 * iterations of PBKDF2 (RFC 8018), or cost times block size times parallelization of scrypt (RFC 7914), which are
 * the first three of more; 0 without one.
 */
function countDerivationRounds(der: Buffer): number {
  let most = 0
  const integers: number[] = []
  let at = 0
  while (at + 2 <= der.length) {
    const tag = der[at]
    const { start, end } = contentRange(der, at + 1)
    const part = der.subarray(start, end)
    if (tag === SEQUENCE) most = Math.max(most, countDerivationRounds(part))
    if (tag === INTEGER) integers.push(part.reduce((sum, byte) => sum * 256 + byte, 0))
    at = end
  }
  const [cost = 0, blockSize = 0, parallelization = 0] = integers
  return Math.max(most, ...integers, cost * blockSize * parallelization)
}

/** Where the contents of an element are whose length stands at a position. */
function contentRange(der: Buffer, at: number): { start: number; end: number } {
  const first = der[at] ?? 0
  if (first < 0x80) return { start: at + 1, end: at + 1 + first }
  const bytes = der.subarray(at + 1, at + 1 + (first & 0x7f))
  const start = at + 1 + bytes.length
  return { start, end: start + bytes.reduce((sum, byte) => sum * 256 + byte, 0) }
}
