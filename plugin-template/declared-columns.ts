/** What a column is declared with that no pragma returns. */
export interface DeclaredColumn {
  name: string
  /** In upper case, as SQLite compares such names without case; absent for BINARY, the default. */
  collation?: string
  isAutoIncrement: boolean
  /** The expression of a generated column. */
  expression?: string
}

/** Blanks and comments, a text, a name in quotes, a word, or any other character. */
const TOKEN =
  /(?<blank>\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|(?<word>[\p{L}\p{N}_$]+)|(?<sign>[\s\S])/guy

interface Token {
  kind: 'text' | 'quoted' | 'word' | 'sign'
  text: string
  start: number
  /** How many parentheses are open around it. */
  depth: number
}

function* readTokens(statement: string): Generator<Token> {
  let depth = 0
  for (const { groups = {}, index: start } of statement.matchAll(TOKEN)) {
    const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) ?? []
    if (kind === undefined || text === undefined || kind === 'blank') continue
    if (text === ')') depth--
    yield { kind: kind as Token['kind'], text, start, depth }
    if (text === '(') depth++
  }
}

/** Words that begin a constraint of the table; columns of these names are in quotes. */
const TABLE_CONSTRAINTS = new Set(['constraint', 'primary', 'unique', 'check', 'foreign'])

/** Reads the columns from the text of a CREATE TABLE as SQLite keeps it (https://www.sqlite.org/lang_createtable.html). */
export function readDeclaredColumns(statement: string): DeclaredColumn[] {
  const columns: DeclaredColumn[] = []
  let definition: Token[] = []
  const take = () => {
    const [first] = definition
    if (first && !(first.kind === 'word' && TABLE_CONSTRAINTS.has(first.text.toLowerCase())))
      columns.push(describeColumn(statement, definition))
    definition = []
  }
  let isInside = false
  for (const token of readTokens(statement)) {
    const { depth, text } = token
    if (depth === 0 && text === '(') isInside = true
    else if (!isInside) continue
    else if (depth === 0) break
    else if (depth === 1 && text === ',') take()
    else definition.push(token)
  }
  take()
  return columns
}

function describeColumn(statement: string, tokens: readonly Token[]): DeclaredColumn {
  const column: DeclaredColumn = { name: unquote(tokens[0]), isAutoIncrement: false }
  for (const [index, { kind, text, depth }] of tokens.entries()) {
    if (index === 0 || kind !== 'word' || depth !== 1) continue
    const next = tokens[index + 1]
    const word = text.toLowerCase()
    if (word === 'autoincrement') column.isAutoIncrement = true
    else if (word === 'collate' && next) column.collation = unquote(next).toUpperCase()
    else if (word === 'as' && next?.text === '(') {
      const close = tokens.slice(index + 2).find(token => token.depth === 1 && token.text === ')')
      column.expression = statement.slice(next.start + 1, close?.start).trim()
    }
  }
  if (column.collation === 'BINARY') delete column.collation
  return column
}

function unquote({ kind, text }: Token = { kind: 'sign', text: '', start: 0, depth: 0 }): string {
  if (kind !== 'quoted' && kind !== 'text') return text
  const close = text.at(-1) ?? ''
  const inner = text.slice(1, -1)
  return close === ']' ? inner : inner.replaceAll(close + close, close)
}
