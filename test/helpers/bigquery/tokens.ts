/** A failure in BigQuery's own words. https://cloud.google.com/bigquery/docs/error-messages */
export class BigqueryFailure extends Error {
  override readonly name = 'BigqueryFailure'
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** One token of GoogleSQL. `text` is that of a word in lower case, of a name or a text without its quotes. */
export interface Token {
  kind: 'word' | 'name' | 'text' | 'bytes' | 'number' | 'placeholder' | 'sign'
  text: string
  /** Line and column as in messages. */
  at: string
}

// https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical
const TOKEN =
  /(?<blank>\s+|--[^\r\n]*|#[^\r\n]*|\/\*[^]*?\*\/)|(?<prefix>[rb]{0,2})(?:(?<triple>"""|''')(?<long>(?:\\[^]|(?!\k<triple>)[^\\])*)\k<triple>|(?<quote>["'])(?<short>(?:\\[^\r\n]|(?!\k<quote>)[^\\\r\n])*)\k<quote>)|`(?<name>(?:\\[^\r\n]|[^`\\\r\n])+)`|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)|(?<word>[a-z_]\w*)|(?<placeholder>\?)|(?<sign><>|<=|>=|!=|\|\||[-+*/(),.;=<>[\]])/iy

/** The tokens of a text, without blanks and comments. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex
    const at = position(text, start)
    const groups = TOKEN.exec(text)?.groups
    if (!groups) {
      const sign = text[start] ?? ''
      const what = /["'`]/.test(sign)
        ? 'Unclosed string literal'
        : `Illegal input character ${JSON.stringify(sign)}`
      throw syntaxError(what, at)
    }
    const body = groups.long ?? groups.short
    if (body !== undefined) {
      const isRaw = /r/i.test(groups.prefix ?? '')
      const kind = /b/i.test(groups.prefix ?? '') ? 'bytes' : 'text'
      tokens.push({ kind, text: isRaw ? body : unescaped(body), at })
    } else if (groups.name !== undefined) tokens.push({ kind: 'name', text: unescaped(groups.name), at })
    else if (groups.number !== undefined) tokens.push({ kind: 'number', text: groups.number, at })
    else if (groups.word !== undefined) tokens.push({ kind: 'word', text: groups.word.toLowerCase(), at })
    else if (groups.placeholder !== undefined) tokens.push({ kind: 'placeholder', text: '?', at })
    else if (groups.sign !== undefined) tokens.push({ kind: 'sign', text: groups.sign, at })
  }
  adjacentTexts(tokens, text)
  return tokens
}

/** Two texts beside each other are an error, and so is a quote that is doubled to write one. */
function adjacentTexts(tokens: readonly Token[], text: string): void {
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    if (token.kind === 'text' && next?.kind === 'text') {
      const what = 'concatenated string literals need to be separated by whitespace or comments'
      throw syntaxError(`${what}: ${text.slice(0, 40)}`, next.at)
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  a: '\u0007',
  v: '\v',
}

function unescaped(body: string): string {
  return body.replaceAll(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|([^]))/gi,
    (_, byte?: string, unit?: string, other = '') => {
      const hex = byte ?? unit
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16))
      if (Object.hasOwn(ESCAPES, other)) return ESCAPES[other] ?? ''
      if (!/[\\?"'`\n]/.test(other)) throw syntaxError(`Illegal escape sequence: \\${other}`, '1:1')
      return other
    },
  )
}

function position(text: string, index: number): string {
  const before = text.slice(0, index).split('\n')
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}

export function syntaxError(what: string, at: string): BigqueryFailure {
  return new BigqueryFailure(400, 'invalidQuery', `Syntax error: ${what} at [${at}]`)
}

/** The statements of a script, each without its semicolon. */
export function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter(statement => statement.length > 0)
}

/** The index of the parenthesis that closes the one at an index. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let index = open; index < tokens.length; index++) {
    const token = tokens[index]
    if (token?.kind !== 'sign') continue
    if (token.text === '(') depth += 1
    if (token.text === ')') depth -= 1
    if (depth === 0) return index
  }
  throw syntaxError('Unexpected end of script', tokens.at(-1)?.at ?? '1:1')
}

/** What stands between commas outside of parentheses. */
export function itemsOf(tokens: readonly Token[]): Token[][] {
  const items: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'sign' && /[(<]/.test(token.text)) depth += 1
    if (token.kind === 'sign' && /[)>]/.test(token.text)) depth -= 1
    if (depth === 0 && token.kind === 'sign' && token.text === ',') items.push([])
    else items.at(-1)?.push(token)
  }
  return items
}

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`
