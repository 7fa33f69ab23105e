import type { CheckContext, CheckType } from './check.ts'
import { NUMERIC_KINDS, type ColumnInfo } from '../connectors/catalog.ts'
import type { Value } from '../connectors/connector.ts'
import type { Dialect } from '../connectors/dialect.ts'
import type { Sql } from '../connectors/sql.ts'

type ColumnContext = Pick<CheckContext, 'column' | 'info' | 'dialect'>

type ColumnType = Pick<ColumnInfo, 'type' | 'base' | 'kind'>

/** Whether a column is of kind boolean and keeps numbers, more of them than 0 and 1. */
export function storesNumbersAsBooleans(column: ColumnType, dialect: Dialect): boolean {
  return column.kind === 'boolean' && dialect.booleanStorage(column) === 'number'
}

/** A column as a check type takes it: a boolean that is stored as a number is an integer to a type without booleans. */
export function columnForType<Column extends ColumnType>(
  { kinds }: Pick<CheckType, 'kinds'>,
  column: Column,
  dialect: Dialect,
): Column {
  const isNumber = kinds && !kinds.includes('boolean') && storesNumbersAsBooleans(column, dialect)
  return isNumber ? { ...column, kind: 'integer' } : column
}

/** Whether a check type takes a column. */
export function takesColumn(type: Pick<CheckType, 'kinds'>, column: ColumnType, dialect: Dialect): boolean {
  return type.kinds?.includes(columnForType(type, column, dialect).kind) ?? true
}

/** A value of a column as it is stored, where the engine's driver has made a truth value of the numbers 0 and 1. */
export function storedValue(value: Value, column: ColumnType | undefined, dialect: Dialect): Value {
  return typeof value === 'boolean' && column && storesNumbersAsBooleans(column, dialect)
    ? Number(value)
    : value
}

/** Whether arithmetic works on the column. */
export function isNumeric(column: ColumnInfo | undefined): boolean {
  return column !== undefined && NUMERIC_KINDS.includes(column.kind)
}

/**
 * The column as numbers for a minimum or maximum. 32-bit floats are not converted: as doubles they would show digits
 * that no row has.
 */
export function asColumnNumber({
  value,
  info,
  dialect,
}: Pick<CheckContext, 'value' | 'info' | 'dialect'>): Sql {
  return info && dialect.isFloat32(info) ? value : dialect.asNumber(value)
}

/** How many characters the texts of a column have. */
export function columnTextLength(context: Pick<CheckContext, 'value' | 'info' | 'dialect'>): Sql {
  return context.dialect.textLength(asColumnText({ ...context, column: context.value }))
}

/** The column as text. A text column is unchanged, so that its own collation and padding apply. */
export function asColumnText({ column, info, dialect }: ColumnContext): Sql {
  return info?.kind === 'text' ? column : dialect.asText(column)
}
