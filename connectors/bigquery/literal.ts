const ESCAPED_CHARACTERS: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/**
 * The text of a string literal of GoogleSQL, the form in which TABLE_OPTIONS lists descriptions
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#escape_sequences). What is no literal stays
 * as it is.
 */
export function parseStringLiteral(literal: string): string {
  const quoted = /^("""|'''|"|')([^]*)\1$/.exec(literal)
  if (!quoted) return literal
  return (quoted[2] ?? '').replaceAll(
    /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|[xX]([\da-fA-F]{2})|([0-7]{3})|([^]))/g,
    (_, short?: string, long?: string, byte?: string, octal?: string, other = '') => {
      const hex = short ?? long ?? byte
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16))
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8))
      return ESCAPED_CHARACTERS[other] ?? other
    },
  )
}
