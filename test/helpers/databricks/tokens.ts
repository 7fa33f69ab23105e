import { sqlError } from './errors.ts'

/** A piece of Databricks SQL; `text` of a string or identifier is what it stands for, without quotes. */
export interface Token {
  kind: 'string' | 'identifier' | 'parameter' | 'word' | 'number' | 'symbol'
  text: string
  /** White space or a comment stands before it. */
  isApart: boolean
}

const SPACE = /(?:\s|--[^\n]*|\/\*[\s\S]*?\*\/)+/y
/** https://docs.databricks.com/sql/language-manual/data-types/string-type.html: both quotes make texts. */
const STRING = /'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"/y
const IDENTIFIER = /`((?:[^`]|``)+)`/y
const PARAMETER = /:([A-Za-z_]\w*)/y
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const WORD = /[A-Za-z_]\w*/y
const SYMBOL = /<=>|<>|!=|<=|>=|==|\|\||[-+*/%<>=(),.;[\]]/y

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', 0: '\0', Z: '\u001a' }

/** Takes a text apart as the grammar of Databricks SQL does; what is no part of it is a syntax error. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  for (let isApart = take(SPACE) !== null; at < text.length; isApart = take(SPACE) !== null) {
    const token = next(take)
    if (!token) {
      const near = JSON.stringify(text[at])
      throw sqlError('PARSE_SYNTAX_ERROR', `Syntax error at or near ${near}.`, '42601')
    }
    tokens.push({ ...token, isApart })
  }
  return tokens
}

function next(take: (pattern: RegExp) => RegExpExecArray | null): Omit<Token, 'isApart'> | undefined {
  const string = take(STRING)
  if (string) return { kind: 'string', text: unescaped(string[1] ?? string[2] ?? '') }
  const identifier = take(IDENTIFIER)
  if (identifier) return { kind: 'identifier', text: (identifier[1] ?? '').replaceAll('``', '`') }
  const parameter = take(PARAMETER)
  if (parameter) return { kind: 'parameter', text: parameter[1] ?? '' }
  const number = take(NUMBER)
  if (number) return { kind: 'number', text: number[0] }
  const word = take(WORD)
  if (word) return { kind: 'word', text: word[0] }
  const symbol = take(SYMBOL)
  return symbol ? { kind: 'symbol', text: symbol[0] } : undefined
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
}
