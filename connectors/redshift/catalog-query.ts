import type { TableRef } from '../catalog.ts'
import { bindList, raw, sql, type Sql } from '../sql.ts'

/*
 * The catalog of the leader node is that of PostgreSQL 8.0, without types, partitions and indexes of its own. What
 * is only the leader's cannot stand in one statement with what the compute nodes have: hence a statement each. No
 * arrays are taken apart, for want of unnest; they arrive as text.
 */

/** The most names that a statement is limited by; beyond it everything is read. */
const MAX_NAMES = 10_000

/** A superset of the tables of a scope: those whose schema and whose name occur in it. */
function scopeCondition(scope: readonly TableRef[] | undefined, schema: Sql, name: Sql): Sql {
  if (!scope || scope.length > MAX_NAMES) return raw('')
  return sql`and ${schema} in (${bindList(new Set(scope.map(table => table.schema)))})
    and ${name} in (${bindList(new Set(scope.map(table => table.name)))})`
}

/** Tables and views; what a materialized view is kept in (`mv_tbl__name__0`) is no table of the customer's. */
const RELATIONS = raw(`
    pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname !~ '^pg_'
      and n.nspname not in ('information_schema', 'catalog_history')
      and c.relkind in ('r', 'v', 'm') and c.relname !~ '^mv_tbl__.+__[0-9]+$'`)

export const countQuery = sql`select count(*) from ${RELATIONS}`

/** `oid`, `schema`, `name`, `kind`, `rows`, `comment`, `materialized`. */
export function tablesQuery(scope: readonly TableRef[] | undefined): Sql {
  // Unqualified: the text of a materialized view is its whole CREATE statement, and no system view that lists
  // them is there both on clusters and on Serverless for every user.
  return sql`
    select c.oid, n.nspname as schema, c.relname as name, c.relkind as kind, c.reltuples as rows,
      d.description as comment,
      case when c.relkind = 'v' then pg_get_viewdef(c.oid) ilike '%create materialized view%' end as materialized
    from ${RELATIONS}
    left join pg_description d on d.objoid = c.oid and d.objsubid = 0
      and d.classoid = (select oid from pg_class where relname = 'pg_class' and relnamespace = 11)
    where true ${scopeCondition(scope, raw('n.nspname'), raw('c.relname'))}`
}

/** `schema`, `name`, `definition` of views; of a materialized one it is the whole CREATE statement. */
export const viewsQuery = sql`
    select n.nspname as schema, c.relname as name, pg_get_viewdef(c.oid) as definition
    from ${RELATIONS}
    where c.relkind in ('v', 'm')`

/**
 * `oid`, `number`, `name`, `type`, `required`, `expression`, `comment`, `sorted` (the place in the sort key, 0 for none, every
 * second one negative in an interleaved key); also those that foreign keys refer to.
 */
export function columnsQuery(scope: readonly TableRef[] | undefined): Sql {
  return sql`
    select a.attrelid as oid, a.attnum as number, a.attname as name,
      format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
      pg_get_expr(f.adbin, f.adrelid) as expression, d.description as comment,
      a.attsortkeyord as sorted
    from ${RELATIONS}
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef f on f.adrelid = c.oid and f.adnum = a.attnum
    left join pg_description d on d.objoid = c.oid and d.objsubid = a.attnum
      and d.classoid = (select oid from pg_class where relname = 'pg_class' and relnamespace = 11)
    where (true ${scopeCondition(scope, raw('n.nspname'), raw('c.relname'))})
      or c.oid in (select confrelid from pg_constraint where contype = 'f')`
}

/** Declared, never enforced: `oid`, `name`, `kind`, `columns`, `target`, `schema`, `referenced`, `at`. */
export function constraintsQuery(scope: readonly TableRef[] | undefined): Sql {
  return sql`
    select k.conrelid as oid, k.conname as name, k.contype as kind, k.conkey as columns,
      k.confrelid as target, tn.nspname as schema, t.relname as referenced, k.confkey as at
    from ${RELATIONS}
    join pg_constraint k on k.conrelid = c.oid and k.contype in ('p', 'u', 'f')
    left join pg_class t on t.oid = k.confrelid
    left join pg_namespace tn on tn.oid = t.relnamespace
    where true ${scopeCondition(scope, raw('n.nspname'), raw('c.relname'))}`
}

/** Columns of views WITH NO SCHEMA BINDING, which the catalog has without: `schema`, `table`, `name`, `type`, `number`. */
export function lateBindingQuery(scope: readonly TableRef[] | undefined): Sql {
  return sql`
    select view_schema as schema, view_name as table, col_name as name, col_type as type, col_num as number
    from pg_get_late_binding_view_cols()
      cols (view_schema name, view_name name, col_name name, col_type varchar, col_num int)
    where true ${scopeCondition(scope, raw('view_schema'), raw('view_name'))}`
}

/**
 * The schemas among some that exist, have nothing in pg_class and may not be used: `schema`. Only a user of an external
 * schema sees that it is external; it never has anything in pg_class.
 */
export function closedSchemasQuery(schemas: readonly string[]): Sql {
  return sql`
    select n.nspname as schema
    from pg_namespace n
    where n.nspname in (${bindList(schemas)})
      and not has_schema_privilege(cast(n.nspname as varchar(127)), 'usage')
      and not exists (select 1 from pg_class c where c.relnamespace = n.oid)`
}

/** Columns of external (Spectrum) tables, which are listed for other databases as well: `schema`, `table`, `name`, `type`, `number`, `nullable` (a text), `partition`, the place in the key of partitions, 0 for none. */
export function externalQuery(scope: readonly TableRef[] | undefined, database: string): Sql {
  return sql`
    select schemaname as schema, tablename as table, columnname as name, external_type as type,
      columnnum as number, is_nullable as nullable, part_key as partition
    from svv_external_columns
    where lower(redshift_database_name) = lower(${database}) ${scopeCondition(scope, raw('schemaname'), raw('tablename'))}`
}
