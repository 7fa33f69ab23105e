import { formatName } from '../../../../connectors/catalog.ts'
import type { SchemaDifference } from '../../../../plugins/catalog/drift/diff.ts'
import type { Source } from '../../../helpers/source.ts'
import { within } from './replay.ts'

/** What PostgreSQL has, by its own catalog; `before_…` is what it had when it was asked last. */
const LOOK = `
  drop table if exists before_table, before_column, before_constraint;
  alter table if exists now_table rename to before_table;
  alter table if exists now_column rename to before_column;
  alter table if exists now_constraint rename to before_constraint;
  create temp table now_table as
    select c.oid, n.nspname::text as nsp, c.relname::text as name,
      case c.relkind when 'v' then 'view' when 'm' then 'materialized_view' when 'f' then 'external_table'
        else 'table' end as kind
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema';
  create temp table now_column as
    select a.attrelid as oid, a.attnum as num, a.attname::text as name, format_type(a.atttypid, case
        when a.atttypid in ('timestamp'::regtype, 'timestamptz'::regtype) and a.atttypmod = 6 then -1 -- its default
        else a.atttypmod end) as type,
      a.attnotnull or t.typtype = 'd' and t.typnotnull as required,
      pg_get_expr(d.adbin, d.adrelid) as expression,
      -- The tree names columns by number, so that it does not change with their names.
      case when a.attgenerated <> '' then d.adbin::text end as tree,
      concat(a.attidentity, a.attgenerated, nullif(a.attcollation, 100)) as properties,
      (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum e where e.enumtypid = a.atttypid) as labels
    from now_table r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum;
  create temp table now_constraint as
    select c.conrelid as oid, c.conname::text as name, c.contype::text as type, c.conkey::int[] as keys,
      c.confrelid as target, (select n.nspname || chr(0 + 1) || t.relname from pg_class t
        join pg_namespace n on n.oid = t.relnamespace where t.oid = c.confrelid) as target_name,
      c.confkey::int[] as target_keys,
      -- What stands around the lists of columns.
      trim(regexp_replace(replace(pg_get_constraintdef(c.oid), ' NOT VALID', ''), '[(].*[)]', '')) as rules
    from pg_constraint c join now_table r on r.oid = c.conrelid
    where c.contype in ('p', 'u', 'f') and c.conparentid = 0
    union all
    select x.indrelid, i.relname::text, 'u', (string_to_array(x.indkey::text, ' ')::int[])[1:x.indnkeyatts], 0, null, null,
      case when x.indnullsnotdistinct then 'UNIQUE NULLS NOT DISTINCT' else 'UNIQUE' end
    from pg_index x join pg_class i on i.oid = x.indexrelid join now_table r on r.oid = x.indrelid
    where x.indisunique and x.indpred is null and x.indexprs is null
      and not exists (select from pg_constraint c where c.conindid = x.indexrelid and c.contype in ('p', 'u', 'x'))`

/** What changed between the two, by relation and column numbers, as far as drift reports it. */
const COMPARE = `
  with pair as (
    select b.oid as b, n.oid as n, false as moved, nsp, name
    from before_table b join now_table n using (nsp, name, kind)
    union all
    select oid, oid, true, n.nsp, n.name
    from before_table b join now_table n using (oid, kind)
    where (b.nsp, b.name) <> (n.nsp, n.name)
      and not exists (select from now_table x where (x.nsp, x.name, x.kind) = (b.nsp, b.name, b.kind))
      and not exists (select from before_table x where (x.nsp, x.name, x.kind) = (n.nsp, n.name, n.kind))
  ),
  numbered as (
    select p.b, p.n, b.num as b_num, n.num as n_num
    from pair p join before_column b on b.oid = p.b join now_column n on n.oid = p.n and n.num = b.num
    where p.b = p.n
  ),
  matched as (
    select * from numbered
    union all
    select p.b, p.n, b.num, n.num
    from pair p join before_column b on b.oid = p.b join now_column n on n.oid = p.n and n.name = b.name
    where not exists (select from numbered m where (m.b, m.b_num) = (p.b, b.num))
      and not exists (select from numbered m where (m.n, m.n_num) = (p.n, n.num))
  ),
  told_column as (
    select p.*, b.name as b_name, n.name as n_name, concat(
      case when b.type <> n.type then 'T' end,
      case when b.required <> n.required then 'N' end,
      case when b.expression is distinct from n.expression and (b.tree = n.tree) is not true then 'D' end,
      case when b.type = n.type and (b.properties, b.labels) is distinct from (n.properties, n.labels)
        then 'P' end) as what
    from matched m join pair p using (b, n)
    join before_column b on (b.oid, b.num) = (m.b, m.b_num)
    join now_column n on (n.oid, n.num) = (m.n, m.n_num)
  ),
  now_name as (
    select b.oid, b.num, coalesce(n.name, b.name) as name
    from before_column b left join matched m on (m.b, m.b_num) = (b.oid, b.num)
    left join now_column n on (n.oid, n.num) = (m.n, m.n_num)
  ),
  every_constraint_before as (
    select p.n as oid, c.name, c.type, array[
      (select string_agg(w.name, ',' order by place) from unnest(c.keys) with ordinality k (num, place)
        join now_name w on (w.oid, w.num) = (c.oid, k.num)),
      coalesce((select t.nsp || chr(1) || t.name from pair t where t.b = c.target), c.target_name),
      (select string_agg(w.name, ',' order by place) from unnest(c.target_keys) with ordinality k (num, place)
        join now_name w on (w.oid, w.num) = (c.target, k.num)), c.rules] as is
    from pair p join before_constraint c on c.oid = p.b where not p.moved
  ),
  every_constraint_now as (
    select p.n as oid, c.name, c.type, array[
      (select string_agg(w.name, ',' order by place) from unnest(c.keys) with ordinality k (num, place)
        join now_column w on (w.oid, w.num) = (c.oid, k.num)),
      c.target_name,
      (select string_agg(w.name, ',' order by place) from unnest(c.target_keys) with ordinality k (num, place)
        join now_column w on (w.oid, w.num) = (c.target, k.num)), c.rules] as is
    from pair p join now_constraint c on c.oid = p.n where not p.moved
  ),
  -- Without those that are equal but for their names.
  other_before as (
    select *, row_number() over (partition by oid, type, "is" order by name collate "C") as place
    from every_constraint_before b
    where not exists (select from every_constraint_now n where (n.oid, n.name, n.type, n.is) = (b.oid, b.name, b.type, b.is))
  ),
  other_now as (
    select *, row_number() over (partition by oid, type, "is" order by name collate "C") as place
    from every_constraint_now n
    where not exists (select from every_constraint_before b where (n.oid, n.name, n.type, n.is) = (b.oid, b.name, b.type, b.is))
  ),
  constraint_before as (
    select * from other_before b
    where not exists (select from other_now n where (n.oid, n.place, n.type, n.is) = (b.oid, b.place, b.type, b.is))
  ),
  constraint_now as (
    select * from other_now n
    where not exists (select from other_before b where (n.oid, n.place, n.type, n.is) = (b.oid, b.place, b.type, b.is))
  ),
  constraint_pair as (
    select oid, name, b.type as b_type, n.type as n_type, b.is as b_is, n.is as n_is
    from constraint_before b full join constraint_now n using (oid, name)
    where b.type is null or n.type is null or b.type = n.type
      or not exists (select from constraint_now x where (x.oid, x.name, x.type) = (b.oid, b.name, b.type))
        and not exists (select from constraint_before x where (x.oid, x.name, x.type) = (n.oid, n.name, n.type))
    union all
    -- One of two of the same name and of different types.
    select oid, name, b.type, null, b.is, null from constraint_before b
    where exists (select from constraint_now x where (x.oid, x.name) = (b.oid, b.name))
      and not exists (select from constraint_now x where (x.oid, x.name, x.type) = (b.oid, b.name, b.type))
      and exists (select from constraint_before x where (x.oid, x.name) = (b.oid, b.name) and x.type <> b.type)
    union all
    select oid, name, null, n.type, null, n.is from constraint_now n
    where exists (select from constraint_before x where (x.oid, x.name) = (n.oid, n.name))
      and not exists (select from constraint_before x where (x.oid, x.name, x.type) = (n.oid, n.name, n.type))
      and exists (select from constraint_now x where (x.oid, x.name) = (n.oid, n.name) and x.type <> n.type)
  )
  select nsp, name, 'table_removed ' || kind as what from before_table b
  where not exists (select from now_table n where (n.nsp, n.name, n.kind) = (b.nsp, b.name, b.kind))
  union all
  select nsp, name, 'table_added ' || kind from now_table n
  where not exists (select from before_table b where (n.nsp, n.name, n.kind) = (b.nsp, b.name, b.kind))
  union all
  select nsp, name, 'column_renamed ' || b_name || ' ' || n_name from told_column where b_name <> n_name
  union all
  select nsp, name, 'column_type_changed ' || n_name || ' ' || what from told_column where what <> '' and not moved
  union all
  select p.nsp, p.name, 'column_removed ' || b.name from pair p join before_column b on b.oid = p.b
  where not moved and not exists (select from matched m where (m.b, m.b_num) = (b.oid, b.num))
  union all
  select p.nsp, p.name, 'column_added ' || n.name from pair p join now_column n on n.oid = p.n
  where not moved and not exists (select from matched m where (m.n, m.n_num) = (n.oid, n.num))
  union all
  select p.nsp, p.name, 'constraint_changed ' || c.name || ' ' || coalesce(b_type, '-') || coalesce(n_type, '-')
  from constraint_pair c join pair p on p.n = c.oid and not p.moved
  where b_type is distinct from n_type or b_is is distinct from n_is`

/** Asks PostgreSQL what changed since the last time, in the owner's session. */
export async function witnessPostgresql(source: Source): Promise<string[]> {
  await source.query(LOOK)
  const [seen] = await source.query(`select to_regclass('pg_temp.before_table') is not null as before`)
  const rows = seen?.before ? await source.query(COMPARE) : []
  return rows.map(row => `${formatName([String(row.nsp), String(row.name)])} ${String(row.what)}`)
}

interface Value {
  name: string
  type?: string
  data_type?: string
  nullable?: boolean
  default?: string | null
  enum_labels?: string[]
  collation?: string
  auto_increment?: string
  generated?: string
}

/** Changes in the words of the witness. */
export function briefPostgresql(catalog: string, changes: readonly SchemaDifference[]): string[] {
  return changes.map(change => `${within(catalog, change.path)} ${change.changeType} ${detail(change)}`)
}

function detail({ changeType, objectName, oldValue, newValue }: SchemaDifference): string {
  const [a, b] = [oldValue as Value | null, newValue as Value | null]
  if (changeType === 'constraint_changed') {
    return `${(b ?? a)?.name} ${a?.type?.[0] ?? '-'}${b?.type?.[0] ?? '-'}`
  }
  if (changeType === 'column_renamed') return `${a?.name} ${b?.name}`
  if (changeType !== 'column_type_changed') return (b ?? a)?.type ?? objectName
  const what = [
    a?.data_type === b?.data_type ? '' : 'T',
    a?.nullable === b?.nullable ? '' : 'N',
    a?.default === b?.default ? '' : 'D',
    a?.data_type === b?.data_type && propertiesOf(a) !== propertiesOf(b) ? 'P' : '',
  ]
  return `${objectName} ${what.join('')}`
}

function propertiesOf(value: Value | null): string {
  const { enum_labels: labels, collation, auto_increment: identity, generated } = value ?? {}
  return JSON.stringify([labels, collation, identity, generated])
}
