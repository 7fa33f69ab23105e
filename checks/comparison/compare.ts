/** Compares two tables, on one source or on two, of the same engine or not. */
import { tablePath, type TableInfo } from '../../connectors/catalog.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { compareAcrossSources } from './across-sources.ts'
import { compareOnOneSource } from './on-one-source.ts'
import { findKeyProblem, pairColumns, type ColumnNames, type ColumnPair, type ValueRule } from './pairs.ts'
import type { RowDifferences } from './result.ts'
import { sideOf, type ComparedTable } from './sides.ts'

/** A pair of columns by their names, with its rule. */
export interface NamedPair extends ColumnNames {
  rule: ValueRule
}

/** Which columns are compared, of tables that the catalog knows. */
export interface ComparedColumns {
  keys: readonly ColumnNames[]
  /** Null for all that have the same name and can be compared. */
  columns: readonly NamedPair[] | null
  groups?: readonly ColumnNames[]
}

/** The pairs of a comparison. */
export interface ComparisonPairs {
  keys: ColumnPair[]
  columns: ColumnPair[]
  groups: ColumnPair[]
  /** Why columns of the same name are left out where all are to be compared. */
  warnings: string[]
}

/** What is wrong with the columns of a comparison, and the field to blame. */
export interface ColumnsProblem {
  field: 'key_columns' | 'columns' | 'group_by_columns' | 'left' | 'right'
  message: string
}

interface TableOfEngine {
  table: TableInfo
  dialect: Dialect
  /** As sources name it. */
  engine: string
}

/** Finds the columns of a comparison in the catalog, or what is wrong with them. */
export function pairTables(
  left: TableOfEngine,
  right: TableOfEngine,
  { keys, columns, groups = [] }: ComparedColumns,
): ComparisonPairs | ColumnsProblem {
  for (const [field, { dialect, engine }] of [['left', left] as const, ['right', right] as const])
    if (!dialect.comparison) return { field, message: `Tables of ${engine} cannot be compared.` }
  const isOneEngine = left.engine === right.engine
  const pair = ({ left: one, right: other }: ColumnNames, rule: ValueRule): ColumnPair | string => {
    const [ofLeft, ofRight] = [findColumn(left.table, one), findColumn(right.table, other)]
    if (typeof ofLeft === 'string') return ofLeft
    if (typeof ofRight === 'string') return ofRight
    const areSingle = [left.dialect.isFloat32(ofLeft), right.dialect.isFloat32(ofRight)] as const
    const hasExactDecimals = [left, right].every(({ dialect }) => dialect.comparison?.hasExactDecimals)
    return pairColumns(ofLeft, ofRight, rule, { isOneEngine, areSingle, hasExactDecimals })
  }
  const found: ComparisonPairs = { keys: [], columns: [], groups: [], warnings: [] }
  for (const names of keys) {
    const made = pair(names, {})
    const message = typeof made === 'string' ? made : findKeyProblem(made)
    if (message !== null || typeof made === 'string') return { field: 'key_columns', message: message ?? '' }
    found.keys.push(made)
  }
  for (const names of groups) {
    const made = pair(names, {})
    if (typeof made === 'string') return { field: 'group_by_columns', message: made }
    found.groups.push(made)
  }
  for (const { rule, ...names } of columns ?? commonColumns(left.table, right.table, keys)) {
    const made = pair(names, rule)
    if (typeof made !== 'string') found.columns.push(made)
    else if (columns) return { field: 'columns', message: made }
    else found.warnings.push(made)
  }
  return found
}

function findColumn(table: TableInfo, name: string) {
  return table.columns.find(column => column.name === name) ?? `${tablePath(table)} has no column ${name}.`
}

function commonColumns(left: TableInfo, right: TableInfo, keys: readonly ColumnNames[]): NamedPair[] {
  const others = new Set(right.columns.map(({ name }) => name))
  const used = new Set(keys.filter(key => key.left === key.right).map(key => key.left))
  return left.columns
    .filter(({ name }) => others.has(name) && !used.has(name))
    .map(({ name }) => ({ left: name, right: name, rule: {} }))
}

/** What a comparison of rows needs. */
export interface RowComparison {
  left: ComparedTable
  right: ComparedTable
  /** Whether both are on one source, which then compares them itself. */
  isOneSource: boolean
  pairs: Pick<ComparisonPairs, 'keys' | 'columns'>
  sampleLimit: number
}

/**
 * Compares the rows of two tables by their keys.
 * @throws RepeatedKeyError where rows of a table share a key; ConnectorError of a side
 */
export async function compareRows({
  left,
  right,
  isOneSource,
  pairs,
  sampleLimit,
}: RowComparison): Promise<RowDifferences> {
  const sides = { left: sideOf('left', left), right: sideOf('right', right) }
  const { keys, columns } = pairs
  return isOneSource
    ? compareOnOneSource({ ...sides, keys, columns, sampleLimit })
    : compareAcrossSources({ ...sides, keys, columns, sampleLimit })
}
