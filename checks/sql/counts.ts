type QueryNode = Record<string, unknown>

/** Expressions are no deeper that only count. */
const MAX_DEPTH = 50

/** Functions of a count that give a number of their own. */
const OF_COUNTS = new Set(['round', 'abs', 'ceil', 'floor'])

/**
 * The columns of a SELECT that are numbers of rows, or computed from such numbers alone: they show nothing of a row's values.
 * None of two columns with one name, nor of UNION.
 */
export function findCountColumns(select: QueryNode): string[] {
  const targets = targetsOf(select)
  const names = targets.map(({ name }) => name)
  return targets.flatMap(({ name, value }) =>
    name !== '' && names.indexOf(name) === names.lastIndexOf(name) && isCount(value, select, 0) ? [name] : [],
  )
}

/** The columns that a SELECT returns, by their names; empty where it gives them none. None of UNION. */
export function targetsOf(select: QueryNode): { name: string; value: QueryNode }[] {
  if (select.op !== 'SETOP_NONE') return []
  const targets = (select.targetList ?? []) as { ResTarget?: { name?: string; val?: QueryNode } }[]
  return targets.map(({ ResTarget }) => {
    const value = ResTarget?.val ?? {}
    return { name: ResTarget?.name ?? columnOf(value) ?? '', value }
  })
}

const isNode = (value: unknown): value is QueryNode => typeof value === 'object' && value !== null

/** Whether a value is a number of rows, or computed from such numbers alone. @param select where its columns come from */
export function isCount(value: unknown, select: QueryNode, depth: number): boolean {
  if (!isNode(value) || depth > MAX_DEPTH) return false
  const [[kind, inner] = ['', {}]] = Object.entries(value)
  const node = isNode(inner) ? inner : {}
  const areCounts = (values: unknown) =>
    Array.isArray(values) && values.every(each => isCount(each, select, depth + 1))
  switch (kind) {
    case 'A_Const':
      return true
    case 'FuncCall': {
      const name = nameOf(node.funcname)
      if (name === 'sum') return addsConstants(node.args)
      return name === 'count' || (OF_COUNTS.has(name) && areCounts(node.args))
    }
    case 'A_Expr':
      return areCounts([node.lexpr, node.rexpr].filter(side => side !== undefined))
    case 'CoalesceExpr':
      return areCounts(node.args)
    case 'TypeCast':
      return areCounts([node.arg])
    case 'CaseExpr':
      return areCounts(partsOfCase(node))
    case 'ColumnRef':
      return isCountOfSubQuery(columnOf(value), select, depth)
    case 'SubLink': {
      const inside = isNode(node.subselect) ? node.subselect.SelectStmt : undefined
      const [only, ...others] = node.subLinkType === 'EXPR_SUBLINK' && isNode(inside) ? targetsOf(inside) : []
      return only !== undefined && others.length === 0 && isCount(only.value, inside as QueryNode, depth + 1)
    }
    default:
      return false
  }
}

/** `sum(case when … then 1 else 0 end)` counts rows. */
function addsConstants(given: unknown): boolean {
  const [only] = (Array.isArray(given) ? given : []) as { CaseExpr?: QueryNode }[]
  const results = only?.CaseExpr ? partsOfCase(only.CaseExpr, false) : []
  return results.length > 0 && results.every(result => isNode(result) && 'A_Const' in result)
}

function partsOfCase({ arg, args, defresult }: QueryNode, withConditions = true): unknown[] {
  const cases = (args ?? []) as { CaseWhen?: { expr?: unknown; result?: unknown } }[]
  const results = cases.map(({ CaseWhen }) => CaseWhen?.result)
  const conditions = withConditions ? [arg, ...cases.map(({ CaseWhen }) => CaseWhen?.expr)] : []
  return [...results, ...conditions, defresult].filter(part => part !== undefined)
}

function isCountOfSubQuery(name: string | undefined, { fromClause }: QueryNode, depth: number): boolean {
  const [only, ...others] = (fromClause ?? []) as {
    RangeSubselect?: { subquery?: { SelectStmt?: QueryNode } }
  }[]
  const inside = only?.RangeSubselect?.subquery?.SelectStmt
  if (!inside || others.length > 0 || name === undefined) return false
  const found = targetsOf(inside).filter(target => target.name === name)
  return found.length === 1 && isCount(found[0]!.value, inside, depth + 1)
}

/** The name of a column, without that of its table. */
function columnOf({ ColumnRef }: QueryNode): string | undefined {
  return isNode(ColumnRef) ? nameOf(ColumnRef.fields) || undefined : undefined
}

/** The last part of a name, in small letters; empty for a star. */
export function nameOf(parts: unknown): string {
  const last = Array.isArray(parts) ? (parts.at(-1) as { String?: { sval?: string } } | undefined) : undefined
  return last?.String?.sval?.toLowerCase() ?? ''
}
