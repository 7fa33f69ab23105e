import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { summarizeHealth } from './health.ts'
import { summary, summaryQuery } from './schemas.ts'

export const routes: ServerRoute[] = [
  routesOf('health')('GET', '/api/v1/sdk/health/summary', access.read, {
    description: 'Get what is wrong with the monitored data',
    notes:
      'From stored results: no source is queried. With `since`, the time of your last look, it also counts what happened after it.',
    validate: { query: summaryQuery },
    response: summary,
    handler: request =>
      inCompany(request, async trx => ({
        data: await summarizeHealth(request.server.plugins, trx, request.query.since),
      })),
  }),
]
