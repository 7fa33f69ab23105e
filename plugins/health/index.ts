import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Whether anything is wrong in a company, in one reply. */
export const health: Plugin<undefined> = {
  name: 'health',
  dependencies: ['auth', 'alerts', 'catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      health: {
        title: 'Health',
        group: 'Monitoring',
        order: 170,
        description: 'What is wrong with the data that the service monitors.',
        page: '/api/public/docs/coverage.md',
      },
    } satisfies Record<string, ApiTag>)
    server.route(routes)
  },
}
