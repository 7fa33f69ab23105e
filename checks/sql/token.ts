import type { SqlToken } from '../../connectors/lexicon.ts'

export type { SqlToken }

/** A word in lower case, or a sign; an empty text for others. */
export function keywordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' || token?.kind === 'sign' ? token.text.toLowerCase() : ''
}

/** The words and signs that a text may have: reading one takes up to 0.1 ms, and nothing else runs meanwhile. */
export const MAX_TOKENS = 2_000

export const TOO_MANY_TOKENS = {
  error: `sql_expression has more than ${MAX_TOKENS.toLocaleString('en')} words and signs.`,
}
export const ADJACENT_TEXTS = { error: 'sql_expression has two texts in a row; write them as one.' }
export const LEFT_OPEN = { error: 'sql_expression cannot be read: is a quote or a comment left open?' }
