import {
  addColumns,
  addSize,
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

/** One of the operations of a chain, with the query on its right. */
interface SetStep {
  isBag: boolean
  right: TreeNode
}

/**
 * The first query of `a union b except c`, and the operations on it in their order: they nest to the left, as deep as
 * there are of them.
 */
function listSteps(node: TreeNode): { first: TreeNode; steps: SetStep[] } {
  const steps: SetStep[] = []
  let [left, isOwn] = [node, true]
  while (left.larg && (isOwn || !hasClauses(left))) {
    const isBag = left.op === 'SETOP_UNION' && left.all === true
    steps.push({ isBag, right: childOf(left, 'rarg') ?? {} })
    ;[left, isOwn] = [childOf(left, 'larg') ?? {}, false]
  }
  return { first: left, steps: steps.reverse() }
}

/** Whether a set operation in parentheses has clauses of its own. */
const hasClauses = (node: TreeNode) =>
  [node.withClause, node.sortClause, node.limitCount, node.limitOffset].some(each => each != null)

/** UNION, INTERSECT and EXCEPT: the columns by their position, with the names of the first query. */
function readSetOperation(reading: Reading, node: TreeNode, around: Surroundings): QueryResult {
  const { first, steps } = listSteps(node)
  const result = readQuery(reading, first, around)
  const united = new UnitedColumns(reading, result.columns)
  const rows = new Set(result.rows)
  const lastSet = steps.findLastIndex(({ isBag }) => !isBag)
  for (const [index, { right }] of steps.entries()) {
    const next = readQuery(reading, right, around)
    united.add(next.columns)
    for (const each of next.rows) rows.add(each)
    // What is compared for equal rows; an earlier operation compares no other columns.
    if (index === lastSet) for (const each of united.all()) rows.add(each)
  }
  const columns = united.columns()
  const scope: Scope = { items: [], windows: new Map(), outer: around.outer }
  const context = { columns, scope, around, isOutputFirst: true }
  for (const each of listOf(node, 'sortClause'))
    for (const found of allOf(readOrderItem(reading, each, context))) rows.add(found)
  for (const each of readCondition(reading, [node.limitCount, node.limitOffset], scope, around))
    rows.add(each)
  return { columns, rows }
}

interface UnitedColumn {
  column: QueryColumn
  direct: Set<string>
  indirect: Set<string>
}

const copyOf = (column: QueryColumn, { direct, indirect } = column.dependencies): UnitedColumn => ({
  column,
  direct: new Set(direct),
  indirect: new Set(indirect),
})

const hasRest = (columns: readonly QueryColumn[]) => columns.some(({ isRest }) => isRest)

/** The columns of several queries by position. They are added to, since each copy would grow with the queries before. */
class UnitedColumns {
  readonly #reading: Reading
  #united: UnitedColumn[]

  constructor(reading: Reading, first: readonly QueryColumn[]) {
    this.#reading = reading
    this.#united = first.map(column => copyOf(column))
  }

  add(next: readonly QueryColumn[]): void {
    const [isOpen, isNextOpen] = [hasRest(this.#united.map(({ column }) => column)), hasRest(next)]
    if (isOpen && !isNextOpen) this.#spread(next.length)
    const others = isNextOpen && !isOpen ? spreadRest(next, this.#united.length) : next
    for (const [index, { direct, indirect }] of this.#united.entries()) {
      const added = others[index]?.dependencies
      if (!added) continue
      addSize(this.#reading, added.direct.size + added.indirect.size)
      for (const each of added.direct) direct.add(each)
      for (const each of added.indirect) indirect.add(each)
    }
  }

  columns(): QueryColumn[] {
    return this.#united.map(({ column, direct, indirect }) => ({
      ...column,
      dependencies: { direct, indirect },
    }))
  }

  all(): Set<string> {
    return new Set(this.#united.flatMap(({ direct, indirect }) => [...direct, ...indirect]))
  }

  /** Puts columns in place of an unknown rest. */
  #spread(count: number): void {
    const spread = spreadRest(this.columns(), count)
    addColumns(this.#reading, spread)
    this.#united = spread.map(column => copyOf(column))
  }
}
