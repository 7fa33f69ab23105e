/** Clauses of engines with lists, such as DuckDB, in PostgreSQL's grammar. */
import { isOperand } from './lexer.ts'
import { keywordOf, type SqlToken } from './token.ts'

/** `[1, 2]` as an array; after an operand it is a subscript. */
export function withLists(tokens: readonly SqlToken[]): SqlToken[] {
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1]
    const isList = keywordOf(token) === '[' && !(before && isOperand(before))
    return isList ? [{ kind: 'word', text: 'array', gap: true } as const, token] : [token]
  })
}

/** `* exclude (a, b)` and `* exclude a` as the star alone: nothing but names of columns is left out. */
export function withoutExclusions(tokens: readonly SqlToken[]): SqlToken[] {
  const result: SqlToken[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const isExclusion = keywordOf(tokens[at]) === 'exclude' && keywordOf(tokens[at - 1]) === '*'
    const length = isExclusion ? namesLength(tokens, at + 1) : 0
    if (length === 0) result.push(tokens[at] as SqlToken)
    else at += length
  }
  return result
}

/** How many tokens one name, or a list of names in parentheses, has; 0 for anything else. */
function namesLength(tokens: readonly SqlToken[], from: number): number {
  const isName = (token: SqlToken | undefined) => token?.kind === 'word' || token?.kind === 'name'
  if (isName(tokens[from])) return keywordOf(tokens[from + 1]) === '(' ? 0 : 1
  if (keywordOf(tokens[from]) !== '(') return 0
  for (let at = from + 1; isName(tokens[at]); at += 2) {
    const next = keywordOf(tokens[at + 1])
    if (next === ')') return at + 2 - from
    if (next !== ',') return 0
  }
  return 0
}

/** QUALIFY as the condition of HAVING, or a further one: it is parsed, and never run so. */
export function withQualify(tokens: readonly SqlToken[]): SqlToken[] {
  /** For each open parenthesis, whether its SELECT has HAVING. */
  const depths = [false]
  return tokens.map(token => {
    const key = keywordOf(token)
    if (key === '(') depths.push(false)
    if (key === ')' && depths.length > 1) depths.pop()
    if (/^(select|having)$/.test(key)) depths[depths.length - 1] = key === 'having'
    return key === 'qualify' ? { ...token, text: depths.at(-1) ? 'and' : 'having' } : token
  })
}
