import type { Warehouse } from '../warehouse.ts'

/** Databricks' functions that DuckDB lacks or calls otherwise. */
const MACROS = [
  `create macro dbx_count_if(condition) as count(*) filter (where condition)`,
  `create macro dbx_pmod(a, b) as a % b`,
  `create macro dbx_regexp_like(text, pattern) as regexp_matches(text, pattern)`,
  `create macro dbx_percentile(x, fraction) as quantile_cont(x, fraction)`,
  `create macro dbx_from_json(text, kind) as from_json(text, '["VARCHAR"]')`,
  `create macro dbx_element_at(list, place) as list_extract(list, place)`,
  `create macro dbx_parse_json(text) as cast(text as json)`,
  `create macro dbx_unix_seconds(moment) as cast(floor(epoch_us(moment) / 1000000) as bigint)`,
  `create macro dbx_current_timezone() as current_setting('TimeZone')`,
  `create macro dbx_from_utc_timestamp(moment, zone) as timezone('UTC', timezone(zone, moment))`,
  `create macro dbx_type(t) as case
     when t in ('VARCHAR') then 'string' when t = 'INTEGER' then 'int' when t = 'BLOB' then 'binary'
     when t = 'TIMESTAMP WITH TIME ZONE' then 'timestamp' when t = 'TIMESTAMP' then 'timestamp_ntz'
     when t = 'JSON' then 'variant' when t like '%[]' then 'array<' || lower(t[:-3]) || '>' else lower(t) end`,
  `create macro dbx_typeof(x) as memory.main.dbx_type(typeof(x))`,
]

/**
 * The relations of Unity Catalog's information schema that the connector reads, with all their documented
 * columns that matter here (https://docs.databricks.com/sql/language-manual/sql-ref-information-schema.html).
 * Columns are numbered from 0, as catalogs were seen to do in spite of the page.
 */
const RELATIONS = [
  // The columns that PARTITIONED BY names.
  `create table dbx_partitions (tbl varchar, col varchar, place int)`,
  `create view dbx_tables as
     select database_name as table_catalog, schema_name as table_schema, table_name,
       'MANAGED' as table_type, comment, 'DELTA' as data_source_format
     from duckdb_tables() where database_name not in ('system', 'temp', 'memory')
     union all
     select database_name, schema_name, view_name, 'VIEW', comment, 'UNKNOWN_DATA_SOURCE_FORMAT'
     from duckdb_views() where database_name not in ('system', 'temp', 'memory') and not internal
     union all
     select distinct database_name, 'information_schema', relation, 'VIEW', null, 'UNKNOWN_DATA_SOURCE_FORMAT'
     from duckdb_databases() cross join (values ('tables'), ('columns')) r(relation)
     where database_name not in ('system', 'temp', 'memory')`,
  `create view dbx_views as
     select database_name as table_catalog, schema_name as table_schema, view_name as table_name,
       sql as view_definition
     from duckdb_views() where database_name not in ('system', 'temp', 'memory') and not internal`,
  `create view dbx_columns as
     select database_name as table_catalog, schema_name as table_schema, table_name, column_name,
       column_index - 1 as ordinal_position, column_default,
       case when is_nullable then 'YES' else 'NO' end as is_nullable,
       dbx_type(data_type) as full_data_type, upper(dbx_type(data_type)) as data_type, comment,
       p.place as partition_ordinal_position
     from duckdb_columns()
     left join memory.main.dbx_partitions p on p.tbl = schema_name || '.' || table_name and p.col = column_name
     where database_name not in ('system', 'temp', 'memory') and not internal
     union all
     select database_name, 'information_schema', 'tables', 'table_name', 0, null, 'NO', 'string', 'STRING', null, null
     from duckdb_databases() where database_name not in ('system', 'temp', 'memory')`,
  `create view dbx_keys as
     select database_name, schema_name, table_name, constraint_name, constraint_type, constraint_column_names,
       referenced_table, referenced_column_names
     from duckdb_constraints() where constraint_type in ('PRIMARY KEY', 'FOREIGN KEY')`,
  `create view dbx_table_constraints as
     select database_name as constraint_catalog, schema_name as constraint_schema, constraint_name,
       database_name as table_catalog, schema_name as table_schema, table_name, constraint_type
     from dbx_keys`,
  `create view dbx_referential_constraints as
     select c.database_name as constraint_catalog, c.schema_name as constraint_schema, c.constraint_name,
       p.database_name as unique_constraint_catalog, p.schema_name as unique_constraint_schema,
       p.constraint_name as unique_constraint_name, c.database_name as table_catalog
     from dbx_keys c join dbx_keys p on p.database_name = c.database_name and p.schema_name = c.schema_name
       and p.table_name = c.referenced_table and p.constraint_type = 'PRIMARY KEY'
     where c.constraint_type = 'FOREIGN KEY'`,
  `create view dbx_key_column_usage as
     select k.database_name as constraint_catalog, k.schema_name as constraint_schema, k.constraint_name,
       k.database_name as table_catalog, k.schema_name as table_schema, k.table_name,
       k.constraint_column_names[i] as column_name, i as ordinal_position,
       case when k.constraint_type = 'FOREIGN KEY'
         then list_position(p.constraint_column_names, k.referenced_column_names[i]) end
         as position_in_unique_constraint
     from (select *, unnest(range(1, len(constraint_column_names) + 1)) as i from dbx_keys) k
     left join dbx_keys p on p.database_name = k.database_name and p.schema_name = k.schema_name
       and p.table_name = k.referenced_table and p.constraint_type = 'PRIMARY KEY'`,
]

/** Makes the catalogs, each with a schema `default`, and what the rewritten statements need. */
export async function buildCatalogs(warehouse: Warehouse, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await warehouse.execute(`attach ':memory:' as "${name}"`)
    await warehouse.execute(`create schema "${name}"."default"`)
  }
  for (const statement of [...MACROS, ...RELATIONS]) await warehouse.execute(statement)
}
