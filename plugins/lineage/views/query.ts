import {
  addColumns,
  allOf,
  childOf,
  listOf,
  namesIn,
  NO_DEPENDENCIES,
  spreadRest,
  union,
  type FromItem,
  type QueryColumn,
  type QueryResult,
  type Reading,
  type Scope,
  type Surroundings,
  type TreeNode,
} from './columns.ts'
import { bindCtes } from './ctes.ts'
import { columnNamed, findColumns, readCondition, readExpression, rowOf, useColumn } from './expression.ts'
import { readFrom } from './from.ts'
import { nameOf } from './names.ts'

/** The columns of a SELECT, VALUES or set operation, and what decides which rows it has. */
export function readQuery(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  const ctes = bindCtes(reading, childOf(node, 'withClause'), around)
  return readBody(reading, node, { ...around, ctes })
}

/** A query whose CTEs are known. */
export function readBody(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  if (node.larg !== undefined && node.larg !== null) return readSetOperation(reading, node, around)
  if (Array.isArray(node.valuesLists)) return readValues(reading, node, around)
  return readSelect(reading, node, around)
}

function readSelect(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  const items: FromItem[] = []
  for (const each of listOf(node, 'fromClause')) items.push(readFrom(reading, each, around, items.slice()))
  const windows = new Map(
    listOf(node, 'windowClause').map(each => {
      const window = childOf(each, 'WindowDef') ?? {}
      return [String(window.name), window]
    }),
  )
  const scope: Scope = { items, windows, outer: around.outer }
  const columns = listOf(node, 'targetList').flatMap(target => {
    const own = readTarget(reading, childOf(target, 'ResTarget') ?? {}, scope, around)
    addColumns(reading, own)
    return own
  })
  // A window that no column uses is a part of the query all the same.
  for (const window of windows.values()) readExpression(reading, window, scope, around)
  const rows = new Set(items.flatMap(item => [...item.rows]))
  const add = (found: Iterable<string>) => {
    for (const each of found) rows.add(each)
  }
  add(readCondition(reading, [node.whereClause, node.havingClause], scope, around))
  const clause = (key: string, isOutputFirst: boolean) => {
    for (const each of listOf(node, key))
      add(allOf(readOrderItem(reading, each, { columns, scope, around, isOutputFirst })))
  }
  clause('groupClause', false)
  clause('sortClause', true)
  clause('distinctClause', true)
  const isDistinct = listOf(node, 'distinctClause').some(each => Object.keys(each).length === 0)
  if (isDistinct || node.groupDistinct === true) add(columns.flatMap(each => [...allOf(each.dependencies)]))
  add(readCondition(reading, [node.limitCount, node.limitOffset], scope, around))
  return { columns, rows }
}

/** One entry of the list of columns, which may be a star. */
function readTarget(
  reading: Reading,
  { name, val }: TreeNode,
  scope: Scope,
  around: Surroundings,
): QueryColumn[] {
  const value = (val ?? {}) as TreeNode
  const reference = childOf(value, 'ColumnRef')
  const withoutBase = ({ base: _base, ...column }: QueryColumn): QueryColumn => column
  if (reference && listOf(reference, 'fields').some(field => 'A_Star' in field))
    return findColumns(reading, reference, scope).map(withoutBase)
  const path = childOf(value, 'A_Indirection')
  if (path && listOf(path, 'indirection').some(step => 'A_Star' in step)) {
    const relation = rowOf(childOf(path, 'arg'), scope)
    if (relation) return relation.columns.map(column => withoutBase(useColumn(reading, column)))
    // The fields of a value: only the engine knows how many.
    return [{ name: '', dependencies: readExpression(reading, path.arg, scope, around), isRest: true }]
  }
  const dependencies = readExpression(reading, value, scope, around)
  return [{ name: name === undefined ? nameOf(value) : String(name), dependencies }]
}

interface OrderContext {
  columns: readonly QueryColumn[]
  scope: Scope
  around: Surroundings
  /** Whether a bare name is a column of the result before one of FROM. */
  isOutputFirst: boolean
}

/** An entry of GROUP BY, ORDER BY or DISTINCT ON: a number or a name of a column of the result, or an expression. */
function readOrderItem(reading: Reading, node: TreeNode, context: OrderContext): QueryColumn['dependencies'] {
  const { columns, scope, around, isOutputFirst } = context
  const sets = childOf(node, 'GroupingSet')
  if (sets) return union(listOf(sets, 'content').map(each => readOrderItem(reading, each, context)))
  const list = childOf(node, 'List') ?? childOf(node, 'RowExpr')
  if (list && !isOutputFirst)
    return union(
      listOf(list, 'items' in list ? 'items' : 'args').map(each => readOrderItem(reading, each, context)),
    )
  const value = (childOf(childOf(node, 'SortBy'), 'node') ?? node) as TreeNode
  const number = childOf(childOf(value, 'A_Const'), 'ival')?.ival
  if (typeof number === 'number') return columns[number - 1]?.dependencies ?? NO_DEPENDENCIES
  const names = namesIn(childOf(value, 'ColumnRef')?.fields)
  const output = names.length === 1 ? columnNamed(columns, names[0]!) : undefined
  if (output && isOutputFirst) return output.dependencies
  if (output && !scope.items.some(item => columnNamed(item.columns, names[0]!))) return output.dependencies
  return readExpression(reading, value, scope, around)
}

function readValues(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  const scope: Scope = { items: [], windows: new Map(), outer: around.outer }
  const lists = listOf(node, 'valuesLists').map(list =>
    listOf(childOf(list, 'List'), 'items').map(value => readExpression(reading, value, scope, around)),
  )
  const columns = (lists[0] ?? []).map((_, index): QueryColumn => ({
    name: `column${index + 1}`,
    dependencies: union(lists.flatMap(list => list[index] ?? [])),
  }))
  return { columns, rows: new Set() }
}

/** UNION, INTERSECT and EXCEPT: the columns by their position, with the names of the left query. */
function readSetOperation(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  const left = readQuery(reading, childOf(node, 'larg') ?? {}, around)
  const right = readQuery(reading, childOf(node, 'rarg') ?? {}, around)
  const columns = uniteColumns(left.columns, right.columns)
  const rows = new Set([...left.rows, ...right.rows])
  const isBag = node.op === 'SETOP_UNION' && node.all === true
  if (!isBag) for (const { dependencies } of columns) for (const each of allOf(dependencies)) rows.add(each)
  const scope: Scope = { items: [], windows: new Map(), outer: around.outer }
  const context = { columns, scope, around, isOutputFirst: true }
  for (const each of listOf(node, 'sortClause'))
    for (const found of allOf(readOrderItem(reading, each, context))) rows.add(found)
  for (const each of readCondition(reading, [node.limitCount, node.limitOffset], scope, around))
    rows.add(each)
  return { columns, rows }
}

/** The columns of two queries by position. */
export function uniteColumns(left: readonly QueryColumn[], right: readonly QueryColumn[]): QueryColumn[] {
  const hasRest = (columns: readonly QueryColumn[]) => columns.some(({ isRest }) => isRest)
  const [first, second] = [
    hasRest(left) && !hasRest(right) ? spreadRest(left, right.length) : left,
    hasRest(right) && !hasRest(left) ? spreadRest(right, left.length) : right,
  ]
  return first.map((column, index) => ({
    ...column,
    dependencies: union([column.dependencies, second[index]?.dependencies ?? NO_DEPENDENCIES]),
  }))
}
