import type { ColumnInfo } from '../../../connectors/catalog.ts'
import { invalidInput } from '../../../server/http/errors.ts'
import { didYouMean, nearest, quoteName } from '../../../server/http/nearest.ts'
import { listNames } from '../../../server/http/sentences.ts'
import type { Table } from '../models.ts'

/** Columns that the details of an error list. */
const MAX_COLUMNS = 50

/** A column of a table by its name. @param field where the name was given @throws 400 with the names that are near */
export function findColumn(
  table: Pick<Table, 'qualifiedName' | 'columns'>,
  name: string,
  field: string,
): ColumnInfo {
  const column = table.columns.find(candidate => candidate.name === name)
  if (column) return column
  const columns = table.columns.map(candidate => candidate.name)
  const { error, candidates } = describeMissingColumn(table.qualifiedName, name, columns)
  throw invalidInput([{ field, error, ...(candidates.length > 0 && { candidates }) }], {
    columns: columns.slice(0, MAX_COLUMNS),
  })
}

/** The sentence for a column that a table lacks, and the names that are near. */
export function describeMissingColumn(
  tableName: string,
  name: string,
  columns: readonly string[],
): { error: string; candidates: string[] } {
  const candidates = nearest(name, columns)
  const hint = candidates.length > 0 ? didYouMean(candidates) : `; its columns are ${listNames(columns)}`
  return { error: `the table ${tableName} has no column ${quoteName(name)}${hint}`, candidates }
}
