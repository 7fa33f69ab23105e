import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Which tables are watched by which checks, and which are not. */
export const coverage: Plugin<undefined> = {
  name: 'coverage',
  dependencies: ['auth', 'catalog', 'recommendations'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      coverage: {
        title: 'Coverage',
        group: 'Monitoring',
        order: 160,
        description: 'Which tables are watched by which checks.',
        page: '/api/public/docs/coverage.md',
      },
    } satisfies Record<string, ApiTag>)
    server.route(routes)
  },
}
