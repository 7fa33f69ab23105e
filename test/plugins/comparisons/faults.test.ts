import t from 'tap'
import { startSource } from '../../helpers/source.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../helpers/world.ts'

const stage = await makeStage(t)
const sdk = '/api/v1/sdk'
const ORDERS = [
  'create table orders (id int primary key, total int)',
  'insert into orders select g, g from generate_series(1, 50) g',
]

void t.test(
  'comparisons in opposite directions do not wait for each other, with one session a source',
  async t => {
    const { tenant } = stage
    const shop = await makeWorldOn(t, stage, ORDERS)
    await discover(shop)
    const source = await startSource(t)
    for (const statement of [...ORDERS, 'delete from orders where id = 7']) await source.query(statement)
    const made = await tenant.ask('POST', `${sdk}/assets`, {
      ...{ name: 'warehouse', source_type: 'postgresql', connection_config: source.config },
    })
    const warehouse: World = { ...stage, source, asset: made.body.data as World['asset'] }
    await discover(warehouse)
    for (const { id } of [shop.asset, warehouse.asset])
      t.equal((await tenant.ask('PATCH', `${sdk}/assets/${id}`, { max_concurrency: 1 })).status, 200)
    const create = async (left: World, right: World) => {
      const reply = await tenant.ask('POST', `${sdk}/comparisons/${left.asset.id}`, {
        ...{
          table_path: 'orders',
          right_source: right === shop ? 'shop' : 'warehouse',
          right_table_path: 'orders',
          key_columns: ['id'],
        },
      })
      if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
      return `${sdk}/comparisons/${left.asset.id}/${reply.body.data.id as string}/execute`
    }
    const [there, back] = [await create(warehouse, shop), await create(shop, warehouse)]
    for (let round = 0; round < 5; round += 1) {
      const [one, other] = await Promise.all([tenant.ask('POST', there), tenant.ask('POST', back)])
      t.match(one, { status: 200, body: { data: { status: 'fail', only_right: 1, only_left: 0 } } })
      t.match(other, { status: 200, body: { data: { status: 'fail', only_right: 0, only_left: 1 } } })
    }
    for (const path of [there, back]) await tenant.ask('DELETE', path.replace('/execute', ''))
    await tenant.ask('DELETE', `${sdk}/assets/${warehouse.asset.id}`)
  },
)
