import type { TableRef } from '../catalog.ts'
import { join, bindList, raw, sql, type Sql } from '../sql.ts'
import { bigqueryDialect } from './dialect.ts'

/** What a statement of the catalog reads: a project's datasets of one location, or one dataset alone. */
export interface BigqueryScope {
  project: string
  location: string
  /** Only this one, for which rights on it are enough. */
  dataset?: string
  /** Absent means all tables. */
  tables?: readonly TableRef[]
}

/** Above this many names a scope is read by its datasets, and the rest left out afterwards. */
const MAX_NAMES = 200

/** Types of `__TABLES__` whose rows BigQuery itself keeps: 1 is a table, 2 a view, 3 an external one. */
const NATIVE_TABLE_TYPE = 1

/**
 * Tables, columns and sizes in one statement, so that a table dropped meanwhile is either listed or not, never without
 * its columns; each view that is read is billed as 10 MB at least, in one statement or in several. Rows are `part`
 * (table, column, size), the `dataset` and `name` of the table, and what the part has.
 * https://cloud.google.com/bigquery/docs/information-schema-intro
 *
 * `partitioned` of a table is whether statements need a condition on its partition, of a column whether it is that of
 * partitions: also a pseudo column without a place, such as `_PARTITIONTIME`.
 * https://cloud.google.com/bigquery/docs/information-schema-columns
 *
 * With the region's qualifier, which needs rights on the project, or with that of the dataset.
 */
export function catalogQuery(reach: BigqueryScope): Sql {
  const of = (view: string) => sql`${qualifier(reach)}.INFORMATION_SCHEMA.${raw(view)}`
  return sql`
    select 'table' as part, t.table_schema as dataset, t.table_name as name,
      cast(null as string) as item, cast(null as int64) as place, t.table_type as type,
      cast(null as string) as nullable, cast(null as string) as preset, o.note,
      o.required as partitioned, cast(null as int64) as clustered
    from ${of('TABLES')} t
    left join (
      select table_schema, table_name,
        max(case when option_name = 'description' then option_value end) as note,
        max(case when option_name = 'require_partition_filter' then option_value end) as required
      from ${of('TABLE_OPTIONS')}
      group by table_schema, table_name
    ) o on o.table_schema = t.table_schema and o.table_name = t.table_name
    where ${scopeCondition(reach, 't')}
    union all
    select 'column', c.table_schema, c.table_name,
      c.column_name, c.ordinal_position, c.data_type, c.is_nullable, c.column_default, p.description,
      c.is_partitioning_column, c.clustering_ordinal_position
    from ${of('COLUMNS')} c
    left join ${of('COLUMN_FIELD_PATHS')} p
      on p.table_schema = c.table_schema and p.table_name = c.table_name and p.field_path = c.column_name
    where ${scopeCondition(reach, 'c')} and (c.is_hidden = 'NO' or c.is_partitioning_column = 'YES')
    union all
    select 'size', s.dataset, s.name, null, s.total, null, null, null, null, null, null
    from (${sizesSource(reach)}) s`
}

/**
 * `dataset`, `name`, `total` rows and when rows were last `modified`, of tables that BigQuery itself keeps. No such time
 * has what is computed of other tables, what is empty, and what the views leave out: clones, snapshots, and tables of
 * other projects that are linked here.
 */
export function sizesQuery(reach: BigqueryScope): Sql {
  return sql`select s.dataset, s.name, s.total, s.modified from (${sizesSource(reach)}) s`
}

/**
 * TABLE_STORAGE is of whole regions and lags by seconds to minutes. Of one dataset there is `__TABLES__`, whose times
 * are also those of changed definitions. Rows that are streamed can be read at once, but are written to storage only
 * later, mostly within 90 minutes: that the time moves before is not documented, of either.
 * https://cloud.google.com/bigquery/docs/information-schema-table-storage
 * https://cloud.google.com/bigquery/docs/streaming-data-into-bigquery#dataavailability
 */
function sizesSource(reach: BigqueryScope): Sql {
  const { dataset } = reach
  if (dataset === undefined) {
    return sql`select t.table_schema as dataset, t.table_name as name, t.total_rows as total,
        case when t.table_type <> 'MATERIALIZED VIEW' then t.storage_last_modified_time end as modified
      from ${qualifier(reach)}.INFORMATION_SCHEMA.TABLE_STORAGE t
      where not t.deleted and ${scopeCondition(reach, 't')}`
  }
  const names = namesInScope(reach)
  const wanted = names ? sql` and t.table_id in (${bindList(names)})` : raw('')
  return sql`select t.dataset_id as dataset, t.table_id as name, t.row_count as total,
      timestamp_millis(t.last_modified_time) as modified
    from ${qualifier(reach)}.${bigqueryDialect.quote('__TABLES__')} t
    where t.type = ${raw(String(NATIVE_TABLE_TYPE))}${wanted}`
}

/**
 * Columns of primary and foreign keys of some datasets, and of what foreign keys refer to. Rows are `part` (key,
 * target), the `dataset` and `name` of the table, the `item` (key), `place` and the column as `type`, and `referred`, its place in the
 * key referred to.
 * The views are of single datasets only, 10 MB each.
 */
export function keysQuery(project: string, datasets: readonly string[]): Sql {
  const of = (dataset: string, view: string) =>
    sql`${bigqueryDialect.quote(project)}.${bigqueryDialect.quote(dataset)}.INFORMATION_SCHEMA.${raw(view)}`
  const parts = datasets.map(
    dataset => sql`
    select 'key' as part, k.table_schema as dataset, k.table_name as name, k.constraint_name as item,
      k.ordinal_position as place, k.column_name as type, k.position_in_unique_constraint as referred
    from ${of(dataset, 'KEY_COLUMN_USAGE')} k
    union all
    select 'target', u.table_schema, u.table_name, u.constraint_name, null, u.column_name, null
    from ${of(dataset, 'CONSTRAINT_COLUMN_USAGE')} u`,
  )
  return join(parts, '\n    union all')
}

/** `schema`, `name`, `definition` of views. */
export function viewsQuery(reach: BigqueryScope): Sql {
  return sql`select v.table_schema as schema, v.table_name as name, v.view_definition as definition
    from ${qualifier(reach)}.INFORMATION_SCHEMA.VIEWS v`
}

/** The number of tables and views in the catalog: `tables`. */
export function countQuery(reach: BigqueryScope): Sql {
  return sql`select count(*) as tables from ${qualifier(reach)}.INFORMATION_SCHEMA.TABLES`
}

function qualifier({ project, dataset, location }: BigqueryScope): Sql {
  const of = dataset ?? `region-${location.toLowerCase()}`
  return sql`${bigqueryDialect.quote(project)}.${bigqueryDialect.quote(of)}`
}

function namesInScope({ tables }: BigqueryScope): string[] | null {
  const names = tables && [...new Set(tables.map(({ name }) => name))]
  return names && names.length <= MAX_NAMES ? names : null
}

/** Limits the rows only; the caller filters exactly. */
function scopeCondition(reach: BigqueryScope, alias: string): Sql {
  const at = raw(alias)
  const conditions = [sql`true`]
  const names = namesInScope(reach)
  const schemas = reach.tables && [...new Set(reach.tables.map(({ schema }) => schema))]
  if (names) conditions.push(sql`${at}.table_name in (${bindList(names)})`)
  if (schemas && schemas.length <= MAX_NAMES)
    conditions.push(sql`${at}.table_schema in (${bindList(schemas)})`)
  return join(conditions, ' and ')
}
