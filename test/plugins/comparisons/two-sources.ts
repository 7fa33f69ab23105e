import { startSource } from '../../helpers/source.ts'
import { discover, makeWorldOn, type World } from '../../helpers/world.ts'

type Stage = Parameters<typeof makeWorldOn>[1]

const sdk = '/api/v1/sdk'

const ORDERS = [
  'create table orders (id int primary key, status text, total numeric(10, 2), placed_at timestamptz)',
  `insert into orders select g, 'paid', g + 0.5, timestamptz '2026-03-01 12:00Z' + g * interval '1 minute'
   from generate_series(1, 50) g`,
]
const COPY = [
  ...ORDERS,
  'alter table orders rename to orders_copy',
  'delete from orders_copy where id in (7, 8)',
  `update orders_copy set total = total + 1 where id = 20`,
  `insert into orders_copy values (99, 'new', 1, '2026-03-01')`,
]

/** The orders of a shop, and in a warehouse, which is another source, a copy of them of which four rows differ. */
export async function shopAndWarehouse(t: Parameters<typeof makeWorldOn>[0], stage: Stage) {
  const shop = await makeWorldOn(t, stage, ORDERS)
  await discover(shop)
  const source = await startSource(t)
  for (const statement of COPY) await source.query(statement)
  const { tenant } = stage
  const made = await tenant.ask('POST', `${sdk}/assets`, {
    ...{ name: 'warehouse', source_type: 'postgresql', connection_config: source.config },
  })
  const warehouse: World = { ...stage, source, asset: made.body.data as World['asset'] }
  t.teardown(async () => {
    await tenant.ask('DELETE', `${sdk}/assets/${warehouse.asset.id}`)
    await stage.app.query('delete from alerts where source_id = $1', [warehouse.asset.id])
  })
  await discover(warehouse)
  return { shop, warehouse, tenant }
}
