import {
  sortTables,
  tablePath,
  type ColumnInfo,
  type ConstraintInfo,
  type TableInfo,
  type TableRef,
} from '../catalog.ts'
import type { CatalogReader } from '../catalog-reader.ts'
import type { Row } from '../connector.ts'
import { bindList, join, raw, sql, type Sql } from '../sql.ts'
import { canonicalType, columnKind, typeProperties } from './types.ts'

/** A row with the name of a table. */
interface TableRow extends Row {
  catalog: string
  schema: string
  name: string
}

/** A row of the first statement. */
interface ColumnRow extends TableRow {
  is_view: boolean
  comment: string | null
  rows: number | null
  column_name: string
  ordinal: number
  type: string
  nullable: boolean
  column_default: string | null
  column_comment: string | null
}

interface ConstraintRow extends Row {
  catalog: string
  schema: string
  table: string
  name: string
  type: string
  columns: string[]
  parent: string | null
  parent_columns: string[]
}

/** Tables and views of the database itself, without those of DuckDB. */
const RELATIONS = raw(`
  select database_name as catalog, schema_name as schema, table_name as name, false as is_view, comment,
    estimated_size as rows
  from duckdb_tables() where database_name = current_database() and not internal and not temporary
  union all
  select database_name, schema_name, view_name, true, comment, null
  from duckdb_views() where database_name = current_database() and not internal and not temporary`)

/** Rows of a relation `t` that are asked for; without a list all are. */
function chosen(wanted: readonly TableRef[] | undefined): Sql {
  if (!wanted) return sql`true`
  if (wanted.length === 0) return sql`false`
  return sql`[t.catalog, t.schema, t.name] in (${join(
    wanted.map(({ catalog, schema, name }) => sql`[${bindList([catalog, schema, name])}]`),
  )})`
}

/** Reads tables, columns and keys with two statements, however many tables there are. */
export async function introspect(run: CatalogReader, wanted?: readonly TableRef[]): Promise<TableInfo[]> {
  const columns = (await run(sql`
    select t.*, c.column_name, c.column_index as ordinal, c.data_type as type, c.is_nullable as nullable,
      c.column_default, c.comment as column_comment
    from (${RELATIONS}) t
    left join duckdb_columns() c
      on c.database_name = t.catalog and c.schema_name = t.schema and c.table_name = t.name
    where ${chosen(wanted)}`)) as ColumnRow[]
  const constraints = (await run(sql`
    select t.catalog, t.schema, t.name as "table", k.constraint_name as name, k.constraint_type as type,
      k.constraint_column_names as columns, k.referenced_table as parent, k.referenced_column_names as parent_columns
    from (${RELATIONS}) t join duckdb_constraints() k
      on k.database_name = t.catalog and k.schema_name = t.schema and k.table_name = t.name
    where k.constraint_type in ('PRIMARY KEY', 'FOREIGN KEY', 'UNIQUE') and ${chosen(wanted)}`)) as ConstraintRow[]
  const keys = Map.groupBy(constraints, row => tablePath({ ...row, name: row.table }))
  const tables = [...Map.groupBy(columns, row => tablePath(row))].flatMap(([key, rows]) => {
    const [first] = rows
    if (!first) return []
    const { catalog, schema, name, comment } = first
    const table: TableInfo = {
      ...{ catalog, schema, name, comment },
      kind: first.is_view ? 'view' : 'table',
      columns: rows.flatMap(row => (row.column_name === null ? [] : [describeColumn(row)])),
      constraints: (keys.get(key) ?? []).map(describeConstraint),
      ...(first.rows !== null && { estimatedRows: Number(first.rows) }),
    }
    return [table]
  })
  return sortTables(tables)
}

function describeColumn(row: ColumnRow): ColumnInfo {
  const column = typedColumn(row.column_name, Number(row.ordinal), row.type)
  return { ...column, nullable: row.nullable, default: row.column_default, comment: row.column_comment }
}

/** A column of which only the type is known. */
export function typedColumn(name: string, ordinal: number, rawType: string): ColumnInfo {
  const type = canonicalType(rawType)
  return {
    name,
    ordinal,
    type,
    rawType,
    kind: columnKind(type),
    nullable: true,
    default: null,
    comment: null,
    properties: typeProperties(rawType),
  }
}

function describeConstraint(row: ConstraintRow): ConstraintInfo {
  const { catalog, schema, name, columns, parent } = row
  const common = { name, columns, properties: {} }
  if (row.type === 'PRIMARY KEY') return { ...common, type: 'primary_key' }
  if (row.type === 'UNIQUE') return { ...common, type: 'unique' }
  // The catalog does not say the schema of the table that is referred to; DuckDB refers to none of another schema by default.
  const references = { table: { catalog, schema, name: parent ?? '' }, columns: row.parent_columns }
  return { ...common, type: 'foreign_key', references }
}

/** The row counts that DuckDB keeps of its tables. */
export async function readEstimates(
  run: CatalogReader,
  tables: readonly TableRef[],
): Promise<Map<string, number>> {
  const rows = await run(sql`
    select t.catalog, t.schema, t.name, t.rows from (${RELATIONS}) t where not t.is_view and ${chosen(tables)}`)
  return new Map(rows.map(row => [tablePath(row as TableRow), Number(row.rows)]))
}
