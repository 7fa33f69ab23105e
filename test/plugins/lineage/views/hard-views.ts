/** Views that are hard to read, by name: the query, or `(columns) as query`; and the pairs of values where they are listed. */
export const HARD_VIEWS: Record<string, string | { sql: string; direct: string[] }> = {
  star: 'select * from orders',
  star_of_one: 'select o.*, c.email from orders o join customers c on c.id = o.customer_id',
  star_of_alias_columns: 'select * from orders as o (a, b, c)',
  star_in_the_middle: 'select 1 as one, i.*, 2 as two from items i',
  using_join: {
    sql: 'select id, total, amount from public.orders join sales.orders as s using (id)',
    direct: ['public.orders.id > id', 'public.orders.total > total', 'sales.orders.amount > amount'],
  },
  using_star: 'select * from public.orders o join sales.orders s using (id)',
  using_full: {
    sql: 'select id from public.orders o full join sales.orders s using (id)',
    direct: ['public.orders.id > id', 'sales.orders.id > id'],
  },
  using_right: {
    sql: 'select id, o.id as left_id from public.orders o right join sales.orders s using (id)',
    direct: ['public.orders.id > left_id', 'sales.orders.id > id'],
  },
  using_alias: 'select j.id, o.note from public.orders o join sales.orders s using (id) as j',
  using_alias_in_alias: 'select y.id, y.note from (public.orders o join sales.orders s using (id) as x) as y',
  natural_join: 'select * from public.orders o natural join sales.orders s',
  natural_of_three:
    'select region, goal, amount, name from sales.orders s natural join sales.targets t join customers c on c.id = t.customer_id',
  join_alias: 'select j.x, j.y from (orders join items on items.order_id = orders.id) as j (x, y)',
  nested_joins:
    'select c.name, i.sku from customers c left join (orders o join items i on i.order_id = o.id) on o.customer_id = c.id',
  self_join: {
    sql: 'select child.name, parent.name as parent from customers child left join customers parent on parent.id = child.parent_id',
    direct: ['public.customers.name > name', 'public.customers.name > parent'],
  },
  alias_columns: {
    sql: 'select a + b as s from orders as o (a, b)',
    direct: ['public.orders.customer_id > s', 'public.orders.id > s'],
  },
  view_columns: {
    sql: '(first, second) as select total, note from orders',
    direct: ['public.orders.note > second', 'public.orders.total > first'],
  },
  search_path: 'select region, goal from targets',
  schemas:
    'select public.orders.total, s.amount from public.orders, sales.orders s where public.orders.id = s.id',
  sub_query: {
    sql: 'select q.t from (select total as t, note as unused from orders where status = $$x$$) q',
    direct: ['public.orders.total > t'],
  },
  sub_query_star: 'select s.sku from (select * from items) s',
  correlated:
    'select c.name, (select sum(o.total) from orders o where o.customer_id = c.id) as spent from customers c',
  exists:
    'select name from customers c where exists (select 1 from orders o where o.customer_id = c.id and o.total > 5)',
  in_query: 'select name from customers where id in (select customer_id from orders where placed_at > now())',
  row_in: 'select line from items where (order_id, price) in (select id, total from orders)',
  any_query: 'select name, id = any (select customer_id from orders) as buys from customers',
  array_query:
    'select array(select sku from items i where i.order_id = o.id order by line) as skus from orders o',
  cte: {
    sql: 'with paid as (select id, total from orders where status = $$paid$$) select sum(total) as total from paid',
    direct: ['public.orders.total > total'],
  },
  cte_unused: 'with a as (select note from orders), b as (select sku from items) select * from b',
  cte_columns: 'with q (x, y) as (select id, name from customers) select y from q where x > 1',
  cte_hides_table: 'with items as (select total as price from orders) select price from items',
  cte_chain:
    'with a as (select id, total from orders), b as (select id, total * 2 as t from a) select b.t, a.id from a join b using (id)',
  cte_inside: 'select q.n from (with w as (select name as n from customers) select n from w) q',
  recursive: {
    sql: `with recursive tree as (select id, name, parent_id from customers where parent_id is null
            union all select c.id, t.name || c.name, c.parent_id from customers c join tree t on t.id = c.parent_id)
          select name from tree`,
    direct: ['public.customers.name > name'],
  },
  recursive_swap: {
    sql: `with recursive r (a, b) as (select total, price from orders join items on order_id = id
            union all select b, a from r where a > 1) select a from r`,
    direct: ['public.items.price > a', 'public.orders.total > a'],
  },
  recursive_cycle: `with recursive r (id, p) as (select id, parent_id from customers union all
      select c.id, c.parent_id from customers c join r on r.p = c.id)
    search depth first by id set place cycle id set is_cycle using way select id, cardinality(place) as depth, cardinality(way) as steps, is_cycle from r`,
  recursive_cycle_marks: {
    sql: `with recursive r (id, p) as (select id, parent_id from customers where name <> $$ü😀$$ union all
      select c.id, c.parent_id from customers c join r on r.p = c.id)
    cycle id set "round" to $$Y$$ default $$N$$ using way,
    s (day) as (select o.placed_at::date from orders o union all select day from s)
    cycle day set mark to date '2024-01-01' default date '2000-01-01' using walk
    select r.id, r."round", s.day, s.mark from r, s`,
    direct: ['public.customers.id > id', 'public.orders.placed_at > day'],
  },
  union_all: {
    sql: 'select id, total from orders union all select order_id, price from items',
    direct: [
      'public.items.order_id > id',
      'public.items.price > total',
      'public.orders.id > id',
      'public.orders.total > total',
    ],
  },
  union_order:
    'select id as n, note from orders union select id, region from sales.orders order by n, 2 limit 5',
  except_intersect:
    '(select id from orders except select order_id from items) intersect select id from customers',
  values_join:
    'select v.label, o.total from (values (1, $$a$$), (2, $$b$$)) v (id, label) join orders o using (id)',
  lateral:
    'select c.name, l.total from customers c, lateral (select total from orders o where o.customer_id = c.id order by placed_at desc limit 1) l',
  lateral_left:
    'select c.name, l.* from customers c left join lateral (select o.note, o.status from orders o where o.customer_id = c.id) l on true',
  function_in_from: {
    sql: 'select c.id, tag from customers c, unnest(c.tags) as tag',
    direct: ['public.customers.id > id', 'public.customers.tags > tag'],
  },
  function_ordinality:
    'select c.id, t.tag, t.n from customers c cross join lateral unnest(c.tags) with ordinality as t (tag, n)',
  function_of_table: 'select s.step, label, o.id from orders o, series(o.id) s where s.step < o.total',
  json_each: 'select c.id, e.key, value from customers c, jsonb_each(c.doc) e',
  json_records: 'select r.a, r.b from customers c, jsonb_to_recordset(c.doc) as r (a int, b text)',
  json_table: `select c.name, j.id, j.z from customers c, json_table(c.doc, '$[*]' columns (id int path '$.i', nested path '$.k' columns (z int path '$'))) j`,
  json_table_unnamed: {
    sql: `select json_table.id, json_table.z, c.name from customers c, json_table(c.doc, '$[*]' columns (id int path '$.i', z int path '$.z'))`,
    direct: ['public.customers.doc > id', 'public.customers.doc > z', 'public.customers.name > name'],
  },
  xml_table_unnamed: {
    sql: `select xmltable.* from customers c, xmltable('/r' passing (c.email::xml) columns id int path '@id', n text path 'n')`,
    direct: ['public.customers.email > id', 'public.customers.email > n'],
  },
  function_unnamed: {
    sql: 'select unnest.unnest as tag, "current_date"."current_date" as today, "coalesce"."coalesce" as doc from customers c, unnest(c.tags), current_date, coalesce(c.doc)',
    direct: ['public.customers.doc > doc', 'public.customers.tags > tag'],
  },
  rows_from: 'select * from customers c, rows from (generate_series(1, c.id), unnest(c.tags)) as r (n, tag)',
  composite_field: 'select (c.home).city, (home).street from customers c',
  composite_star: 'select id, (home).* from customers',
  field_of_row: 'select (o).total, (o).note from orders o',
  windows: `select id, row_number() over w, sum(total) over (partition by customer_id order by placed_at) as running
    from orders window w as (partition by status order by note), unused as (order by id)`,
  named_window_copy:
    'select avg(total) over (w rows 3 preceding) from orders window w as (order by placed_at)',
  aggregates: `select status, count(*) filter (where note is not null) as notes, string_agg(note, ',' order by placed_at) as all_notes,
      percentile_cont(0.5) within group (order by total) as median from orders group by status having max(customer_id) > 3`,
  grouping_sets:
    'select status, customer_id, grouping(status), sum(total) from orders group by grouping sets ((status), (customer_id), ()), rollup (note)',
  group_by_output:
    'select date_trunc($$day$$, placed_at) as day, count(*) from orders group by day order by 2',
  group_by_number: 'select lower(note), sum(total) from orders group by 1 order by 2 desc',
  group_by_input_first: 'select lower(status) as status, count(*) from orders group by status, id',
  order_by_input: 'select note as status from orders order by status, total + 1',
  distinct_on:
    'select distinct on (customer_id) customer_id, total from orders order by customer_id, placed_at desc',
  distinct: 'select distinct status, total from orders',
  case_when: {
    sql: 'select case status when $$a$$ then total else 0 end as t, coalesce(note, status) from orders',
    direct: ['public.orders.note > coalesce', 'public.orders.status > coalesce', 'public.orders.total > t'],
  },
  names_of_columns: `select q.count, q.coalesce, q.sum, q."case", q.int4, q.array, q.exists from (select count(*), coalesce(note, '') ,
      (select sum(price) from items), case when true then 1 end, 5::int4, array[total], exists (select from customers) from orders group by note, total) q`,
  casts:
    'select total::int::text as t, placed_at at time zone $$utc$$ as p, note collate "C" as n from orders',
  arrays: 'select tags[1], tags[2:3] as more, doc -> $$a$$ ->> $$b$$ as leaf from customers',
  odd_names: 'select "a.b", o."select", "Ümlaut" as "Ä" from "Odd Names" o where id > 0',
  system_columns: 'select ctid, tableoid::regclass::text as part, kind from events',
  partitioned: 'select kind, count(*) from events group by kind',
  only_one: 'select e.kind from only events_1 e tablesample system (10)',
  count_star: 'select count(*) from orders',
  no_columns: 'select from orders',
  constants: 'select 1 as one',
  table_command: 'table items',
  functions: 'select twice(total) as t, greatest(id, customer_id), nullif(status, note) from orders',
  limit_query: 'select note from orders order by id limit (select max(line) from items) offset 1',
  deep: `select ${'('.repeat(60)}total${')'.repeat(60)} as t from orders`,
  same_names:
    'select o.id, c.id as customer, i.order_id from orders o, customers c, items i where o.id = i.order_id and c.id = o.customer_id',
  outer_reference: 'select (select name from customers where id = customer_id) from orders',
  shadowed: 'select (select id from items i join customers on line = id limit 1) from orders',
  between_levels:
    'select c.id from customers c where (select count(*) from (select 1 from orders o where o.customer_id = c.id) q) > 1',
  on_views: 'select s.sku, v.name from sub_query_star s, self_join v where v.parent = s.sku',
  on_views_star: 'select * from using_star u join on_views on u.note = on_views.name',
}
