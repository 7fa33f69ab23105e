import {
  addColumns,
  baseColumn,
  childOf,
  listOf,
  NO_DEPENDENCIES,
  namesIn,
  renameColumns,
  union,
  type Dependencies,
  type FromItem,
  type QueryColumn,
  type Reading,
  type Relation,
  type Surroundings,
  type TableName,
  type TreeNode,
} from './columns.ts'
import { nameOf } from './names.ts'
import { columnNamed, readCondition, readExpression, useColumn } from './expression.ts'

const NO_WINDOWS: ReadonlyMap<string, TreeNode> = new Map()

/**
 * A part of FROM.
 * @param before the parts that LATERAL and functions may name
 */
export function readFrom(
  reading: Reading,
  node: TreeNode,
  around: Surroundings,
  before: readonly FromItem[],
): FromItem {
  const item = readPart(reading, node, around, before)
  addColumns(reading, item.columns)
  return item
}

function readPart(
  reading: Reading,
  node: TreeNode,
  around: Surroundings,
  before: readonly FromItem[],
): FromItem {
  const [[kind, part] = ['', {}]] = Object.entries(node) as [string, TreeNode][]
  const lateral = { items: before, windows: NO_WINDOWS, outer: around.outer }
  const read = (expression: unknown) => readExpression(reading, expression, lateral, around)
  switch (kind) {
    case 'RangeVar':
      return readNamed(reading, part, around)
    case 'RangeSubselect':
      return readSubselect(reading, part, part.lateral === true ? { ...around, outer: lateral } : around)
    case 'JoinExpr':
      return readJoin(reading, part, around, before)
    case 'RangeFunction':
      return readFunctions(part, read)
    case 'RangeTableSample': {
      const item = readFrom(reading, childOf(part, 'relation') ?? {}, around, before)
      return { ...item, rows: new Set([...item.rows, ...read(part.args).direct]) }
    }
    case 'RangeTableFunc':
    case 'JsonTable':
      return readDocument(part, kind === 'JsonTable' ? 'json_table' : 'xmltable', read)
    default:
      return { relations: [], columns: [], rows: new Set() }
  }
}

const aliasOf = (node: TreeNode) => {
  const alias = childOf(node, 'alias')
  return { name: alias?.aliasname as string | undefined, columns: namesIn(alias?.colnames) }
}

function itemOf(relation: Relation, rows: ReadonlySet<string> = new Set()): FromItem {
  return { relations: [relation], columns: relation.columns, rows }
}

/** A CTE, a table or a view by its name. */
function readNamed(reading: Reading, node: TreeNode, { ctes }: Surroundings): FromItem {
  const name: TableName = {
    name: String(node.relname),
    ...(node.schemaname !== undefined && { schema: String(node.schemaname) }),
    ...(node.catalogname !== undefined && { catalog: String(node.catalogname) }),
  }
  const alias = aliasOf(node)
  const cte = name.schema === undefined ? ctes.find(name.name) : undefined
  if (cte) {
    const columns = renameColumns(cte.columns, alias.columns)
    return itemOf({ name: alias.name ?? name.name, columns }, cte.rows)
  }
  const relation = {
    name: alias.name ?? name.name,
    ...(alias.name === undefined && name.schema !== undefined && { schema: name.schema }),
  }
  reading.names.set(JSON.stringify(name), name)
  const table = reading.findTable(name)
  if (!table) {
    const rest: QueryColumn = { name: '', dependencies: NO_DEPENDENCIES, isRest: true }
    return itemOf({ ...relation, columns: renameColumns([rest], alias.columns) })
  }
  reading.tables.set(table.path, table)
  const columns = table.columns.map((column): QueryColumn => {
    const base = baseColumn(table.path, column)
    return { name: column, base, dependencies: { direct: new Set([base]), indirect: new Set() } }
  })
  return itemOf({ ...relation, columns: renameColumns(columns, alias.columns), isTable: true })
}

function readSubselect(reading: Reading, node: TreeNode, around: Surroundings): FromItem {
  const select = childOf(childOf(node, 'subquery'), 'SelectStmt')
  const { columns, rows } = reading.readQuery(select ?? {}, around)
  const alias = aliasOf(node)
  return itemOf({ name: alias.name ?? '', columns: renameColumns(columns, alias.columns) }, rows)
}

function readJoin(
  reading: Reading,
  node: TreeNode,
  around: Surroundings,
  before: readonly FromItem[],
): FromItem {
  const left = readFrom(reading, childOf(node, 'larg') ?? {}, around, before)
  const right = readFrom(reading, childOf(node, 'rarg') ?? {}, around, [...before, left])
  const names =
    node.isNatural === true
      ? left.columns.flatMap(({ name, isRest }) =>
          !isRest && columnNamed(right.columns, name) ? [name] : [],
        )
      : namesIn(node.usingClause)
  const rows = new Set([...left.rows, ...right.rows])
  const merged = names.map((name): QueryColumn => {
    const pair = [left, right].map(({ columns }) => {
      const column = columnNamed(columns, name)
      return column ? useColumn(reading, column).dependencies : NO_DEPENDENCIES
    })
    for (const { direct, indirect } of pair) for (const each of [...direct, ...indirect]) rows.add(each)
    return { name, dependencies: mergedValue(String(node.jointype), pair) }
  })
  const others = (columns: readonly QueryColumn[]) =>
    columns.filter(({ name, isRest }) => isRest || !names.includes(name))
  const columns = [...merged, ...others(left.columns), ...others(right.columns)]
  const item: FromItem = { relations: [...left.relations, ...right.relations], columns, rows }
  const lateral = { items: [...before, item], windows: NO_WINDOWS, outer: around.outer }
  for (const each of readCondition(reading, node.quals, lateral, around)) rows.add(each)
  const usingAlias = childOf(node, 'join_using_alias')?.aliasname
  const alias = aliasOf(node)
  if (alias.name === undefined && usingAlias !== undefined)
    return { ...item, relations: [...item.relations, { name: String(usingAlias), columns: merged }] }
  if (alias.name === undefined) return item
  // An alias of a join hides the names inside, that of USING among them.
  return itemOf({ name: alias.name, columns: renameColumns(columns, alias.columns) }, rows)
}

/** The side that PostgreSQL takes the value of a merged column from. */
function mergedValue(kind: string, [left, right]: readonly Dependencies[]): Dependencies {
  if (kind === 'JOIN_RIGHT') return right ?? NO_DEPENDENCIES
  return kind === 'JOIN_FULL' ? union([left!, right!]) : (left ?? NO_DEPENDENCIES)
}

/** Functions in FROM: each column is made of all arguments. One that is not named may be any that the function has. */
function readFunctions(node: TreeNode, read: (expression: unknown) => Dependencies): FromItem {
  const alias = aliasOf(node)
  const given = listOf(node, 'functions').map(each => listOf(childOf(each, 'List'), 'items'))
  const columns = given.flatMap(([call, definitions], index): QueryColumn[] => {
    const dependencies = read(call)
    const own = index === 0 ? listOf(node, 'coldeflist') : []
    const defined = namesOfColumns([...own, ...listOf(childOf(definitions, 'List'), 'items')])
    if (defined.length > 0) return defined.map(name => ({ name, dependencies }))
    const name = alias.name ?? functionName(call)
    // A function of one value names its column like itself; others have columns that only the engine knows.
    const value = { name: given.length > 1 ? functionName(call) : name, dependencies }
    return [{ ...value, isRest: true }]
  })
  const all =
    node.ordinality === true ? [...columns, { name: 'ordinality', dependencies: NO_DEPENDENCIES }] : columns
  const name = alias.name ?? functionName(given[0]?.[0])
  return itemOf({ name, columns: renameFunctionColumns(all, alias.columns, node.ordinality === true) })
}

/** Names given by an alias come first, and may be fewer than the function has columns. */
function renameFunctionColumns(
  columns: readonly QueryColumn[],
  names: readonly string[],
  hasOrdinality: boolean,
): QueryColumn[] {
  const [first] = columns
  if (names.length === 0 || !first?.isRest || columns.length > (hasOrdinality ? 2 : 1))
    return renameColumns(columns, names)
  const own = names.map((name): QueryColumn => ({ name, dependencies: first.dependencies }))
  return hasOrdinality ? own : [...own, first]
}

/** What a function, or a word that is one, calls its column: that of `from current_date` is `current_date`. */
const functionName = (call: TreeNode | undefined) => (call ? nameOf(call) : '')

const namesOfColumns = (nodes: readonly TreeNode[]) =>
  nodes.flatMap(node => (childOf(node, 'ColumnDef')?.colname as string | undefined) ?? [])

/**
 * XMLTABLE and JSON_TABLE: each column is made of the document.
 * @param ownName what it is called without an alias
 */
function readDocument(
  node: TreeNode,
  ownName: string,
  read: (expression: unknown) => Dependencies,
): FromItem {
  const { columns: _columns, alias: _alias, ...document } = node
  const alias = aliasOf(node)
  const own = documentColumns(listOf(node, 'columns'))
  const dependencies = union([read(document), ...own.map(({ node: column }) => read(column))])
  const columns = own.map(({ name }): QueryColumn => ({ name, dependencies }))
  return itemOf({ name: alias.name ?? ownName, columns: renameColumns(columns, alias.columns) })
}

function documentColumns(nodes: readonly TreeNode[]): { name: string; node: TreeNode }[] {
  return nodes.flatMap(node => {
    const column = childOf(node, 'RangeTableFuncCol') ?? childOf(node, 'JsonTableColumn') ?? {}
    const nested = documentColumns(listOf(column, 'columns'))
    const name = (column.colname ?? column.name) as string | undefined
    if (column.coltype === 'JTC_NESTED' || name === undefined) return nested
    return [{ name, node: column }]
  })
}
