import type { TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import { bindList, raw, sql, type Sql } from '../sql.ts'

/** More names than these are not asked for one by one: the whole database is read, and the others left out. */
const MAX_NAMES = 1000

/**
 * Rows of the session's own database. MariaDB opens the tables of the catalog one by one, and only for a constant
 * schema, and best for a constant name, it opens no more than it must.
 */
function scopeCondition(
  scope: readonly TableRef[] | undefined,
  schema: 'table_schema' | 'constraint_schema' = 'table_schema',
): Sql {
  const own = raw(`${schema} = database()`)
  const names = [...new Set(scope?.map(table => table.name) ?? [])]
  // MariaDB would find only the first of names that differ by case alone.
  const different = new Set(names.map(name => name.toLowerCase())).size
  if (names.length === 0 || names.length > MAX_NAMES || different < names.length) return own
  const [only] = names
  return names.length === 1
    ? sql`${own} and table_name = ${only}`
    : sql`${own} and table_name in (${bindList(names)})`
}

/** Tables and views; a sequence of MariaDB is no table. */
const RELATIONS = raw(`table_type in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')`)

/** A row of `catalogQuery`; what a to g are depends on the part. */
export interface MysqlCatalogRow extends Row, Record<'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g', string | null> {
  part: 'table' | 'column' | 'index' | 'foreign' | 'rule' | 'partition'
  tbl: string
  name: string
  place: string
}

/**
 * The whole catalog in one statement: what MariaDB reads table by table, it then reads while they are open. Numbers
 * are sent as text, which the driver would make of big ones itself, and slower.
 */
export function catalogQuery(scope: readonly TableRef[] | undefined): Sql {
  const tables = scopeCondition(scope)
  return sql`
    select 'table' as part, table_name as tbl, table_schema as name, '0' as place,
      table_type as a, table_comment as b, cast(table_rows as char) as c, engine as d, null as e, null as f,
      null as g
    from information_schema.tables where ${tables} and ${RELATIONS}
    union all
    select 'column', table_name, column_name, cast(ordinal_position as char),
      column_type, column_comment, is_nullable, column_default, extra, generation_expression,
      concat(character_set_name, ' ', collation_name)
    from information_schema.columns where ${tables}
    union all
    select 'index', table_name, index_name, cast(seq_in_index as char),
      column_name, cast(sub_part as char), null, null, null, null, null
    from information_schema.statistics where ${tables} and non_unique = 0
    union all
    select 'foreign', table_name, constraint_name, cast(ordinal_position as char),
      column_name, referenced_table_schema, referenced_table_name, referenced_column_name, null, null, null
    from information_schema.key_column_usage where ${tables} and referenced_table_name is not null
    union all
    select 'rule', table_name, constraint_name, '0',
      delete_rule, update_rule, null, null, null, null, null
    from information_schema.referential_constraints where ${scopeCondition(scope, 'constraint_schema')}
    union all
    select distinct 'partition', table_name, '', '0',
      partition_method, partition_expression, null, null, null, null, null
    from information_schema.partitions where ${tables} and partition_name is not null`
}

/** `schema`, `name`, `definition` of the views of the session's own database; empty without SHOW VIEW. */
export const viewsQuery = sql`
    select table_schema as "schema", table_name as "name", view_definition as "definition"
    from information_schema.views where table_schema = database()`

/** Row estimates of some tables: `name`, `tbl`, `n`. */
export function estimatesQuery(tables: readonly TableRef[]): Sql {
  return sql`
    select table_schema as name, table_name as tbl, table_rows as n
    from information_schema.tables
    where ${scopeCondition(tables)} and table_type <> 'VIEW' and table_rows is not null`
}
