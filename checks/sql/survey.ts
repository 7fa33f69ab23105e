import type { SqlReference } from '../../connectors/dialect.ts'
import { isDenied, isDeniedTable } from './denied-functions.ts'

/** What a text of CUSTOM_SQL mentions. */
export interface SqlSurvey {
  /** The last parts of the column names, each once. */
  columns: string[]
  /** The parts of each name that may be a column's, as it is written; the last is empty for a star. */
  references: string[][]
  /** All that may make the engine call a function, each once. */
  calls: SqlReference[]
  /**
   * Whether it gives the same of the same row at any time: columns, constants, comparisons and arithmetic, and neither
   * functions nor words such as 'now' that stand for a time.
   */
  isTimeless: boolean
}

type TreeNode = Record<string, unknown>

/** The reasons why node types are refused anywhere in the tree, by the parser's names. */
const REFUSED_NODES: Record<string, string> = {
  intoClause: 'SELECT INTO writes a table; sql_expression may only read.',
  lockingClause: 'FOR UPDATE and FOR SHARE lock rows; sql_expression may only read.',
  InsertStmt: 'INSERT is not allowed; sql_expression may only read.',
  UpdateStmt: 'UPDATE is not allowed; sql_expression may only read.',
  DeleteStmt: 'DELETE is not allowed; sql_expression may only read.',
  MergeStmt: 'MERGE is not allowed; sql_expression may only read.',
  ParamRef: 'Parameters such as $1 are not allowed in sql_expression; write the value.',
  RangeTableSample:
    'TABLESAMPLE is not allowed in sql_expression: it gives other rows each time; name the rows in WHERE.',
}

/** Operators that a node of the tree stands for without naming them. */
const IMPLIED_OPERATORS: Record<string, readonly string[]> = {
  BETWEEN: ['>=', '<='],
  'NOT BETWEEN': ['<', '>'],
  'BETWEEN SYMMETRIC': ['>=', '<='],
  'NOT BETWEEN SYMMETRIC': ['<', '>'],
}

/**
 * Walks the whole tree and refuses forbidden nodes. Not recursive: users control the depth.
 * @param form in an `expression` no sub-query may stand
 */
export function surveyTree(root: TreeNode, form: 'expression' | 'select'): SqlSurvey | { error: string } {
  const columns = new Set<string>()
  const references: string[][] = []
  const calls = new Map<string, SqlReference>()
  const add = (kind: SqlReference['kind'], parts: readonly string[]) => {
    const name = parts.at(-1) ?? ''
    if (name !== '')
      calls.set(JSON.stringify([kind, ...parts.slice(-2)]), { kind, schema: parts.at(-2), name })
  }
  const tables: string[][] = []
  let isFromFunction = false
  let isTimeless = true
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (node === null || typeof node !== 'object') continue
    for (const [key, child] of Object.entries(node) as [string, TreeNode][]) {
      const refusal = REFUSED_NODES[key] ?? findNodeProblem(key, child, form)
      if (refusal !== undefined) return { error: refusal }
      if (!isTimelessNode(key, child)) isTimeless = false
      if (key === 'FuncCall') {
        add('function', namesOf(child.funcname))
        if (child.agg_star) references.push([''])
      }
      if (key === 'typeName' || key === 'TypeName') add('type', namesOf(child.names))
      if (key === 'useOp' || key === 'operName') add('operator', namesOf(child))
      if (key === 'A_Expr') for (const name of operatorsOf(child)) add('operator', name)
      if (key === 'CaseExpr' && child.arg) add('operator', ['='])
      if (key === 'JoinExpr' && (child.isNatural || child.usingClause)) add('operator', ['='])
      if (key === 'A_Indirection') namesOf(child.indirection).forEach(field => add('field', [field]))
      if (key === 'RangeFunction') isFromFunction = true
      if (key === 'RangeVar') {
        tables.push([child.schemaname, child.relname].map(part => String(part ?? '')))
        add('table', (tables.at(-1) ?? []).filter(Boolean))
      }
      if (key === 'ColumnRef') {
        const parts = namesOf(child.fields)
        columns.add(parts.at(-1) ?? '')
        references.push(parts)
        if (parts.length > 1) add('column', [parts.at(-1) ?? ''])
      }
      open.push(child)
    }
  }
  columns.delete('')
  const found = [...calls.values()].map(call =>
    // A table from a function of a single value is that value, of which any function can be taken.
    call.kind === 'column' && isFromFunction ? { ...call, kind: 'field' as const } : call,
  )
  const denied = found.find(isDenied)
  if (denied) return { error: `The function ${denied.name} is not allowed in sql_expression.` }
  const table = tables.find(isDeniedTable)
  if (table)
    return { error: `${table.at(-1)} is not allowed in sql_expression: it is no table of the database.` }
  return { columns: [...columns], references, calls: found, isTimeless }
}

/** Nodes whose value follows from those below them. */
const TIMELESS_NODES: ReadonlySet<string> = new Set([
  ...['A_Const', 'String', 'List', 'BoolExpr', 'NullTest', 'BooleanTest', 'CaseExpr', 'CaseWhen'],
  ...['CoalesceExpr', 'A_Expr', 'ColumnRef', 'TypeCast'],
])
const TIMELESS_OPERATORS: ReadonlySet<string> = new Set([
  ...[
    '=',
    '<>',
    '!=',
    '<',
    '>',
    '<=',
    '>=',
    '+',
    '-',
    '*',
    '/',
    '%',
    '||',
    '~~',
    '!~~',
    '~~*',
    '!~~*',
    '~',
    '!~',
  ],
])
const TIMELESS_TYPES: ReadonlySet<string> = new Set([
  ...['bool', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'text', 'varchar', 'bpchar'],
  ...['date', 'timestamp', 'timestamptz'],
])
/** What stands for a time where a text becomes one. */
const TIME_WORDS = /\b(now|today|tomorrow|yesterday|current)\b/i

/** Fields begin with a small letter. */
function isTimelessNode(key: string, child: TreeNode): boolean {
  if (!/^[A-Z]/.test(key)) return true
  if (!TIMELESS_NODES.has(key)) return false
  if (key === 'ColumnRef') return namesOf(child.fields).length === 1 && namesOf(child.fields)[0] !== ''
  if (key === 'A_Const') return !TIME_WORDS.test((child as { sval?: { sval?: string } }).sval?.sval ?? '')
  if (key === 'A_Expr')
    return operatorsOf(child).every(parts => parts.length === 1 && TIMELESS_OPERATORS.has(parts[0] ?? ''))
  if (key !== 'TypeCast') return true
  // A text of a row may be such a word, too.
  const { arg, typeName } = child as { arg?: TreeNode; typeName?: { names?: unknown } }
  return arg?.A_Const !== undefined && TIMELESS_TYPES.has(namesOf(typeName?.names).at(-1) ?? '')
}

function findNodeProblem(key: string, child: TreeNode, form: 'expression' | 'select'): string | undefined {
  if (key === 'SubLink' && form === 'expression') {
    return 'A sub-query is allowed only when sql_expression is a whole SELECT.'
  }
  if (key === 'FuncCall') {
    const name = namesOf(child.funcname).at(-1) ?? ''
    // Some engines read ſ as s, and some letters of PostgreSQL as blanks.
    if (/[^\x20-\x7e]/.test(name)) {
      return `The function ${name} is not allowed in sql_expression: its name has letters beyond ASCII.`
    }
  }
  if (key === 'A_Expr' && !child.lexpr && /@/.test(namesOf(child.name).at(-1) ?? '')) {
    return 'Variables such as @a and @@a are not allowed in sql_expression, nor is @ before a number: write abs().'
  }
  return undefined
}

function operatorsOf({ name }: TreeNode): string[][] {
  const parts = namesOf(name)
  return IMPLIED_OPERATORS[parts.at(-1) ?? '']?.map(operator => [operator]) ?? [parts]
}

/** The parts of a qualified name; an empty one for a star or a subscript. */
function namesOf(parts: unknown): string[] {
  return ((parts ?? []) as { String?: { sval?: string } }[]).map(part => part.String?.sval ?? '')
}
