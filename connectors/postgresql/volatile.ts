import type { Call } from '../dialect.ts'
import { join, sql, type Sql } from '../sql.ts'

/**
 * The functions that are VOLATILE in pg_proc among those that calls may reach: by name, every overload found through
 * the search path or in the schema that is written; as a field; behind an operator; within an aggregate; behind a
 * cast to or from a type that is named, which `type(x)` is too; and in the constraints of a domain, also within the
 * composite types and arrays that are named. What views call is not looked at: it is their owner's, and every other
 * check of the view runs it as well. Read from the catalog alone, which knows expressions as trees of node names.
 */
export function volatileFunctions(calls: readonly Call[]): Sql {
  const listed = calls.map(
    ({ kind, schema, name }) => sql`(${kind}::text, ${schema ?? null}::text, ${name}::text)`,
  )
  const hasAny = (...kinds: Call['kind'][]) => calls.some(({ kind }) => kinds.includes(kind))
  // Without what nothing asks for: planning the whole takes longer than running it.
  const parts = [
    ...(hasAny('function', 'column', 'field') ? [{ tables: [FUNCTIONS], reached: REACHED_BY_NAME }] : []),
    ...(hasAny('operator') ? [{ tables: [], reached: REACHED_BY_OPERATOR }] : []),
    ...(hasAny('type', 'function', 'field') ? [{ tables: [TYPES], reached: REACHED_BY_TYPE }] : []),
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
