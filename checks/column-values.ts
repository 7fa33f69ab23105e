import type { CheckContext } from './check.ts'
import { NUMERIC_KINDS, type ColumnInfo } from '../connectors/catalog.ts'
import type { Sql } from '../connectors/sql.ts'

type ColumnContext = Pick<CheckContext, 'column' | 'info' | 'dialect'>

/** Whether arithmetic works on the column. */
export function isNumeric(column: ColumnInfo | undefined): boolean {
  return column !== undefined && NUMERIC_KINDS.includes(column.kind)
}

/**
 * The column as numbers of which the least or the greatest is one that a row has. 32-bit floats stay what they are: as
 * doubles they would have digits that no row shows.
 */
export function asColumnNumber({ column, info, dialect }: ColumnContext): Sql {
  return info && dialect.isFloat32(info) ? column : dialect.asNumber(column)
}

/** The column as text; a text column as it is, so that its own collation and padding apply. */
export function asColumnText({ column, info, dialect }: ColumnContext): Sql {
  return info?.kind === 'text' ? column : dialect.asText(column)
}
