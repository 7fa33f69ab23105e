import t from 'tap'
import { bigqueryLexicon } from '../../../../connectors/bigquery/lexicon.ts'
import { databricksLexicon } from '../../../../connectors/databricks/lexicon.ts'
import { mysqlLexicon } from '../../../../connectors/mysql/lexicon.ts'
import { redshiftLexicon } from '../../../../connectors/redshift/lexicon.ts'
import { snowflakeLexicon } from '../../../../connectors/snowflake/lexicon.ts'
import { wordRulesOf } from '../../../../plugins/lineage/views/sql-words.ts'
import { findTableNames } from '../../../../plugins/lineage/views/table-names.ts'
import { resolveHostModules } from '../../../../server/extensions.ts'

resolveHostModules()
const { sqlite } = await import('../../../../plugin-template/connector.ts')

type Lexicons = Record<string, Parameters<typeof wordRulesOf>[0]>
const LEXICONS: Lexicons = {
  'an engine without a lexicon': undefined,
  BigQuery: bigqueryLexicon,
  Databricks: databricksLexicon,
  MySQL: mysqlLexicon,
  PostgreSQL: 'postgresql',
  Redshift: redshiftLexicon,
  Snowflake: snowflakeLexicon,
  SQLite: sqlite.dialect.lexicon,
}

/** What every engine reads alike. */
const COMMON: [string, string[]][] = [
  ['select * from orders', ['orders']],
  ['SELECT a FROM shop.orders o JOIN shop.items i ON o.id = i.id, odd', ['shop.orders', 'shop.items', 'odd']],
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
  ['select 5. from orders where price > 1.5e3', ['orders']],
  ['select', []],
]

/** FROM that names no table. */
const NO_TABLES: [string, string[]][] = [
  ['select extract(year from customers) from orders', ['orders']],
  ["select trim(both ' ' from customers), substring(a from 2) from orders", ['orders']],
  ['select a is not distinct from customers from orders', ['orders']],
  ['select o.from, o.join from orders o', ['orders']],
  ['select exists(select 1 from items) from orders', ['items', 'orders']],
]

/** A CTE hides a table only where its name is known. */
const SCOPES: [string, string[]][] = [
  [
    'select * from (with refunds as (select 1 as id) select id from refunds) r join refunds x on x.id = r.id',
    ['refunds'],
  ],
  ['with a as (select 1) select * from a where b in (with c as (select * from a) select * from c)', []],
  ['select * from (with a as (select 1) select * from a) x, (select * from a) y', ['a']],
  ['with orders as (select * from shop.orders) select * from orders', ['shop.orders']],
  ['with recursive t as (select 1 union all select * from t) select * from t', []],
  ['with recursive a as (select * from b), b as (select 1) select * from a', []],
  [
    'with a as not materialized (select * from x), b as materialized (select * from a) select * from b',
    ['x'],
  ],
  ['with a as (select 1) select * from a union all select * from a', []],
]

const CASES: Record<string, [string, string[]][]> = {
  'an engine without a lexicon': [
    [
      'select extract(year from placed_at) from [dbo].[odd orders], "a b", `c d`',
      ['dbo|odd orders', 'a b', 'c d'],
    ],
    ['with orders as (select * from orders) select * from orders', ['orders']],
  ],
  BigQuery: [
    ['select * from my-project.sales.orders', ['my-project|sales|orders']],
    [
      'select a-b, c -d from my-project-1.sales.2024_orders o, sales.x',
      ['my-project-1|sales|2024_orders', 'sales|x'],
    ],
    [
      'select * from `my-project`.`sales.orders` join `my-project`.sales.x',
      ['my-project|sales|orders', 'my-project|sales|x'],
    ],
    ['select * from `my-project.sales.orders` as o, unnest(o.tags) t', ['my-project|sales|orders']],
    ["select 1 # it's\nfrom orders", ['orders']],
    ["select r'\\', R\"\\\", br'\\', rb'''\\''' from orders where a = 'x'", ['orders']],
    ["select '''it's \" from x''', \"from y\", 'it\\'s from z' from orders", ['orders']],
    [
      'with orders as (select * from orders union all select * from archive) select * from orders',
      ['orders', 'archive'],
    ],
    [
      'from sales.orders |> where a > 1 |> extend a + 1 as b, c |> join sales.items using (id)',
      ['sales|orders', 'sales|items'],
    ],
  ],
  Databricks: [
    ['with orders as (select * from orders) select * from orders', ['orders']],
    ['select "from x", r"\\" from `main`.`sales`.`odd``name.x`', ['main|sales|odd`name.x']],
    ["select 1 /* a /* it's */ from x */ from 2024_orders", ['2024_orders']],
    ['select c:from.name, a::date from orders', ['orders']],
    ["select 'it\\'s from x' from orders@v1", ['orders']],
  ],
  MySQL: [
    ['select `a`.`b` from `shop`.`odd.name` join `shop`.`x``y` where 1--1', ['shop|odd.name', 'shop|x`y']],
    ["select 'it\\'s', \"from x\" from (`a` left join `b` on(1)) # it's", ['a', 'b']],
    ['with `a` as (select * from `a`) select * from `a`', ['a']],
  ],
  PostgreSQL: [['select E\'it\\\'s from x\', \'\\\' from "a.b"."c""d" /* a /* b */ from y */', ['a.b|c"d']]],
  Redshift: [["select 'it\\'s from x' from \"a.b\".c", ['a.b|c']]],
  Snowflake: [
    ["select 1 // it's\nfrom orders", ['orders']],
    ["select $$it's from x$$, 'it\\'s', $1 from orders", ['orders']],
    [
      'select * from db.schema."odd.name", @stage/path, table(f(1)), lateral flatten(o.items)',
      ['db|schema|odd.name'],
    ],
    ['with t as (select * from staff union all select * from t) select * from t', ['staff']],
    ['with orders as (select * from orders) select * from orders', ['orders']],
  ],
  SQLite: [
    ["select '%\\', a from orders where b = '\\'", ['orders']],
    [
      'select * from "order.items" join [o\'clock] join [a "b" c] join `x.y`',
      ['order.items', "o'clock", 'a "b" c', 'x.y'],
    ],
    [
      'with t as (select * from staff union all select * from u), u as (select * from t) select * from u',
      ['staff'],
    ],
  ],
}

const partsOf = ({ catalog, schema, name }: ReturnType<typeof findTableNames>[number]) =>
  [catalog, schema, name].filter(part => part !== undefined)

for (const [engine, lexicon] of Object.entries(LEXICONS))
  t.test(`views of ${engine} are read by the words of its SQL`, t => {
    const rules = wordRulesOf(lexicon)
    const dotted = [...COMMON, ...NO_TABLES, ...SCOPES].map(
      ([text, names]) => [text, names.map(name => name.replace('.', '|'))] as const,
    )
    for (const [text, names] of [...dotted, ...(CASES[engine] ?? [])])
      t.strictSame(
        findTableNames(text, rules).map(name => partsOf(name).join('|')),
        names,
        text,
      )
    t.end()
  })
