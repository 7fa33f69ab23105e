import { tablePath, type TableRef } from '../../../connectors/catalog.ts'
import type { CatalogTable, TableName } from './columns.ts'

/** A table with the names of its columns, in their order. */
export type NamedTable = TableRef & { columns: readonly { name: string }[] }

export interface TableIndex {
  /** @param path schemas that a name without one is looked up in, in their order */
  find(name: TableName, at: { catalog: string; path: readonly string[] }): CatalogTable | undefined
}

const keyOf = (parts: readonly string[]) => JSON.stringify(parts)

/** Looks tables up as definitions write them: exactly, or else where one alone has the name in letters of either case. */
export function makeTableIndex(tables: readonly NamedTable[]): TableIndex {
  const exact = new Map<string, CatalogTable>()
  const folded = new Map<string, CatalogTable | null>()
  for (const table of tables) {
    const entry = { path: tablePath(table), columns: table.columns.map(({ name }) => name) }
    const parts = [table.catalog, table.schema, table.name]
    exact.set(keyOf(parts), entry)
    const key = keyOf(parts.map(part => part.toLowerCase()))
    folded.set(key, folded.has(key) ? null : entry)
  }
  const findIn = (parts: readonly string[]) =>
    exact.get(keyOf(parts)) ?? folded.get(keyOf(parts.map(part => part.toLowerCase()))) ?? undefined
  return {
    find({ catalog, schema, name }, at) {
      const schemas = schema === undefined ? at.path : [schema]
      for (const each of schemas) {
        // Engines with two levels repeat the schema as catalog.
        const found =
          catalog === undefined
            ? (findIn([at.catalog, each, name]) ?? findIn([each, each, name]))
            : findIn([catalog, each, name])
        if (found) return found
      }
      return undefined
    },
  }
}

/** Where the definition of a view looks up names without a schema. */
export function searchPathOf({ catalog, schema }: Omit<TableRef, 'name'>, isPostgresql: boolean) {
  return { catalog, path: isPostgresql ? ['public', schema] : [schema, 'public'] }
}
