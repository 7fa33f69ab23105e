/** Real tables for tests of comparisons, as the catalogs of their engines describe them. */
import { compareRows, pairTables, type ComparisonPairs } from '../../../checks/comparison/compare.ts'
import type { NamedPair } from '../../../checks/comparison/compare.ts'
import type { RowDifferences } from '../../../checks/comparison/result.ts'
import type { ComparedTable } from '../../../checks/comparison/sides.ts'
import type { TableInfo } from '../../../connectors/catalog.ts'
import type { EngineTestDatabase } from '../test-databases.ts'

/** A database, read through its connector. */
export type Place = Pick<EngineTestDatabase, 'engine' | 'connection' | 'execute' | 'ref'>

/** A table and the database that it is in. */
export interface TableOn {
  on: Place
  table: TableInfo
}

/** Makes a table of rows that are written in SQL, such as `1, 'a'`. */
export async function makeTable(
  on: Place,
  name: string,
  columns: string,
  rows: readonly string[],
): Promise<TableOn> {
  const target = on.engine.dialect.table(on.ref(name)).strings[0]!
  await on.execute(`create table ${target} (${columns})`)
  if (rows.length > 0)
    await on.execute(`insert into ${target} values ${rows.map(row => `(${row})`).join(', ')}`)
  return describe(on, name)
}

/** What the catalog says of a table now. */
export async function describe(on: Place, name: string): Promise<TableOn> {
  const [table] = await on.connection.introspect({ tables: [on.ref(name)] })
  return { on, table: table! }
}

/** A side of a comparison that reads through the connector's session. */
export function sideOn({ on, table }: TableOn): ComparedTable {
  return {
    dialect: on.engine.dialect,
    table,
    conditions: [],
    query: statement => on.connection.query(statement, { timeoutMs: 60_000 }),
  }
}

/** The columns of two tables, paired by the same names or by those that are given. @throws Error with why they cannot be */
export function pairOf(
  left: TableOn,
  right: TableOn,
  keys: readonly string[],
  columns: readonly NamedPair[] | null = null,
): ComparisonPairs {
  const [ofLeft, ofRight] = [left, right].map(({ on, table }) => ({
    table,
    dialect: on.engine.dialect,
    engine: on.engine.name,
  })) as [Parameters<typeof pairTables>[0], Parameters<typeof pairTables>[1]]
  const pairs = pairTables(ofLeft, ofRight, {
    keys: keys.map(key => ({ left: key, right: key })),
    columns,
  })
  if ('message' in pairs) throw new Error(pairs.message)
  return pairs
}

/** Compares all rows, and shows all that are not the same. */
export async function compare(
  left: TableOn,
  right: TableOn,
  options: { keys: readonly string[]; columns?: readonly NamedPair[]; isOneSource: boolean },
): Promise<RowDifferences> {
  return compareRows({
    left: sideOn(left),
    right: sideOn(right),
    isOneSource: options.isOneSource,
    pairs: pairOf(left, right, options.keys, options.columns ?? null),
    sampleLimit: 10_000,
  })
}

/** How two tables can be compared: across, and where one database has both, there. */
export function waysOf(left: TableOn, right: TableOn): { way: string; isOneSource: boolean }[] {
  const across = { way: 'across', isOneSource: false }
  return left.on === right.on ? [across, { way: 'on one source', isOneSource: true }] : [across]
}
