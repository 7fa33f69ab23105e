import {
  sortTables,
  tablePath,
  type ConstraintInfo,
  type TableInfo,
  type TableKind,
  type TableRef,
} from '../catalog.ts'
import type { Row } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import type { Sql } from '../sql.ts'
import { catalogQuery, type Reach } from './catalog-query.ts'
import { TOO_LARGE } from './errors.ts'
import { canonicalType, kindOf } from './types.ts'

/** Runs one statement of the catalog. */
type Read = (statement: Sql) => Promise<Row[]>

/** A row of `catalogQuery`. */
interface Entry {
  part: 'table' | 'column' | 'key'
  catalog_name: string
  schema_name: string
  table_name: string
  item: string | null
  place: number | null
  type: string | null
  nullable: string | null
  preset: string | null
  comment: string | null
  column_name: string | null
  to_catalog: string | null
  to_schema: string | null
  to_table: string | null
  to_column: string | null
}

/** https://docs.databricks.com/sql/language-manual/information-schema/tables.html; what is not here is a table. */
const TABLE_KINDS: Readonly<Record<string, TableKind>> = {
  VIEW: 'view',
  METRIC_VIEW: 'view',
  MATERIALIZED_VIEW: 'materialized_view',
  EXTERNAL: 'external_table',
  EXTERNAL_SHALLOW_CLONE: 'external_table',
  FOREIGN: 'external_table',
}

const CONSTRAINT_TYPES: Readonly<Record<string, ConstraintInfo['type']>> = {
  'PRIMARY KEY': 'primary_key',
  'FOREIGN KEY': 'foreign_key',
}

/** How many statements read a catalog that is too large for the result of one. */
const SHARES = 32

/** Reads a catalog with one statement; one whose result does not fit into a reply, with as many as it takes. */
export async function introspect(read: Read, reach: Reach): Promise<TableInfo[]> {
  if (reach.tables?.length === 0) return []
  const rows = await readWhole(read, reach)
  const entries = rows as unknown as Entry[]
  const wanted = reach.tables && new Set(reach.tables.map(tablePath))
  const found = new Map<string, TableInfo>()
  const of = (part: Entry['part']) => entries.filter(entry => entry.part === part)
  for (const entry of of('table')) {
    const ref = { catalog: entry.catalog_name, schema: entry.schema_name, name: entry.table_name }
    if (wanted && !wanted.has(tablePath(ref))) continue
    found.set(tablePath(ref), {
      ...ref,
      kind: TABLE_KINDS[entry.type ?? ''] ?? 'table',
      comment: entry.comment,
      columns: [],
      constraints: [],
    })
  }
  for (const [table, columns] of byTable(of('column'), found)) {
    table.columns = columns.sort(byPlace).map(columnInfo)
  }
  for (const [table, keys] of byTable(of('key'), found)) {
    table.constraints = [...Map.groupBy(keys, ({ item }) => item)].flatMap(([, key]) => constraint(key))
  }
  return sortTables([...found.values()])
}

async function readWhole(read: Read, reach: Reach): Promise<Row[]> {
  try {
    return await read(catalogQuery(reach, { index: 0, of: 1 }))
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === TOO_LARGE)) throw error
  }
  const rows: Row[] = []
  for (let index = 0; index < SHARES; index++) {
    for (const row of await read(catalogQuery(reach, { index, of: SHARES }))) rows.push(row)
  }
  return rows
}

function byTable(entries: readonly Entry[], found: ReadonlyMap<string, TableInfo>): [TableInfo, Entry[]][] {
  const groups = Map.groupBy(entries, ({ catalog_name: catalog, schema_name: schema, table_name: name }) =>
    tablePath({ catalog, schema, name }),
  )
  return [...groups].flatMap(([path, group]) => {
    const table = found.get(path)
    return table ? [[table, group] as [TableInfo, Entry[]]] : []
  })
}

/** The place is counted, because the documentation numbers columns from 1 and older catalogs do from 0. */
function columnInfo(entry: Entry, index: number): TableInfo['columns'][number] {
  const rawType = entry.type ?? 'unknown'
  return {
    name: entry.item ?? '',
    ordinal: index + 1,
    type: canonicalType(rawType),
    rawType,
    kind: kindOf(rawType),
    nullable: entry.nullable !== 'NO',
    default: entry.preset,
    comment: entry.comment,
  }
}

function constraint(key: Entry[]): ConstraintInfo[] {
  const [first, ...rest] = key.sort(byPlace)
  const type = CONSTRAINT_TYPES[first?.type ?? '']
  if (!first || !type) return []
  const columns = [first, ...rest].map(entry => entry.column_name ?? '')
  const at = [first, ...rest].map(entry => entry.to_column)
  const table = target(first)
  // Of a table that the token may not see nothing is told.
  const isKnown = table !== null && at.every(name => name !== null)
  return [{ name: first.item ?? '', type, columns, ...(isKnown && { references: { table, columns: at } }) }]
}

function target({ to_catalog: catalog, to_schema: schema, to_table: name }: Entry): TableRef | null {
  return catalog !== null && schema !== null && name !== null ? { catalog, schema, name } : null
}

function byPlace(a: Entry, b: Entry): number {
  return (a.place ?? 0) - (b.place ?? 0)
}
