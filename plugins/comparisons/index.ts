import { feature } from '../../server/feature.ts'
import type { ComparisonDeps } from './deps.ts'
import { makeComparisonKind } from './kind.ts'
import { comparisonResource } from './routes.ts'

/** Comparisons of two tables, of one source or of two, on schedule and on demand. */
export const comparisons = feature({
  name: 'comparisons',
  needs: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
  tags: {
    comparisons: {
      title: 'Comparisons',
      group: 'Monitoring',
      order: 145,
      description: 'Tables that should be equal, on one source or on two.',
      page: '/guide/checks',
    },
  },
  make({ db, config, plugins: { catalog, operatingSchedules, checks } }) {
    const kind = makeComparisonKind({ db, catalog, timezone: config.timezone })
    const deps: ComparisonDeps = { db, catalog, operatingSchedules, timezone: config.timezone, checks, kind }
    checks.addKind(kind)
    return { routes: checks.routesOf(comparisonResource(deps)) }
  },
})
