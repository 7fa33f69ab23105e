/** One word of a statement, with what it stood for. */
export interface Token {
  kind: 'word' | 'quoted' | 'literal' | 'number' | 'placeholder' | 'sign'
  /** A word in upper case, as Snowflake folds it; a quoted name and a literal without quotes; else as written. */
  text: string
}

/** What Snowflake answers to a statement that it does not take. */
export class SnowflakeError extends Error {
  override readonly name = 'SnowflakeError'
  readonly code: string
  readonly sqlState: string

  constructor(code: string, sqlState: string, message: string) {
    super(message)
    this.code = code
    this.sqlState = sqlState
  }
}

export function syntaxError(near: string): SnowflakeError {
  return new SnowflakeError('001003', '42000', `SQL compilation error:\nsyntax error unexpected '${near}'.`)
}

const PATTERNS: readonly (readonly [Token['kind'] | null, RegExp])[] = [
  [null, /\s+|--[^\n]*|\/\*[\s\S]*?\*\//y],
  ['word', /[A-Za-z_][A-Za-z0-9_$]*/y],
  ['quoted', /"(?:[^"]|"")+"/y],
  ['literal', /'(?:[^']|'')*'/y],
  ['number', /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+/y],
  ['placeholder', /\?/y],
  ['sign', /::|<>|!=|<=|>=|\|\||[-+*/%=<>(),.;]/y],
]

/** Cuts a statement into words; signs that Snowflake does not know, such as `~`, are syntax errors. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const match = PATTERNS.map(([kind, pattern]) => {
      pattern.lastIndex = at
      return { kind, found: pattern.exec(text)?.[0] }
    }).find(({ found }) => found !== undefined)
    if (!match?.found) throw syntaxError(text.slice(at, at + 10))
    at += match.found.length
    if (match.kind) tokens.push({ kind: match.kind, text: meaning(match.kind, match.found) })
  }
  return tokens
}

function meaning(kind: Token['kind'], found: string): string {
  if (kind === 'word') return found.toUpperCase()
  if (kind === 'quoted') return found.slice(1, -1).replaceAll('""', '"')
  if (kind !== 'literal') return found
  const text = found.slice(1, -1).replaceAll("''", "'")
  // A backslash begins an escape, of which the double knows but the one that stands for itself.
  if (/(?<!\\)(?:\\\\)*\\(?!\\)/.test(text))
    throw new Error('The double reads no escape but the doubled backslash.')
  return text.replaceAll('\\\\', '\\')
}

const MARK = '⁑'

/**
 * A name as DuckDB keeps it, which ignores case while Snowflake does not: a name with lower-case letters is
 * followed by a mark and the places of these letters.
 */
export function encodeName(name: string): string {
  const places = [...name].map(letter => (letter === letter.toUpperCase() ? '0' : '1')).join('')
  return places.includes('1') ? `${name}${MARK}${BigInt(`0b${places}`).toString(36)}` : name
}

/** The name of an encoded one, or a text with the names in it decoded. */
export function decodeNames(text: string): string {
  return text.replaceAll(new RegExp(`${MARK}[0-9a-z]+`, 'g'), '')
}

/** DuckDB's SQL for the name of an encoded one. */
export function decodedSql(column: string): string {
  return `split_part(${column}, '${MARK}', 1)`
}

/** An encoded name in quotes. */
export function quoteName(name: string): string {
  return `"${encodeName(name).replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
