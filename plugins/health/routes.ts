import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { param } from '../../server/http/input.ts'
import { events, eventsParams, eventsQuery, listEvents } from './events.ts'
import { summarizeHealth } from './health.ts'
import { readOverview } from './overview.ts'
import { overview, overviewQuery } from './overview-schemas.ts'
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
  routesOf('health')('GET', '/api/v1/sdk/health/overview', access.read, {
    description: 'Get the open incidents, the trend of alerts and the quality score',
    notes: [
      'For the first screen of a day: what is wrong, what happened in the last days, and by source, team and tag how good the data was. From stored results: no source is queried.',
      'A table counts from when one of its active checks first ran. A day counts against it if a critical or warning alert about it was open at some time of the day, unless a person dismissed it.',
    ],
    validate: { query: overviewQuery },
    response: overview,
    handler: request => {
      const { plugins, config } = request.server
      const query = { ...request.query, timezone: request.query.timezone ?? config.timezone }
      return inCompany(request, async trx => ({ data: await readOverview(plugins, trx, query) }))
    },
  }),
  routesOf('health')('GET', '/api/v1/sdk/health/events/{asset_id}', access.read, {
    description: 'List what happened to a table',
    notes: 'Schema changes, runs that write it and incidents, as charts of its checks mark them.',
    validate: { params: eventsParams, query: eventsQuery },
    response: events,
    handler: request =>
      inCompany(request, async trx => ({
        data: {
          events: await listEvents(request.server.plugins, trx, param(request, 'asset_id'), request.query),
        },
      })),
  }),
]
