/** Comparing two tables, on one source or on two. */
export { compareAggregates, TooManyGroupsError } from './comparison/aggregates.ts'
export {
  compareRows,
  pairTables,
  type ColumnsProblem,
  type ComparedColumns,
  type ComparisonPairs,
  type NamedPair,
} from './comparison/compare.ts'
export { PRECISIONS, type ColumnNames, type ColumnPair, type ValueRule } from './comparison/pairs.ts'
export {
  RepeatedKeyError,
  type AggregateDifferences,
  type ComparedTables,
  type DifferingAggregate,
  type DifferingRow,
  type RowDifferences,
} from './comparison/result.ts'
export { sideOf, type ComparedTable, type Side } from './comparison/sides.ts'
