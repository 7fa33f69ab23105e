import { partitioningOf, sortTables, tablePath } from '../catalog.ts'
import type { ColumnInfo, ConstraintInfo, TableInfo, TableRef } from '../catalog.ts'
import type { CatalogReader } from '../catalog-reader.ts'
import type { HiddenParts, ReducedTable } from '../connector.ts'
import { ConnectorError, invalidQueryError } from '../errors.ts'
import { probeColumns, findRefusal, unlistedError } from '../hidden-tables.ts'
import { sql, type Sql } from '../sql.ts'
import {
  closedSchemasQuery,
  columnsQuery,
  constraintsQuery,
  externalQuery,
  lateBindingQuery,
  tablesQuery,
} from './catalog-query.ts'
import { redshiftDialect } from './dialect.ts'
import { columnKind, canonicalType } from './types.ts'

type RedshiftTableRow = {
  oid: number
  schema: string
  name: string
  kind: string
  rows: number
  comment: string | null
  materialized: boolean | null
}

type RedshiftColumnRow = Record<'oid' | 'number' | 'sorted', number> &
  Record<'name' | 'type', string> &
  Record<'expression' | 'comment', string | null> & { required: boolean }

type RedshiftConstraintRow = Record<'oid' | 'target', number> &
  Record<'name' | 'kind' | 'columns', string> &
  Record<'schema' | 'referenced' | 'at', string | null>

/** A column of a view without schema binding or of an external table. */
type NamedColumnRow = {
  schema: string
  table: string
  name: string
  type: string
  number: number
  nullable?: string | null
  partition?: number
}

const CONSTRAINT_TYPES: Readonly<Record<string, ConstraintInfo['type']>> = {
  p: 'primary_key',
  f: 'foreign_key',
  u: 'unique',
}

/**
 * Reads the catalog of a database with five statements, whatever it holds. They do not see the same moment: what
 * was dropped between them is left out whole.
 */
export async function introspect(
  read: CatalogReader,
  catalog: string,
  scope?: readonly TableRef[],
): Promise<TableInfo[]> {
  const wanted = scope?.filter(table => table.catalog === catalog)
  if (wanted?.length === 0) return []
  const rowsOf = async <RowType>(query: (tables: readonly TableRef[] | undefined, database: string) => Sql) =>
    (await read(query(wanted, catalog))) as RowType[]

  const tables = new Map<number, TableInfo>()
  const paths = new Map<string, TableInfo>()
  const names = new Set(wanted?.map(tablePath))
  const isWanted = (table: TableRef) => !wanted || names.has(tablePath(table))

  for (const row of await rowsOf<RedshiftTableRow>(tablesQuery)) {
    const table = describeTable(catalog, row)
    if (!isWanted(table)) continue
    tables.set(row.oid, table)
    paths.set(tablePath(table), table)
  }
  const columnNames = new Map<string, string>()
  const sorted: RedshiftColumnRow[] = []
  for (const row of await rowsOf<RedshiftColumnRow>(columnsQuery)) {
    columnNames.set(`${row.oid} ${row.number}`, row.name)
    tables.get(row.oid)?.columns.push(describeColumn(row))
    if (Number(row.sorted) !== 0) sorted.push(row)
  }
  for (const [oid, key] of Map.groupBy(sorted, row => row.oid)) {
    const table = tables.get(oid)
    const clustering = key.sort((a, b) => Math.abs(a.sorted) - Math.abs(b.sorted)).map(({ name }) => name)
    if (table) Object.assign(table, partitioningOf({ columns: [], clustering }))
  }
  for (const row of await rowsOf<RedshiftConstraintRow>(constraintsQuery)) {
    const constraint = describeConstraint(catalog, row, columnNames)
    if (constraint) tables.get(row.oid)?.constraints.push(constraint)
  }
  for (const row of await rowsOf<NamedColumnRow>(lateBindingQuery)) {
    const ref = { catalog, schema: row.schema, name: row.table }
    paths.get(tablePath(ref))?.columns.push(describeNamedColumn(row))
  }
  const partitioned: { table: TableInfo; row: NamedColumnRow }[] = []
  for (const row of await rowsOf<NamedColumnRow>(externalQuery)) {
    const ref: TableRef = { catalog, schema: row.schema, name: row.table }
    if (!isWanted(ref)) continue
    const path = tablePath(ref)
    const table: TableInfo = paths.get(path) ?? {
      ...ref,
      kind: 'external_table',
      comment: null,
      columns: [],
      constraints: [],
    }
    paths.set(path, table)
    table.columns.push(describeNamedColumn(row))
    if (Number(row.partition) > 0) partitioned.push({ table, row })
  }
  for (const [table, key] of Map.groupBy(partitioned, each => each.table)) {
    const columns = key
      .map(({ row }) => row)
      .sort((a, b) => Number(a.partition) - Number(b.partition))
      .map(({ name }) => ({ name, method: 'list' as const }))
    Object.assign(table, partitioningOf({ columns, clustering: [] }))
  }
  const described = [...paths.values()].filter(table => table.kind !== 'table' || table.columns.length > 0)
  for (const table of described) if (table.columns.length === 0) table.columnsError = noColumnsError(table)
  return sortTables(described)
}

/** Row estimates of the last ANALYZE, by `tablePath`, with one statement. */
export async function readEstimates(
  read: CatalogReader,
  catalog: string,
  scope: readonly TableRef[],
): Promise<Map<string, number>> {
  const wanted = scope.filter(table => table.catalog === catalog)
  if (wanted.length === 0) return new Map()
  const paths = new Set(wanted.map(tablePath))
  const rows = (await read(tablesQuery(wanted))) as RedshiftTableRow[]
  return new Map(
    rows.flatMap(row => {
      const table = describeTable(catalog, row)
      const path = tablePath(table)
      return paths.has(path) && table.estimatedRows !== undefined ? [[path, table.estimatedRows]] : []
    }),
  )
}

/**
 * Finds tables that may still exist although the catalog no longer shows them, with one statement: external tables, which
 * are shown only to users of their schema. All others are shown to every user.
 */
export async function findHiddenTables(
  read: CatalogReader,
  catalog: string,
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const own = tables.filter(table => table.catalog === catalog)
  if (own.length === 0) return new Map()
  const rows = await read(closedSchemasQuery([...new Set(own.map(({ schema }) => schema))]))
  const closed = new Set(rows.map(row => String(row.schema)))
  return new Map(
    own.filter(({ schema }) => closed.has(schema)).map(table => [tablePath(table), closedSchemaError(table)]),
  )
}

/** The code of a column that a relation does not have; names are looked up before rights are checked. */
const UNDEFINED_COLUMN = '42703'

/**
 * The missing columns that may still be there, with one statement each that reads no row. Columns of tables are shown to
 * every user, whatever was granted on them; those of external tables and of views without schema binding only as far as
 * Lake Formation, or a right on what the view reads, lets the user see them.
 */
export async function findHiddenParts(
  read: CatalogReader,
  catalog: string,
  tables: readonly ReducedTable[],
): Promise<Map<string, HiddenParts>> {
  const own = tables.filter(table => table.catalog === catalog)
  return probeColumns('redshift', own, async (table, column) => {
    const from = redshiftDialect.table(table)
    const error = await findRefusal(
      read(sql`select t.${redshiftDialect.quote(column)} from ${from} t where 1 = 0 limit 0`),
    )
    return error?.code === UNDEFINED_COLUMN ? null : (error ?? unlistedError('redshift', 'column'))
  })
}

function closedSchemaError({ schema }: TableRef): ConnectorError {
  const message = `permission denied for schema ${schema}: grant the user USAGE on it.`
  return new ConnectorError({ kind: 'permission', code: '42501', engine: 'redshift', message })
}

function describeTable(catalog: string, row: RedshiftTableRow): TableInfo {
  const isView = row.kind === 'v' && row.materialized !== true
  const isTable = row.kind === 'r'
  // A table that was never analysed has 0.001 rows.
  const isKnown = isTable && row.rows >= 1
  return {
    catalog,
    schema: row.schema,
    name: row.name,
    kind: isTable ? 'table' : isView ? 'view' : 'materialized_view',
    comment: row.comment,
    columns: [],
    constraints: [],
    identity: String(row.oid),
    ...(isKnown ? { estimatedRows: Math.round(row.rows) } : {}),
  }
}

/** Redshift lists no columns, and no reason, of a late-binding view whose tables are gone or may not be read. */
function noColumnsError({ schema, name }: TableRef): ConnectorError {
  const message = `The catalog has no columns of ${schema}.${name}: see whether what the view reads is there, and make the view anew.`
  return invalidQueryError('redshift', message)
}

function columnType(rawType: string): Pick<ColumnInfo, 'type' | 'rawType' | 'kind'> {
  const type = canonicalType(rawType)
  return { type, rawType, kind: columnKind(type) }
}

function describeColumn(row: RedshiftColumnRow): ColumnInfo {
  return {
    name: row.name,
    ordinal: row.number,
    ...columnType(row.type),
    nullable: !row.required,
    default: row.expression,
    comment: row.comment,
    identity: String(row.number),
  }
}

function describeNamedColumn(row: NamedColumnRow): ColumnInfo {
  return {
    name: row.name,
    ordinal: row.number,
    ...columnType(row.type),
    nullable: row.nullable !== 'false',
    default: null,
    comment: null,
  }
}

/** A constraint, unless one of its columns was dropped since they were read. */
function describeConstraint(
  catalog: string,
  row: RedshiftConstraintRow,
  names: ReadonlyMap<string, string>,
): ConstraintInfo | undefined {
  const columns = columnNames(row.oid, row.columns, names)
  if (!columns) return undefined
  const constraint: ConstraintInfo = { name: row.name, type: CONSTRAINT_TYPES[row.kind] ?? 'unique', columns }
  if (row.kind !== 'f' || row.schema === null || row.referenced === null || row.at === null) return constraint
  const at = columnNames(row.target, row.at, names)
  if (!at) return undefined
  return {
    ...constraint,
    references: { table: { catalog, schema: row.schema, name: row.referenced }, columns: at },
  }
}

/** The names of the columns of an array of numbers, which arrives as `{2,1}`. */
function columnNames(oid: number, numbers: string, names: ReadonlyMap<string, string>): string[] | undefined {
  const found = numbers
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map(number => names.get(`${oid} ${number}`))
  return found.includes(undefined) ? undefined : (found as string[])
}
