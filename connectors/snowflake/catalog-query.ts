import type { TableRef } from '../catalog.ts'
import { join, bindList, raw, sql, type Sql } from '../sql.ts'
import { snowflakeDialect } from './dialect.ts'

const { quote } = snowflakeDialect

/** What of a database is read: one schema or all, all tables or some. */
export interface SnowflakeScope {
  database: string
  schema?: string
  tables?: readonly TableRef[]
}

/** More tables than this are not named one by one: their schemas are read, and what was not asked for is left out. */
export const MAX_NAMES = 1000

/** The tables of a scope that its database and schema can have. */
export function tablesInScope({ database, schema, tables }: SnowflakeScope): readonly TableRef[] | undefined {
  return tables?.filter(table => table.catalog === database && (schema ?? table.schema) === table.schema)
}

function informationSchemaView(
  database: string,
  name: 'schemata' | 'tables' | 'views' | 'columns' | 'table_constraints',
): Sql {
  return sql`${quote(database)}.information_schema.${raw(name)}`
}

function scopeConditions(scope: SnowflakeScope): Sql {
  const ofUsers = sql`table_schema <> ${'INFORMATION_SCHEMA'}`
  const named = tablesInScope(scope)
  if (named && named.length <= MAX_NAMES) {
    const pairs = named.map(({ schema, name }) => sql`(${schema}, ${name})`)
    return sql`${ofUsers} and (table_schema, table_name) in (${join(pairs)})`
  }
  const schemas = new Set(scope.schema === undefined ? named?.map(({ schema }) => schema) : [scope.schema])
  return schemas.size === 0 || schemas.size > MAX_NAMES
    ? ofUsers
    : sql`${ofUsers} and table_schema in (${bindList(schemas)})`
}

/** `schema`, `name`, `type`, `rows`, `comment`, `clustering` of tables and views. */
export function tablesQuery(scope: SnowflakeScope): Sql {
  return sql`
    select table_schema as "schema", table_name as "name", table_type as "type", row_count as "rows",
      comment as "comment", clustering_key as "clustering"
    from ${informationSchemaView(scope.database, 'tables')}
    where ${scopeConditions(scope)}`
}

/** The columns of the same tables. */
export function columnsQuery(scope: SnowflakeScope): Sql {
  return sql`
    select table_schema as "schema", table_name as "table", column_name as "name",
      ordinal_position as "ordinal", data_type as "type", character_maximum_length as "length",
      numeric_precision as "precision", numeric_scale as "scale", datetime_precision as "fraction",
      is_nullable as "nullable", column_default as "default", comment as "comment"
    from ${informationSchemaView(scope.database, 'columns')}
    where ${scopeConditions(scope)}`
}

/** `schema`, `name`, `definition` of views; it is empty of those that the role does not own and that are secure. */
export function viewsQuery(scope: SnowflakeScope): Sql {
  return sql`
    select table_schema as "schema", table_name as "name", view_definition as "definition"
    from ${informationSchemaView(scope.database, 'views')}
    where ${scopeConditions(scope)}`
}

/** `name` of each schema that the role sees. */
export function schemataQuery(database: string): Sql {
  return sql`select schema_name as "name" from ${informationSchemaView(database, 'schemata')}`
}

/** `schema`, `name`, `rows` of tables whose rows Snowflake counts. */
export function estimatesQuery(scope: SnowflakeScope): Sql {
  return sql`
    select table_schema as "schema", table_name as "name", row_count as "rows"
    from ${informationSchemaView(scope.database, 'tables')}
    where ${scopeConditions(scope)} and row_count is not null`
}

/**
 * `schema`, `name`, `created`, `altered`, `defined` of tables that hold rows of their own: not of views, materialized or
 * not, external tables and event tables.
 */
export function modifiedQuery(scope: SnowflakeScope): Sql {
  return sql`
    select table_schema as "schema", table_name as "name", created as "created", last_altered as "altered",
      last_ddl as "defined"
    from ${informationSchemaView(scope.database, 'tables')}
    where ${scopeConditions(scope)} and table_type = ${'BASE TABLE'}`
}

/** How many tables and views there are, for the connection test: `tables`. */
export function countQuery(scope: SnowflakeScope): Sql {
  return sql`select count(*) as "tables" from ${informationSchemaView(scope.database, 'tables')} where ${scopeConditions(scope)}`
}

export type KeyKind = 'PRIMARY' | 'UNIQUE' | 'IMPORTED'

const KEY_TYPES: Readonly<Record<KeyKind, string>> = {
  PRIMARY: 'PRIMARY KEY',
  UNIQUE: 'UNIQUE',
  IMPORTED: 'FOREIGN KEY',
}

/** `table` and `name` of the keys of one kind in a schema; without their columns. */
export function keyTablesQuery(kind: KeyKind, database: string, schema: string): Sql {
  return sql`
    select table_name as "table", constraint_name as "name"
    from ${informationSchemaView(database, 'table_constraints')}
    where table_schema = ${schema} and constraint_type = ${KEY_TYPES[kind]}`
}

/**
 * The keys of a database, of one of its schemas or of one table. `information_schema` lists constraints without their columns;
 * SHOW lists a row for each column.
 */
export function keysQuery(kind: KeyKind, database: string, schema?: string, table?: string): Sql {
  const keys = sql`show ${raw(kind.toLowerCase())} keys in`
  if (schema === undefined) return sql`${keys} database ${quote(database)}`
  if (table === undefined) return sql`${keys} schema ${quote(database)}.${quote(schema)}`
  return sql`${keys} table ${quote(database)}.${quote(schema)}.${quote(table)}`
}
