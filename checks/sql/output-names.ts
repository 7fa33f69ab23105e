import type { TableInfo } from '../../connectors/catalog.ts'

/** The names of columns in the statements of scans, which some engines let an expression beside them see. */
const OUTPUT_NAME = /^[mgp]\d+$/

/**
 * Why an expression of a user cannot stand in the statement of other checks: it names a column that only that statement has.
 * @param columns the names in the expression
 */
export function findOutputName(
  { columns }: { columns: readonly string[] },
  table: Pick<TableInfo, 'name' | 'columns'>,
): string | null {
  const known = new Set(table.columns.map(({ name }) => name.toLowerCase()))
  const unknown = columns.find(name => OUTPUT_NAME.test(name) && !known.has(name.toLowerCase()))
  return unknown === undefined ? null : `The column ${unknown} does not exist in ${table.name}.`
}
