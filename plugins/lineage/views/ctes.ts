import {
  allOf,
  childOf,
  listOf,
  namesIn,
  NO_DEPENDENCIES,
  renameColumns,
  type CteScope,
  type QueryColumn,
  type QueryResult,
  type Reading,
  type Surroundings,
  type TreeNode,
} from './columns.ts'

/** The CTEs that a query sees; each is read, also one that is not used. */
export function bindCtes(reading: Reading, node: TreeNode | undefined, around: Surroundings): CteScope {
  let scope = around.ctes
  if (!node) return scope
  const nodes = listOf(node, 'ctes').map(each => childOf(each, 'CommonTableExpr') ?? {})
  if (node.recursive === true) {
    scope = bindRecursive(reading, nodes, around)
    for (const { ctename } of nodes) scope.find(String(ctename))
    return scope
  }
  for (const cte of nodes) {
    const [name, before] = [String(cte.ctename), scope]
    const result = rename(reading.readQuery(queryOf(cte), { ...around, ctes: before }), cte)
    scope = { find: wanted => (wanted === name ? result : before.find(wanted)) }
  }
  return scope
}

const queryOf = (cte: TreeNode) => childOf(childOf(cte, 'ctequery'), 'SelectStmt') ?? {}

function rename({ columns, rows }: QueryResult, cte: TreeNode): QueryResult {
  return { columns: [...renameColumns(columns, namesIn(cte.aliascolnames)), ...addedColumns(cte)], rows }
}

/** The columns that SEARCH and CYCLE add. */
function addedColumns(cte: TreeNode): QueryColumn[] {
  const [search, cycle] = [childOf(cte, 'search_clause'), childOf(cte, 'cycle_clause')]
  const names = [search?.search_seq_column, cycle?.cycle_mark_column, cycle?.cycle_path_column]
  return names.flatMap(name => (typeof name === 'string' ? [{ name, dependencies: NO_DEPENDENCIES }] : []))
}

/** WITH RECURSIVE: each may name each, and itself: then it is read until nothing is added to its columns. */
function bindRecursive(reading: Reading, nodes: readonly TreeNode[], around: Surroundings): CteScope {
  const results = new Map<string, QueryResult>()
  const scope: CteScope = {
    find(name) {
      const known = results.get(name)
      const cte = known ? undefined : nodes.find(({ ctename }) => ctename === name)
      if (known || !cte) return known ?? around.ctes.find(name)
      readRecursive(reading, cte, { ...around, ctes: scope }, result => results.set(name, result))
      return results.get(name)
    },
  }
  return scope
}

function readRecursive(
  reading: Reading,
  cte: TreeNode,
  around: Surroundings,
  keep: (result: QueryResult) => void,
): void {
  const query = queryOf(cte)
  const base = childOf(query, 'larg')
  if (base) {
    const ctes = bindCtes(reading, childOf(query, 'withClause'), around)
    keep(rename(reading.readQuery(base, { ...around, ctes }), cte))
    let size = -1
    for (;;) {
      const result = rename(reading.readBody(query, { ...around, ctes }), cte)
      keep(result)
      const now = sizeOf(result)
      if (now === size) return
      size = now
    }
  }
  keep(rename(reading.readQuery(query, around), cte))
}

const sizeOf = ({ columns, rows }: QueryResult) =>
  columns.reduce((sum, { dependencies }) => sum + allOf(dependencies).size, rows.size)
