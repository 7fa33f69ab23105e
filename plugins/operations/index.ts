import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { routes } from './routes.ts'

/** What the admins of a company see of its jobs, and what they do about those that failed for good. */
export const operations: Plugin<undefined> = {
  name: 'operations',
  dependencies: ['auth', 'catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      operations: {
        title: 'Operations',
        group: 'Service',
        order: 425,
        description: "The company's jobs: what waits, what runs, and what failed for good.",
        page: '/api/public/docs/operations.md',
      },
    } satisfies Record<string, ApiTag>)
    server.route(routes)
  },
}
