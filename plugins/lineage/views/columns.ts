/** What a column of a query is made of, and where names are looked up. */

/** A table as the catalog has it. */
export interface CatalogTable {
  /** Its `tablePath`. */
  path: string
  columns: readonly string[]
}

/** A name of a table as a definition writes it. */
export interface TableName {
  catalog?: string
  schema?: string
  name: string
}

/** A column of a table in the catalog: `path` and name in one text, so that sets hold each once. */
export type BaseColumn = string

const SEPARATOR = '\u0000'

export function baseColumn(path: string, column: string): BaseColumn {
  return path + SEPARATOR + column
}

export function splitBaseColumn(base: BaseColumn): { path: string; column: string } {
  const at = base.indexOf(SEPARATOR)
  return { path: base.slice(0, at), column: base.slice(at + 1) }
}

/** The columns that a value is made of, and those that decide which value it is. */
export interface Dependencies {
  direct: ReadonlySet<BaseColumn>
  indirect: ReadonlySet<BaseColumn>
}

export const NO_DEPENDENCIES: Dependencies = { direct: new Set(), indirect: new Set() }

export function union(all: readonly Dependencies[]): Dependencies {
  const given = all.filter(({ direct, indirect }) => direct.size + indirect.size > 0)
  if (given.length <= 1) return given[0] ?? NO_DEPENDENCIES
  return {
    direct: new Set(given.flatMap(({ direct }) => [...direct])),
    indirect: new Set(given.flatMap(({ indirect }) => [...indirect])),
  }
}

/** All of them, whether values or not. */
export function allOf({ direct, indirect }: Dependencies): Set<BaseColumn> {
  return new Set([...direct, ...indirect])
}

/** The same columns as a condition, which gives no values. */
export function asCondition(dependencies: Dependencies): Dependencies {
  return { direct: new Set(), indirect: allOf(dependencies) }
}

/** A column of a relation or of the result of a query. */
export interface QueryColumn {
  name: string
  dependencies: Dependencies
  /** Stands for any number of columns whose names are not known, as a function or an unknown table has them. */
  isRest?: true
  /** The column of a table itself, which a query uses once it names it. */
  base?: BaseColumn
}

/** A name in FROM and its columns. */
export interface Relation {
  name: string
  schema?: string
  columns: readonly QueryColumn[]
  /** A table of the catalog, which has system columns too. */
  isTable?: true
}

/** A part of FROM: its names, and the columns that a star or a bare name sees, in their order. */
export interface FromItem {
  relations: readonly Relation[]
  columns: readonly QueryColumn[]
  /** What decides which rows there are. */
  rows: ReadonlySet<BaseColumn>
}

/** The result of a query. */
export interface QueryResult {
  columns: readonly QueryColumn[]
  /** What decides which rows there are. */
  rows: ReadonlySet<BaseColumn>
}

/** Names that an expression may use, and those of the queries around it. */
export interface Scope {
  items: readonly FromItem[]
  /** Named windows. */
  windows: ReadonlyMap<string, TreeNode>
  outer?: Scope | undefined
}

export type TreeNode = Record<string, unknown>

/** A CTE is read when it is first used, since a recursive WITH may name a later one. */
export interface CteScope {
  find(name: string): QueryResult | undefined
}

/** Where a query stands: the CTEs that it may name, and the query around it. */
export interface Surroundings {
  ctes: CteScope
  outer?: Scope | undefined
}

/** What one definition uses, collected while it is read. */
export interface Reading {
  findTable(name: TableName): CatalogTable | undefined
  /** Whether a table that is found has no other columns than those that are known. */
  isCatalogComplete: boolean
  /** Each table that is named, by path. */
  tables: Map<string, CatalogTable>
  /** Each column that is named. */
  used: Set<BaseColumn>
  /** Names of tables as they were written, so that a change of one is noticed. */
  names: Map<string, TableName>
  /** The columns of a query; here, since the files that call it are parts of a query themselves. */
  readQuery(node: TreeNode, around: Surroundings): QueryResult
  /** The same of a query whose own CTEs are bound. */
  readBody(node: TreeNode, around: Surroundings): QueryResult
  /** Names of columns that were found nowhere. */
  unresolved: string[]
  /** What was read and made so far: nodes of the tree, and columns with what they are made of. */
  size: number
}

/** What a definition may be made of: one of 1,600 columns in ten CTEs has a tenth of it. */
const MAX_SIZE = 2_000_000

/**
 * Counts what was read or made: stars of stars and recursion inside recursion double with each level, so that a short text
 * could take for ever.
 * @throws RangeError of a definition that is too large
 */
export function addSize(reading: Reading, added: number): void {
  reading.size += added
  if (reading.size > MAX_SIZE) throw new RangeError('The definition is too large')
}

/** Counts columns with what they are made of. @throws RangeError of a definition that is too large */
export function addColumns(reading: Reading, columns: readonly QueryColumn[]): void {
  for (const { dependencies } of columns)
    addSize(reading, 1 + dependencies.direct.size + dependencies.indirect.size)
}

const items = (value: unknown) => (Array.isArray(value) ? (value as TreeNode[]) : [])

/** The nodes of a list. */
export function listOf(node: TreeNode | undefined, key: string): TreeNode[] {
  return items(node?.[key])
}

/** A node inside a node. */
export function childOf(node: TreeNode | undefined, key: string): TreeNode | undefined {
  return node?.[key] as TreeNode | undefined
}

/** The texts of a list of names: `[{String: {sval}}]`. */
export function namesIn(list: unknown): string[] {
  return items(list).flatMap(item => (childOf(item, 'String')?.sval as string | undefined) ?? [])
}

/** Gives columns other names, as an alias with a list of columns does. */
export function renameColumns(columns: readonly QueryColumn[], names: readonly string[]): QueryColumn[] {
  if (names.length === 0) return [...columns]
  const spread = spreadRest(columns, Math.max(names.length, columns.filter(({ isRest }) => !isRest).length))
  return spread.map((column, index) => {
    const name = names[index]
    return name === undefined ? column : { ...column, name }
  })
}

/** Puts as many columns in place of the first unknown rest as there must be in all, if that is known. */
export function spreadRest(columns: readonly QueryColumn[], count: number): QueryColumn[] {
  const at = columns.findIndex(({ isRest }) => isRest)
  const missing = count - columns.length + 1
  if (at === -1 || missing < 0) return [...columns]
  const { dependencies } = columns[at]!
  const spread = Array.from({ length: missing }, (): QueryColumn => ({ name: '', dependencies }))
  return [...columns.slice(0, at), ...spread, ...columns.slice(at + 1)]
}
