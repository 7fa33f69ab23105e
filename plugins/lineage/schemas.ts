import Joi from 'joi'
import { held, inData, record, reply } from '../../server/http/envelopes.ts'
import { queryInteger } from '../../server/http/page.ts'
import { DIRECTIONS } from './graph.ts'

export const assetParams = Joi.object({
  asset_id: Joi.string().required().description('The id or qualified name of a source or a table.'),
})

export const walkQuery = Joi.object({
  depth: queryInteger(1, 10).default(3).description('Steps away from the table.'),
  direction: Joi.string()
    .valid('both', ...DIRECTIONS)
    .default('both')
    .description('What the table is made from, what is made from it, or both.'),
})

const orders = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'
const sales = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d91'

const away = held.count.allow(null)

const node = record({
  id: held.id,
  qualified_name: Joi.string(),
  name: Joi.string(),
  asset_type: Joi.string(),
  is_active: held.flag.description('False of a table that is not there any more.'),
  upstream_distance: away.description('Steps against the flow of data; null where it does not lie there.'),
  downstream_distance: away.description('Steps along the flow of data; null where it does not lie there.'),
})

const edge = record({
  upstream_id: held.id.description('The table that is read.'),
  downstream_id: held.id.description('The table that is made from it.'),
})

/** The reply with a graph. */
export const graph = reply(
  inData(
    record(
      {
        asset_id: held.id,
        nodes: Joi.array().items(node),
        edges: Joi.array().items(edge),
        is_complete: held.flag.description('False where there are more edges than are shown, 2,000.'),
      },
      {
        asset_id: orders,
        nodes: [
          {
            id: sales,
            qualified_name: 'demo_shop.main.main.daily_sales',
            name: 'daily_sales',
            asset_type: 'view',
            is_active: true,
            upstream_distance: null,
            downstream_distance: 1,
          },
          {
            id: orders,
            qualified_name: 'demo_shop.main.main.orders',
            name: 'orders',
            asset_type: 'table',
            is_active: true,
            upstream_distance: 0,
            downstream_distance: 0,
          },
        ],
        edges: [{ upstream_id: orders, downstream_id: sales }],
        is_complete: true,
      },
    ).label('LineageGraph'),
  ),
)
