import { unusableKey } from './errors.ts'

/** Rounds of a key derivation that take about two seconds; OpenSSL's own default is 2,048. */
const MOST_ROUNDS = 5_000_000

/**
 * Refuses an encrypted key whose derivation would take long: opening a key holds up the whole process, and the
 * number of rounds stands in the key, which anybody may have made.
 */
export function refuseSlowKey(pem: string): void {
  const body = /-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/.exec(pem)?.[1]
  if (body === undefined) return
  if (largestInteger(Buffer.from(body, 'base64')) > MOST_ROUNDS)
    throw unusableKey('private_key is encrypted with too many rounds: encrypt it again with fewer.')
}

const SEQUENCE = 0x30
const INTEGER = 0x02

/** The largest INTEGER in nested sequences of DER, such as the rounds of PBKDF2; 0 without one. */
function largestInteger(der: Buffer): number {
  let largest = 0
  let at = 0
  while (at + 2 <= der.length) {
    const tag = der[at]
    const { start, end } = contents(der, at + 1)
    const part = der.subarray(start, end)
    if (tag === SEQUENCE) largest = Math.max(largest, largestInteger(part))
    if (tag === INTEGER)
      largest = Math.max(
        largest,
        part.reduce((sum, byte) => sum * 256 + byte, 0),
      )
    at = end
  }
  return largest
}

/** Where the contents of an element are whose length stands at a position. */
function contents(der: Buffer, at: number): { start: number; end: number } {
  const first = der[at] ?? 0
  if (first < 0x80) return { start: at + 1, end: at + 1 + first }
  const bytes = der.subarray(at + 1, at + 1 + (first & 0x7f))
  const start = at + 1 + bytes.length
  return { start, end: start + bytes.reduce((sum, byte) => sum * 256 + byte, 0) }
}
