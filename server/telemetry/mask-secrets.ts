/** Shorter ones occur by chance: they would blot out whole sentences, and hide nothing. */
const MIN_SECRET_LENGTH = 4

const MASK = '…'

/**
 * Returns a function that takes secrets out of texts: as they are, escaped in JSON, percent-encoded, in hexadecimal, and
 * in base64 at any offset, as in a header `Authorization: Basic`.
 */
export function secretMasker(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH).flatMap(formsOf))]
  // A long form may contain a short one.
  const sorted = forms.filter(({ length }) => length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length)
  return text => sorted.reduce((rest, form) => rest.replaceAll(form, MASK), text)
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // Without the characters that neighbours have a part in.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  return [
    ...[secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret), bytes.toString('hex')],
    ...base64,
    ...base64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** Half a surrogate pair cannot be encoded. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
