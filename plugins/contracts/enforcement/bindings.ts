import { parseName, type ColumnInfo, type TableInfo, type TableRef } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Source, Table } from '../../catalog/api.ts'
import type { Clause } from './clause.ts'

/** A table of the catalog that a contract names, or why there is none. */
export type Binding = { table: Table; info: TableInfo } | { missing: string }

/** The tables of a contract by the names it has for them. */
export type Bindings = ReadonlyMap<string, Binding>

/** A table that a name may mean. */
type CandidateTable = TableRef & { id: string }

/**
 * Finds the tables of a source that clauses name: `table`, `schema.table` or `catalog.schema.table`, whose case matters
 * only where several would match.
 * @param load reads whole tables by id
 */
export async function bindTables(
  trx: Transaction,
  source: Source,
  clauses: readonly Pick<Clause, 'table'>[],
  load: (ids: readonly string[]) => Promise<readonly { table: Table; info: TableInfo }[]>,
): Promise<Bindings> {
  const names = namesIn(clauses)
  const last = names.flatMap(name => parseName(name)?.at(-1)?.toLowerCase() ?? [])
  const candidates =
    last.length === 0
      ? []
      : await rows<CandidateTable>(
          trx,
          `select id, catalog_name as catalog, schema_name as schema, name from tables
           where company_id = ? and source_id = ? and is_active and lower(name) = any(?)
           order by qualified_name, id`,
          [companyOf(trx), source.id, [...new Set(last)]],
        )
  const chosen = new Map(names.map(name => [name, chooseTable(candidates, name, source)]))
  const ids = [...chosen.values()].flatMap(choice => ('id' in choice ? choice.id : []))
  const loaded = new Map((await load([...new Set(ids)])).map(each => [each.table.id, each]))
  return new Map(
    [...chosen].map(([name, choice]): [string, Binding] => {
      const table = 'id' in choice ? loaded.get(choice.id) : undefined
      return [name, table ?? { missing: 'missing' in choice ? choice.missing : `there is no table ${name}` }]
    }),
  )
}

/** The names that clauses have for tables. */
export function namesIn(clauses: readonly Pick<Clause, 'table'>[]): string[] {
  return [...new Set(clauses.flatMap(({ table }) => table ?? []))]
}

/** The table that a name means, or why none is meant. */
export function chooseTable<Table extends CandidateTable>(
  candidates: readonly Table[],
  given: string,
  source: Pick<Source, 'name'>,
): Table | { missing: string } {
  const [name = '', schema, catalog] = (parseName(given) ?? []).toReversed()
  const matching = (isEqual: (a: string, b: string) => boolean) =>
    candidates.filter(
      table =>
        isEqual(table.name, name) &&
        (schema === undefined || isEqual(table.schema, schema)) &&
        (catalog === undefined || isEqual(table.catalog, catalog)),
    )
  const exact = matching((a, b) => a === b)
  const close = exact.length > 0 ? exact : matching((a, b) => a.toLowerCase() === b.toLowerCase())
  const [first, second] = close
  if (!first) return { missing: `there is no table ${given} in the catalog of ${source.name}` }
  if (!second) return first
  const paths = close.slice(0, 3).map(table => `${table.schema}.${table.name}`)
  return {
    missing: `${given} names several tables, ${paths.join(', ')}: add the schema to physicalName`,
  }
}

/** A column by its name, whose case matters only where several would match. */
export function findColumn(info: TableInfo, name: string): ColumnInfo | undefined {
  const exact = info.columns.find(column => column.name === name)
  if (exact) return exact
  const close = info.columns.filter(column => column.name.toLowerCase() === name.toLowerCase())
  return close.length === 1 ? close[0] : undefined
}
