import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { queryInteger } from '../../../server/http/page.ts'
import type { SearchQuery } from './search.ts'

const { id, text } = held

const MAX_MATCHES = 50

export const searchQuery = Joi.object<SearchQuery>({
  q: Joi.string()
    .trim()
    .min(1)
    .max(200)
    .required()
    .description('A part of a name, in any case; there are no wildcards.')
    .example('sales.orders'),
  limit: queryInteger(1, MAX_MATCHES).default(10).description('How many of each kind to show at most.'),
})

const source = record({
  id,
  qualified_name: text,
  name: text,
  asset_type: Joi.valid('source'),
  source_type: Joi.string().description('The engine.'),
})

const table = record({
  id,
  qualified_name: text,
  name: text,
  asset_type: Joi.valid('table', 'view', 'materialized_view', 'external_table'),
})

const column = record({
  name: text,
  data_type: text,
  asset_id: id.description('The table.'),
  qualified_name: text.description('That of the table.'),
})

const orders = { id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d', qualified_name: 'shop.shop.sales.orders' }

export const searchReply = reply(
  inData(
    exampleRecord({
      sources: Joi.array().items(source).max(MAX_MATCHES).example([]),
      tables: Joi.array()
        .items(table)
        .max(MAX_MATCHES)
        .example([{ ...orders, name: 'orders', asset_type: 'table' }]),
      columns: Joi.array().items(column).max(MAX_MATCHES).example([]),
    }).label('SearchMatches'),
  ),
)
