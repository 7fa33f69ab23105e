import {
  addSize,
  allOf,
  asCondition,
  childOf,
  listOf,
  NO_DEPENDENCIES,
  namesIn,
  union,
  type Dependencies,
  type QueryColumn,
  type QueryResult,
  type Reading,
  type Relation,
  type Scope,
  type Surroundings,
  type TreeNode,
} from './columns.ts'

const SYSTEM_COLUMNS = new Set(['tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'oid'])

/** What an expression is made of. Every kind of node that is not named here is read by its parts. */
export function readExpression(
  reading: Reading,
  node: unknown,
  scope: Scope,
  around: Surroundings,
): Dependencies {
  const read = (part: unknown) => readExpression(reading, part, scope, around)
  if (Array.isArray(node)) return union(node.map(read))
  if (typeof node !== 'object' || node === null) return NO_DEPENDENCIES
  addSize(reading, 1)
  const parts = Object.entries(node).map(([kind, part]: [string, unknown]): Dependencies => {
    const inner = part as TreeNode
    switch (kind) {
      case 'typeName':
        return NO_DEPENDENCIES
      case 'ColumnRef':
        return union(findColumns(reading, inner, scope).map(({ dependencies }) => dependencies))
      case 'A_Indirection':
        return union([readField(reading, inner, scope) ?? read(inner.arg), read(inner.indirection)])
      case 'CaseExpr':
        return readCase(inner, read)
      case 'FuncCall':
        return readCall(inner, scope, read)
      case 'SubLink':
        return readSubLink(reading, inner, scope, around, read)
      case 'SelectStmt':
        return asValue(reading.readQuery(inner, { ...around, outer: scope }))
      default:
        return read(part)
    }
  })
  return union(parts)
}

function readCase(node: TreeNode, read: (part: unknown) => Dependencies): Dependencies {
  const branches = listOf(node, 'args').map(branch => childOf(branch, 'CaseWhen'))
  return union([
    asCondition(union([read(node.arg), ...branches.map(branch => read(branch?.expr))])),
    read(node.defresult),
    ...branches.map(branch => read(branch?.result)),
  ])
}

function readCall(node: TreeNode, scope: Scope, read: (part: unknown) => Dependencies): Dependencies {
  const order = read(node.agg_order)
  return union([
    read(node.args),
    // `percentile_cont(…) within group (order by x)` takes its values from x.
    node.agg_within_group === true ? order : asCondition(order),
    asCondition(union([read(node.agg_filter), readWindow(childOf(node, 'over'), scope, read)])),
  ])
}

function readWindow(
  over: TreeNode | undefined,
  scope: Scope,
  read: (part: unknown) => Dependencies,
): Dependencies {
  if (!over) return NO_DEPENDENCIES
  const { name, refname, ...own } = over
  const named = [name, refname].flatMap((each): TreeNode[] => {
    const window = scope.windows.get(String(each))
    return window ? [{ ...window, name: undefined }] : []
  })
  return union([read(own), ...named.map(window => readWindow(window, scope, read))])
}

function readSubLink(
  reading: Reading,
  node: TreeNode,
  scope: Scope,
  around: Surroundings,
  read: (part: unknown) => Dependencies,
): Dependencies {
  const select = childOf(childOf(node, 'subselect'), 'SelectStmt')
  if (!select) return read(node.testexpr)
  const value = asValue(reading.readQuery(select, { ...around, outer: scope }))
  if (node.subLinkType === 'EXISTS_SUBLINK') return asCondition(value)
  return union([read(node.testexpr), value])
}

/** A query as a value: its columns give it, its rows decide which. */
function asValue({ columns, rows }: QueryResult): Dependencies {
  return union([...columns.map(({ dependencies }) => dependencies), { direct: new Set(), indirect: rows }])
}

/** The column of `(t).column`, where t is a name in FROM. */
function readField(reading: Reading, node: TreeNode, scope: Scope): Dependencies | undefined {
  const relation = rowOf(childOf(node, 'arg'), scope)
  const [field] = namesIn(listOf(node, 'indirection').slice(0, 1))
  const column = field === undefined ? undefined : columnNamed(relation?.columns ?? [], field)
  return column && useColumn(reading, column).dependencies
}

/** The relation whose whole row an expression is, as in `(t).*`. */
export function rowOf(node: TreeNode | undefined, scope: Scope): Relation | undefined {
  const fields = childOf(node, 'ColumnRef')?.fields
  const names = namesIn(fields)
  if (names.length === 0 || (names.length === 1 && findBare(names[0]!, scope))) return undefined
  return findRelation(names, scope)
}

/** The columns that a reference names: one, or all of a row. */
export function findColumns(reading: Reading, { fields }: TreeNode, scope: Scope): QueryColumn[] {
  const names = namesIn(fields)
  const isStar = listOf({ fields }, 'fields').some(field => 'A_Star' in field)
  if (isStar) {
    const columns = names.length > 0 ? findRelation(names, scope)?.columns : starOf(scope)
    return useAll(reading, columns ?? [])
  }
  const name = names.at(-1) ?? ''
  if (names.length === 1) {
    const bare = findBare(name, scope)
    if (bare) return [useColumn(reading, bare)]
    const row = findRelation(names, scope)
    if (row) return useAll(reading, row.columns)
  } else {
    const relation = findRelation(names.slice(0, -1), scope)
    const column = relation && (columnNamed(relation.columns, name) ?? restOf(relation.columns))
    if (column) return [useColumn(reading, column)]
    if (relation && SYSTEM_COLUMNS.has(name)) return []
    // `t.f` may call a function of the row.
    if (relation && reading.isCatalogComplete) return useAll(reading, relation.columns)
  }
  if (!SYSTEM_COLUMNS.has(name)) reading.unresolved.push(names.join('.'))
  return []
}

/** All columns that `*` stands for. */
const starOf = (scope: Scope): QueryColumn[] => scope.items.flatMap(({ columns }) => columns)

/** A column by its name alone: of the innermost query that has it; a rest may have it where no query does. */
function findBare(name: string, scope: Scope): QueryColumn | undefined {
  let rest: QueryColumn | undefined
  for (let each: Scope | undefined = scope; each; each = each.outer) {
    const columns = starOf(each)
    const found = columnNamed(columns, name)
    if (found) return found
    // The name of a relation, whose row is meant.
    if (relationIn(each, [name])) return undefined
    rest ??= restOf(columns)
  }
  return rest
}

export function columnNamed(columns: readonly QueryColumn[], name: string): QueryColumn | undefined {
  return columns.find(column => column.name === name && !column.isRest)
}

const restOf = (columns: readonly QueryColumn[]) => columns.find(({ isRest }) => isRest)

function findRelation(names: readonly string[], scope: Scope): Relation | undefined {
  for (let each: Scope | undefined = scope; each; each = each.outer) {
    const found = relationIn(each, names)
    if (found) return found
  }
  return undefined
}

/** @param names of the relation, before it its schema, and before that its catalog */
function relationIn({ items }: Scope, names: readonly string[]): Relation | undefined {
  const [name, schema] = names.toReversed()
  return items
    .flatMap(({ relations }) => relations)
    .find(relation => relation.name === name && (schema === undefined || relation.schema === schema))
}

/** Notes that a query names a column. */
export function useColumn(reading: Reading, column: QueryColumn): QueryColumn {
  if (column.base !== undefined) reading.used.add(column.base)
  return column
}

function useAll(reading: Reading, columns: readonly QueryColumn[]): QueryColumn[] {
  return columns.map(column => useColumn(reading, column))
}

/** Everything that an expression names, as what decides which rows there are. */
export function readCondition(
  reading: Reading,
  node: unknown,
  scope: Scope,
  around: Surroundings,
): ReadonlySet<string> {
  return allOf(readExpression(reading, node, scope, around))
}
