const SELECT_START = /^[\s(]*(select|with)\b/i
const COMMENT = /--|#|\/\*/

/**
 * Why a text is not one statement that only reads, or null when it is.
 *
 * BigQuery runs `a; b` as a script, and has no way to ask for one statement only; asking it by a dry run what it
 * would take a text for doubles the requests. What has no semicolon and begins with SELECT or WITH is one query by
 * GoogleSQL's grammar, and queries do not write. So a semicolon may stand in quotes only, and a text that has one
 * may not have comments, whose ends would have to be found as exactly as BigQuery finds them.
 */
export function findSelectViolation(text: string): string | null {
  if (!SELECT_START.test(text)) return 'it must be a SELECT'
  if (!text.includes(';')) return null
  const bare = withoutQuotes(text)
  if (bare === null) return 'a quote is left open'
  if (COMMENT.test(bare)) return 'a text with a semicolon must not have comments'
  return bare.includes(';') ? 'it must be one statement, without a semicolon' : null
}

/**
 * A text without what stands in quotes and backticks, as GoogleSQL closes them
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical), or null where a quote is left open. A backslash
 * keeps the next character, in raw texts too; only tripled quotes hold line breaks.
 */
function withoutQuotes(text: string): string | null {
  let bare = ''
  for (let at = 0; ;) {
    const open = at + text.slice(at).search(/["'`]/)
    if (open < at) return bare + text.slice(at)
    const quote = text.charAt(open)
    const isTripled = quote !== '`' && text.startsWith(quote.repeat(3), open)
    const end = endOfQuote(text, open, isTripled ? quote.repeat(3) : quote)
    if (end === -1) return null
    bare += `${text.slice(at, open)} `
    at = end
  }
}

/** Where the quote that opens at a place is closed, behind it; -1 where it is not. */
function endOfQuote(text: string, open: number, quote: string): number {
  for (let at = open + quote.length; at < text.length; at += 1) {
    if (text.startsWith(quote, at)) return at + quote.length
    if (text.charAt(at) === '\\') at += 1
    if (quote.length === 1 && /[\r\n]/.test(text.charAt(at))) return -1
  }
  return -1
}
