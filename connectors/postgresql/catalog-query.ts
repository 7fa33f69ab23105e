import type { TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import { raw, sql, type Sql } from '../sql.ts'

/**
 * The server prints names of types and of what defaults use without their schema where the search path finds them.
 * It is the same for this statement whatever the role has been given, lest every type change with it. What reads
 * `relation` comes after it.
 */
const PATH = raw(`
    path as (select pg_catalog.set_config('search_path', 'public', true) as given)`)

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
      where (select given from path) is not null
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
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

/** The type under each domain, which may rest on a domain, and whether one of them refuses NULL. */
const DOMAINS = raw(`
    domain as (
      select oid, typbasetype as base, typtypmod as modifier, typnotnull as required
      from pg_catalog.pg_type where typtype = 'd'
      union all
      select d.oid, t.typbasetype, t.typtypmod, d.required or t.typnotnull
      from domain d join pg_catalog.pg_type t on t.oid = d.base where t.typtype = 'd'
    ),
    root as (
      select d.oid, d.base, d.modifier, d.required
      from domain d join pg_catalog.pg_type t on t.oid = d.base where t.typtype <> 'd'
    )`)

/**
 * The types and collations of columns, and the types that people created which these are made of: under domains, in
 * arrays, in composite types. What is built in has oids below 16384.
 */
const USED = raw(`
    used as (
      select distinct a.atttypid as oid, a.atttypmod as modifier, a.attcollation as sorting
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    ),
    created as (
      select distinct oid from used where oid >= 16384
      union
      select inside.oid
      from created
      join pg_catalog.pg_type t on t.oid = created.oid
      cross join lateral (
        select case t.typtype when 'd' then t.typbasetype else t.typelem end as oid
        where t.typtype = 'd' or t.typcategory = 'A'
        union all
        select a.atttypid from pg_catalog.pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      ) as inside
      where inside.oid >= 16384
    )`)

/**
 * A row of `catalogQuery`. A wide row for each column of a big catalog would cost memory, so that what a to d are
 * depends on the part:
 *
 * | part       | oid       | number          | name | a        | b               | c       | d          |
 * |------------|-----------|-----------------|------|----------|-----------------|---------|------------|
 * | table      | relation  |                 | name | relkind  | schema          | comment | rows       |
 * | type       | type      | modifier        | name | category | built-in name   | base    | required   |
 * | column     | relation  | number          | name | type key | default         | comment | required   |
 * | member     | type      | order           | name | type     | its name        | role    | built-in   |
 * | collation  | collation |                 | name | exact    |                 |         |            |
 * | constraint | relation  | key columns     | name | nature   | column numbers  | target  | numbers at |
 * | target     | target    | number          | name | table    | schema          |         |            |
 * | partition  | relation  |                 |      | strategy | column numbers  |         |            |
 *
 * `required` is true where NULL is refused; ` 0 ` and `attidentity` follow where there is one, or the oid of the collation
 * in place of 0 where it is not the default, and ` g` and `attgenerated` where there is one. A member is a label of an enumeration, an attribute of a
 * composite type, or the type within a domain or an array, by its role. `base` is the type under a domain. `key columns` is how many of the numbers count, null for all. `nature` is
 * seven characters: contype, confupdtype, confdeltype, confmatchtype, and t or f for deferrable, initially deferred and
 * nulls not distinct. A collation is exact unless it is nondeterministic. A target is a table outside the scope that a foreign key
 * refers to, a row for each of its columns that are named. The numbers of a partition key are those of its columns, and 0 where
 * it has an expression.
 */
export interface PostgresqlCatalogRow extends Row, Record<'a' | 'b' | 'c' | 'd', string | null> {
  part: 'table' | 'type' | 'member' | 'column' | 'collation' | 'constraint' | 'target' | 'partition'
  oid: number
  number: number | null
  name: string
}

const TABLES = raw(`
    select 'table' as part, r.oid, null::int as number, r.relname::text as name,
      r.relkind::text as a, r.nspname::text as b, d.description as c, e.rows::text as d
    from relation r
    left join estimate e on e.oid = r.oid
    left join pg_catalog.pg_description d
      on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = r.oid and d.objsubid = 0`)

// Each type is described once: a thousand columns have a few types.
// Built-in types have oids below 16384, so that a type of the customer's called int4 is not taken for one.
const TYPES = raw(`
    select 'type', own.oid, used.modifier, pg_catalog.format_type(own.oid, used.modifier),
      base.typcategory::text, case when base.oid < 16384 then base.typname::text end,
      pg_catalog.format_type(root.base, root.modifier), coalesce(root.required, false)::text
    from (select distinct oid, modifier from used) used
    join pg_catalog.pg_type own on own.oid = used.oid
    left join root on root.oid = own.oid
    join pg_catalog.pg_type base on base.oid = coalesce(root.base, own.oid)`)

const MEMBERS = raw(`
    select 'member', t.oid, null, '', i.oid::text, null, 'inner', case when i.oid < 16384 then i.typname::text end
    from created
    join pg_catalog.pg_type t on t.oid = created.oid and (t.typtype = 'd' or t.typcategory = 'A')
    join pg_catalog.pg_type i on i.oid = case t.typtype when 'd' then t.typbasetype else t.typelem end
    union all
    select 'member', e.enumtypid, pg_catalog.row_number() over (partition by e.enumtypid order by e.enumsortorder)::int,
      e.enumlabel::text, null, null, 'label', null
    from created join pg_catalog.pg_enum e on e.enumtypid = created.oid
    union all
    select 'member', t.oid, a.attnum, a.attname::text, a.atttypid::text,
      pg_catalog.format_type(a.atttypid, a.atttypmod), 'attribute',
      case when a.atttypid < 16384 then i.typname::text end
    from created
    join pg_catalog.pg_type t on t.oid = created.oid and t.typtype = 'c'
    join pg_catalog.pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type i on i.oid = a.atttypid`)

// attgenerated exists since PostgreSQL 12; before, the name in the sub-query is that of the column of "missing". A key of
// JSON would be missing too, and took half of the time of the whole catalog.
// 19 and 950 are the type name and its collation, 100 is the default one.
const COLUMNS = raw(`
    select 'column', r.oid, a.attnum, a.attname::text, a.atttypid::text || ' ' || a.atttypmod::text,
      pg_catalog.pg_get_expr(f.adbin, f.adrelid), d.description,
      a.attnotnull::text
        || case when sorting.oid = 0 and a.attidentity = '' then '' else ' ' || sorting.oid::text || ' ' || a.attidentity::text end
        || coalesce(' g' || nullif((select attgenerated from (select a.*) own)::text, ''), '')
    from relation r
    join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_attrdef f on f.adrelid = r.oid and f.adnum = a.attnum
    cross join lateral (
      select case when a.attcollation = 100 or a.atttypid = 19 and a.attcollation = 950 then 0
        else a.attcollation end as oid) sorting
    cross join (select ''::"char" as attgenerated) missing
    left join pg_catalog.pg_description d
      on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = r.oid and d.objsubid = a.attnum`)

// Only a collation that was created may be nondeterministic, and of PostgreSQL 11 none is: it has no such column.
const COLLATIONS = raw(`
    select 'collation', o.oid, null, o.collname::text,
      coalesce(pg_catalog.to_jsonb(o) ->> 'collisdeterministic', 'true'), null, null, null
    from (select distinct sorting from used where sorting not in (0, 100)) u
    join pg_catalog.pg_collation o on o.oid = u.sorting`)

// conparentid: PostgreSQL copies a foreign key for each partition of the table it refers to.
// indnullsnotdistinct exists since PostgreSQL 15; as a key of JSON it is simply missing before.
const CONSTRAINTS = raw(`
    select 'constraint', r.oid, null, c.conname::text,
      pg_catalog.concat(c.contype, c.confupdtype, c.confdeltype, c.confmatchtype, c.condeferrable, c.condeferred,
        coalesce((pg_catalog.to_jsonb(x) ->> 'indnullsnotdistinct')::bool, false)),
      pg_catalog.array_to_string(c.conkey, ' '), nullif(c.confrelid, 0)::text,
      pg_catalog.array_to_string(c.confkey, ' ')
    from relation r
    join pg_catalog.pg_constraint c on c.conrelid = r.oid and c.contype in ('p', 'u', 'f') and c.conparentid = 0
    left join pg_catalog.pg_index x on x.indexrelid = c.conindid and c.contype = 'u'
    union all
    select 'constraint', r.oid, x.indnkeyatts, i.relname::text,
      pg_catalog.concat('u   ff', coalesce((pg_catalog.to_jsonb(x) ->> 'indnullsnotdistinct')::bool, false)),
      x.indkey::text, null, null
    from relation r
    join pg_catalog.pg_index x on x.indrelid = r.oid
    join pg_catalog.pg_class i on i.oid = x.indexrelid
    left join pg_catalog.pg_constraint c on c.conindid = x.indexrelid and c.contype in ('p', 'u', 'x')
    where x.indisunique and x.indisvalid and x.indpred is null and x.indexprs is null and c.oid is null`)

const TARGETS = raw(`
    select distinct 'target', t.oid, a.attnum::int, a.attname::text, t.relname::text, n.nspname::text,
      null::text, null::text
    from relation r
    join pg_catalog.pg_constraint c on c.conrelid = r.oid and c.contype = 'f' and c.conparentid = 0
    join pg_catalog.pg_class t on t.oid = c.confrelid
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = any(c.confkey)
    left join relation known on known.oid = t.oid
    where known.oid is null`)

// partattrs is an int2vector, whose text is numbers with spaces between them.
const PARTITION_KEYS = raw(`
    select 'partition', r.oid, null, '', p.partstrat::text, p.partattrs::text, null, null
    from relation r join pg_catalog.pg_partitioned_table p on p.partrelid = r.oid where r.relkind = 'p'`)

/**
 * The whole catalog in one statement, so that a table dropped meanwhile is either listed or not, never without
 * its columns. Its rows are `CatalogRow`s in no order.
 */
export function catalogQuery(scope: readonly TableRef[] | undefined): Sql {
  return sql`
    with recursive ${PATH}, ${relations(scope)}, ${ESTIMATES}, ${DOMAINS}, ${USED}
    ${TABLES}
    union all ${TYPES}
    union all ${MEMBERS}
    union all ${COLUMNS}
    union all ${COLLATIONS}
    union all ${CONSTRAINTS}
    union all ${TARGETS}
    union all ${PARTITION_KEYS}`
}

/**
 * `schema`, `name`, `definition` of views. Only what is in `pg_catalog` is printed without its schema, whatever the search
 * path of the role is.
 */
export const viewsQuery = sql`
    with path as (select pg_catalog.set_config('search_path', 'pg_catalog', true) as given)
    select n.nspname as schema, c.relname as name, pg_catalog.pg_get_viewdef(c.oid) as definition
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where (select given from path) is not null
      and c.relkind in ('v', 'm')
      and n.nspname <> 'information_schema'
      and n.nspname !~ '^pg_'
      and not exists (
        select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

/** Row estimates of some tables: `schema`, `name`, `rows`. */
export function estimatesQuery(tables: readonly TableRef[]): Sql {
  return sql`
    with recursive ${PATH}, ${relations(tables)}, ${ESTIMATES}
    select r.nspname as schema, r.relname as name, e.rows
    from relation r join estimate e on e.oid = r.oid`
}

/** Which of some tables are partitions: `schema`, `name`, `oid`, and of the outermost table `parent_schema` and `parent`. */
export function partitionsQuery(tables: readonly TableRef[]): Sql {
  const names = JSON.stringify(tables.map(table => [table.schema, table.name]))
  return sql`
    with recursive partition as (
      select c.oid, c.relname, n.nspname
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relispartition
        and (n.nspname, c.relname) in (select e->>0, e->>1 from pg_catalog.json_array_elements(${names}::json) e)
    ),
    ancestor as (
      select p.oid as leaf, i.inhparent as oid
      from partition p join pg_catalog.pg_inherits i on i.inhrelid = p.oid
      union all
      select a.leaf, i.inhparent
      from ancestor a join pg_catalog.pg_inherits i on i.inhrelid = a.oid
    )
    select p.nspname as schema, p.relname as name, p.oid, n.nspname as parent_schema, c.relname as parent
    from partition p
    join ancestor a on a.leaf = p.oid
    join pg_catalog.pg_class c on c.oid = a.oid and c.relkind = 'p' and not c.relispartition
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace`
}
