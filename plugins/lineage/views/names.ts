import { childOf, listOf, namesIn, type TreeNode } from './columns.ts'

/** Kinds of expressions that PostgreSQL names a column after. */
const NAMES: Record<string, string> = {
  A_ArrayExpr: 'array',
  RowExpr: 'row',
  CoalesceExpr: 'coalesce',
  GroupingFunc: 'grouping',
  XmlSerialize: 'xmlserialize',
  JsonObjectConstructor: 'json_object',
  JsonArrayConstructor: 'json_array',
  JsonArrayQueryConstructor: 'json_array',
  JsonObjectAgg: 'json_objectagg',
  JsonArrayAgg: 'json_arrayagg',
  JsonParseExpr: 'json',
  JsonScalarExpr: 'json_scalar',
  JsonSerializeExpr: 'json_serialize',
}

const UNNAMED = '?column?'

/** The name that PostgreSQL gives a column of a result without an alias. */
export function nameOf(value: TreeNode): string {
  return ownName(value) ?? UNNAMED
}

function ownName(value: TreeNode | undefined): string | undefined {
  const [[kind, node] = ['', {}]] = Object.entries(value ?? {}) as [string, TreeNode][]
  switch (kind) {
    case 'ColumnRef':
      return namesIn(node.fields).at(-1)
    case 'A_Indirection':
      return namesIn(node.indirection).at(-1) ?? ownName(childOf(node, 'arg'))
    case 'FuncCall':
      return namesIn(node.funcname).at(-1)
    case 'A_Expr':
      return node.kind === 'AEXPR_NULLIF' ? 'nullif' : undefined
    case 'TypeCast':
      return ownName(childOf(node, 'arg')) ?? namesIn(childOf(node, 'typeName')?.names).at(-1)
    case 'CollateClause':
      return ownName(childOf(node, 'arg'))
    case 'CaseExpr':
      return ownName(childOf(node, 'defresult')) ?? 'case'
    case 'MinMaxExpr':
      return node.op === 'IS_LEAST' ? 'least' : 'greatest'
    case 'SQLValueFunction':
      return String(node.op)
        .replace(/^SVFOP_/, '')
        .replace(/_N$/, '')
        .toLowerCase()
    case 'XmlExpr':
      return String(node.op).replace(/^IS_/, '').toLowerCase()
    case 'JsonFuncExpr':
      return String(node.op).replace(/_OP$/, '').toLowerCase()
    case 'SubLink':
      return nameOfSubLink(node)
    default:
      return NAMES[kind]
  }
}

function nameOfSubLink(node: TreeNode): string | undefined {
  if (node.subLinkType === 'EXISTS_SUBLINK') return 'exists'
  if (node.subLinkType === 'ARRAY_SUBLINK') return 'array'
  if (node.subLinkType !== 'EXPR_SUBLINK') return undefined
  const [target] = listOf(childOf(childOf(node, 'subselect'), 'SelectStmt'), 'targetList')
  const result = childOf(target, 'ResTarget')
  return (result?.name as string | undefined) ?? (result && ownName(childOf(result, 'val')))
}
