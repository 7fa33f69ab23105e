import Joi from 'joi'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inNestedPage,
  record,
  reply,
  withoutExamples,
} from '../../server/http/envelopes.ts'
import { pageQuery, queryInteger } from '../../server/http/page.ts'
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

export const nodeList = Joi.object(pageQuery())

const placeFields = {
  id: held.id.example(orders),
  qualified_name: Joi.string().example('demo_shop.main.main.orders'),
  name: Joi.string().example('orders'),
  asset_type: Joi.string().description('table, view, …; of the root also source.').example('table'),
  source_type: Joi.string().description('The engine of its source.').example('sqlite'),
}

const place = exampleRecord(placeFields).label('LineageNode')

const away = held.count.allow(null)

const node = record({
  ...withoutExamples(placeFields),
  is_active: held.flag.description('False of a table that is not there any more.'),
  upstream_distance: away.description('Steps against the flow of data; null where it does not lie there.'),
  downstream_distance: away.description('Steps along the flow of data; null where it does not lie there.'),
}).label('LineageGraphNode')

const edge = record({
  upstream_id: held.id.description('The table that is read.'),
  downstream_id: held.id.description('The table that is made from it.'),
  source: Joi.string().description('The qualified name of the table that is read.'),
  target: Joi.string().description('The qualified name of the table that is made from it.'),
}).label('LineageEdge')

const ORDERS = exampleIn(place) as object
const SALES = {
  ...ORDERS,
  id: sales,
  qualified_name: 'demo_shop.main.main.daily_sales',
  name: 'daily_sales',
  asset_type: 'view',
}

export const graph = reply(
  inData(
    record(
      {
        asset_id: held.id,
        root: record(withoutExamples(placeFields)).description('The table or source that was asked for.'),
        upstream: Joi.array()
          .items(place)
          .description('What the table is made from; empty of a source, which knows no direction.'),
        downstream: Joi.array().items(place).description('What is made from it.'),
        nodes: Joi.array().items(node),
        edges: Joi.array().items(edge),
        is_complete: held.flag.description('False where there are more edges than are shown, 2,000.'),
      },
      {
        asset_id: orders,
        root: ORDERS,
        upstream: [],
        downstream: [SALES],
        nodes: [
          { ...SALES, is_active: true, upstream_distance: null, downstream_distance: 1 },
          { ...ORDERS, is_active: true, upstream_distance: 0, downstream_distance: 0 },
        ],
        edges: [
          {
            upstream_id: orders,
            downstream_id: sales,
            source: 'demo_shop.main.main.orders',
            target: 'demo_shop.main.main.daily_sales',
          },
        ],
        is_complete: true,
      },
    ).label('LineageGraph'),
  ),
)

export const nodes = reply(inNestedPage(place))
