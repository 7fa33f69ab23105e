import t from 'tap'
import { makeStage } from '../../helpers/world.ts'
import { shopAndWarehouse } from './two-sources.ts'

const { warehouse, tenant } = await shopAndWarehouse(t, await makeStage(t))
const sdk = '/api/v1/sdk'

t.test('a comparison is exported as people write it, by a key that says what it compares', async t => {
  const made = await tenant.ask('POST', `${sdk}/comparisons/${warehouse.asset.id}`, {
    ...{ table_path: 'orders_copy', right_source: 'shop', right_table_path: 'orders' },
    key_columns: [{ left: 'id', right: 'id' }],
    columns: ['status', { left: 'total', tolerance: 0.01 }],
  })
  t.equal(made.status, 201)
  const monitors = `${sdk}/monitors/${warehouse.asset.id}`
  const { data } = (await tenant.ask('GET', monitors)).body
  const [table] = Object.values(data.tables) as { checks: object }[]
  t.strictSame(table?.checks, {
    comparison: [
      {
        key: 'orders_copy.equals.shop.orders',
        right_source: 'shop',
        right_table_path: made.body.data.right_table_path,
        key_columns: ['id'],
        columns: ['status', { left: 'total', tolerance: 0.01 }],
      },
    ],
  })
  const files = [{ name: 'monitors/warehouse.yaml', content: data }]
  t.match((await tenant.ask('POST', `${monitors}/apply`, { files })).body.data, { create: 0, adopt: 1 })
  t.match((await tenant.ask('POST', `${monitors}/apply`, { files })).body.data, {
    ...{ create: 0, change: 0, replace: 0, adopt: 0, unchanged: 1, changes: [], drift: [] },
  })
})

t.test('a file may compare columns of other names, and is refused with the field that is wrong', async t => {
  const entry = {
    ...{ key: 'copy', right_source: 'shop', right_table_path: 'orders' },
    key_columns: [{ left: 'id', right: 'idd' }],
  }
  const content = {
    version: 1,
    source: 'warehouse',
    tables: { orders_copy: { checks: { comparison: [entry] } } },
  }
  const files = [{ name: 'monitors/other.yaml', content }]
  const plan = await tenant.ask('POST', `${sdk}/monitors/${warehouse.asset.id}/plan`, { files })
  t.match(JSON.stringify(plan.body), /key_columns/)
  t.match(JSON.stringify(plan.body), /did you mean `id`/)
})
