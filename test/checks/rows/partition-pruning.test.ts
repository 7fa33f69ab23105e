/** That engines read only the partitions of a window: by what they say of the statement of a windowed check. */
import t from 'tap'
import { completeBuckets } from '../../../checks/plan.ts'
import { explainScan } from '../../../checks/scan.ts'
import type { Check } from '../../../checks/check.ts'
import { notNull } from '../../../checks/rules/not-null.ts'
import { rowCountMetric } from '../../../checks/metrics/row-count.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import { mysql } from '../../../connectors/mysql/index.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { mariadbAbsent, startShop, withMysql } from '../../helpers/mariadb.ts'
import { connectOptions, startSource } from '../../helpers/source.ts'

const NOW = new Date('2026-03-06T10:00:00Z')
const DAYS = [
  '2026-03-01',
  '2026-03-02',
  '2026-03-03',
  '2026-03-04',
  '2026-03-05',
  '2026-03-06',
  '2026-03-07',
]

/** The statements of two checks of the last days, as they are sent. */
async function statementsOf(
  connection: Connection,
  connector: Pick<Connector, 'name' | 'capabilities' | 'dialect'>,
  { name, count, keeping }: { name: string; count: number; keeping: 'days' | 'wall' },
) {
  const table = (await connection.introspect()).find(found => found.name === name)!
  const grid = { size: '1d', timezone: 'UTC', keeping }
  const window = { column: 'at', grid: '1d UTC', buckets: completeBuckets(grid, NOW, count) }
  const checks: Check[] = [
    { id: '1', type: rowCountMetric, config: {}, window },
    { id: '2', type: notNull, config: {}, column: 'id', window },
  ]
  return explainScan(connector, table, checks)
}

t.test('MariaDB lists the partitions of the window only', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  const partitions = (bound: (day: string) => string) =>
    DAYS.slice(1)
      .map((day, index) => `partition d${index + 1} values less than (${bound(day)})`)
      .join(', ')
  await shop.query(
    `create table by_day (id int, at date) partition by range columns (at) (${partitions(day => `'${day}'`)})`,
  )
  await shop.query(
    `create table by_moment (id int, at datetime) partition by range (to_days(at)) (${partitions(day => `to_days('${day}')`)})`,
  )
  for (const table of ['by_day', 'by_moment'])
    for (const day of DAYS.slice(0, 6)) await shop.query(`insert into ${table} values (1, '${day}')`)
  for (const [name, keeping] of [
    ['by_day', 'days'],
    ['by_moment', 'wall'],
  ] as const)
    for (const [count, read] of [
      [1, ['d5']],
      [3, ['d3', 'd4', 'd5']],
    ] as const)
      await withMysql(shop.config, async connection => {
        const statements = await statementsOf(connection, mysql, { name, count, keeping })
        t.equal(statements.length, 1)
        t.same(statements[0]!.values, [], 'literals, which are known when partitions are chosen')
        const plan = await shop.query(`explain partitions ${statements[0]!.text}`)
        const listed = new Set(
          plan.filter(row => row.partitions !== null).flatMap(row => String(row.partitions).split(',')),
        )
        t.same([...listed].sort(), read, `${name}, ${count} days`)
      })
})

t.test('PostgreSQL plans the partitions of the window only', async t => {
  const source = await startSource(t)
  await source.query('create table events (id int, at timestamp) partition by range (at)')
  for (const [index, day] of DAYS.slice(1).entries())
    await source.query(
      `create table events_d${index + 1} partition of events for values from ('${DAYS[index]}') to ('${day}')`,
    )
  const { value } = postgresql.config.validate(source.config)
  const connection = await postgresql.connect(value!, connectOptions)
  t.teardown(() => connection.close())
  for (const [count, read] of [
    [1, ['events_d5']],
    [3, ['events_d3', 'events_d4', 'events_d5']],
  ] as const) {
    const [statement, ...others] = await statementsOf(connection, postgresql, {
      name: 'events',
      count,
      keeping: 'wall',
    })
    t.same(others, [])
    const plan = await source.query(`explain ${statement!.text}`)
    const listed = [...JSON.stringify(plan).matchAll(/events_d\d/g)].map(([name]) => name)
    t.same([...new Set(listed)].sort(), read, `${count} days`)
  }
})
