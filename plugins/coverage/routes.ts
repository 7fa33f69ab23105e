import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { param, queryOf } from '../../server/http/input.ts'
import { readCompanyCoverage, readCoverage, readGaps } from './coverage.ts'
import { assetParams, gapsQuery, replies } from './schemas.ts'

const route = routesOf('coverage')

export const routes: ServerRoute[] = [
  route('GET', '/api/v1/sdk/coverage/company', access.read, {
    description: 'Get the coverage of each active source',
    notes: 'The share of tables that some check watches, as a score for each source and for the company.',
    response: replies.company,
    handler: request =>
      inCompany(request, async trx => ({ data: await readCompanyCoverage(request.server, trx) })),
  }),
  route('GET', '/api/v1/sdk/coverage/{asset_id}', access.read, {
    description: 'Get the coverage of an asset, by kind of check',
    notes: 'Of a source all its tables, or one table. `gaps` lists what is missing.',
    validate: { params: assetParams },
    response: replies.asset,
    handler: request =>
      inCompany(request, async trx => {
        const asset = await request.server.plugins.catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readCoverage(request.server, trx, asset) }
      }),
  }),
  route('GET', '/api/v1/sdk/coverage/{asset_id}/gaps', access.read, {
    description: 'List tables that lack a kind of check, the most important first',
    notes: 'Use it to decide what to monitor next.',
    validate: { params: assetParams, query: gapsQuery },
    response: replies.gaps,
    handler: request =>
      inCompany(request, async trx => {
        const asset = await request.server.plugins.catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readGaps(request.server, trx, asset, queryOf<{ limit: number }>(request).limit) }
      }),
  }),
]
