import type { Request, ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { reply } from '../../server/http/envelopes.ts'
import { hasCode } from '../../server/http/errors.ts'
import { param } from '../../server/http/input.ts'
import { pagination } from '../../server/http/page.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { LineageDeps } from './deps.ts'
import { findOutside, listConnected } from './graph/nodes.ts'
import { presentEdge, presentNode } from './graph/present.ts'
import { readGraph, type GraphRoot } from './graph/read.ts'
import { addManualEdge, listManualEdges, readNames, removeManualEdge } from './manual.ts'
import type { LineageEdge } from './graph/unreported.ts'
import * as schemas from './schemas.ts'

const edges = '/api/v1/sdk/lineage/edges'
const route = routesOf('lineage')

export const routes = (deps: LineageDeps): ServerRoute[] => [
  route('GET', '/api/v1/sdk/lineage', access.read, {
    id: 'listLineageNodes',
    description: 'List the tables and outside things that have lineage, by name',
    notes: 'Use `GET /api/v1/sdk/lineage/{asset_id}` for what a table is made from.',
    validate: { query: schemas.nodeList },
    response: schemas.nodes,
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { nodes, total } = await listConnected(trx, page)
        return { data: { data: nodes.map(presentNode), pagination: pagination(total, page) } }
      }),
  }),
  route('GET', '/api/v1/sdk/lineage/{asset_id}', access.read, {
    description: 'What a table is made from, and what is made from it',
    notes: 'For a source, everything that is known of its tables; depth and direction are ignored then.',
    validate: { params: schemas.assetParams, query: schemas.walkQuery },
    response: schemas.graph,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => {
        const root = await findRoot(deps.catalog, trx, param(request, 'asset_id'))
        return { data: await readGraph(deps, trx, root, request.query) }
      }),
  }),
  route('GET', edges, access.read, {
    description: 'List the edges of the lineage graph that were added by hand',
    notes: 'The newest first. Other edges come from views, pipelines and dbt, and are seen in the graph.',
    validate: { query: schemas.nodeList },
    response: reply(schemas.replies.edges),
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { edges, names, total } = await listManualEdges(trx, page)
        const data = edges.map(edge => presentEdge(edge, names, true))
        return { data: { data, pagination: pagination(total, page) } }
      }),
  }),
  route('POST', edges, access.write, {
    id: 'createLineageEdge',
    description: 'Add an edge to the lineage graph by hand',
    notes: 'Sent again, it replaces the columns. An edge by hand stays until it is removed.',
    validate: { payload: schemas.newEdge },
    response: reply(schemas.replies.edge, 201),
    handler: async (request, h) => {
      const data = await inCompany(request, async trx => {
        const { edge, isNew } = await addManualEdge(deps.catalog, trx, request.payload)
        await auditEdge(request, trx, isNew ? 'created' : 'changed', edge)
        return presentEdge(edge, await readNames(trx, [edge]), true)
      })
      return h.response({ data }).code(201)
    },
  }),
  route('DELETE', `${edges}/{upstream_id}/{downstream_id}`, access.write, {
    id: 'deleteLineageEdge',
    description: 'Remove an edge that was added by hand',
    notes: 'Where a view or a pipeline reports it too, the edge stays.',
    validate: { params: schemas.edgeParams },
    response: reply(schemas.replies.removed),
    handler: request =>
      inCompany(request, async trx => {
        const edge = {
          upstreamId: param(request, 'upstream_id'),
          downstreamId: param(request, 'downstream_id'),
        }
        await removeManualEdge(trx, edge)
        await auditEdge(request, trx, 'removed', edge)
        return { data: { success: true, message: 'The edge was removed' } }
      }),
  }),
]

/** What a graph is asked for around. @throws 404 `ASSET_NOT_FOUND` */
async function findRoot(catalog: CatalogApi, trx: Transaction, id: string): Promise<GraphRoot> {
  try {
    return await catalog.findAsset(trx, id)
  } catch (error) {
    const outside = hasCode(error, 'ASSET_NOT_FOUND') ? await findOutside(trx, id) : undefined
    if (!outside) throw error
    return { outside }
  }
}

async function auditEdge(
  request: Request,
  trx: Transaction,
  happened: string,
  edge: LineageEdge,
): Promise<number> {
  const { upstreamId, downstreamId } = edge
  const names = await readNames(trx, [edge])
  const [from, to] = [upstreamId, downstreamId].map(id => names.get(id))
  return auditRequest(request, trx, {
    action: `lineage_edge.${happened}`,
    target: { type: 'lineage_edge', id: downstreamId },
    details: {
      ...(from && to && { name: `${from} → ${to}` }),
      upstream_id: upstreamId,
      downstream_id: downstreamId,
    },
  })
}
