import type { TableRef } from '../catalog.ts'
import { raw, sql, type Sql } from '../sql.ts'

/**
 * The tables and views that are the customer's own: no system schema, no partition (its parent stands for it),
 * nothing that belongs to an extension.
 */
function relations(scope: readonly TableRef[] | undefined): Sql {
  const names = JSON.stringify(scope?.map(table => [table.schema, table.name]) ?? [])
  const inScope = scope
    ? sql`and (n.nspname, c.relname) in (select e->>0, e->>1 from pg_catalog.json_array_elements(${names}::json) e)`
    : raw('')
  return sql`
    relation as (
      select c.oid, c.relkind, c.relname, n.nspname, c.reltuples
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f')
        and not c.relispartition
        and n.nspname <> 'information_schema'
        and n.nspname !~ '^pg_'
        and not exists (
          select from pg_catalog.pg_depend d
          where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
        ${inScope}
    )`
}

/**
 * Row estimates of the last ANALYZE or VACUUM. Never analysed is -1, before PostgreSQL 14 it was 0, which then
 * is no news; of a partitioned table, the sum over its partitions.
 */
const ESTIMATES = raw(`
    tree as (
      select r.oid as root, i.inhrelid as oid
      from relation r join pg_catalog.pg_inherits i on i.inhparent = r.oid where r.relkind = 'p'
      union all
      select t.root, i.inhrelid from tree t join pg_catalog.pg_inherits i on i.inhparent = t.oid
    ),
    counted as (
      select oid as root, oid from relation where relkind in ('r', 'm', 'f')
      union all
      select root, oid from tree
    ),
    estimate as (
      select counted.root as oid, pg_catalog.sum(c.reltuples::float8) as rows
      from counted join pg_catalog.pg_class c on c.oid = counted.oid
      where c.relkind <> 'p'
        and (c.reltuples > 0
          or c.reltuples = 0 and pg_catalog.current_setting('server_version_num')::int >= 140000)
      group by counted.root
    )`)

/** The type under each domain; a domain may rest on a domain. */
const DOMAINS = raw(`
    domain as (
      select oid, typbasetype as base from pg_catalog.pg_type where typtype = 'd'
      union all
      select d.oid, t.typbasetype from domain d join pg_catalog.pg_type t on t.oid = d.base where t.typtype = 'd'
    ),
    root as (
      select d.oid, d.base from domain d join pg_catalog.pg_type t on t.oid = d.base where t.typtype <> 'd'
    )`)

const TABLES = raw(`
    select 'table' as part, r.oid, json_build_object(
      'schema', r.nspname, 'name', r.relname, 'kind', r.relkind,
      'comment', d.description, 'rows', e.rows) as body
    from relation r
    left join estimate e on e.oid = r.oid
    left join pg_catalog.pg_description d
      on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = r.oid and d.objsubid = 0`)

// Built-in types have oids below 16384, so that a type of the customer's called int4 is not taken for one.
const COLUMNS = raw(`
    select 'column', r.oid, json_build_object(
      'name', a.attname, 'ordinal', a.attnum,
      'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'builtin', case when base.oid < 16384 then base.typname end, 'category', base.typcategory,
      'nullable', not (a.attnotnull or own.typnotnull),
      'default', pg_catalog.pg_get_expr(f.adbin, f.adrelid),
      'comment', d.description)
    from relation r
    join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type own on own.oid = a.atttypid
    left join root on root.oid = own.oid
    join pg_catalog.pg_type base on base.oid = coalesce(root.base, own.oid)
    left join pg_catalog.pg_attrdef f on f.adrelid = r.oid and f.adnum = a.attnum
    left join pg_catalog.pg_description d
      on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = r.oid and d.objsubid = a.attnum`)

/** The names of the columns whose numbers an array holds, in its order. */
function names(relation: string, numbers: string): string {
  return `(select json_agg(a.attname order by k.position)
      from pg_catalog.unnest(${numbers}) with ordinality k (number, position)
      join pg_catalog.pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`
}

// conparentid: PostgreSQL copies a foreign key for each partition of the table it refers to.
const CONSTRAINTS = raw(`
    select 'constraint', r.oid, json_build_object(
      'name', c.conname, 'type', c.contype, 'columns', ${names('c.conrelid', 'c.conkey')},
      'schema', tn.nspname, 'table', t.relname, 'at', ${names('c.confrelid', 'c.confkey')})
    from relation r
    join pg_catalog.pg_constraint c on c.conrelid = r.oid and c.contype in ('p', 'u', 'f') and c.conparentid = 0
    left join pg_catalog.pg_class t on t.oid = c.confrelid
    left join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
    union all
    select 'constraint', r.oid, json_build_object(
      'name', i.relname, 'type', 'u',
      'columns', ${names('x.indrelid', '(x.indkey::int2[])[0:x.indnkeyatts - 1]')})
    from relation r
    join pg_catalog.pg_index x on x.indrelid = r.oid
    join pg_catalog.pg_class i on i.oid = x.indexrelid
    where x.indisunique and x.indisvalid and x.indpred is null and x.indexprs is null
      and not exists (
        select from pg_catalog.pg_constraint c where c.conindid = x.indexrelid and c.contype in ('p', 'u', 'x'))`)

/**
 * The whole catalog in one statement, so that a table dropped meanwhile is either told or not, never without
 * its columns. Rows are `part` (table, column, constraint), `oid` of the relation and `body`.
 */
export function catalogQuery(scope: readonly TableRef[] | undefined): Sql {
  return sql`
    with recursive ${relations(scope)}, ${ESTIMATES}, ${DOMAINS}
    ${TABLES}
    union all ${COLUMNS}
    union all ${CONSTRAINTS}`
}

/** Row estimates of some tables: `schema`, `name`, `rows`. */
export function estimatesQuery(tables: readonly TableRef[]): Sql {
  return sql`
    with recursive ${relations(tables)}, ${ESTIMATES}
    select r.nspname as schema, r.relname as name, e.rows
    from relation r join estimate e on e.oid = r.oid`
}
