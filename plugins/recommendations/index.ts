import { feature } from '../../server/feature.ts'
import type { RecommendationsApi } from './api.ts'
import { countJob, dispatchCounts } from './count-jobs.ts'
import { coverageRoutes } from './coverage/routes.ts'
import { saveRemoval } from './decisions.ts'
import { depsOf } from './deps.ts'
import { publishedRoutes } from './published/routes.ts'
import { routes } from './routes.ts'
import { listKept } from './service.ts'
import { applyJob, dispatchPolicies } from './watch/jobs.ts'
import { watchRoutes } from './watch/routes.ts'

/**
 * Checks that the evidence of tables speaks for: why, what they cost, and what they would have said; for many tables at
 * once, too, and for those that come later; and which tables have which checks.
 */
export const recommendations = feature<RecommendationsApi>({
  name: 'recommendations',
  needs: ['catalog', 'checks', 'validity', 'metrics', 'referential', 'comparisons', 'freshness', 'profiles'],
  tags: {
    recommendations: {
      title: 'Recommendations',
      group: 'Monitoring',
      order: 104,
      description: 'Checks that constraints, profiles, names and history of tables speak for.',
      page: '/guide/recommendations',
    },
    watch: {
      title: 'Watch tables',
      group: 'Monitoring',
      order: 105,
      description:
        'Row counts, freshness, keys and recommended checks of many tables, set up by one request.',
      page: '/guide/checks#watch-many-tables-at-once',
    },
    coverage: {
      title: 'Coverage',
      group: 'Monitoring',
      order: 160,
      description: 'Which tables are watched by which checks.',
      page: '/guide/coverage',
    },
  },
  api(server) {
    const deps = depsOf(server)
    return { listKept: (trx, source, tableIds) => listKept(deps, trx, source, tableIds) }
  },
  setUp: ({ plugins }) =>
    plugins.checks.afterStop((trx, source, check) => saveRemoval(trx, source.id, check)),
  jobs: [countJob, dispatchCounts, applyJob, dispatchPolicies],
  routes(_, server) {
    const deps = depsOf(server)
    return [...routes(deps), ...publishedRoutes(deps), ...watchRoutes(deps), ...coverageRoutes(deps)]
  },
})
