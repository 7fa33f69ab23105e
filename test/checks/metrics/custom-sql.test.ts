import t from 'tap'
import type { Check } from '../../../checks/check.ts'
import { scan } from '../../../checks/scan.ts'
import { mariadbAbsent } from '../../helpers/mariadb.ts'
import { check, run as measure } from '../scan-helpers.ts'
import { mariadbStand, postgresqlStand, sqliteStand, type EngineTestDatabase } from '../test-databases.ts'

type Start = Parameters<typeof postgresqlStand>[0]

const STANDS: { engine: string; skip: string | false; open(t: Start): Promise<EngineTestDatabase> }[] = [
  { engine: 'PostgreSQL', skip: false, open: postgresqlStand },
  { engine: 'SQLite', skip: false, open: sqliteStand },
  { engine: 'MariaDB', skip: mariadbAbsent, open: mariadbStand },
]

const own = (id: string, text: string, groupBy?: string[]) => ({
  ...check('custom_sql', undefined, { sql_expression: text }),
  id,
  ...(groupBy && { groupBy }),
})

for (const { engine, skip, open } of STANDS)
  t.test(`expressions and SELECTs give their numbers on ${engine}`, { skip }, async t => {
    const on = await open(t)
    const { table } = await on.createTable(
      [
        { name: 'paid', kind: 'integer' },
        { name: 'due', kind: 'integer' },
        { name: 'region', kind: 'text' },
      ],
      [
        [10, 20, 'north'],
        [30, 20, 'south'],
        [null, 40, 'south'],
      ],
    )
    const { text: name } = on.engine.dialect.render(on.engine.dialect.table(table))
    const run = (...checks: Check[]) => measure(on, table, checks)

    const shared = await run(
      check('row_count'),
      own('ratio', 'sum(paid) * 1.0 / nullif(sum(due), 0)'),
      own('share', '100.0 * count(paid) / count(*)'),
    )
    t.match(shared.outcomes, [{ value: 3 }, { id: 'ratio', value: 0.5 }, { id: 'share', status: 'measured' }])
    const scans = shared.seen.filter(text => text.includes('m0'))
    t.equal(scans.length, 1, 'an expression is measured with the other checks')

    const grouped = await run(own('ratio', 'sum(paid) * 1.0 / sum(due)', ['region']))
    const [outcome] = grouped.outcomes
    t.ok(outcome?.status === 'grouped')
    if (outcome?.status === 'grouped')
      t.same(
        new Map(outcome.groups.map(({ group, value }) => [group.region, value])),
        new Map([
          ['north', 0.5],
          ['south', 0.5],
        ]),
      )

    const selects = await run(
      check('row_count'),
      own('one', `select count(*) as value from ${name}`),
      own('rows', `select paid as value from ${name}`),
      own('none', `select paid as value from ${name} where due > 99`),
      own('text', `select max(region) as value from ${name}`),
      own('words', 'max(region)'),
      own('alias', 'sum(m0)'),
    )
    t.match(selects.outcomes, [
      { value: 3 },
      { id: 'one', value: 3 },
      { id: 'rows', status: 'error', message: /returned 3 rows, and a metric is one number/ },
      { id: 'none', status: 'error', message: /returned no row/ },
      { id: 'text', status: 'error', message: /not a finite number/ },
      { id: 'words', status: 'error', message: /not a finite number/ },
      { id: 'alias', status: 'error', message: /m0 does not exist/ },
    ])
  })

t.test(
  'an expression that fails, or would make rows of its own, leaves its neighbours their numbers',
  async t => {
    const on = await postgresqlStand(t)
    const { table } = await on.createTable([{ name: 'paid', kind: 'integer' }], [[0], [4]])
    const checks = [
      check('row_count'),
      own('divides', '1 / min(paid)'),
      check('max_value', 'paid'),
      own('rows', 'generate_series(1, count(*)::int)'),
      own('missing', 'sum(gone)'),
      own('fine', 'sum(paid)'),
    ]
    const { outcomes } = await scan(on.connection, on.engine, table, checks, { timeoutMs: 30_000 })
    t.match(outcomes, [
      { value: 2 },
      { id: 'divides', status: 'error' },
      { value: 4 },
      { id: 'rows', status: 'error' },
      { id: 'missing', status: 'error', message: /gone/ },
      { id: 'fine', value: 4 },
    ])
  },
)
