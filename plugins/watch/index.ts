import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { applyJob, dispatchPolicies } from './jobs.ts'
import { routes } from './routes.ts'

/** The checks of many tables at once: the first ones, or what is recommended, for tables that come later too. */
export const watch: Plugin<undefined> = {
  name: 'watch',
  dependencies: ['catalog', 'scans', 'validity', 'metrics', 'freshness', 'profiles', 'recommendations'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      watch: {
        title: 'Watch tables',
        group: 'Monitoring',
        order: 105,
        description:
          'Row counts, freshness, keys and recommended checks of many tables, set up by one request.',
        page: '/api/public/docs/checks.md#watch-many-tables-at-once',
      },
    } satisfies Record<string, ApiTag>)
    server.jobs.add(applyJob, dispatchPolicies)
    server.route(routes)
  },
}
