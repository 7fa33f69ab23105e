/**
 * Texts in quotes and names in backticks, as GoogleSQL closes them
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical). A backslash keeps the next character, in
 * raw texts too; only tripled quotes hold line breaks.
 */
const QUOTED_TEXT = /("""|''')(?:\\[^]|(?!\1)[^\\])*\1|(["'`])(?:\\[^\r\n]|(?!\2)[^\\\r\n])*\2/g

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
  const bare = text.replaceAll(QUOTED_TEXT, ' ')
  if (/["'`]/.test(bare)) return 'a quote is left open'
  if (COMMENT.test(bare)) return 'a text with a semicolon must not have comments'
  return bare.includes(';') ? 'it must be one statement, without a semicolon' : null
}
