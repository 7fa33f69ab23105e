import { loadModule, parseSync } from 'libpg-query'
import { survey, type Survey } from './sql-survey.ts'
import { lexCustomSql, type Lexed, type Piece } from './sql-text.ts'

/** A text of CUSTOM_SQL that was understood. */
export interface CustomSql extends Survey {
  /** `expression`: true for valid rows. `select`: returns the invalid rows. */
  form: 'expression' | 'select'
  /** The text without comments and closing semicolons. */
  text: string
  /** The same in pieces, so that names and texts can be quoted as the engine does. */
  pieces: Piece[]
}

export type CustomSqlReading = CustomSql | { error: string }

/** Longest text, in characters: the parser's stack holds any nesting that fits. */
const MAX_LENGTH = 10_000

const NEITHER = 'sql_expression must be one boolean expression or one SELECT'

type Node = Record<string, unknown>

/**
 * Decides whether a text may run as CUSTOM_SQL and in which form: one boolean expression without sub-queries,
 * or one SELECT that neither writes nor locks; no denied function in either. The grammar is PostgreSQL's, on
 * every engine: double quotes hold names, single ones texts, and a backslash is a character like others. What only
 * another engine's grammar has is written as a function instead: `regexp_instr(a, 'x') > 0` for MySQL's `a REGEXP 'x'`,
 * `floor(a / b)` for its `a DIV b`, `get_path(a, 'b')` for Snowflake's `a:b`; and QUALIFY
 * as a sub-query.
 */
export async function checkCustomSql(text: string): Promise<CustomSqlReading> {
  await loadModule()
  return parseCustomSql(text)
}

/** Readings of late, by text: a check is read when it is made, and several times at each scan. */
const known = new Map<string, CustomSqlReading>()
const MOST_KNOWN = 100

/** The same as `checkCustomSql`, once that was awaited in this process, which loads the parser. */
export function parseCustomSql(text: string): CustomSqlReading {
  const reading = known.get(text) ?? read(text)
  // Last in, last out.
  known.delete(text)
  known.set(text, reading)
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  return reading
}

function read(text: string): CustomSqlReading {
  if (text.length > MAX_LENGTH) return { error: `sql_expression has more than ${MAX_LENGTH} characters.` }
  const lexed = lexCustomSql(text)
  if ('error' in lexed) return lexed
  const statement = tryParse(lexed.text)
  if (Array.isArray(statement)) return readStatements(lexed, statement)
  if (!lexed.isBalanced) return { error: `${NEITHER}; its parentheses are not balanced.` }
  const wrapped = tryParse(`select (\n${lexed.text}\n)`)
  return Array.isArray(wrapped) ? readExpression(lexed, wrapped) : { error: wrapped.error }
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
  const found = survey(statement, 'select')
  return 'error' in found ? found : { form: 'select', text, pieces, ...found }
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
  const found = survey(value, 'expression')
  return 'error' in found ? found : { form: 'expression', text, pieces, ...found }
}
