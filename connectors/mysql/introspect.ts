import { sortTables, tablePath, type ConstraintInfo, type TableInfo, type TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { catalogQuery, estimatesQuery } from './catalog-query.ts'
import { canonicalDefault, canonicalType, columnKind } from './types.ts'

/** Runs one statement of the catalog. */
type Read = (statement: Sql) => Promise<Row[]>

/** A row of the catalog query; what a to f are depends on the part. */
interface Entry {
  part: 'table' | 'column' | 'index' | 'foreign'
  tbl: string
  name: string
  place: number
  a: string | null
  b: string | null
  c: string | null
  d: string | null
  e: string | null
  f: string | null
}

/** Storage engines whose rows are kept elsewhere. */
const EXTERNAL = /^(federated|connect|spider|s3)$/i

/** Reads the catalog of the session's database with one statement. */
export async function introspect(
  read: Read,
  isMariadb: boolean,
  scope?: readonly TableRef[],
): Promise<TableInfo[]> {
  if (scope?.length === 0) return []
  const entries = (await read(catalogQuery(scope))) as unknown as Entry[]
  const found = new Map<string, TableInfo>()
  const wanted = scope && new Set(scope.map(tablePath))
  const of = (part: Entry['part']) => entries.filter(entry => entry.part === part)

  for (const entry of of('table')) {
    const table = toTable(entry)
    // Names are compared without case by the catalog, and by nobody else.
    if (!wanted || wanted.has(tablePath(table))) found.set(entry.tbl, table)
  }
  for (const entry of of('column')) found.get(entry.tbl)?.columns.push(toColumn(entry, isMariadb))
  for (const [key, parts] of Map.groupBy(of('index'), keyOf)) {
    const constraint = toKey(parts)
    if (constraint) found.get(tableOf(key))?.constraints.push(constraint)
  }
  for (const [key, parts] of Map.groupBy(of('foreign'), keyOf)) {
    found.get(tableOf(key))?.constraints.push(toForeignKey(parts))
  }
  for (const table of found.values())
    table.constraints.sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name))
  return sortTables([...found.values()])
}

/** Row estimates of the storage engines, by `tablePath`, with one statement. */
export async function readEstimates(read: Read, tables: readonly TableRef[]): Promise<Map<string, number>> {
  if (tables.length === 0) return new Map()
  const wanted = new Set(tables.map(tablePath))
  const rows = await read(estimatesQuery(tables))
  const counted = rows.map(row => {
    const schema = String(row.name)
    return [tablePath({ catalog: schema, schema, name: String(row.tbl) }), Number(row.n)] as const
  })
  return new Map(counted.filter(([path]) => wanted.has(path)))
}

function toTable({ tbl, name: schema, a: type, b: comment, c: rows, d: engine }: Entry): TableInfo {
  const isView = type === 'VIEW'
  return {
    catalog: schema,
    schema,
    name: tbl,
    kind: isView ? 'view' : EXTERNAL.test(engine ?? '') ? 'external_table' : 'table',
    // Of a view it is the word VIEW, or what is wrong with it.
    comment: isView || !comment ? null : comment,
    columns: [],
    constraints: [],
    ...(isView || rows === null ? {} : { estimatedRows: Number(rows) }),
  }
}

function toColumn(entry: Entry, isMariadb: boolean): TableInfo['columns'][number] {
  const { name, place, a: rawType, b: comment, c: nullable, d: printed, e: extra, f: generation } = entry
  const type = canonicalType(rawType ?? '')
  const kind = columnKind(type)
  return {
    name,
    ordinal: Number(place),
    type,
    rawType: rawType ?? '',
    kind,
    nullable: nullable === 'YES',
    default: canonicalDefault(printed, { kind, extra: extra ?? '', generation, isMariadb }),
    comment: comment || null,
  }
}

function keyOf({ tbl, name }: Entry): string {
  return `${tbl}\0${name}`
}

function tableOf(key: string): string {
  return key.slice(0, key.indexOf('\0'))
}

function inOrder(parts: readonly Entry[]): Entry[] {
  return parts.toSorted((a, b) => Number(a.place) - Number(b.place))
}

/** A primary key or unique index; null for one on expressions, which is no constraint of columns. */
function toKey(parts: readonly Entry[]): ConstraintInfo | null {
  const columns = inOrder(parts).map(({ a }) => a)
  const name = parts[0]?.name ?? ''
  if (columns.some(column => column === null)) return null
  return { name, type: name === 'PRIMARY' ? 'primary_key' : 'unique', columns: columns as string[] }
}

function toForeignKey(parts: readonly Entry[]): ConstraintInfo {
  const ordered = inOrder(parts)
  const [first] = ordered
  const schema = first?.b ?? ''
  return {
    name: first?.name ?? '',
    type: 'foreign_key',
    columns: ordered.map(({ a }) => a ?? ''),
    references: {
      table: { catalog: schema, schema, name: first?.c ?? '' },
      columns: ordered.map(({ d }) => d ?? ''),
    },
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
