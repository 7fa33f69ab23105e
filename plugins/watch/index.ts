import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { routes } from './routes.ts'

/** The first checks of many tables at once: row counts, freshness and key columns. */
export const watch: Plugin<undefined> = {
  name: 'watch',
  dependencies: ['catalog', 'scans', 'validity', 'metrics', 'freshness'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      watch: {
        title: 'Watch tables',
        group: 'Monitoring',
        order: 105,
        description: 'Row counts, freshness and keys of many tables, set up by one request.',
        page: '/api/public/docs/checks.md#watch-many-tables-at-once',
      },
    } satisfies Record<string, ApiTag>)
    server.route(routes)
  },
}
