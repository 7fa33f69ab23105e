import { partitioningOf, sortTables, tablePath } from '../catalog.ts'
import type { ConstraintInfo, TableInfo, TableKind, TableRef } from '../catalog.ts'
import type { CatalogReader } from '../catalog-reader.ts'
import type { Row } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { catalogQuery, type DatabricksScope } from './catalog-query.ts'
import { REPLY_TOO_LARGE } from './errors.ts'
import { canonicalType, columnKind } from './types.ts'

/** A row of `catalogQuery`. */
type DatabricksCatalogRow = Record<'catalog_name' | 'schema_name' | 'table_name', string> &
  Record<'item' | 'type' | 'nullable' | 'preset' | 'comment' | 'column_name', string | null> &
  Record<'to_catalog' | 'to_schema' | 'to_table' | 'to_column', string | null> & {
    part: 'table' | 'column' | 'key'
    place: number | null
    partition_place: number | null
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
const SHARE_COUNT = 32

/** Reads a catalog with one statement; one whose result does not fit into a reply, with as many as it takes. */
export async function introspect(read: CatalogReader, reach: DatabricksScope): Promise<TableInfo[]> {
  if (reach.tables?.length === 0) return []
  const rows = await readCatalogRows(read, reach)
  const entries = rows as DatabricksCatalogRow[]
  const wanted = reach.tables && new Set(reach.tables.map(tablePath))
  const found = new Map<string, TableInfo>()
  const of = (part: DatabricksCatalogRow['part']) => entries.filter(entry => entry.part === part)
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
  for (const [table, columns] of groupByTable(of('column'), found)) {
    table.columns = columns.sort(comparePlaces).map(toColumnInfo)
    Object.assign(table, describePartitioning(columns))
  }
  for (const [table, keys] of groupByTable(of('key'), found)) {
    table.constraints = [...Map.groupBy(keys, ({ item }) => item)].flatMap(([, key]) => toConstraints(key))
  }
  return sortTables([...found.values()])
}

/** Catalogs of older metastores have no `partition_ordinal_position`: they are read without it. */
async function readCatalogRows(read: CatalogReader, reach: DatabricksScope): Promise<Row[]> {
  try {
    return await readShares(read, reach, { hasPartitions: true })
  } catch (error) {
    if (!(error instanceof ConnectorError && error.kind === 'invalid-query')) throw error
    return readShares(read, reach, { hasPartitions: false })
  }
}

async function readShares(
  read: CatalogReader,
  reach: DatabricksScope,
  columns: { hasPartitions: boolean },
): Promise<Row[]> {
  try {
    return await read(catalogQuery(reach, { index: 0, of: 1 }, columns))
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === REPLY_TOO_LARGE)) throw error
  }
  const rows: Row[] = []
  for (let index = 0; index < SHARE_COUNT; index++) {
    for (const row of await read(catalogQuery(reach, { index, of: SHARE_COUNT }, columns))) rows.push(row)
  }
  return rows
}

function describePartitioning(entries: readonly DatabricksCatalogRow[]) {
  const columns = entries
    .filter(({ partition_place: place }) => place !== null)
    .toSorted((a, b) => Number(a.partition_place) - Number(b.partition_place))
    .map(({ item }) => ({ name: item ?? '', method: 'list' as const }))
  return partitioningOf({ columns, clustering: [] })
}

function groupByTable(
  entries: readonly DatabricksCatalogRow[],
  found: ReadonlyMap<string, TableInfo>,
): [TableInfo, DatabricksCatalogRow[]][] {
  const groups = Map.groupBy(entries, ({ catalog_name: catalog, schema_name: schema, table_name: name }) =>
    tablePath({ catalog, schema, name }),
  )
  return [...groups].flatMap(([path, group]) => {
    const table = found.get(path)
    return table ? [[table, group] as [TableInfo, DatabricksCatalogRow[]]] : []
  })
}

/** The place is counted, because the documentation numbers columns from 1 and older catalogs do from 0. */
function toColumnInfo(entry: DatabricksCatalogRow, index: number): TableInfo['columns'][number] {
  const rawType = entry.type ?? 'unknown'
  return {
    name: entry.item ?? '',
    ordinal: index + 1,
    type: canonicalType(rawType),
    rawType,
    kind: columnKind(rawType),
    nullable: entry.nullable !== 'NO',
    default: entry.preset,
    comment: entry.comment,
  }
}

function toConstraints(key: DatabricksCatalogRow[]): ConstraintInfo[] {
  const [first, ...rest] = key.sort(comparePlaces)
  const type = CONSTRAINT_TYPES[first?.type ?? '']
  if (!first || !type) return []
  const columns = [first, ...rest].map(entry => entry.column_name ?? '')
  const at = [first, ...rest].map(entry => entry.to_column)
  const table = keyTarget(first)
  // The catalog hides the target if the token may not see it.
  const isKnown = table !== null && at.every(name => name !== null)
  return [{ name: first.item ?? '', type, columns, ...(isKnown && { references: { table, columns: at } }) }]
}

function keyTarget(row: DatabricksCatalogRow): TableRef | null {
  const { to_catalog: catalog, to_schema: schema, to_table: name } = row
  return catalog !== null && schema !== null && name !== null ? { catalog, schema, name } : null
}

function comparePlaces(a: DatabricksCatalogRow, b: DatabricksCatalogRow): number {
  return (a.place ?? 0) - (b.place ?? 0)
}
