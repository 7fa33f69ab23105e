import t from 'tap'
import { estimateCost } from '../../../connectors/snowflake/cost.ts'
import { sql } from '../../../connectors/sql.ts'

const statement = sql`select count(*) as m from orders`

// As https://docs.snowflake.com/en/sql-reference/sql/explain shows it.
const PLAN = {
  GlobalStats: { partitionsTotal: 400, partitionsAssigned: 4, bytesAssigned: 65_536 },
  Operations: [
    [
      { id: 0, operation: 'Result', expressions: ['COUNT(*)'] },
      { id: 1, parentOperators: [0], operation: 'TableScan', objects: ['SHOP.PUBLIC.ORDERS'] },
    ],
  ],
}

t.test('a statement costs the bytes of the micro-partitions that are left', async t => {
  const asked: string[] = []
  const found = await estimateCost(async each => {
    asked.push(each.strings.join('?'))
    return [{ content: JSON.stringify(PLAN) }]
  }, statement)
  t.strictSame(found, { rows: null, bytes: 65_536 })
  t.strictSame(asked, ['explain using json select count(*) as m from orders'])
})

t.test('what the plan does not say is unknown', async t => {
  t.strictSame(await estimateCost(async () => [{ content: '{}' }], statement), { rows: null, bytes: null })
})
