import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import type { RecommendationsApi } from './api.ts'
import { countJob, dispatchCounts } from './count-jobs.ts'
import { coverageRoutes } from './coverage/routes.ts'
import { saveRemoval } from './decisions.ts'
import { depsOf } from './deps.ts'
import { publishedRoutes } from './published-routes.ts'
import { routes } from './routes.ts'
import { listKept } from './service.ts'
import { applyJob, dispatchPolicies } from './watch/jobs.ts'
import { watchRoutes } from './watch/routes.ts'

/**
 * Checks that the evidence of tables speaks for: why, what they cost, and what they would have said; for many tables at
 * once, too, and for those that come later; and which tables have which checks.
 */
export const recommendations: Plugin<undefined> = {
  name: 'recommendations',
  dependencies: ['catalog', 'checks', 'validity', 'metrics', 'referential', 'freshness', 'profiles'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      recommendations: {
        title: 'Recommendations',
        group: 'Monitoring',
        order: 104,
        description: 'Checks that constraints, profiles, names and history of tables speak for.',
        page: '/api/public/docs/recommendations.md',
      },
      watch: {
        title: 'Watch tables',
        group: 'Monitoring',
        order: 105,
        description:
          'Row counts, freshness, keys and recommended checks of many tables, set up by one request.',
        page: '/api/public/docs/checks.md#watch-many-tables-at-once',
      },
      coverage: {
        title: 'Coverage',
        group: 'Monitoring',
        order: 160,
        description: 'Which tables are watched by which checks.',
        page: '/api/public/docs/coverage.md',
      },
    } satisfies Record<string, ApiTag>)
    const deps = depsOf(server)
    server.plugins.checks.afterStop((trx, source, check) => saveRemoval(trx, source.id, check))
    server.jobs.add(countJob, dispatchCounts, applyJob, dispatchPolicies)
    server.route([...routes(deps), ...publishedRoutes(deps), ...watchRoutes(deps), ...coverageRoutes(deps)])
    server.expose({
      listKept: (trx, source, tableIds) => listKept(deps, trx, source, tableIds),
    } satisfies RecommendationsApi)
  },
}
