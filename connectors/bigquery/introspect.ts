import { partitioningOf, sortTables, tablePath } from '../catalog.ts'
import type { ConstraintInfo, TableInfo, TableKind, TableRef } from '../catalog.ts'
import type { Row, ViewDefinition } from '../connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts'
import type { Sql } from '../sql.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { catalogQuery, keysQuery, sizesQuery, viewsQuery } from './catalog-query.ts'
import type { BigqueryDataset } from './session.ts'
import { parseStringLiteral } from './literal.ts'
import { canonicalType, columnKind } from './types.ts'

/** What reads the catalog of a project. */
export interface BigqueryCatalogReader {
  project: string
  /** Only this dataset, by its own views. */
  dataset?: string
  /** The datasets that are meant. */
  datasets(): Promise<BigqueryDataset[]>
  /** Runs one statement of the catalog in a location. */
  read(statement: Sql, location: string): Promise<Row[]>
}

/** A row of `catalogQuery` or `keysQuery`. */
interface BigqueryCatalogRow
  extends Row, Record<'item' | 'type' | 'nullable' | 'preset' | 'note' | 'partitioned', string | null> {
  part: 'table' | 'column' | 'size' | 'key' | 'target'
  dataset: string
  name: string
  place: number | null
  referred: number | null
  clustered: number | null
}

/** Datasets of one statement of keys: it names two views of each, and may name 1,000. */
const DATASETS_PER_STATEMENT = 100

const TABLE_KINDS: Readonly<Record<string, TableKind>> = {
  VIEW: 'view',
  'MATERIALIZED VIEW': 'materialized_view',
  EXTERNAL: 'external_table',
}

/** Kinds of failure that stay: a dataset of another project that is linked here may have no such views. */
const PERMANENT_ERROR_KINDS: readonly ConnectorErrorKind[] = ['permission', 'missing-object', 'invalid-query']

/**
 * Reads the catalog with one free request for the datasets, and for each of their locations with one statement and
 * one more for each hundred datasets, which reads keys.
 */
export async function introspect(
  reader: BigqueryCatalogReader,
  tables?: readonly TableRef[],
): Promise<TableInfo[]> {
  const { project, dataset } = reader
  const found = new Map<string, TableInfo>()
  for (const { location, datasets, wanted } of await groupByLocation(reader, tables)) {
    const reach = { project, dataset, location, tables: wanted }
    const entries = (await reader.read(catalogQuery(reach), location)) as BigqueryCatalogRow[]
    const { keys, unread } = await readKeys(reader, location, datasets)
    for (const table of assembleTables(project, entries, keys)) {
      const error = unread.get(table.schema)
      found.set(tablePath(table), error ? { ...table, constraintsError: error } : table)
    }
  }
  const paths = tables && new Set(tables.map(tablePath))
  return sortTables([...found.values()].filter(table => !paths || paths.has(tablePath(table))))
}

/** Row counts, or times of the last change of rows, by `tablePath`: one statement for each location. */
export async function readSizes<Size>(
  reader: BigqueryCatalogReader,
  tables: readonly TableRef[],
  pick: (row: Row) => Size | null,
): Promise<Map<string, Size>> {
  const { project, dataset } = reader
  const sizes = new Map<string, Size>()
  const paths = new Set(tables.map(tablePath))
  for (const { location, wanted } of await groupByLocation(reader, tables)) {
    const query = sizesQuery({ project, dataset, location, tables: wanted })
    for (const row of await reader.read(query, location)) {
      const path = tablePath({ catalog: project, schema: String(row.dataset), name: String(row.name) })
      const size = pick(row)
      if (size !== null && paths.has(path)) sizes.set(path, size)
    }
  }
  return sizes
}

/** The definitions of views: one statement for each location. */
export async function readViews(reader: BigqueryCatalogReader): Promise<ViewDefinition[]> {
  const { project, dataset } = reader
  const views: ViewDefinition[] = []
  for (const { location } of await groupByLocation(reader)) {
    const rows = await reader.read(viewsQuery({ project, dataset, location }), location)
    views.push(...toViewDefinitions(rows, project))
  }
  return views
}

interface DatasetLocation {
  location: string
  datasets: string[]
  wanted?: TableRef[]
}

/** The locations that have something of what is wanted, with their datasets. */
async function groupByLocation(
  reader: BigqueryCatalogReader,
  tables?: readonly TableRef[],
): Promise<DatasetLocation[]> {
  const own = tables?.filter(({ catalog }) => catalog === reader.project)
  if (own?.length === 0) return []
  const schemas = own && new Set(own.map(({ schema }) => schema))
  const datasets = (await reader.datasets()).filter(({ name }) => !schemas || schemas.has(name))
  return [...Map.groupBy(datasets, ({ location }) => location)].map(([location, group]) => {
    const names = group.map(({ name }) => name)
    const wanted = own?.filter(({ schema }) => names.includes(schema))
    return { location, datasets: names, ...(wanted && { wanted }) }
  })
}

/** Where one dataset's keys cannot be read for a reason that stays, the others' are read without it. */
async function readKeys(
  reader: BigqueryCatalogReader,
  location: string,
  datasets: string[],
): Promise<{ keys: BigqueryCatalogRow[]; unread: Map<string, ConnectorError> }> {
  const keys: BigqueryCatalogRow[] = []
  const unread = new Map<string, ConnectorError>()
  const read = async (some: string[]): Promise<void> => {
    try {
      for (const row of await reader.read(keysQuery(reader.project, some), location))
        keys.push(row as BigqueryCatalogRow)
    } catch (error) {
      if (!(error instanceof ConnectorError && PERMANENT_ERROR_KINDS.includes(error.kind))) throw error
      const middle = Math.ceil(some.length / 2)
      const [first] = some
      if (some.length === 1 && first !== undefined) unread.set(first, error)
      else for (const half of [some.slice(0, middle), some.slice(middle)]) await read(half)
    }
  }
  for (let from = 0; from < datasets.length; from += DATASETS_PER_STATEMENT)
    await read(datasets.slice(from, from + DATASETS_PER_STATEMENT))
  return { keys, unread }
}

function assembleTables(
  project: string,
  entries: BigqueryCatalogRow[],
  keys: BigqueryCatalogRow[],
): TableInfo[] {
  const pathOf = ({ dataset, name }: BigqueryCatalogRow) =>
    tablePath({ catalog: project, schema: dataset, name })
  const parts = Map.groupBy(entries, ({ part }) => part)
  const tables = new Map(
    (parts.get('table') ?? []).map(entry => [pathOf(entry), describeTable(project, entry)] as const),
  )
  for (const [path, entries] of Map.groupBy(parts.get('column') ?? [], pathOf)) {
    const table = tables.get(path)
    if (!table) continue
    // A pseudo column has no place.
    table.columns = entries.filter(({ place }) => place !== null).map(describeColumn)
    Object.assign(table, describePartitioning(entries, table.partitioning?.requiresFilter))
  }
  for (const entry of parts.get('size') ?? []) {
    const table = tables.get(pathOf(entry))
    if (table && entry.place !== null) table.estimatedRows = Number(entry.place)
  }
  const named = Map.groupBy(keys, ({ part }) => part)
  const byTable = Map.groupBy(named.get('key') ?? [], pathOf)
  const targets = new Map((named.get('target') ?? []).map(entry => [keyId(entry), entry]))
  for (const [path, own] of byTable) {
    const table = tables.get(path)
    if (table)
      table.constraints = describeKeys(project, own, entry => findKeyTarget(entry, targets, byTable, pathOf))
  }
  return [...tables.values()]
}

function describeTable(
  project: string,
  { dataset, name, type, note, partitioned }: BigqueryCatalogRow,
): TableInfo {
  return {
    catalog: project,
    schema: dataset,
    name,
    kind: TABLE_KINDS[type ?? ''] ?? 'table',
    comment: note === null ? null : parseStringLiteral(note),
    columns: [],
    constraints: [],
    ...(partitioned === 'true' && { partitioning: { columns: [], clustering: [], requiresFilter: true } }),
  }
}

/** Tables are partitioned by ranges of integers, or by units of time. */
function describePartitioning(entries: readonly BigqueryCatalogRow[], requiresFilter: true | undefined) {
  const columns = entries
    .filter(({ partitioned }) => partitioned === 'YES')
    .map(({ item, type, place }) => ({
      name: item ?? '',
      method: type === 'INT64' ? ('range' as const) : ('time' as const),
      ...(place === null && { pseudoType: canonicalType(type ?? '') }),
    }))
  const clustering = entries
    .filter(({ clustered }) => clustered !== null)
    .toSorted((a, b) => Number(a.clustered) - Number(b.clustered))
    .map(({ item }) => item ?? '')
  return partitioningOf({ columns, clustering, ...(requiresFilter && { requiresFilter }) })
}

function describeColumn(row: BigqueryCatalogRow): TableInfo['columns'][number] {
  const { item, place, type, nullable, preset, note } = row
  const rawType = type ?? 'unknown'
  return {
    name: item ?? '',
    ordinal: Number(place),
    type: canonicalType(rawType),
    rawType,
    kind: columnKind(rawType),
    nullable: nullable !== 'NO',
    // The catalog writes NULL where there is none.
    default: preset === 'NULL' ? null : preset,
    comment: note === '' ? null : note,
  }
}

interface KeyTarget {
  table: TableRef
  columns: string[]
}

function describeKeys(
  project: string,
  own: BigqueryCatalogRow[],
  find: (entry: BigqueryCatalogRow) => KeyTarget | null,
): ConstraintInfo[] {
  return [...Map.groupBy(own, ({ item }) => item)].map(([item, unsorted]): ConstraintInfo => {
    const key = unsorted.toSorted((a, b) => Number(a.place) - Number(b.place))
    const columns = key.map(({ type }) => type ?? '')
    const [first] = key
    // Only the columns of a foreign key have a place in another one.
    if (!first || first.referred === null) return { name: item ?? '', type: 'primary_key', columns }
    const target = find(first)
    const at = key.map(entry => target?.columns[Number(entry.referred) - 1])
    const isKnown = target && at.every(name => name !== undefined)
    const references = isKnown ? { table: { ...target.table, catalog: project }, columns: at } : undefined
    return { name: item ?? '', type: 'foreign_key', columns, ...(references && { references }) }
  })
}

/** The table that a foreign key refers to, with the columns of its primary key in their order. */
function findKeyTarget(
  foreign: BigqueryCatalogRow,
  targets: ReadonlyMap<string, BigqueryCatalogRow>,
  keys: ReadonlyMap<string, BigqueryCatalogRow[]>,
  pathOf: (entry: BigqueryCatalogRow) => string,
): KeyTarget | null {
  const target = targets.get(keyId(foreign))
  if (!target) return null
  const columns = (keys.get(pathOf(target)) ?? [])
    .filter(({ referred }) => referred === null)
    .sort((a, b) => Number(a.place) - Number(b.place))
    .map(({ type }) => type ?? '')
  return { table: { catalog: '', schema: target.dataset, name: target.name }, columns }
}

/** The views name keys within a dataset, and foreign keys refer to tables of their own dataset only. */
function keyId({ dataset, item }: BigqueryCatalogRow): string {
  return JSON.stringify([dataset, item])
}
