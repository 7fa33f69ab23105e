import { loadModule, parseSync, scanSync } from 'libpg-query'
import { isDenied } from './sql-denied.ts'

/** A text of CUSTOM_SQL that was understood. */
export interface CustomSql {
  /** `expression`: true for valid rows. `select`: returns the invalid rows. */
  form: 'expression' | 'select'
  /** The text without comments and closing semicolons. */
  text: string
  /** The same in pieces, so that names and texts can be quoted as the engine does. */
  pieces: Piece[]
  /** The last parts of the column names it mentions, each once. */
  columns: string[]
  /** The functions it calls, lower-cased, each once. */
  functions: string[]
}

/** Part of a text of CUSTOM_SQL: a name or a text that stood in quotes, without them, or what is between. */
export interface Piece {
  kind: 'sql' | 'name' | 'text'
  text: string
}

export type CustomSqlReading = CustomSql | { error: string }

/** Longest text, in characters: the parser's stack holds any nesting that fits. */
const MAX_LENGTH = 10_000

const NEITHER = 'sql_expression must be one boolean expression or one SELECT'

/** What may not stand anywhere in the tree, by the parser's name for it, and why. */
const REFUSED: Record<string, string> = {
  intoClause: 'SELECT INTO writes a table; sql_expression may only read.',
  lockingClause: 'FOR UPDATE and FOR SHARE lock rows; sql_expression may only read.',
  InsertStmt: 'INSERT is not allowed; sql_expression may only read.',
  UpdateStmt: 'UPDATE is not allowed; sql_expression may only read.',
  DeleteStmt: 'DELETE is not allowed; sql_expression may only read.',
  MergeStmt: 'MERGE is not allowed; sql_expression may only read.',
  ParamRef: 'Parameters such as $1 are not allowed in sql_expression; write the value.',
}

type Node = Record<string, unknown>

/**
 * Decides whether a text may run as CUSTOM_SQL and in which form: one boolean expression without sub-queries,
 * or one SELECT that neither writes nor locks; no denied function in either. The grammar is PostgreSQL's, on
 * every engine: double quotes hold names, single ones texts, and a backslash is a character like others.
 */
export async function checkCustomSql(text: string): Promise<CustomSqlReading> {
  await loadModule()
  return parseCustomSql(text)
}

type Lexed = Pick<CustomSql, 'text' | 'pieces'> & { isBalanced: boolean }

/** The same as `checkCustomSql`, once that was awaited in this process, which loads the parser. */
export function parseCustomSql(text: string): CustomSqlReading {
  if (text.length > MAX_LENGTH) return { error: `sql_expression has more than ${MAX_LENGTH} characters.` }
  const lexed = lex(text)
  if ('error' in lexed) return lexed
  const statement = tryParse(lexed.text)
  if (Array.isArray(statement)) return readStatements(lexed, statement)
  if (!lexed.isBalanced) return { error: `${NEITHER}; its parentheses are not balanced.` }
  const wrapped = tryParse(`select (\n${lexed.text}\n)`)
  return Array.isArray(wrapped) ? readExpression(lexed, wrapped) : { error: wrapped.error }
}

/** Begins a comment in MySQL and BigQuery (#) or Snowflake (//), a quoted name in most but PostgreSQL (`). */
const MISREAD = /^[-+*/<>=~!@#%^&|`?]*?([#`]|\/\/)/

/**
 * Takes out comments and closing semicolons, and refuses what other engines would read differently: a
 * backslash before a quote, which ends the text in PostgreSQL and does not in MySQL, dollar quotes, and operators
 * that are a comment or a quote there: what PostgreSQL takes for a text behind them would then run.
 * Balanced parentheses matter because an expression is wrapped in a pair: `1=1) or (1=1` must not close it.
 */
function lex(text: string): Lexed | { error: string } {
  if (text.trim() === '') return { error: 'sql_expression is empty.' }
  if (text.includes('\0')) return { error: 'sql_expression holds a NUL character.' }
  if (/(?<!\\)(?:\\\\)*\\['"`]/.test(text)) {
    return { error: 'sql_expression has a backslash before a quote; double the quote to write one.' }
  }
  let tokens: ReturnType<typeof scanSync>['tokens']
  try {
    ;({ tokens } = scanSync(text))
  } catch {
    return { error: 'sql_expression cannot be read: is a quote or a comment left open?' }
  }
  // The scanner counts bytes.
  const bytes = Buffer.from(text)
  const isNothing = (token: (typeof tokens)[number]) =>
    token.text === ';' || token.tokenName.endsWith('COMMENT')
  const last = tokens.findLastIndex(token => !isNothing(token))
  let kept = ''
  const pieces: Piece[] = []
  let end = 0
  let depth = 0
  let isBalanced = true
  for (const token of tokens.slice(0, last + 1)) {
    if (token.text.startsWith('$') && token.tokenName === 'SCONST') {
      return { error: 'sql_expression has a dollar-quoted text; use single quotes.' }
    }
    const isComment = token.tokenName.endsWith('COMMENT')
    if (!isComment && MISREAD.test(token.text)) {
      return {
        error: `The operator ${token.text} is not allowed in sql_expression: some engines take it for a comment or a quote.`,
      }
    }
    const between = kept === '' ? '' : bytes.toString('utf8', end, token.start) + (isComment ? ' ' : '')
    end = token.end
    const source = isComment ? '' : bytes.toString('utf8', token.start, token.end)
    const piece = pieceOf(source)
    if ('error' in piece) return piece
    kept += between + source
    pieces.push({ kind: 'sql', text: between }, piece)
    if (token.text === '(') depth += 1
    if (token.text === ')') depth -= 1
    if (depth < 0) isBalanced = false
  }
  if (kept.trim() === '') return { error: 'sql_expression is empty.' }
  return { text: kept, pieces, isBalanced: isBalanced && depth === 0 }
}

const QUOTED = /^(["'])((?:(?!\1)[^]|\1\1)*)\1$/

/** One token. Texts with a prefix, such as E'…', stay as they are: other engines refuse them. */
function pieceOf(source: string): Piece | { error: string } {
  const [quote] = source
  if (quote !== '"' && quote !== "'") return { kind: 'sql', text: source }
  const inside = QUOTED.exec(source)?.[2]
  // PostgreSQL makes one of two that stand on two lines.
  if (inside === undefined) return { error: 'sql_expression has two texts in a row; write them as one.' }
  return { kind: quote === '"' ? 'name' : 'text', text: inside.replaceAll(quote + quote, quote) }
}

function tryParse(text: string): Node[] | { error: string } {
  try {
    return (parseSync(text).stmts ?? []) as unknown as Node[]
  } catch (thrown) {
    const reason = thrown instanceof Error && thrown.name === 'SqlError' ? `: ${thrown.message}` : ''
    return { error: `${NEITHER}${reason}.` }
  }
}

function readStatements({ text, pieces }: Lexed, statements: Node[]): CustomSqlReading {
  if (statements.length !== 1) return { error: `${NEITHER}; it has ${statements.length} statements.` }
  const statement = statements[0]?.stmt as Node
  const select = statement.SelectStmt as Node | undefined
  if (!select) return { error: `${NEITHER}; another statement is not allowed.` }
  // VALUES and TABLE are SELECTs to PostgreSQL alone.
  if (!/^[(\s]*(select|with)\b/i.test(text)) return { error: `${NEITHER}.` }
  return survey(statement, { form: 'select', text, pieces })
}

function readExpression({ text, pieces }: Lexed, statements: Node[]): CustomSqlReading {
  const { SelectStmt: select } = (statements[0]?.stmt ?? {}) as { SelectStmt?: Node }
  const [target, ...others] = (select?.targetList ?? []) as { ResTarget?: { name?: string; val?: Node } }[]
  const clauses = Object.keys(select ?? {}).filter(key => !['targetList', 'limitOption', 'op'].includes(key))
  const value = target?.ResTarget?.val
  if (
    statements.length !== 1 ||
    others.length > 0 ||
    clauses.length > 0 ||
    !value ||
    target.ResTarget?.name
  ) {
    return { error: `${NEITHER}.` }
  }
  const row = value.RowExpr as { row_format?: string } | undefined
  if (row?.row_format === 'COERCE_IMPLICIT_CAST') return { error: `${NEITHER}; a list is neither.` }
  return survey(value, { form: 'expression', text, pieces })
}

/** Walks the whole tree without recursion: its depth is the user's to choose. */
function survey(root: Node, found: Pick<CustomSql, 'form' | 'text' | 'pieces'>): CustomSqlReading {
  const columns = new Set<string>()
  const functions = new Set<string>()
  const fields = new Set<string>()
  const qualified = new Set<string>()
  let isFromFunction = false
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (node === null || typeof node !== 'object') continue
    for (const [name, child] of Object.entries(node)) {
      const refusal = REFUSED[name]
      if (refusal) return { error: refusal }
      if (name === 'SubLink' && found.form === 'expression') {
        return { error: 'A sub-query is allowed only when sql_expression is a whole SELECT.' }
      }
      if (name === 'FuncCall') functions.add(lastName((child as Node).funcname).toLowerCase())
      if (name === 'ColumnRef') {
        const last = lastName((child as Node).fields)
        columns.add(last)
        if (((child as Node).fields as unknown[]).length > 1) qualified.add(last)
      }
      if (name === 'A_Indirection') namesOf((child as Node).indirection).forEach(field => fields.add(field))
      if (name === 'RangeFunction') isFromFunction = true
      open.push(child)
    }
  }
  // PostgreSQL takes a field that does not exist for a function: (1).pg_sleep, and x.pg_sleep from abs(1) x.
  const called = [...functions, ...fields, ...(isFromFunction ? qualified : [])]
  const denied = called.find(isDenied)
  if (denied) return { error: `The function ${denied} is not allowed in sql_expression.` }
  columns.delete('')
  return { ...found, columns: [...columns], functions: [...functions] }
}

/** The parts of a qualified name; empty for a star or a subscript. */
function namesOf(parts: unknown): string[] {
  return (parts as { String?: { sval?: string } }[]).map(part => part.String?.sval ?? '')
}

function lastName(parts: unknown): string {
  return namesOf(parts).at(-1) ?? ''
}
