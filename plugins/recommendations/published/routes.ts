import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { readFreshnessAdvice, readMetricAdvice, readThresholdAdvice, resolveAsset } from './advice.ts'
import { freshnessQuery, metricsQuery, publishedReplies, thresholdsQuery } from './schemas.ts'
import type { RecommendationsDeps } from '../deps.ts'

const base = '/api/v1/sdk/recommendations'
const route = routesOf('recommendations')

/** Parts of the recommendations, as published clients ask for them. */
export const publishedRoutes = (deps: RecommendationsDeps): ServerRoute[] => [
  route('GET', `${base}/freshness`, access.read, {
    id: 'listFreshnessRecommendations',
    description: 'List thresholds of freshness by learned cadences',
    notes:
      'From the updates that checks found, from a computed past, or from the profile of the table, with less confidence.',
    validate: { query: freshnessQuery },
    response: publishedReplies.freshness,
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const asset = await resolveAsset(deps, trx, query)
        return { data: await readFreshnessAdvice(deps, trx, asset, query) }
      }),
  }),
  route('GET', `${base}/metrics`, access.read, {
    id: 'listMetricRecommendations',
    description: 'List metrics that columns lack',
    notes: 'Those of the recommended checks that are metrics of columns.',
    validate: { query: metricsQuery },
    response: publishedReplies.metrics,
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const asset = await resolveAsset(deps, trx, query)
        return { data: await readMetricAdvice(deps, trx, asset, query) }
      }),
  }),
  route('GET', `${base}/thresholds`, access.read, {
    id: 'listThresholdRecommendations',
    description: 'List metrics whose sensitivity does not suit their history',
    notes: 'Counts the alerts of stored snapshots at other sensitivities. The source is not asked.',
    validate: { query: thresholdsQuery },
    response: publishedReplies.thresholds,
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const asset = await resolveAsset(deps, trx, query)
        return { data: await readThresholdAdvice(deps, trx, asset, query) }
      }),
  }),
]
