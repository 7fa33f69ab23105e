import t from 'tap'
import { findTableNames } from '../../../../plugins/lineage/views/table-names.ts'

const CASES: [string, string[]][] = [
  ['select * from orders', ['orders']],
  [
    'SELECT a FROM shop.orders o JOIN `shop`.`items` i ON o.id = i.id, "Odd one"',
    ['shop.orders', 'shop.items', 'Odd one'],
  ],
  ['select * from `my-project.sales.orders` as o, unnest(o.tags) t', ['my-project.sales.orders']],
  [
    'with q as (select 1 from a), r (x, y) as (select * from q, b) select * from r join c using (x)',
    ['a', 'b', 'c'],
  ],
  ["select 'from x' -- from y\n/* from z */ from w", ['w']],
  [
    'select * from (a join b on a.id = b.id), c where d in (select e from f) order by g, h',
    ['a', 'b', 'c', 'f'],
  ],
  ['select * from lateral flatten(input => x) f, only t', ['t']],
  ['select 1 union all select 2 from a group by b, c', ['a']],
  ['create view v as select * from main.orders; ', ['main.orders']],
  ['select extract(year from placed_at) from [dbo].[orders]', ['placed_at', 'dbo.orders']],
  ['select', []],
]

t.test('tables are found by the words before them', t => {
  for (const [text, names] of CASES)
    t.strictSame(
      findTableNames(text).map(({ catalog, schema, name }) =>
        [catalog, schema, name].filter(Boolean).join('.'),
      ),
      names,
      text,
    )
  t.end()
})
