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
export function makeTableIndex(tables: Iterable<NamedTable>): TableIndex {
  const index = new GrowingTableIndex()
  for (const table of tables) index.add(table)
  return index
}

/** An index of many tables, which are added in turns with other work. */
export class GrowingTableIndex implements TableIndex {
  readonly #exact = new Map<string, CatalogTable>()
  readonly #folded = new Map<string, CatalogTable | null>()

  add(table: NamedTable): void {
    const entry = { path: tablePath(table), columns: table.columns.map(({ name }) => name) }
    const parts = [table.catalog, table.schema, table.name]
    this.#exact.set(keyOf(parts), entry)
    const key = keyOf(parts.map(part => part.toLowerCase()))
    this.#folded.set(key, this.#folded.has(key) ? null : entry)
  }

  find(
    { catalog, schema, name }: TableName,
    at: Parameters<TableIndex['find']>[1],
  ): CatalogTable | undefined {
    const schemas = schema === undefined ? at.path : [schema]
    for (const each of schemas) {
      // Engines with two levels repeat the schema as catalog.
      const found =
        catalog === undefined
          ? (this.#findIn([at.catalog, each, name]) ?? this.#findIn([each, each, name]))
          : this.#findIn([catalog, each, name])
      if (found) return found
    }
    return undefined
  }

  #findIn(parts: readonly string[]): CatalogTable | undefined {
    return (
      this.#exact.get(keyOf(parts)) ??
      this.#folded.get(keyOf(parts.map(part => part.toLowerCase()))) ??
      undefined
    )
  }
}

/** Where the definition of a view looks up names without a schema. */
export function searchPathOf({ catalog, schema }: Omit<TableRef, 'name'>, isPostgresql: boolean) {
  return { catalog, path: isPostgresql ? ['public', schema] : [schema, 'public'] }
}
