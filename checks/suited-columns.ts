import type { CheckType } from './check.ts'
import { takesColumn } from './column-values.ts'
import type { ColumnInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'

/** What of a column decides whether a check type applies to it. */
export type SuitedColumn = Pick<ColumnInfo, 'name' | 'type' | 'kind' | 'base' | 'isIncomparable'>

/** Returns a sentence that says why a check type does not apply to a column, or null. */
export function describeUnsuitedColumn(
  type: CheckType,
  column: SuitedColumn,
  dialect: Dialect,
): string | null {
  if (type.kinds && !takesColumn(type, column, dialect))
    return `${type.name} works on ${type.kinds.join(', ')} columns; ${column.name} is ${column.type}`
  if (type.comparesValues && !dialect.isComparable(column))
    return `${type.name} compares values, which the engine cannot for ${column.name} of type ${column.type}: choose another column`
  if (type.readsText && !dialect.isPrintable(column))
    return `${type.name} reads values as text, which the engine does not give for ${column.name} of type ${column.type}: choose another column`
  return null
}

/** Returns a sentence that says why a metric cannot be grouped by a column, or null. */
export function describeUngroupableColumn(
  column: SuitedColumn,
  dialect: Pick<Dialect, 'isComparable'>,
): string | null {
  return dialect.isComparable(column)
    ? null
    : `The engine cannot group by ${column.name} of type ${column.type}: choose another column`
}
