import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany } from '../../server/http/access.ts'
import { param, queryOf } from '../../server/http/input.ts'
import { readGraph, type GraphQuery } from './graph.ts'
import * as schemas from './schemas.ts'

/** The graph of what is made from what. */
export const routes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/sdk/lineage/{asset_id}',
    options: {
      ...access.read,
      description: 'What a table is made from, and what is made from it',
      notes: 'Of a source, all that is known of its tables; depth and direction say nothing then.',
      tags: ['api', 'lineage'],
      validate: { params: schemas.assetParams, query: schemas.walkQuery },
      response: schemas.graph,
    },
    handler: request =>
      inCompany(request, async trx => {
        const { catalog } = request.server.plugins
        const asset = await catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readGraph(trx, asset, queryOf<GraphQuery>(request)) }
      }),
  },
]
