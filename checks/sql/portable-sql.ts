import { parseSync, scanSync } from 'libpg-query'
import { ADJACENT_TEXTS, LEFT_OPEN, MAX_TOKENS, TOO_MANY_TOKENS } from './token.ts'

/** Part of a text of CUSTOM_SQL: a name or a text that stood in quotes, without them, or what is between. */
export interface SqlPiece {
  kind: 'sql' | 'name' | 'text'
  text: string
}

/** A text of CUSTOM_SQL, taken apart. */
export interface ScannedSql {
  /** The text without comments and closing semicolons. */
  text: string
  /** The same in pieces, so that names and texts can be quoted as the engine does. */
  pieces: SqlPiece[]
  /** Whether every parenthesis is closed, and none is that was not opened. */
  isBalanced: boolean
  /** Whether each piece is a word or sign of the engine's own SQL, or a blank. */
  isOwn?: true
  /** What to write in place of a word of the text that PostgreSQL's grammar does not have. */
  hint?: string
  /** What is parsed, where the parser would cut names of the text, and which names others stand for in it. */
  analysed?: string
  names?: ReadonlyMap<string, string>
}

/** The parser truncates longer names. */
export const MAX_NAME_BYTES = 63

type PostgresqlToken = ReturnType<typeof scanSync>['tokens'][number]

/** Ends the text in PostgreSQL, but not in engines where a backslash begins an escape. */
const BACKSLASH = /(?<!\\)(?:\\\\)*\\['"`]/

/**
 * Operators that hold what begins a comment in MySQL and BigQuery (#) or Snowflake (//), a quoted name in most but
 * PostgreSQL (`), a step of a pipe in BigQuery and Databricks (|>).
 */
const MISREAD = /^[-+*/<>=~!@#%^&|`?]*?([#`]|\/\/|\|>(?!>))/

/** The start of a text, of whatever kind. */
const TEXT = /^(?:(?:e|u&|[bx])?'|\$(?!\d))/i

const QUOTED = /^(["'])((?:(?!\1)[^]|\1\1)*)\1$/

/** The characters that PostgreSQL allows in unquoted names. BigQuery and Databricks read some as blanks. */
const WORD = /^[\p{L}\p{M}\p{N}_$]+$/u

/**
 * Splits a text with PostgreSQL's own scanner. Removes comments and closing semicolons, and for another engine
 * refuses what it could read differently, so that what PostgreSQL takes for a text would run there: a backslash before a
 * quote, dollar quotes, operators that are a comment or a quote, letters before a text (`r'…'` has no escapes on
 * Databricks), blanks that PostgreSQL takes for letters. Needs the parser to be loaded.
 * @param isPostgresql whether PostgreSQL is the engine
 */
export function scanPortableSql(text: string, isPostgresql: boolean): ScannedSql | { error: string } {
  if (!isPostgresql && BACKSLASH.test(text)) return { error: BACKSLASH_REFUSED }
  let tokens: PostgresqlToken[]
  try {
    ;({ tokens } = scanSync(text))
  } catch {
    return LEFT_OPEN
  }
  if (tokens.length > MAX_TOKENS) return TOO_MANY_TOKENS
  return splitTokens(text, tokens, isPostgresql)
}

const BACKSLASH_REFUSED = 'sql_expression has a backslash before a quote; double the quote to write one.'

function splitTokens(
  text: string,
  tokens: PostgresqlToken[],
  isPostgresql: boolean,
): ScannedSql | { error: string } {
  // The scanner counts bytes.
  const bytes = Buffer.from(text)
  const last = tokens.findLastIndex(token => token.text !== ';' && !isComment(token))
  let kept = ''
  const pieces: SqlPiece[] = []
  let end = 0
  const depths = { '(': 0, '[': 0 }
  let isBalanced = true
  let before: PostgresqlToken | undefined
  for (const token of tokens.slice(0, last + 1)) {
    const source = isComment(token) ? '' : bytes.toString('utf8', token.start, token.end)
    const refusal = isComment(token) ? undefined : findTokenProblem(token, source, before, isPostgresql)
    const piece = refusal === undefined ? pieceOf(source, isPostgresql) : { error: refusal }
    if ('error' in piece) return piece
    if (!isPostgresql && depths['['] > 0 && piece.kind !== 'sql' && piece.text.includes(']')) {
      return { error: `${source} is not allowed within [ ] in sql_expression: SQLite ends a name at the ].` }
    }
    const between =
      kept === '' ? '' : bytes.toString('utf8', end, token.start) + (isComment(token) ? ' ' : '')
    end = token.end
    kept += between + source
    // `u&$$a$$` is an operator and a text, u&'a' is a text with escapes.
    const isGlued = between === '' && isDollarQuoted(source)
    pieces.push({ kind: 'sql', text: isGlued ? ' ' : between }, piece)
    if (!isComment(token)) before = token
    // Parentheses matter because an expression is wrapped in a pair: `1=1) or (1=1` must not close it.
    if (token.text === '(' || token.text === '[') depths[token.text] += 1
    if (token.text === ')') depths['('] -= 1
    if (token.text === ']') depths['['] -= 1
    if (depths['('] < 0) isBalanced = false
  }
  if (kept.trim() === '') return { error: 'sql_expression is empty.' }
  return { text: kept, pieces, isBalanced: isBalanced && depths['('] === 0 }
}

function isComment({ tokenName }: PostgresqlToken): boolean {
  return tokenName.endsWith('COMMENT')
}

/** Why a token is refused at its position. */
function findTokenProblem(
  token: PostgresqlToken,
  source: string,
  before: PostgresqlToken | undefined,
  isPostgresql: boolean,
): string | undefined {
  if (!isPostgresql && MISREAD.test(source)) {
    return `The operator ${source} is not allowed in sql_expression: some engines take it for a comment or a quote.`
  }
  if (
    !isPostgresql &&
    /^["\p{L}_]/u.test(source) &&
    Buffer.byteLength(source.replaceAll('"', '')) > MAX_NAME_BYTES
  ) {
    return `The name ${source} is not allowed in sql_expression: it is longer than ${MAX_NAME_BYTES} bytes.`
  }
  if (!isPostgresql && isDollarQuoted(source)) {
    return 'sql_expression has a dollar-quoted text; use single quotes.'
  }
  if (/^[bx]'/i.test(source) && !/^.'[0-9a-f]*'$/i.test(source)) {
    return `${source} is not allowed in sql_expression: b'…' and x'…' hold digits only.`
  }
  if (/^uescape$/i.test(source) && /^u&/i.test(before?.text ?? '')) {
    return 'UESCAPE is not allowed in sql_expression; write the character itself.'
  }
  // Once a comment between them is taken out, these are two texts on two lines to PostgreSQL, too.
  if (TEXT.test(source) && TEXT.test(before?.text ?? '')) return ADJACENT_TEXTS.error
  if (/^(e|u&)?'/i.test(source) && before && isPrefix(before)) {
    return `${before.text}${source} is not allowed in sql_expression: texts have no prefix; write '…' or cast('…' as a type).`
  }
  if (/^[\p{L}_\u0080-\u{10ffff}]/u.test(source) && !/['"]/.test(source) && !WORD.test(source)) {
    return `The name ${source} holds characters that are no letters; put it in double quotes.`
  }
  return undefined
}

/**
 * Whether a word before a text would be part of the text on some engine: the `r` of Databricks, the `rb` of BigQuery,
 * the `_utf8` of MySQL, the `N` of many. Longer ones are types, as in `date '2024-01-31'`.
 */
function isPrefix({ text, keywordName }: PostgresqlToken): boolean {
  if (/^n$/i.test(text)) return true
  return keywordName === 'NO_KEYWORD' && /^["_\p{L}]/u.test(text) && !/^[a-z][a-z0-9_]{2,}$/i.test(text)
}

function isDollarQuoted(source: string): boolean {
  return /^\$(?!\d)/.test(source)
}

/** One token. */
function pieceOf(source: string, isPostgresql: boolean): SqlPiece | { error: string } {
  if (isDollarQuoted(source)) {
    const mark = source.indexOf('$', 1) + 1
    return { kind: 'text', text: source.slice(mark, -mark) }
  }
  const escaped = /^(?:e|u&)(["'])/i.exec(source)
  const quote = escaped?.[1] ?? source[0]
  if (quote !== '"' && quote !== "'") {
    // MySQL reads @a as a user variable and @@a as a server variable, but neither with a blank.
    return { kind: 'sql', text: source.includes('@') ? `${source} ` : source }
  }
  const within = QUOTED.exec(source.slice(source.indexOf(quote)))?.[2]
  // PostgreSQL makes one of two that stand on two lines.
  if (within === undefined && !(escaped && isPostgresql)) return ADJACENT_TEXTS
  const inside = escaped ? decodeEscapes(source) : within?.replaceAll(quote + quote, quote)
  if (inside === undefined) return { error: `${source} cannot be read; write the characters themselves.` }
  // An escape may have made one.
  if (!isPostgresql && BACKSLASH.test(`${quote}${inside.replaceAll(quote, quote + quote)}${quote}`)) {
    return { error: BACKSLASH_REFUSED }
  }
  return { kind: quote === '"' ? 'name' : 'text', text: inside }
}

/** What PostgreSQL reads in a text or a name with escapes; undefined where it reads none. */
function decodeEscapes(source: string): string | undefined {
  try {
    const [parsed] = (parseSync(`select ${source}`).stmts ?? []) as {
      stmt?: { SelectStmt?: { targetList?: { ResTarget?: { val?: Literal } }[] } }
    }[]
    const value = parsed?.stmt?.SelectStmt?.targetList?.[0]?.ResTarget?.val
    return value?.A_Const ? (value.A_Const.sval?.sval ?? '') : value?.ColumnRef?.fields?.[0]?.String?.sval
  } catch {
    return undefined
  }
}

interface Literal {
  A_Const?: { sval?: { sval?: string } }
  ColumnRef?: { fields?: { String?: { sval?: string } }[] }
}
