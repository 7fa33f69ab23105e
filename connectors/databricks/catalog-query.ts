import type { TableRef } from '../catalog.ts'
import { join, bindList, raw, sql, type Sql } from '../sql.ts'
import { databricksDialect } from './dialect.ts'

/** What is to be read of the catalog. */
export interface DatabricksScope {
  /** Only this catalog; without it all that the token may see. */
  catalog?: string
  /** Absent means all tables. */
  tables?: readonly TableRef[]
}

/** One of several parts of the tables, split by a hash of their names. */
export interface CatalogShare {
  index: number
  of: number
}

/** Above this many names a scope is read by its schemas, and the rest left out afterwards. */
const MAX_NAMES = 100

/** Catalogs that Databricks itself puts into every workspace, unless one is asked for by name. */
const SYSTEM_CATALOGS = ['system', 'samples', '__databricks_internal']

/**
 * The number of relations in the catalog: `tables`.
 * https://docs.databricks.com/sql/language-manual/sql-ref-information-schema.html
 */
export function countQuery(reach: DatabricksScope): Sql {
  return sql`select count(*) as tables from ${informationSchemaView(reach, 'tables')} t where ${scopeCondition(reach, 't')}`
}

/**
 * Tables, columns and keys in one statement, so that a table dropped meanwhile is either listed or not, never
 * without its columns. Rows are `part` (table, column, key), the table's `catalog_name`, `schema_name` and
 * `table_name`, and what the part has. `partition_place` is the place of a column in the key of partitions.
 */
export function catalogQuery(
  reach: DatabricksScope,
  share: CatalogShare,
  { hasPartitions = true } = {},
): Sql {
  const partition = raw(hasPartitions ? 'c.partition_ordinal_position' : 'null')
  const of = (name: string) => informationSchemaView(reach, name)
  const where = (alias: string) => sql`${scopeCondition(reach, alias)}${shareCondition(alias, share)}`
  return sql`
    select 'table' as part,
      t.table_catalog as catalog_name, t.table_schema as schema_name, t.table_name,
      cast(null as string) as item, cast(null as int) as place, t.table_type as type,
      cast(null as string) as nullable, cast(null as string) as preset, t.comment,
      cast(null as string) as column_name, cast(null as string) as to_catalog,
      cast(null as string) as to_schema, cast(null as string) as to_table, cast(null as string) as to_column,
      cast(null as int) as partition_place
    from ${of('tables')} t
    where ${where('t')}
    union all
    select 'column', c.table_catalog, c.table_schema, c.table_name,
      c.column_name, c.ordinal_position, coalesce(c.full_data_type, c.data_type),
      c.is_nullable, c.column_default, c.comment,
      null, null, null, null, null, ${partition}
    from ${of('columns')} c
    where ${where('c')}
    union all
    select 'key', k.table_catalog, k.table_schema, k.table_name,
      k.constraint_name, k.ordinal_position, n.constraint_type,
      null, null, null,
      k.column_name, p.table_catalog, p.table_schema, p.table_name, p.column_name, null
    from ${of('key_column_usage')} k
    join ${of('table_constraints')} n
      on n.constraint_catalog = k.constraint_catalog and n.constraint_schema = k.constraint_schema
      and n.constraint_name = k.constraint_name
    left join ${of('referential_constraints')} r
      on r.constraint_catalog = k.constraint_catalog and r.constraint_schema = k.constraint_schema
      and r.constraint_name = k.constraint_name
    left join ${of('key_column_usage')} p
      on p.constraint_catalog = r.unique_constraint_catalog and p.constraint_schema = r.unique_constraint_schema
      and p.constraint_name = r.unique_constraint_name
      and p.ordinal_position = coalesce(k.position_in_unique_constraint, k.ordinal_position)
    where ${where('k')}`
}

/** `catalog`, `schema`, `name`, `definition` of views; null of those that the token does not own. */
export function viewsQuery(reach: DatabricksScope): Sql {
  return sql`
    select v.table_catalog as catalog, v.table_schema as schema, v.table_name as name, v.view_definition as definition
    from ${informationSchemaView(reach, 'views')} v
    where ${scopeCondition(reach, 'v')}`
}

/** The information schema of `system` lists all catalogs, each other one only its own. */
function informationSchemaView({ catalog = 'system' }: DatabricksScope, name: string): Sql {
  return sql`${databricksDialect.quote(catalog)}.information_schema.${raw(name)}`
}

function scopeCondition({ catalog, tables }: DatabricksScope, alias: string): Sql {
  const at = raw(alias)
  const conditions = [
    sql`${at}.table_schema <> 'information_schema'`,
    // The information schema of `system` is that of all catalogs also where `system` itself is asked for.
    catalog === undefined
      ? sql`${at}.table_catalog not in (${bindList(SYSTEM_CATALOGS)})`
      : sql`${at}.table_catalog = ${catalog}`,
  ]
  if (tables) {
    const schemas = new Set(tables.map(({ schema }) => schema))
    const names = new Set(tables.map(({ name }) => name))
    // Limits the rows only; the caller filters exactly.
    if (schemas.size <= MAX_NAMES) conditions.push(sql`${at}.table_schema in (${bindList(schemas)})`)
    if (names.size <= MAX_NAMES) conditions.push(sql`${at}.table_name in (${bindList(names)})`)
  }
  return join(conditions, ' and ')
}

function shareCondition(alias: string, { index, of }: CatalogShare): Sql {
  const at = raw(alias)
  if (of === 1) return raw('')
  return sql` and pmod(hash(${at}.table_schema, ${at}.table_name), ${raw(String(of))}) = ${raw(String(index))}`
}
