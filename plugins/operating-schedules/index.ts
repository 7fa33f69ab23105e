import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'
import { makeOperatingSchedules } from './schedules.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** When tables are meant to be active, for features that judge by it. */
export const operatingSchedules: Plugin<undefined> = {
  name: 'operatingSchedules',
  dependencies: ['auth'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      'operating-schedules': {
        title: 'Operating schedules',
        group: 'Monitoring',
        order: 150,
        description: 'Business hours, for baselines that take them into account.',
        page: '/api/public/docs/detection.md',
      },
    } satisfies Record<string, ApiTag>)
    const api = makeOperatingSchedules()
    server.expose(api)
    server.route(routes(api))
  },
}
