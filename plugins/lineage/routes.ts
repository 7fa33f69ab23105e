import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { listConnected } from './edges.ts'
import { presentNode, readGraph, type GraphQuery } from './graph.ts'
import * as schemas from './schemas.ts'

const route = routesOf('lineage')

export const routes: ServerRoute[] = [
  route('GET', '/api/v1/sdk/lineage', access.read, {
    id: 'listLineageNodes',
    description: 'List the tables that have lineage, by name',
    notes: 'Use `GET /api/v1/sdk/lineage/{asset_id}` for what a table is made from.',
    validate: { query: schemas.nodeList },
    response: schemas.nodes,
    handler: request =>
      inCompany(request, async trx => {
        const page = queryOf<Page>(request)
        const { tables, total } = await listConnected(trx, page)
        return { data: { data: tables.map(presentNode), pagination: pagination(total, page) } }
      }),
  }),
  route('GET', '/api/v1/sdk/lineage/{asset_id}', access.read, {
    description: 'What a table is made from, and what is made from it',
    notes: 'Of a source, all that is known of its tables; depth and direction say nothing then.',
    validate: { params: schemas.assetParams, query: schemas.walkQuery },
    response: schemas.graph,
    handler: request =>
      inCompany(request, async trx => {
        const { catalog } = request.server.plugins
        const asset = await catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readGraph(trx, asset, queryOf<GraphQuery>(request)) }
      }),
  }),
]
