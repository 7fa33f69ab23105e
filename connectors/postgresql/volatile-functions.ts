import type { SqlReference } from '../dialect.ts'
import { join, sql, type Sql } from '../sql.ts'

/**
 * The functions that are VOLATILE in pg_proc among those that calls may reach: by name, every overload found through
 * the search path or in the schema that is written; as a field; behind an operator; within an aggregate; behind a
 * cast to or from a type that is named, which `type(x)` is too; and in the constraints of a domain, also within the
 * composite types and arrays that are named; and what the views call that are read, also through other views. Not what
 * is called within a function, which its owner has declared. Read from the catalog alone, which knows expressions as
 * trees of node names.
 */
export function volatileFunctions(calls: readonly SqlReference[]): Sql {
  const listed = calls.map(
    ({ kind, schema, name }) => sql`(${kind}::text, ${schema ?? null}::text, ${name}::text)`,
  )
  const hasAny = (...kinds: SqlReference['kind'][]) => calls.some(({ kind }) => kinds.includes(kind))
  // Without what nothing asks for: planning the whole takes longer than running it.
  const parts = [
    ...(hasAny('function', 'column', 'field') ? [{ tables: [FUNCTIONS], reached: REACHED_BY_NAME }] : []),
    ...(hasAny('operator') ? [{ tables: [], reached: REACHED_BY_OPERATOR }] : []),
    ...(hasAny('type', 'function', 'field') ? [{ tables: [TYPES], reached: REACHED_BY_TYPE }] : []),
    ...(hasAny('table') ? [{ tables: [VIEWS, NODES], reached: REACHED_BY_VIEW }] : []),
  ]
  const tables = [
    sql`called (kind, schema, name) as (values ${join(listed)})`,
    ...parts.flatMap(part => part.tables),
    sql`reached (oid, used) as (${
      parts.length > 0
        ? join(
            parts.map(part => part.reached),
            ' union all ',
          )
        : NOTHING
    })`,
  ]
  return sql`
with recursive ${join(tables)}
select distinct n.nspname || '.' || p.proname as name, reached.used
from reached
join pg_catalog.pg_proc p on p.oid = reached.oid
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where p.provolatile = 'v' and p.prokind <> 'p'
order by 2, 1
limit 10`
}

const NOTHING = sql`select null::oid, '' where false`

const FUNCTIONS = sql`
functions (oid) as (
  select p.oid
  from called c
  join pg_catalog.pg_proc p on p.proname = c.name
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where c.kind in ('function', 'column', 'field')
    and case when c.schema is null then pg_catalog.pg_function_is_visible(p.oid) else n.nspname = c.schema end
    and (c.kind = 'function'
      or p.pronargs >= 1 and (p.pronargs - p.pronargdefaults <= 1 or p.provariadic <> 0))
    and (c.kind <> 'column' or exists (
      select from pg_catalog.pg_type t where t.oid = p.proargtypes[0] and t.typtype in ('c', 'p')))
)`

const REACHED_BY_NAME = sql`
  select oid, '' from functions
  union all
  select part.oid, 'the aggregate ' || a.aggfnoid::text
  from functions
  join pg_catalog.pg_aggregate a on a.aggfnoid = functions.oid
  cross join lateral (values (a.aggtransfn::oid), (a.aggfinalfn), (a.aggcombinefn), (a.aggmtransfn),
    (a.aggminvtransfn), (a.aggmfinalfn)) part (oid)`

const REACHED_BY_OPERATOR = sql`
  select o.oprcode::oid, 'the operator ' || o.oprname
  from called c
  join pg_catalog.pg_operator o on o.oprname = c.name
  join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
  where c.kind = 'operator'
    and case when c.schema is null then pg_catalog.pg_operator_is_visible(o.oid) else n.nspname = c.schema end`

const TYPES = sql`
types (oid) as (
  select t.oid
  from called c
  join pg_catalog.pg_type t on t.typname = c.name
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  where c.kind in ('type', 'function', 'field')
    and case when c.schema is null then pg_catalog.pg_type_is_visible(t.oid) else n.nspname = c.schema end
  union
  select part.oid
  from types
  join pg_catalog.pg_type t on t.oid = types.oid
  cross join lateral (
    select t.typbasetype union all select t.typelem union all
    select a.atttypid from pg_catalog.pg_attribute a
    where t.typrelid <> 0 and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
  ) part (oid)
  where part.oid <> 0
)`

const REACHED_BY_TYPE = sql`
  select k.castfunc::oid, 'the cast from ' || pg_catalog.format_type(k.castsource, null)
    || ' to ' || pg_catalog.format_type(k.casttarget, null)
  from pg_catalog.pg_cast k
  where k.castfunc <> 0 and k.casttarget in (select oid from types)
  union all
  select node.id[1]::oid, 'the domain ' || pg_catalog.format_type(d.contypid, null)
  from pg_catalog.pg_constraint d
  cross join lateral pg_catalog.regexp_matches(d.conbin::text, ':(?:func|opfunc)id (\\d+)', 'g') node (id)
  where d.contypid in (select oid from types) and d.contypid <> 0`

/** The views that are read, and those that they read. A materialized view is read as it was stored. */
const VIEWS = sql`
views (oid, name) as (
  select v.oid, n.nspname || '.' || v.relname
  from called c
  join pg_catalog.pg_class v on v.relname = c.name and v.relkind = 'v'
  join pg_catalog.pg_namespace n on n.oid = v.relnamespace
  where c.kind = 'table'
    and case when c.schema is null then pg_catalog.pg_table_is_visible(v.oid) else n.nspname = c.schema end
  union
  select v.oid, n.nspname || '.' || v.relname
  from views
  join pg_catalog.pg_rewrite r on r.ev_class = views.oid
  cross join lateral pg_catalog.regexp_matches(r.ev_action::text, ':relid (\\d+)', 'g') node (id)
  join pg_catalog.pg_class v on v.oid = node.id[1]::oid and v.relkind = 'v'
  join pg_catalog.pg_namespace n on n.oid = v.relnamespace
)`

/** What stands in their queries. pg_depend has not what PostgreSQL itself brings, such as random(). */
const NODES = sql`
nodes (view, field, oid) as (
  select distinct views.name, node.found[1], node.found[2]::oid
  from views
  join pg_catalog.pg_rewrite r on r.ev_class = views.oid
  cross join lateral pg_catalog.regexp_matches(r.ev_action::text,
    ':(funcid|opfuncid|winfnoid|aggfnoid|opno|eqop|sortop|resulttype) (\\d+)', 'g') node (found)
)`

const REACHED_BY_VIEW = sql`
  select oid, 'the view ' || view from nodes where field in ('funcid', 'opfuncid', 'winfnoid')
  union all
  select o.oprcode::oid, 'the view ' || view
  from nodes join pg_catalog.pg_operator o on o.oid = nodes.oid
  where field in ('opno', 'eqop', 'sortop')
  union all
  select part.oid, 'the aggregate ' || a.aggfnoid::text || ' of the view ' || view
  from nodes
  join pg_catalog.pg_aggregate a on a.aggfnoid = nodes.oid
  cross join lateral (values (a.aggtransfn::oid), (a.aggfinalfn), (a.aggcombinefn), (a.aggmtransfn),
    (a.aggminvtransfn), (a.aggmfinalfn)) part (oid)
  where field in ('aggfnoid', 'winfnoid')
  union all
  select node.id[1]::oid, 'the domain ' || pg_catalog.format_type(d.contypid, null) || ' of the view ' || view
  from nodes
  join pg_catalog.pg_constraint d on d.contypid = nodes.oid and d.contypid <> 0
  cross join lateral pg_catalog.regexp_matches(d.conbin::text, ':(?:func|opfunc)id (\\d+)', 'g') node (id)
  where field = 'resulttype'`
