import {
  partitioningOf,
  sortTables,
  tablePath,
  type TableInfo,
  type TableKind,
  type TableRef,
} from '../catalog.ts'
import type { CatalogReader } from '../catalog-reader.ts'
import type { Row } from '../connector.ts'
import { invalidQueryError, type ConnectorError } from '../errors.ts'
import type { Sql } from '../sql.ts'
import { columnsQuery, estimatesQuery, tablesInScope, modifiedQuery, tablesQuery } from './catalog-query.ts'
import type { SnowflakeScope } from './catalog-query.ts'
import { readKeys } from './keys.ts'
import { columnKind, formatType } from './types.ts'

const TABLE_KINDS: Readonly<Record<string, TableKind>> = {
  VIEW: 'view',
  'MATERIALIZED VIEW': 'materialized_view',
  'EXTERNAL TABLE': 'external_table',
}

/**
 * Reads the catalog of a database with five statements: tables, columns, and three kinds of keys. Only a
 * database with more keys than SHOW lists at once takes more.
 */
export async function introspect(read: CatalogReader, scope: SnowflakeScope): Promise<TableInfo[]> {
  if (tablesInScope(scope)?.length === 0) return []
  const wanted = scopePaths(scope)
  const found = new Map<string, TableInfo>()
  const clustered: { path: string; key: string }[] = []
  const at = (schema: unknown, name: unknown) =>
    found.get(tablePath({ catalog: scope.database, schema: String(schema), name: String(name) }))

  for (const row of await read(tablesQuery(scope))) {
    const table = toTableInfo(scope.database, row)
    const path = tablePath(table)
    if (!String(row.type).includes('TEMPORARY') && (wanted?.has(path) ?? true)) found.set(path, table)
    const key = textOrNull(row.clustering)
    if (key !== null) clustered.push({ path, key })
  }
  for (const row of await read(columnsQuery(scope)))
    at(row.schema, row.table)?.columns.push(toColumnInfo(row))
  for (const { path, key } of clustered) {
    const table = found.get(path)
    if (table) Object.assign(table, describeClustering(table, key))
  }
  await recheckTablesWithoutColumns(read, scope, found)

  for (const kind of ['PRIMARY', 'UNIQUE', 'IMPORTED'] as const) {
    for (const { schema, table, constraint } of await readKeys(read, scope, kind, [...found.values()]))
      at(schema, table)?.constraints.push(constraint)
  }
  return sortTables([...found.values()])
}

/**
 * The columns of a cluster key, which the catalog prints as `LINEAR(DAY, "Region", TO_DATE(AT))`; expressions are left out.
 * https://docs.snowflake.com/en/user-guide/tables-clustering-keys
 */
function describeClustering({ columns }: TableInfo, key: string) {
  const inner = /^(?:linear)?\s*\((.*)\)$/isu.exec(key.trim())?.[1] ?? ''
  const parts: string[] = ['']
  let depth = 0
  for (const [token] of inner.matchAll(/"(?:[^"]|"")*"|[^"(),]+|./gsu)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  const clustering = parts.flatMap(part => {
    const text = part.trim()
    const name = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text.toUpperCase()
    return columns.some(column => column.name === name) ? [name] : []
  })
  return partitioningOf({ columns: [], clustering })
}

/** Tables without columns were dropped between the two statements, or exist and their columns are not listed. */
async function recheckTablesWithoutColumns(
  read: CatalogReader,
  scope: SnowflakeScope,
  found: Map<string, TableInfo>,
): Promise<void> {
  const bare = [...found.values()].filter(table => table.columns.length === 0)
  if (bare.length === 0) return
  const rows = await read(tablesQuery({ ...scope, tables: bare }))
  const there = new Set(rows.map(row => tablePath(toTableInfo(scope.database, row))))
  for (const table of bare) {
    if (there.has(tablePath(table))) table.columnsError = noColumnsError(table)
    else found.delete(tablePath(table))
  }
}

function noColumnsError({ schema, name }: TableRef): ConnectorError {
  const message = `The catalog has no columns of ${schema}.${name}: see whether it can be read in Snowflake, and make it anew.`
  return invalidQueryError('snowflake', message)
}

/** Row counts as Snowflake keeps them, by `tablePath`, with one statement. */
export async function readEstimates(
  read: CatalogReader,
  scope: SnowflakeScope,
): Promise<Map<string, number>> {
  const rows = await readScopedRows(read, scope, estimatesQuery(scope))
  return new Map(rows.map(({ path, row }) => [path, Number(row.rows)]))
}

/** When tables were last modified, as far as Snowflake knows, by `tablePath`, with one statement. */
export async function readModified(read: CatalogReader, scope: SnowflakeScope): Promise<Map<string, Date>> {
  const rows = await readScopedRows(read, scope, modifiedQuery(scope))
  return new Map(
    rows.flatMap(({ path, row }): [string, Date][] => {
      const [created, altered, defined] = [row.created, row.altered, row.defined] as (Date | null)[]
      const modified = modifiedAt(created ?? null, altered ?? null, defined ?? null)
      return modified ? [[path, modified]] : []
    }),
  )
}

/** How far apart two of Snowflake's times of one operation may be, in milliseconds. */
const SAME_OPERATION_MS = 5_000

/**
 * When the rows of a table last changed. Snowflake's LAST_ALTERED is the last DML, also one that changed no row, or DDL,
 * or work of its own in the background, so that it moves with every change of rows and sometimes without one
 * (https://docs.snowflake.com/en/sql-reference/info-schema/tables#usage-notes). A statement that made the table also
 * filled it, but one that altered it later says nothing about its rows: then this is null, rather than a time that makes
 * stale rows look fresh. That hybrid tables and Iceberg tables of other catalogs move it is not documented.
 */
export function modifiedAt(created: Date | null, altered: Date | null, defined: Date | null): Date | null {
  if (!altered || !defined || !created) return altered
  const isByDefinition = altered.getTime() - defined.getTime() <= SAME_OPERATION_MS
  const isByCreation = altered.getTime() - created.getTime() <= SAME_OPERATION_MS
  return isByDefinition && !isByCreation ? null : altered
}

async function readScopedRows(
  read: CatalogReader,
  scope: SnowflakeScope,
  query: Sql,
): Promise<{ path: string; row: Row }[]> {
  if (tablesInScope(scope)?.length === 0) return []
  const wanted = scopePaths(scope)
  return (await read(query))
    .map(row => ({ path: tablePath(toTableRef(scope.database, row.schema, row.name)), row }))
    .filter(({ path }) => wanted?.has(path) ?? true)
}

function scopePaths(scope: SnowflakeScope): Set<string> | undefined {
  const named = tablesInScope(scope)
  return named && new Set(named.map(tablePath))
}

function toTableRef(catalog: string, schema: unknown, name: unknown): TableRef {
  return { catalog, schema: String(schema), name: String(name) }
}

function toTableInfo(catalog: string, { schema, name, type, rows, comment }: Row): TableInfo {
  const kind = TABLE_KINDS[String(type)] ?? 'table'
  return {
    ...toTableRef(catalog, schema, name),
    kind,
    comment: textOrNull(comment),
    columns: [],
    constraints: [],
    ...(rows !== null && kind !== 'view' && { estimatedRows: Number(rows) }),
  }
}

function toColumnInfo(row: Row): TableInfo['columns'][number] {
  const declared = {
    type: String(row.type),
    length: numberOrNull(row.length),
    precision: numberOrNull(row.precision),
    scale: numberOrNull(row.scale),
    fraction: numberOrNull(row.fraction),
  }
  const rawType = formatType(declared)
  return {
    name: String(row.name),
    ordinal: Number(row.ordinal),
    type: rawType.toLowerCase(),
    rawType,
    kind: columnKind(declared),
    nullable: row.nullable !== 'NO',
    default: row.default === null ? null : String(row.default),
    comment: textOrNull(row.comment),
  }
}

/** Snowflake may keep a comment that was taken away as an empty one. */
function textOrNull(value: Row[string] | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function numberOrNull(value: Row[string] | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
