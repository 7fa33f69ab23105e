import { formatName, parseName } from '../../../connectors/catalog.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { quoteName } from '../../../server/http/nearest.ts'
import { describeMissingTable, UUID, type Asset } from '../assets/assets.ts'
import { describeMissingColumn } from '../assets/columns.ts'
import type { Table } from '../models.ts'
import type { TagSubject } from './tags.ts'

/** What a path names, or why it names nothing; of two reasons, that with the higher `closeness` is returned. */
export type NamedSubject = TagSubject | MissingSubject

interface MissingSubject {
  error: string
  closeness: number
  /** Names that may have been meant; may be empty. */
  candidates: readonly string[]
}

type NamedTable = Pick<Table, 'id' | 'catalogName' | 'schemaName' | 'name' | 'qualifiedName'> & {
  columnNames: string[]
}

/** How a path may be read: as a table, or as a table followed by a column. */
interface PathReading {
  /** Table, schema, catalog, as much as the path has; empty within a table that is the asset. */
  table: readonly string[]
  column?: string
}

type SubjectType = 'table' | 'column'

/**
 * What each path names within an asset, read in one statement however many there are. A table is
 * `catalog.schema.table`, or less where that is clear, with the source's name before it or not; a column is the last
 * part after it, or all of the path within an asset that is a table.
 * @param type what paths name; without it a table where one fits, else a column
 */
export async function subjectsAt(
  trx: Transaction,
  asset: Asset,
  paths: readonly string[],
  type?: SubjectType,
): Promise<NamedSubject[]> {
  const readings = paths.map(path => pathReadings(path, asset, type))
  const names = readings.flat().flatMap(({ table: [name] }) => name ?? [])
  const listed = await listTables(trx, asset, [...new Set(names)])
  return paths.map((path, index) => {
    const named = (readings[index] ?? []).map(reading => pickSubject(asset, listed, reading, path))
    return (
      named.find(each => !('error' in each)) ??
      named.toSorted((a, b) => closenessOf(b) - closenessOf(a))[0] ??
      noSubject(
        0,
        `${quoteName(path)} is not a path such as schema.table; parts that hold dots go in double quotes`,
      )
    )
  })
}

function noSubject(closeness: number, error: string, candidates: readonly string[] = []): MissingSubject {
  return { error, closeness, candidates }
}

function closenessOf(named: NamedSubject): number {
  return 'error' in named ? named.closeness : Infinity
}

function pathReadings(path: string, { source, table }: Asset, type?: SubjectType): PathReading[] {
  const parts = parseName(path) ?? []
  const tables = (of: readonly string[]): PathReading[] => {
    const own = of.length === 4 && of[0] === source.name ? of.slice(1) : of
    return own.length >= 1 && own.length <= 3 ? [{ table: own.toReversed() }] : []
  }
  const column = parts.at(-1)
  if (column === undefined) return []
  const before = parts.length === 1 && table ? [{ table: [] }] : tables(parts.slice(0, -1))
  return [
    ...(type === 'column' ? [] : tables(parts)),
    ...(type === 'table' ? [] : before.map(reading => ({ ...reading, column }))),
  ]
}

/** The tables of these names, by name, and the asset's own by the empty one. */
async function listTables(trx: Transaction, { source, table }: Asset, names: readonly string[]) {
  const listed = await rows<NamedTable>(
    trx,
    `select id, catalog_name, schema_name, name, qualified_name,
       (select coalesce(jsonb_agg(c ->> 'name'), '[]') from jsonb_array_elements(columns) c) as column_names
     from tables where company_id = :companyId and source_id = :sourceId
       and (id = :tableId or (is_active and name = any(cast(:names as text[])))) order by qualified_name`,
    { companyId: companyOf(trx), sourceId: source.id, names, tableId: table?.id ?? null },
  )
  return Map.groupBy(listed, ({ name }) => name)
}

/** Candidates that an error names. */
const MAX_CANDIDATES = 20

function pickSubject(
  { source, table: only }: Asset,
  listed: ReadonlyMap<string, readonly NamedTable[]>,
  { table: [name = only?.name ?? '', schema, catalog], column }: PathReading,
  path: string,
): NamedSubject {
  const fitting = (listed.get(name) ?? []).filter(
    table =>
      (schema === undefined || table.schemaName === schema) &&
      (catalog === undefined || table.catalogName === catalog),
  )
  const within = only ? fitting.filter(({ id }) => id === only.id) : fitting
  const [table, another] = within
  if (!table) {
    if (only && fitting.length > 0)
      return noSubject(1, `${quoteName(path)} is another table than the asset, ${only.qualifiedName}`)
    const of = column === undefined ? path : formatName((parseName(path) ?? []).slice(0, -1))
    return noSubject(0, describeMissingTable(source, of))
  }
  if (another) {
    const candidates = within.slice(0, MAX_CANDIDATES).map(({ qualifiedName }) => qualifiedName)
    return noSubject(
      3,
      `${quoteName(path)} names several tables, write catalog.schema.table: ${candidates.join(', ')}`,
    )
  }
  const subject = { sourceId: source.id, tableId: table.id }
  if (column === undefined) return { ...subject, columnName: null }
  if (column === '')
    return noSubject(3, `${quoteName(path)} names a column without a name, which cannot be tagged`)
  if (table.columnNames.includes(column)) return { ...subject, columnName: column }
  const { error, candidates } = describeMissingColumn(table.qualifiedName, column, table.columnNames)
  return noSubject(2, error, candidates)
}

/** What each asset id, a UUID or a qualified name, names: a source or a table; two statements however many there are. */
export async function subjectsOf(trx: Transaction, assetIds: readonly string[]): Promise<NamedSubject[]> {
  const byId = assetIds.filter(id => UUID.test(id)).map(id => id.toLowerCase())
  const byName = assetIds.filter(id => !UUID.test(id))
  const only = byName.flatMap(name => {
    const parts = parseName(name)
    return parts?.length === 1 ? (parts[0] ?? []) : []
  })
  const bindings = { companyId: companyOf(trx), byId, byName, only }
  const sources = await rows<{ id: string; name: string }>(
    trx,
    `select id, name from sources where company_id = :companyId
       and (id = any(cast(:byId as uuid[])) or name = any(cast(:only as text[])))`,
    bindings,
  )
  const tables = await rows<{ id: string; sourceId: string; qualifiedName: string }>(
    trx,
    `select id, source_id, qualified_name from tables where company_id = :companyId
       and (id = any(cast(:byId as uuid[])) or qualified_name = any(cast(:byName as text[]))) order by is_active`,
    bindings,
  )
  // Later ones win: tables over none, active tables over removed ones, sources over tables, ids over names.
  const subjects = new Map<string, TagSubject>([
    ...tables.map(table => [table.qualifiedName, subjectOf(table.sourceId, table.id)] as const),
    ...sources.map(({ id, name }) => [formatName([name]), subjectOf(id, null)] as const),
    ...tables.map(table => [table.id, subjectOf(table.sourceId, table.id)] as const),
    ...sources.map(({ id }) => [id, subjectOf(id, null)] as const),
  ])
  const plain = (id: string) => {
    const parts = parseName(id)
    return parts?.length === 1 ? formatName(parts) : id
  }
  return assetIds.map(
    id =>
      subjects.get(UUID.test(id) ? id.toLowerCase() : plain(id)) ??
      noSubject(0, 'there is no such asset, or it is not yours'),
  )
}

function subjectOf(sourceId: string, tableId: string | null): TagSubject {
  return { sourceId, tableId, columnName: null }
}
