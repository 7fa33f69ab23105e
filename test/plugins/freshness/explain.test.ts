import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import type { Dialect } from '../../../connectors/dialect.ts'
import { mysqlDialect } from '../../../connectors/mysql/dialect.ts'
import { postgresqlDialect } from '../../../connectors/postgresql/dialect.ts'
import { newestSelect } from '../../../plugins/freshness/run/measure.ts'
import { resolveHostModules } from '../../../server/extensions.ts'
import { mariadbAbsent, startShop } from '../../helpers/mariadb.ts'
import { startSource, type Source } from '../../helpers/source.ts'

// The template names the service by its package.
resolveHostModules()
const { dialect: sqliteDialect } = await import('../../../plugin-template/dialect.ts')

/** The statement that a check of these tables sends. */
function statementFor(dialect: Dialect, schema: string, names: readonly string[]): string {
  const targets = names.map(name => ({
    id: name,
    table: { catalog: schema, schema, name },
    value: dialect.quote('ts'),
    isStored: true,
  }))
  return dialect.render(newestSelect(dialect, targets)).text
}

/** A node of a plan, as EXPLAIN (FORMAT JSON) returns it. */
interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Scan Direction'?: string
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: Node[]
}

async function explain(source: Source, names: readonly string[], options = ''): Promise<Node> {
  const [row] = await source.query(
    `explain (${options}format json) ${statementFor(postgresqlDialect, 'public', names)}`,
  )
  const [{ Plan }] = row?.['QUERY PLAN'] as [{ Plan: Node }]
  return Plan
}

const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]

/** Types of the nodes that read tables, by table. */
function readsOf(plan: Node): Map<string, string[]> {
  const reads = flat(plan).filter(node => node['Relation Name'] !== undefined)
  return new Map(
    [...Map.groupBy(reads, node => node['Relation Name'] as string)].map(([name, nodes]) => [
      name,
      nodes.map(node => `${node['Node Type']} ${node['Scan Direction'] ?? ''}`),
    ]),
  )
}

const BACKWARD = ['Index Only Scan Backward']

/** Rows of one a minute up to noon of the 10th of July. */
const minutes = (count: number) =>
  `select g, timestamptz '2025-07-10 12:00Z' - make_interval(mins => ${count} - g) from generate_series(1, ${count}) g`

t.test('PostgreSQL reads the end of an index of each table, however many rows there are', async t => {
  const source = await startSource(t)
  const made: string[] = []
  for (const [name, count] of Object.entries({ small: 1_000, large: 100_000 }))
    made.push(
      `create table ${name} (id int, ts timestamptz)`,
      `insert into ${name} ${minutes(count)}`,
      `create index on ${name} (ts)`,
      `create view view_of_${name} as select id, ts from ${name}`,
      // The NULLs at the end of an index are skipped as a whole.
      `create table ${name}_nulls (id int, ts timestamptz)`,
      `insert into ${name}_nulls select g, case when g < 100 then now() end from generate_series(1, ${count}) g`,
      `create index on ${name}_nulls (ts)`,
      // Months are parts, and so is one beyond them.
      `create table ${name}_parent (id int, ts timestamptz not null) partition by range (ts)`,
      `create table ${name}_may partition of ${name}_parent for values from (minvalue) to ('2025-07-10 00:00Z')`,
      `create table ${name}_july partition of ${name}_parent for values from ('2025-07-10 00:00Z') to ('2025-08-01 00:00Z')`,
      `create table ${name}_rest partition of ${name}_parent default`,
      `insert into ${name}_parent ${minutes(count)}`,
      `create index on ${name}_parent (ts)`,
      // Parts by another column, which say nothing of the order.
      `create table ${name}_hashed (id int, ts timestamptz) partition by hash (id)`,
      `create table ${name}_even partition of ${name}_hashed for values with (modulus 2, remainder 0)`,
      `create table ${name}_odd partition of ${name}_hashed for values with (modulus 2, remainder 1)`,
      `insert into ${name}_hashed ${minutes(count)}`,
      `create index on ${name}_hashed (ts)`,
    )
  made.push('create view united as select ts from small union all select ts from large')
  made.push('create table bare (id int, ts timestamptz)', `insert into bare ${minutes(1_000)}`)
  for (const statement of made) await source.query(statement)
  await source.query('vacuum analyze')

  const names = (size: string) => ['', '_nulls', '_parent', '_hashed'].map(end => size + end)
  const indexed = [...names('small'), ...names('large'), 'view_of_small', 'view_of_large', 'united']

  await t.test('an indexed table is never read as a whole, also beside one without an index', async t => {
    const plan = await explain(source, [...indexed, 'bare'])
    const reads = readsOf(plan)
    t.same(reads.get('bare'), ['Seq Scan '])
    for (const size of ['small', 'large']) {
      // The table itself, the view over it, and the view over both.
      t.same(reads.get(size), [...BACKWARD, ...BACKWARD, ...BACKWARD])
      for (const end of ['_nulls', '_may', '_july', '_even', '_odd'])
        t.same(reads.get(size + end), BACKWARD, size + end)
    }
    const types = flat(plan).map(node => node['Node Type'])
    t.equal(types.filter(type => type === 'Limit').length, indexed.length, 'one row is read of each')
    t.equal(types.filter(type => type === 'Seq Scan').length, 1)
    t.notOk(
      types.some(type => /^(Sort|Bitmap|Hash)/.test(type)),
      types.join(),
    )
  })

  await t.test('a hundred times the rows cost a few pages more', async t => {
    for (const end of ['', '_nulls', '_parent', '_hashed']) {
      const pages: number[] = []
      for (const size of ['small', 'large']) {
        const plan = await explain(source, [size + end], 'analyze, buffers, timing off, ')
        pages.push((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0))
      }
      const [small = 0, large = 0] = pages
      t.ok(small > 0 && large <= small + 4, `${end}: ${small} and ${large} pages`)
      t.ok(large <= 12, `${end}: ${large} pages`)
    }
  })

  await t.test('a partition whose index is missing is read, and no other', async t => {
    await source.query('create table torn (id int, ts timestamptz not null) partition by range (ts)')
    await source.query(
      `create table torn_may partition of torn for values from (minvalue) to ('2025-07-10 00:00Z');
       create table torn_july partition of torn for values from ('2025-07-10 00:00Z') to (maxvalue)`,
    )
    await source.query(`insert into torn ${minutes(10_000)}`)
    await source.query('create index on torn_may (ts)')
    await source.query('vacuum analyze torn')
    const reads = readsOf(await explain(source, ['torn']))
    t.same(reads.get('torn_may'), BACKWARD)
    t.same(reads.get('torn_july'), ['Seq Scan '])
  })
})

t.test('MariaDB answers from an index of each table while it plans', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  for (const statement of [
    'create table indexed (id int, ts datetime, key (ts))',
    `insert into indexed select seq, '2025-07-10 12:00:00' - interval (5000 - seq) minute from seq_1_to_5000`,
    'create table stamps (id int, ts timestamp null, key (ts))',
    'insert into stamps select id, ts from indexed',
    'create view over_indexed as select id, ts from indexed',
    `create table parent (id int, ts datetime, key (ts)) partition by range (to_days(ts))
       (partition early values less than (to_days('2025-07-09')), partition late values less than maxvalue)`,
    'insert into parent select id, ts from indexed',
    'create table bare (id int, ts datetime)',
    'insert into bare select id, ts from indexed',
    'analyze table indexed, stamps, parent, bare',
  ])
    await shop.query(statement)
  const names = ['indexed', 'stamps', 'over_indexed', 'parent']
  const plan = async (some: readonly string[]) => {
    const rows = await shop.query(`explain ${statementFor(mysqlDialect, shop.name, some)}`)
    return rows.filter(row => row.select_type === 'SUBQUERY')
  }
  t.match(
    await plan(names),
    names.map(() => ({ table: null, Extra: 'Select tables optimized away' })),
  )
  t.match(await plan(['bare']), [{ table: 'bare', type: 'ALL' }], 'without an index it is read')
})

t.test('SQLite searches an index of each table', async t => {
  const file = new DatabaseSync(':memory:')
  t.teardown(() => file.close())
  file.exec(`create table indexed (id integer, ts timestamp); create index by_time on indexed (ts);
    create view over_indexed as select id, ts from indexed;
    create table bare (id integer, ts timestamp);`)
  const plan = (name: string) =>
    file
      .prepare(`explain query plan ${statementFor(sqliteDialect, 'main', [name])}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ')
  t.match(plan('indexed'), /SEARCH main.indexed USING COVERING INDEX by_time/)
  t.match(plan('over_indexed'), /SEARCH (main\.)?indexed USING COVERING INDEX by_time/)
  t.notMatch(plan('bare'), /INDEX/)
})
