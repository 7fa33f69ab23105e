import type { CheckContext } from './check.ts'
import { NUMERIC_KINDS, type ColumnInfo } from '../connectors/catalog.ts'
import type { Sql } from '../connectors/sql.ts'

type ColumnContext = Pick<CheckContext, 'column' | 'info' | 'dialect'>

/** Whether arithmetic works on the column. */
export function isNumeric(column: ColumnInfo | undefined): boolean {
  return column !== undefined && NUMERIC_KINDS.includes(column.kind)
}

/**
 * The column as numbers for a minimum or maximum. 32-bit floats are not converted: as doubles they would show digits
 * that no row has.
 */
export function asColumnNumber({ column, info, dialect }: ColumnContext): Sql {
  return info && dialect.isFloat32(info) ? column : dialect.asNumber(column)
}

/** The column as text. A text column is unchanged, so that its own collation and padding apply. */
export function asColumnText({ column, info, dialect }: ColumnContext): Sql {
  return info?.kind === 'text' ? column : dialect.asText(column)
}
