import type { CheckContext } from './check.ts'
import { NUMERIC_KINDS, type ColumnInfo } from '../connectors/catalog.ts'
import type { Sql } from '../connectors/sql.ts'

/** Whether arithmetic works on the column. */
export function isNumeric(column: ColumnInfo | undefined): boolean {
  return column !== undefined && NUMERIC_KINDS.includes(column.kind)
}

/** The column as text; a text column as it is, so that its own collation and padding apply. */
export function textOf({ column, info, dialect }: Pick<CheckContext, 'column' | 'info' | 'dialect'>): Sql {
  return info?.kind === 'text' ? column : dialect.asText(column)
}
