import type { ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { param } from '../../../server/http/input.ts'
import { applyCoverage } from './apply.ts'
import { readCompanyCoverage, readCoverage, readCoverageAdvice, readGaps } from './coverage.ts'
import { adviceQuery, applyBody, assetParams, gapsQuery, replies } from './schemas.ts'
import type { RecommendationsDeps } from '../deps.ts'

const route = routesOf('coverage')

export const coverageRoutes = (deps: RecommendationsDeps): ServerRoute[] => [
  route('GET', '/api/v1/sdk/coverage/company', access.read, {
    description: 'Get the coverage of each active source',
    notes: 'The share of tables that some check watches, as a score for each source and for the company.',
    response: replies.company,
    handler: request => inCompany(request, async trx => ({ data: await readCompanyCoverage(deps, trx) })),
  }),
  route('GET', '/api/v1/sdk/coverage/{asset_id}', access.read, {
    description: 'Get the coverage of an asset, by kind of check',
    notes: 'Of a source all its tables, or one table. `gaps` lists what is missing.',
    validate: { params: assetParams },
    response: replies.asset,
    handler: request =>
      inCompany(request, async trx => {
        const asset = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readCoverage(deps, trx, asset) }
      }),
  }),
  route('GET', '/api/v1/sdk/coverage/{asset_id}/gaps', access.read, {
    description: 'List tables that lack a kind of check, the most important first',
    notes: 'Use it to decide what to monitor next.',
    validate: { params: assetParams, query: gapsQuery },
    response: replies.gaps,
    handler: request =>
      inCompany(request, async trx => {
        const asset = await deps.catalog.findAsset(trx, param(request, 'asset_id'))
        return { data: await readGaps(deps, trx, asset, request.query.limit) }
      }),
  }),
  route('POST', '/api/v1/sdk/coverage/{asset_id}/apply', access.write, {
    id: 'applyCoverage',
    description: 'Create recommended checks that tables of an asset lack',
    notes:
      'Of the kinds that `types` names: what the level `standard` of a watched source would create. Drift is found by discoveries, so that `schema_drift` only says whether the source is discovered on schedule.',
    validate: { params: assetParams, payload: applyBody },
    response: replies.applied,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => {
        const { source, result } = await applyCoverage(deps, trx, {
          assetId: param(request, 'asset_id'),
          by: actorOf(caller(request)),
          request: request.payload,
        })
        if (result.applied_count > 0)
          await auditRequest(request, trx, {
            action: 'coverage.applied',
            target: { type: 'source', id: source.id },
            details: { applied: result.applied },
          })
        return { data: result }
      }),
  }),
  route('GET', '/api/v1/sdk/recommendations/coverage', access.read, {
    id: 'listCoverageRecommendations',
    description: 'List tables that lack a kind of check, with the kinds they have',
    notes: 'The same tables as the gaps of the coverage, the most important first.',
    validate: { query: adviceQuery },
    response: replies.advice,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => {
        const { asset_id: assetId, limit } = request.query
        const asset = await deps.catalog.findAsset(trx, assetId)
        return { data: await readCoverageAdvice(deps, trx, asset, limit) }
      }),
  }),
]
