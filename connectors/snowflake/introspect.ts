import {
  sortTables,
  tablePath,
  type ConstraintInfo,
  type TableInfo,
  type TableKind,
  type TableRef,
} from '../catalog.ts'
import type { Row } from '../connector.ts'
import type { Sql } from '../sql.ts'
import {
  columnsQuery,
  estimatesQuery,
  inScope,
  keysQuery,
  modifiedQuery,
  tablesQuery,
  type CatalogScope,
  type KeyKind,
} from './catalog-query.ts'
import { columnKind, spelledType } from './types.ts'

/** Runs one statement of the catalog. */
type Read = (statement: Sql) => Promise<Row[]>

const TABLE_KINDS: Readonly<Record<string, TableKind>> = {
  VIEW: 'view',
  'MATERIALIZED VIEW': 'materialized_view',
  'EXTERNAL TABLE': 'external_table',
}

/** SHOW tells no more rows than this, and not that there were more. */
const MOST_SHOWN = 10_000

/**
 * Reads the catalog of a database with five statements: tables, columns, and three kinds of keys. Only where a
 * database has more keys than SHOW tells at once are they asked for schema by schema.
 */
export async function introspect(read: Read, scope: CatalogScope): Promise<TableInfo[]> {
  if (inScope(scope)?.length === 0) return []
  const wanted = pathsOf(scope)
  const found = new Map<string, TableInfo>()
  const at = (schema: unknown, name: unknown) =>
    found.get(tablePath({ catalog: scope.database, schema: String(schema), name: String(name) }))

  for (const row of await read(tablesQuery(scope))) {
    const table = tableOf(scope.database, row)
    const path = tablePath(table)
    if (!String(row.type).includes('TEMPORARY') && (wanted?.has(path) ?? true)) found.set(path, table)
  }
  for (const row of await read(columnsQuery(scope))) at(row.schema, row.table)?.columns.push(columnOf(row))
  // Dropped between the two statements: it has gone, and not lost its columns.
  for (const [path, table] of found) if (table.columns.length === 0) found.delete(path)

  const schemas = [...new Set([...found.values()].map(table => table.schema))]
  for (const kind of ['PRIMARY', 'UNIQUE', 'IMPORTED'] as const) {
    for (const { schema, table, constraint } of keysOf(kind, await readKeys(read, scope, kind, schemas)))
      at(schema, table)?.constraints.push(constraint)
  }
  return sortTables([...found.values()])
}

/** Row counts as Snowflake keeps them, by `tablePath`, with one statement. */
export async function readEstimates(read: Read, scope: CatalogScope): Promise<Map<string, number>> {
  const rows = await readNamed(read, scope, estimatesQuery(scope))
  return new Map(rows.map(({ path, row }) => [path, Number(row.rows)]))
}

/** When tables were last modified, as far as Snowflake tells, by `tablePath`, with one statement. */
export async function readModified(read: Read, scope: CatalogScope): Promise<Map<string, Date>> {
  const rows = await readNamed(read, scope, modifiedQuery(scope))
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
 * When the rows of a table last changed. Snowflake's LAST_ALTERED is the last DML or DDL, or work of its own in
 * the background. A statement that made the table also filled it, but one that altered it later tells nothing of
 * its rows: then this is null, rather than a time that makes stale rows look fresh.
 */
export function modifiedAt(created: Date | null, altered: Date | null, defined: Date | null): Date | null {
  if (!altered || !defined || !created) return altered
  const isByDefinition = altered.getTime() - defined.getTime() <= SAME_OPERATION_MS
  const isByCreation = altered.getTime() - created.getTime() <= SAME_OPERATION_MS
  return isByDefinition && !isByCreation ? null : altered
}

async function readNamed(read: Read, scope: CatalogScope, query: Sql): Promise<{ path: string; row: Row }[]> {
  if (inScope(scope)?.length === 0) return []
  const wanted = pathsOf(scope)
  return (await read(query))
    .map(row => ({ path: tablePath(refOf(scope.database, row.schema, row.name)), row }))
    .filter(({ path }) => wanted?.has(path) ?? true)
}

function pathsOf(scope: CatalogScope): Set<string> | undefined {
  const named = inScope(scope)
  return named && new Set(named.map(tablePath))
}

function refOf(catalog: string, schema: unknown, name: unknown): TableRef {
  return { catalog, schema: String(schema), name: String(name) }
}

function tableOf(catalog: string, { schema, name, type, rows, comment }: Row): TableInfo {
  const kind = TABLE_KINDS[String(type)] ?? 'table'
  return {
    ...refOf(catalog, schema, name),
    kind,
    comment: textOrNull(comment),
    columns: [],
    constraints: [],
    ...(rows !== null && kind !== 'view' && { estimatedRows: Number(rows) }),
  }
}

function columnOf(row: Row): TableInfo['columns'][number] {
  const told = {
    type: String(row.type),
    length: numberOrNull(row.length),
    precision: numberOrNull(row.precision),
    scale: numberOrNull(row.scale),
    fraction: numberOrNull(row.fraction),
  }
  const rawType = spelledType(told)
  return {
    name: String(row.name),
    ordinal: Number(row.ordinal),
    type: rawType.toLowerCase(),
    rawType,
    kind: columnKind(told),
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

async function readKeys(
  read: Read,
  { database, schema }: CatalogScope,
  kind: KeyKind,
  schemas: readonly string[],
): Promise<Row[]> {
  if (schemas.length === 0) return []
  const only = schema ?? (schemas.length === 1 ? schemas[0] : undefined)
  const rows = await read(keysQuery(kind, database, only))
  if (rows.length < MOST_SHOWN || only !== undefined) return rows
  const parts: Row[] = []
  for (const one of schemas) parts.push(...(await read(keysQuery(kind, database, one))))
  return parts
}

interface Key {
  schema: string
  table: string
  constraint: ConstraintInfo
}

const CONSTRAINT_TYPES: Readonly<Record<KeyKind, ConstraintInfo['type']>> = {
  PRIMARY: 'primary_key',
  UNIQUE: 'unique',
  IMPORTED: 'foreign_key',
}

/** Puts the rows of SHOW … KEYS together, a row for each column of a key. */
function keysOf(kind: KeyKind, rows: readonly Row[]): Key[] {
  const isImported = kind === 'IMPORTED'
  const own = isImported ? 'fk_' : ''
  const name = isImported ? 'fk_name' : 'constraint_name'
  const keys = Map.groupBy(rows, row =>
    JSON.stringify([row[`${own}schema_name`], row[`${own}table_name`], row[name]]),
  )
  const type = CONSTRAINT_TYPES[kind]
  return [...keys.values()]
    .map((parts): Key => {
      const ordered = parts.toSorted((a, b) => Number(a.key_sequence) - Number(b.key_sequence))
      const [first = {}] = ordered
      const columns = (prefix: string) => ordered.map(row => String(row[`${prefix}column_name`]))
      const references = {
        table: refOf(String(first.pk_database_name), first.pk_schema_name, first.pk_table_name),
        columns: columns('pk_'),
      }
      return {
        schema: String(first[`${own}schema_name`]),
        table: String(first[`${own}table_name`]),
        constraint: {
          name: String(first[name]),
          type,
          columns: columns(own),
          ...(isImported && { references }),
        },
      }
    })
    .sort((a, b) => (a.constraint.name < b.constraint.name ? -1 : 1))
}
