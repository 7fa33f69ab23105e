import type { Lexicon } from '../../connectors/lexicon.ts'
import { toPostgresql } from './to-postgresql.ts'
import { isDenied } from './denied-functions.ts'
import { isOperand, tokenize } from './lexer.ts'
import { keywordOf, type SqlToken } from './token.ts'
import { MAX_NAME_BYTES, type ScannedSql, type SqlPiece } from './portable-sql.ts'

/**
 * Reads a text in an engine's own SQL. The text to send and the text to analyse are written from the same tokens: one
 * with the engine's quotes, the other in PostgreSQL's grammar. Comments and closing semicolons are left out.
 * @param columns of the table, in lower case
 */
export function scanEngineSql(
  text: string,
  lexicon: Lexicon,
  columns: ReadonlySet<string>,
): ScannedSql | { error: string } {
  if (lexicon.substitution !== undefined && text.includes(lexicon.substitution))
    return {
      error: `${lexicon.substitution} is not allowed in sql_expression: ${lexicon.label} replaces it in texts too; write the value, or concat('$', '{').`,
    }
  const tokens = tokenize(text, lexicon, columns)
  if ('error' in tokens) return tokens
  while (keywordOf(tokens.at(-1)) === ';') tokens.pop()
  if (tokens.length === 0) return { error: 'sql_expression is empty.' }
  const denied = findDeniedCall(tokens)
  if (denied !== undefined) return { error: `The function ${denied} is not allowed in sql_expression.` }
  const hint = findHint(tokens, lexicon)
  const standard = toPostgresql(tokens, lexicon)
  const { shortened, names } = shortenNames(standard, text)
  return {
    text: joinTokens(standard, writePostgresql),
    ...(names.size > 0 && { analysed: joinTokens(shortened, writePostgresql), names }),
    pieces: withSpaces(tokens).flatMap(({ token, between }) => [
      { kind: 'sql', text: between },
      pieceOf(token),
    ]),
    isBalanced: isBalanced(tokens),
    isOwn: true,
    ...(hint !== undefined && { hint }),
  }
}

/**
 * A denied function among all that stands before a parenthesis, whatever the parser makes of it later: it reads the text
 * in another grammar.
 */
function findDeniedCall(tokens: readonly SqlToken[]): string | undefined {
  for (const [at, token] of tokens.entries()) {
    if (keywordOf(tokens[at + 1]) !== '(') continue
    if (token.kind !== 'word' && token.kind !== 'name') continue
    const isQualified = keywordOf(tokens[at - 1]) === '.'
    // BigQuery takes one pair of quotes around all parts.
    const parts = [...(isQualified ? [tokens[at - 2]?.text ?? ''] : []), ...token.text.split('.')]
    const name = parts.at(-1) ?? ''
    if (isDenied({ kind: 'function', schema: parts.at(-2), name })) return name
  }
  return undefined
}

/**
 * Puts short names in the place of those that the parser would cut, and that would be other ones then.
 * @returns the tokens, and the long names, as the parser would have them, by the short ones
 */
function shortenNames(
  tokens: readonly SqlToken[],
  text: string,
): { shortened: SqlToken[]; names: Map<string, string> } {
  let prefix = 'tidemark_name_'
  while (text.toLowerCase().includes(prefix)) prefix += '_'
  const names = new Map<string, string>()
  const shorts = new Map<string, string>()
  const shortened = tokens.map(token => {
    const isName = token.kind === 'word' || token.kind === 'name'
    if (!isName || Buffer.byteLength(token.text) <= MAX_NAME_BYTES) return token
    const name =
      token.kind === 'word' ? token.text.replaceAll(/[A-Z]+/g, part => part.toLowerCase()) : token.text
    const short = shorts.get(name) ?? `${prefix}${names.size}`
    shorts.set(name, short)
    names.set(short, name)
    return { ...token, text: short }
  })
  return { shortened, names }
}

function findHint(tokens: readonly SqlToken[], lexicon: Lexicon): string | undefined {
  const { replacements: instead, label } = lexicon
  for (const token of tokens) {
    const word = token.kind === 'word' ? keywordOf(token) : ''
    const form = Object.hasOwn(instead, word) ? instead[word] : undefined
    if (form !== undefined) return `On ${label}, write ${form} in place of ${token.text.toUpperCase()}.`
  }
  return undefined
}

/** Whether brackets are balanced and nested properly. In PostgreSQL's grammar some brackets are parentheses. */
function isBalanced(tokens: readonly SqlToken[]): boolean {
  const open: string[] = []
  for (const { kind, text } of tokens) {
    if (kind !== 'sign') continue
    if (text === '(' || text === '[') open.push(text)
    if ((text === ')' && open.pop() !== '(') || (text === ']' && open.pop() !== '[')) return false
  }
  return open.length === 0
}

/**
 * The tokens with what stands between them: a blank, so that no two become another one, such as a comment, save where a
 * name has its dots and a function its parenthesis.
 */
function withSpaces(tokens: readonly SqlToken[]): { token: SqlToken; between: string }[] {
  return tokens.map((token, at) => {
    const before = tokens[at - 1]
    const isTight =
      !before ||
      isSign(before, '(.[') ||
      isSign(token, '),]') ||
      (isSign(token, '.') && /^(word|name)$/.test(before.kind)) ||
      (isSign(token, '(') && !token.gap && /^(word|name)$/.test(before.kind)) ||
      (isSign(token, '[') && !token.gap && isOperand(before))
    return { token, between: isTight ? '' : ' ' }
  })
}

function isSign({ kind, text }: SqlToken, among: string): boolean {
  return kind === 'sign' && among.includes(text)
}

function joinTokens(tokens: readonly SqlToken[], write: (token: SqlToken) => string): string {
  return withSpaces(tokens)
    .map(({ token, between }) => between + write(token))
    .join('')
}

/** A token as PostgreSQL writes it. */
function writePostgresql({ kind, text }: SqlToken): string {
  if (kind === 'name') return `"${text.replaceAll('"', '""')}"`
  return kind === 'text' ? `'${text.replaceAll("'", "''")}'` : text
}

function pieceOf({ kind, text }: SqlToken): SqlPiece {
  return { kind: kind === 'name' || kind === 'text' ? kind : 'sql', text }
}
