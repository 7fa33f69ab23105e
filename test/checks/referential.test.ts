import t from 'tap'
import type { Check, CheckType } from '../../checks/check.ts'
import { createTestDatabase, type TestDatabase } from '../../checks/conformance.ts'
import { comparison, incomparable, referential, type ReferentialConfig } from '../../checks/referential.ts'
import { scan } from '../../checks/scan.ts'
import type { ColumnInfo, ColumnKind, TableInfo } from '../../connectors/catalog.ts'
import type { Connector } from '../../connectors/connector.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { redshift } from '../../connectors/redshift/index.ts'
import { startBigquery } from '../helpers/bigquery.ts'
import { bigqueryStand } from '../helpers/bigquery/stand.ts'
import { startDatabricks } from '../helpers/databricks.ts'
import { databricksStand } from '../helpers/databricks/stand.ts'
import { mariadbAbsent, mysqlSettings, startShop } from '../helpers/mariadb.ts'
import { redshiftSettings, startRedshift } from '../helpers/redshift.ts'
import { snowflakeStand } from '../helpers/snowflake.ts'
import { connectOptions, failure } from '../helpers/source.ts'
import { check as ruleOf, run } from './scan-helpers.ts'
import { postgresqlStand, sqliteStand, type EngineTestDatabase } from './test-databases.ts'

type Test = Parameters<typeof postgresqlStand>[0]

async function mariadbStand(t: Test): Promise<EngineTestDatabase> {
  const shop = await startShop(t)
  const connection = await mysql.connect(mysqlSettings(shop.config), connectOptions)
  t.teardown(() => connection.close())
  const execute = (text: string) => shop.query(text)
  const ref = (name: string) => ({ catalog: shop.name, schema: shop.name, name })
  const types = {
    text: 'varchar(200) collate utf8mb4_bin',
    integer: 'bigint',
    decimal: 'decimal(20,2)',
    timestamp: 'datetime',
  }
  const connector = mysql as unknown as Connector
  return {
    ...createTestDatabase({ connector, connection, execute, tableRef: ref, columnTypes: types }),
    connection,
    execute,
    ref,
  }
}

const stands: readonly (readonly [string, (t: Test) => Promise<EngineTestDatabase>, string | false])[] = [
  ['PostgreSQL', postgresqlStand, false],
  ['SQLite', sqliteStand, false],
  ['MariaDB', mariadbStand, mariadbAbsent],
]

/** Doubles of engines that are not here: they take the SQL apart, so that one they have not got is refused. */
const doubles: Record<string, (t: Test) => Promise<TestDatabase>> = {
  Snowflake: async t => createTestDatabase(await snowflakeStand(t)),
  BigQuery: async t => {
    const { connector, settings, options, execute, project } = await startBigquery(t)
    const connection = await connector.connect(settings, options)
    t.teardown(() => connection.close())
    return bigqueryStand({ connector, connection, execute, project, dataset: 'shop' })
  },
  Databricks: async t => {
    const { connector, config, options, execute } = await startDatabricks(t)
    const connection = await connector.connect(config, options)
    t.teardown(() => connection.close())
    return databricksStand({ connector, connection, execute, catalog: 'shop' })
  },
  Redshift: async t => {
    const cluster = await startRedshift(t)
    const connection = await redshift.connect(redshiftSettings(cluster.config), connectOptions)
    t.teardown(() => connection.close())
    const ref = (name: string) => ({ catalog: cluster.name, schema: 'public', name })
    const connector = redshift as unknown as Connector
    return createTestDatabase({
      connector,
      connection,
      execute: text => cluster.query(text),
      tableRef: ref,
      columnTypes: {},
    })
  },
}

type Config = Partial<ReferentialConfig> & { parent: TableInfo }

/** A check that a column refers to another. */
function refers(column: string, config: Config): Check {
  return {
    id: `referential ${column}`,
    type: referential as unknown as CheckType,
    column,
    config: { parentColumn: 'k', ...config },
  }
}

/** Tables of one column: the child's `k` is to refer to the parent's. */
async function families(
  on: EngineTestDatabase,
  children: unknown[],
  parents: unknown[],
  kinds: { child?: ColumnKind; parent?: ColumnKind; childType?: string; parentType?: string } = {},
): Promise<{ child: TableInfo; parent: TableInfo }> {
  const { child: ofChild = 'integer', parent: ofParent = ofChild, childType, parentType = childType } = kinds
  const made = async (kind: ColumnKind, type: string | undefined, values: unknown[]) => {
    const column = { name: 'k', kind, ...(type !== undefined && { type }) }
    const { table } = await on.createTable(
      [column],
      values.map(value => [value]),
    )
    return table
  }
  return {
    child: await made(ofChild, childType, children),
    parent: await made(ofParent, parentType, parents),
  }
}

/** What one look at the two tables gave. */
async function look(on: EngineTestDatabase, child: TableInfo, config: Config, column = 'k') {
  const { outcomes, statements } = await run(on, child, [refers(column, config)])
  t.equal(statements, 1, 'one statement')
  const [outcome] = outcomes
  if (outcome?.status !== 'counted') throw new Error(JSON.stringify(outcome))
  const { total, invalid, measured } = outcome
  return { total, invalid, ...measured }
}

for (const [engine, open, absent] of stands) {
  t.test(engine, { skip: absent }, async t => {
    const on = await open(t)

    t.test(
      'children without a parent are orphans; NULLs and doubles on either side change nothing',
      async t => {
        const { child, parent } = await families(on, [1, 1, 2, 9, 9, null], [1, 1, 1, 2, 3, null, null])
        const all = { total: 6, present: 5, invalid: 2, orphans: 2 }
        t.same(await look(on, child, { parent }), all, 'limits that are not set are not measured')
        t.same(await look(on, child, { parent, minChildren: null, maxChildren: null }), all)
      },
    )

    t.test('empty tables', async t => {
      const { child, parent } = await families(on, [1, 1, null], [])
      const limits = { minChildren: 1, maxChildren: 1 }
      t.same(await look(on, child, { parent, ...limits }), {
        total: 3,
        present: 2,
        invalid: 2,
        orphans: 2,
        below: 0,
        above: 0,
      })
      const none = { total: 0, present: 0, invalid: 0, orphans: 0, above: 0 }
      t.same(await look(on, parent, { parent: child, ...limits }), { ...none, below: 1 })
      t.same(await look(on, parent, { parent, ...limits }), { ...none, below: 0 })
      const nulls = await families(on, [null, null], [null])
      t.same(await look(on, nulls.child, { parent: nulls.parent, ...limits }), {
        ...none,
        below: 0,
        total: 2,
      })
    })

    t.test('parents are counted by value against the least and the most children', async t => {
      // Of 1 there are no children, of 2 one, of 3 two, of 4 three.
      const { child, parent } = await families(on, [2, 3, 3, 4, 4, 4, 7, null], [1, 1, 2, 3, 4, 4, null])
      for (const [minChildren, below] of [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 3],
        [4, 4],
      ] as const)
        t.match(
          await look(on, child, { parent, minChildren }),
          { below, orphans: 1 },
          `at least ${minChildren}`,
        )
      for (const [maxChildren, above] of [
        [0, 3],
        [1, 2],
        [2, 1],
        [3, 0],
      ] as const)
        t.match(
          await look(on, child, { parent, maxChildren }),
          { above, orphans: 1 },
          `at most ${maxChildren}`,
        )
      t.same(await look(on, child, { parent, minChildren: 2, maxChildren: 2 }), {
        total: 8,
        present: 7,
        invalid: 1,
        orphans: 1,
        below: 2,
        above: 1,
      })
    })

    t.test('samples are orphans by primary key', async t => {
      const { child, parent } = await families(on, [1, 8, null, 9, 9], [1, null])
      const { outcomes, statements } = await run(on, child, [refers('k', { parent })], { sampleLimit: 10 })
      t.equal(statements, 2)
      const samples = outcomes[0]?.status === 'counted' ? outcomes[0].samples : []
      t.same(
        samples.toSorted((a, b) => Number(a.row_id) - Number(b.row_id)),
        [
          { row_id: 2, value: 8 },
          { row_id: 4, value: 9 },
          { row_id: 5, value: 9 },
        ],
      )
      const two = await run(on, child, [refers('k', { parent })], { sampleLimit: 2 })
      t.match(two.outcomes, [{ samples: { length: 2 } }])
    })

    t.test('a table may refer to itself, and columns may be named like parts of the statement', async t => {
      const names = ['children', 'k', 'orphans', 'a "value"']
      const rows = [
        [2, 10, 1, 1],
        [3, 20, null, 5],
        [9, 10, 2, null],
      ]
      const { table } = await on.createTable(
        names.map(name => ({ name, kind: 'integer' as const })),
        rows,
      )
      const to = (parentColumn: string, column: string) =>
        look(on, table, { parent: table, parentColumn, minChildren: 1 }, column)
      t.same(await to('id', 'children'), { total: 3, present: 3, invalid: 1, orphans: 1, below: 1 })
      t.same(await to('id', 'orphans'), { total: 3, present: 2, invalid: 0, orphans: 0, below: 1 })
      t.same(await to('k', 'k'), { total: 3, present: 3, invalid: 0, orphans: 0, below: 0 })
      t.same(await to('id', 'a "value"'), { total: 3, present: 2, invalid: 1, orphans: 1, below: 2 })
      t.same(await to('a "value"', 'id'), { total: 3, present: 3, invalid: 2, orphans: 2, below: 1 })
      const sampled = await run(on, table, [refers('a "value"', { parent: table, parentColumn: 'id' })], {
        sampleLimit: 1,
      })
      t.match(sampled.outcomes, [{ samples: [{ row_id: 2, value: 5 }] }])
    })

    t.test('columns of kinds that can be equal', async t => {
      const cases: [string, unknown[], unknown[], number, Parameters<typeof families>[3]][] = [
        ['texts by case and blanks', ['a', 'A', ' a', 'é', ''], ['a', 'é', ''], 2, { child: 'text' }],
        ['whole decimals', [1, 2, 3], ['1.00', '2.50'], 2, { child: 'integer', parent: 'decimal' }],
        ['floats', [1.5, 2, 3.25], [2, 1], 2, { child: 'float', parent: 'integer' }],
        ['halves of decimals', ['0.50', '0.25'], [0.5], 1, { child: 'decimal', parent: 'float' }],
        ['dates', ['2024-02-29', '2024-03-01'], ['2024-02-29'], 1, { child: 'date' }],
        [
          'moments',
          ['2024-02-29 10:00:00', '2024-02-29 10:00:01'],
          ['2024-02-29 10:00:00'],
          1,
          { child: 'timestamp' },
        ],
        [
          'integers beyond doubles',
          [9007199254740993n, 9007199254740992n, 9007199254740991n],
          [9007199254740992n],
          2,
          { child: 'integer', childType: 'bigint' },
        ],
      ]
      for (const [name, children, parents, orphans, kinds] of cases) {
        const { child, parent } = await families(on, children, parents, kinds)
        t.match(await look(on, child, { parent }), { orphans, total: children.length }, name)
        await on.connection.query(
          comparison(on.engine.dialect, { table: child, column: 'k' }, { parent, parentColumn: 'k' }),
          { timeoutMs: 60_000 },
        )
      }
    })

    t.test('the numbers are those of counting by hand', async t => {
      let seed = 7
      const dice = (sides: number) => (seed = (seed * 48_271) % 2_147_483_647) % sides
      const roll = (count: number) => Array.from({ length: count }, () => (dice(6) === 0 ? null : dice(12)))
      for (let round = 0; round < 6; round++) {
        const [children, parents] = [roll(40), roll(12)]
        const [minChildren, maxChildren] = [dice(5), dice(6)]
        const { child, parent } = await families(on, children, parents)
        const present = children.filter(value => value !== null)
        const sizes = [...new Set(parents.filter(value => value !== null))].map(
          value => present.filter(other => other === value).length,
        )
        const orphans = present.filter(value => !parents.includes(value)).length
        t.same(await look(on, child, { parent, minChildren, maxChildren }), {
          total: 40,
          present: present.length,
          invalid: orphans,
          orphans,
          below: sizes.filter(count => count < minChildren).length,
          above: sizes.filter(count => count > maxChildren).length,
        })
      }
    })

    t.test('it keeps out of the statement of others, and they keep their numbers when it fails', async t => {
      const { child, parent } = await families(on, [1, null], [1])
      const others = [ruleOf('NOT_NULL', 'k'), ruleOf('row_count')]
      const together = await run(on, child, [refers('k', { parent }), ...others])
      t.equal(together.statements, 2)
      t.match(together.outcomes, [{ invalid: 0 }, { invalid: 1 }, { value: 2 }])
      await on.execute(`drop table ${on.engine.dialect.table(parent).strings.join('')}`)
      const apart = await run(on, child, [refers('k', { parent }), ...others])
      t.match(apart.outcomes, [{ status: 'error', kind: 'missing-object' }, { invalid: 1 }, { value: 2 }])
    })

    t.test('what the catalog shows is an error without a statement', async t => {
      const { child, parent } = await families(on, [1], ['a'], { child: 'integer', parent: 'text' })
      const gone = { ...parent, columns: parent.columns.filter(({ name }) => name !== 'k') }
      const checks = [
        refers('nope', { parent: child }),
        { ...refers('k', { parent: gone }), id: 'column gone' },
        { ...refers('k', { parent }), id: 'of other kind' },
      ]
      const { outcomes, statements } = await run(on, child, checks)
      t.equal(statements, 0)
      t.match(outcomes, [
        { status: 'error', message: /nope does not exist/ },
        { status: 'error', message: new RegExp(`The column k does not exist in .*${parent.name}`) },
        { status: 'error', message: /k is \w+.* and k is \w+.*cannot be compared/ },
      ])
    })
  })
}

for (const [engine, open] of Object.entries(doubles)) {
  t.test(engine, async t => {
    const on = await open(t)
    const name = on.columnName ?? 'a "value"'
    for (const kind of ['integer', 'text'] as const) {
      const write = (values: (number | null)[]) =>
        values.map(value => [kind === 'text' && value !== null ? `v${value}` : value])
      const column = { name, kind }
      const child = await on.createTable([column], write([2, 3, 3, 4, 4, 4, 7, null]))
      const parent = await on.createTable([column], write([1, 1, 2, 3, 4, 4, null]))
      const [, to] = parent.table.columns
      const config = { parent: parent.table, parentColumn: to?.name ?? '', minChildren: 2, maxChildren: 2 }
      const check = refers(child.table.columns[1]?.name ?? '', config)
      const options = { timeoutMs: 60_000, sampleLimit: 5 }
      const { outcomes } = await scan(child.connection, on.engine, child.table, [check], options)
      t.match(outcomes, [
        {
          status: 'counted',
          total: 8,
          invalid: 1,
          measured: { present: 7, orphans: 1, below: 2, above: 1 },
          samples: [{ value: kind === 'text' ? 'v7' : 7 }],
        },
      ])
      const asked = comparison(on.engine.dialect, { table: child.table, column: check.column ?? '' }, config)
      t.same(await child.connection.query(asked, { timeoutMs: 60_000 }), [], 'it reads nothing')
    }
  })
}

t.test('an engine that cannot compare two columns says so before there is a check', async t => {
  const on = await postgresqlStand(t)
  const { child, parent } = await families(on, ['a'], [], {
    child: 'text',
    parent: 'other',
    parentType: 'uuid',
  })
  const config = { parent, parentColumn: 'k' }
  const asked = on.connection.query(comparison(on.engine.dialect, { table: child, column: 'k' }, config), {
    timeoutMs: 60_000,
  })
  t.equal((await failure(asked)).kind, 'invalid-query')
})

t.test('kinds are compared with their like', async t => {
  const column = (kind: ColumnKind): ColumnInfo => ({
    ...{
      name: kind,
      ordinal: 1,
      type: kind,
      rawType: kind,
      kind,
      nullable: true,
      default: null,
      comment: null,
    },
  })
  const refusal = (
    child: ColumnKind,
    parent: ColumnKind,
    { dialect }: Pick<Connector, 'dialect'> = postgresql,
  ) => incomparable(column(child), column(parent), dialect)
  const fits = (...pair: [ColumnKind, ColumnKind]) => refusal(...pair) === null
  const alike: [ColumnKind, ColumnKind][] = [
    ['integer', 'decimal'],
    ['float', 'integer'],
    ['text', 'text'],
    ['date', 'timestamp'],
    ['other', 'other'],
    ['other', 'text'],
  ]
  const unlike: [ColumnKind, ColumnKind][] = [
    ['text', 'integer'],
    ['boolean', 'integer'],
    ['date', 'text'],
    ['time', 'timestamp'],
    ['json', 'json'],
    ['json', 'other'],
    ['binary', 'text'],
  ]
  for (const [a, b] of alike) t.ok(fits(a, b) && fits(b, a), `${a} ${b}`)
  for (const [a, b] of unlike) t.notOk(fits(a, b) || fits(b, a), `${a} ${b}`)
  t.equal(
    refusal('text', 'integer'),
    'The column text is text and integer is integer, which cannot be compared: choose columns of one kind.',
  )
  t.equal(refusal('boolean', 'integer', mysql), null, 'a tinyint(1) is a number')
  t.equal(refusal('decimal', 'boolean', mysql), null)
  t.equal(refusal('boolean', 'boolean', mysql), null)
  t.ok(refusal('boolean', 'text', mysql))
})
