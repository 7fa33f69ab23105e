import { loadModule } from 'libpg-query'
import { ALL_COLUMNS } from '../../../../plugins/lineage/api.ts'
import type { TableName } from '../../../../plugins/lineage/views/columns.ts'
import { readDefinition } from '../../../../plugins/lineage/views/definition.ts'
import type { Source } from '../../../helpers/source.ts'

/** Tables that the views of the tests are made from; some names are in two schemas. */
export const SHOP = [
  'create schema sales',
  'create type address as (street text, city text)',
  `create table customers (id int primary key, email text, name text, home address, tags text[], doc jsonb,
     parent_id int)`,
  'create table orders (id int primary key, customer_id int, total numeric, status text, placed_at timestamptz, note text)',
  'create table items (order_id int, line int, sku text, price numeric, quantity int)',
  'create table "Odd Names" (id int, "a.b" text, "select" int, "Ümlaut" text)',
  'create table events (id int, at timestamptz, kind text) partition by range (at)',
  `create table events_1 partition of events for values from ('2020-01-01') to ('2030-01-01')`,
  'create table sales.orders (id int, amount numeric, region text)',
  'create table sales.targets (region text, goal numeric, customer_id int)',
  `create function series(n int) returns table (step int, label text) language sql as
     'select g, g::text from generate_series(1, n) g'`,
  `create function twice(numeric) returns numeric language sql as 'select 2 * $1'`,
]

export const SEARCH_PATH = ['public', 'sales']

/** What each view uses by pg_depend: `schema.table` and `schema.table.column`. */
export async function readDepend(source: Source): Promise<Map<string, Set<string>>> {
  const rows = await source.query(`
    select v.relname as view, n.nspname || '.' || c.relname as table, a.attname as column
      from pg_rewrite r
      join pg_class v on v.oid = r.ev_class
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
       and d.refclassid = 'pg_class'::regclass
      join pg_class c on c.oid = d.refobjid and c.oid <> v.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
      join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'sales')
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid and d.refobjsubid > 0`)
  const used = new Map<string, Set<string>>()
  for (const { view, table, column } of rows) {
    const own = used.get(String(view)) ?? new Set()
    used.set(String(view), own)
    own.add(String(table))
    if (column !== null) own.add(`${String(table)}.${String(column)}`)
  }
  return used
}

/** The columns of all tables and views, by `schema.table`. */
export async function readCatalog(source: Source): Promise<Map<string, string[]>> {
  const rows = await source.query(`
    select n.nspname || '.' || c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'sales')
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p', 'v', 'm') group by 1`)
  return new Map(rows.map(({ table, columns }) => [String(table), columns as string[]]))
}

export function finderOf(
  catalog: ReadonlyMap<string, string[]>,
  searchPath: readonly string[] = SEARCH_PATH,
) {
  return ({ schema, name }: TableName) => {
    const paths = (schema === undefined ? searchPath : [schema]).map(each => `${each}.${name}`)
    const path = paths.find(each => catalog.has(each))
    return path === undefined ? undefined : { path, columns: catalog.get(path)! }
  }
}

await loadModule()

/** What a definition uses, as `readDepend` gives it, and the pairs of columns: `t.a > x`, indirect ones `t.a ~> *`. */
export function readUses(
  text: string,
  catalog: ReadonlyMap<string, string[]>,
  columns?: readonly string[],
): { uses: Set<string>; pairs: string[] } {
  const { upstream } = readDefinition(text, finderOf(catalog), { columns })
  const uses = new Set<string>()
  const pairs: string[] = []
  for (const [path, found] of upstream) {
    uses.add(path)
    if (!found) pairs.push(`${path} ?`)
    for (const { upstream: column, downstream, kind } of found ?? []) {
      uses.add(`${path}.${column}`)
      pairs.push(`${path}.${column} ${kind === 'direct' ? '>' : '~>'} ${downstream}`)
    }
  }
  return { uses, pairs: pairs.sort() }
}

/** The pairs of values alone, without those that filter, join or group. */
export const directOf = (pairs: readonly string[]) =>
  pairs.filter(pair => !pair.includes('~>') && !pair.endsWith(ALL_COLUMNS))
