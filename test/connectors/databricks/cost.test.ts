import t from 'tap'
import { estimateCost } from '../../../connectors/databricks/cost.ts'
import { sql } from '../../../connectors/sql.ts'

const statement = sql`select count(*) as m from orders`
const estimate = (...relations: string[]) =>
  estimateCost(
    async () => [
      {
        plan: [
          '== Parsed Logical Plan ==',
          "'Project [*]",
          '+- UnresolvedRelation [orders], [], false',
          '== Optimized Logical Plan ==',
          'Aggregate [count(1) AS m#3L], Statistics(sizeInBytes=16.0 B, rowCount=1)',
          ...relations,
          '',
          '== Physical Plan ==',
          '*(2) HashAggregate(keys=[], functions=[count(1)])',
        ].join('\n'),
      },
    ],
    statement,
  )

t.test('a statement costs the sizes of the tables in the optimized plan', async t => {
  const orders =
    '   :- Relation main.shop.orders[id#0L,at#1] parquet, Statistics(sizeInBytes=1.5 MiB, rowCount=2.50E+4)'
  const customers = '   +- Relation main.shop.customers[id#2L] parquet, Statistics(sizeInBytes=512.0 B)'
  t.strictSame(await estimate(orders), { rows: 25_000, bytes: 1_572_864 })
  t.strictSame(await estimate(orders, customers), { rows: null, bytes: 1_573_376 })
  t.strictSame(await estimate(), { rows: 0, bytes: 0 })
})

t.test('what Spark assumes of a table that it knows nothing of is no size', async t => {
  const unknown = '+- Relation main.shop.orders[id#0L] csv, Statistics(sizeInBytes=8.0 EiB)'
  t.strictSame(await estimate(unknown), { rows: null, bytes: null })
})

t.test('tables of other sources count, and a plan that cannot be read is unknown', async t => {
  const iceberg = '+- RelationV2[id#0L] lake.shop.orders, Statistics(sizeInBytes=2.0 KiB, rowCount=10)'
  const hive = '+- HiveTableRelation [`main`.`shop`.`orders`, …], Statistics(sizeInBytes=1024.0 B)'
  t.strictSame(await estimate(iceberg), { rows: 10, bytes: 2_048 })
  t.strictSame(await estimate(iceberg, hive), { rows: null, bytes: 3_072 })
  const counted = '+- LocalRelation [m#3L], Statistics(sizeInBytes=16.0 B, rowCount=1)'
  t.strictSame(await estimate(counted), { rows: 0, bytes: 0 }, 'by the table’s own metadata')
  t.strictSame(await estimateCost(async () => [{ plan: '== Physical Plan ==' }], statement), {
    rows: null,
    bytes: null,
  })
})
