import { randomUUID } from 'node:crypto'
import { loadModule, parseSync } from 'libpg-query'
import type { Dialect } from '../../connectors/dialect.ts'
import { scanEngineSql } from './engine-sql.ts'
import { findAggregation, type Aggregation } from './aggregates.ts'
import { findCountColumns, targetsOf } from './counts.ts'
import { surveyTree, type SqlSurvey } from './survey.ts'
import { scanPortableSql, type ScannedSql, type SqlPiece } from './portable-sql.ts'

/** A parsed text of CUSTOM_SQL. */
export interface CustomSql extends SqlSurvey {
  /** `expression`: true for valid rows. `select`: returns the invalid rows. */
  form: 'expression' | 'select'
  /** The text without comments and closing semicolons. */
  text: string
  /** The same in pieces, so that names and texts can be quoted as the engine does. */
  pieces: SqlPiece[]
  /**
   * The pieces of a SELECT that gives 1 for each of its rows; absent where the list of columns decides how many there
   * are, and where the pieces are no single words.
   */
  countingPieces?: SqlPiece[]
  /** Columns of a SELECT that count rows, and so show none of their values. */
  countColumns?: readonly string[]
  /** Whether a SELECT ends its rows by LIMIT or OFFSET itself. */
  isLimited?: boolean
  /** What an expression is as a number of all rows. */
  aggregation?: Aggregation
  /** The only column of a SELECT, as it names it; empty where it does not. Absent where there are others. */
  onlyColumn?: string
  /** Whether an expression is a number, a text or the result of arithmetic, and so neither true nor false. */
  isNoCondition?: boolean
  /** The name of the column that is all of an expression. */
  columnAlone?: string
}

export type CustomSqlResult = CustomSql | { error: string }

/** Longest text, in characters: the parser's stack holds any nesting that fits. */
const MAX_LENGTH = 10_000

/** Most starts of a comment: PostgreSQL's scanner takes time that grows with the square of those inside each other. */
const MAX_COMMENTS = 200

const NEITHER_FORM = 'sql_expression must be one boolean expression or one SELECT'

type ParseNode = Record<string, unknown>

export interface CustomSqlOptions {
  /** The engine's own SQL; without a lexicon, the SQL that all engines share. */
  dialect?: Pick<Dialect, 'lexicon'>
  /** The columns of the table. */
  columns?: readonly { name: string }[]
}

/**
 * Decides whether a text may run as CUSTOM_SQL and in which form: one boolean expression without sub-queries, or one
 * SELECT that neither writes nor locks; no denied function in either. The text is the engine's own SQL: its lexicon
 * splits it into tokens, which are analysed in PostgreSQL's grammar and sent. An engine without a lexicon gets the SQL
 * that PostgreSQL's scanner and all known engines read alike: double quotes hold names, single quotes hold texts, and a
 * backslash is an ordinary character.
 */
export async function checkCustomSql(text: string, reader: CustomSqlOptions = {}): Promise<CustomSqlResult> {
  await loadModule()
  return parseCustomSql(text, reader)
}

/** Recent results: a text is parsed when its check is created and several times in each scan. */
const parsedTexts = new Map<string, CustomSqlResult>()
const MAX_PARSED_TEXTS = 100

/** The same as `checkCustomSql`, once that was awaited in this process, which loads the parser. */
export function parseCustomSql(
  text: string,
  { dialect, columns = [] }: CustomSqlOptions = {},
): CustomSqlResult {
  const lexicon = dialect?.lexicon
  // The columns only decide what double quotes hold.
  const names = text.includes('"') ? columns.map(({ name }) => name.toLowerCase()) : []
  const key = JSON.stringify([typeof lexicon === 'object' ? idOf(lexicon) : lexicon, text, names])
  const reading = parsedTexts.get(key) ?? parseText(text, lexicon, new Set(names))
  // Least recently used first.
  parsedTexts.delete(key)
  parsedTexts.set(key, reading)
  const [oldest] = parsedTexts.keys()
  if (parsedTexts.size > MAX_PARSED_TEXTS && oldest !== undefined) parsedTexts.delete(oldest)
  return reading
}

const ids = new WeakMap<object, string>()

/** Identifies lexicons, even those that share a label. */
function idOf(lexicon: object): string {
  const id = ids.get(lexicon) ?? randomUUID()
  ids.set(lexicon, id)
  return id
}

function parseText(text: string, lexicon: Dialect['lexicon'], columns: ReadonlySet<string>): CustomSqlResult {
  if (text.length > MAX_LENGTH) return { error: `sql_expression has more than ${MAX_LENGTH} characters.` }
  if (text.trim() === '') return { error: 'sql_expression is empty.' }
  if (text.includes('\0')) return { error: 'sql_expression holds a NUL character.' }
  if (text.split('/*').length > MAX_COMMENTS + 1) {
    return { error: `sql_expression has more than ${MAX_COMMENTS} comments.` }
  }
  const lexed =
    typeof lexicon === 'object'
      ? scanEngineSql(text, lexicon, columns)
      : scanPortableSql(text, lexicon === 'postgresql')
  if ('error' in lexed) return lexed
  const { analysed = lexed.text, names } = lexed
  const statement = tryParse(analysed, names)
  const isUnbalanced = !lexed.isBalanced && (lexed.isOwn || !Array.isArray(statement))
  if (isUnbalanced) return { error: `${NEITHER_FORM}; its parentheses are not balanced.` }
  if (Array.isArray(statement)) return readStatements(lexed, statement)
  const wrapped = tryParse(`select (\n${analysed}\n)`, names)
  if (Array.isArray(wrapped)) return readExpression(lexed, wrapped)
  return { error: lexed.hint === undefined ? wrapped.error : `${wrapped.error} ${lexed.hint}` }
}

function tryParse(text: string, names?: ReadonlyMap<string, string>): ParseNode[] | { error: string } {
  try {
    const statements = (parseSync(text).stmts ?? []) as unknown as ParseNode[]
    if (names) restoreNames(statements, names)
    return statements
  } catch (thrown) {
    const reason = thrown instanceof Error && thrown.name === 'SqlError' ? `: ${thrown.message}` : ''
    return { error: `${NEITHER_FORM}${reason}.` }
  }
}

/** Replaces placeholder names by the names of the text. Not recursive: users control the depth. */
function restoreNames(root: object, names: ReadonlyMap<string, string>): void {
  const open = [root as ParseNode]
  for (let node = open.pop(); node; node = open.pop()) {
    for (const [key, child] of Object.entries(node)) {
      if (typeof child === 'string') node[key] = names.get(child) ?? child
      else if (child !== null && typeof child === 'object') open.push(child as ParseNode)
    }
  }
}

function readStatements({ text, pieces, isOwn }: ScannedSql, statements: ParseNode[]): CustomSqlResult {
  if (statements.length !== 1) return { error: `${NEITHER_FORM}; it has ${statements.length} statements.` }
  const statement = statements[0]?.stmt as ParseNode
  const select = statement.SelectStmt as ParseNode | undefined
  if (!select) return { error: `${NEITHER_FORM}; another statement is not allowed.` }
  // Only PostgreSQL treats VALUES and TABLE as SELECTs.
  if (!/^[(\s]*(select|with)\b/i.test(text)) return { error: `${NEITHER_FORM}.` }
  const found = surveyTree(statement, 'select')
  if ('error' in found) return found
  const countingPieces = isOwn && isPlainSelect(select) ? replaceSelectList(pieces) : undefined
  const isLimited = 'limitCount' in select || 'limitOffset' in select
  const countColumns = findCountColumns(select)
  return {
    form: 'select',
    text,
    pieces,
    isLimited,
    countColumns,
    ...onlyColumnOf(select),
    ...(countingPieces && { countingPieces }),
    ...found,
  }
}

function onlyColumnOf(select: ParseNode): { onlyColumn?: string } {
  const [only, ...others] = targetsOf(select)
  const { fields = [] } = (only?.value.ColumnRef ?? {}) as { fields?: object[] }
  const isStar = fields.some(field => 'A_Star' in field)
  return only && others.length === 0 && !isStar ? { onlyColumn: only.name } : {}
}

/** Whether a SELECT has as many rows whatever its list is, and orders them by no name of the list. */
function isPlainSelect({ op, targetList, fromClause, sortClause, ...others }: ParseNode): boolean {
  const targets = targetList as { ResTarget?: { name?: string; val?: ParseNode } }[] | undefined
  const keys = (sortClause ?? []) as { SortBy?: { node?: { ColumnRef?: { fields?: unknown[] } } } }[]
  const aliases = new Set(targets?.flatMap(({ ResTarget }) => ResTarget?.name?.toLowerCase() ?? []))
  const isColumn = (fields: unknown[]) => {
    const [only, ...others] = fields as { String?: { sval?: string } }[]
    return others.length > 0 || !aliases.has(only?.String?.sval?.toLowerCase() ?? '')
  }
  return (
    op === 'SETOP_NONE' &&
    fromClause !== undefined &&
    targets?.every(({ ResTarget }) => ResTarget?.val?.ColumnRef) === true &&
    keys.every(({ SortBy }) => isColumn(SortBy?.node?.ColumnRef?.fields ?? [])) &&
    !['distinctClause', 'groupClause', 'havingClause', 'windowClause'].some(clause => clause in others)
  )
}

/** Replaces the list of the first SELECT outside parentheses by 1. */
function replaceSelectList(pieces: readonly SqlPiece[]): SqlPiece[] | undefined {
  let depth = 0
  let from = -1
  let select = -1
  let before = ''
  for (const [at, { kind, text }] of pieces.entries()) {
    if (kind === 'sql' && text.trim() === '') continue
    // A word after a dot is a column: `m.from`.
    const word = kind === 'sql' && before !== '.' ? text.toLowerCase() : ''
    before = text
    if (word === '(') depth += 1
    if (word === ')') depth -= 1
    if (depth > 0) continue
    if (word === 'select' && select < 0) select = at
    if (word === 'from' && select >= 0 && from < 0) from = at
  }
  if (from < 0) return undefined
  return [...pieces.slice(0, select + 1), { kind: 'sql', text: ' 1 ' }, ...pieces.slice(from)]
}

function readExpression({ text, pieces }: ScannedSql, statements: ParseNode[]): CustomSqlResult {
  const { SelectStmt: select } = (statements[0]?.stmt ?? {}) as { SelectStmt?: ParseNode }
  const [target, ...others] = (select?.targetList ?? []) as {
    ResTarget?: { name?: string; val?: ParseNode }
  }[]
  const clauses = Object.keys(select ?? {}).filter(key => !['targetList', 'limitOption', 'op'].includes(key))
  const value = target?.ResTarget?.val
  if (
    statements.length !== 1 ||
    others.length > 0 ||
    clauses.length > 0 ||
    !value ||
    target.ResTarget?.name
  ) {
    return { error: `${NEITHER_FORM}.` }
  }
  const row = value.RowExpr as { row_format?: string } | undefined
  if (row?.row_format === 'COERCE_IMPLICIT_CAST') return { error: `${NEITHER_FORM}; a list is neither.` }
  const found = surveyTree(value, 'expression')
  if ('error' in found) return found
  const columnAlone = 'ColumnRef' in value ? found.columns[0] : undefined
  return {
    form: 'expression',
    text,
    pieces,
    aggregation: findAggregation(value),
    ...found,
    ...(isNoCondition(value) && { isNoCondition: true }),
    ...(columnAlone !== undefined && { columnAlone }),
  }
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '||'])

function isNoCondition(value: ParseNode): boolean {
  const { A_Const: constant, A_Expr: operation } = value as {
    A_Const?: { boolval?: unknown; isnull?: unknown; ival?: unknown }
    A_Expr?: { kind?: string; name?: { String?: { sval?: string } }[] }
  }
  if (constant) return !('boolval' in constant)
  return operation?.kind === 'AEXPR_OP' && ARITHMETIC.has(operation.name?.at(-1)?.String?.sval ?? '')
}
