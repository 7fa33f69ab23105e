import { feature } from '../../server/feature.ts'
import type { ReferentialApi } from './api.ts'
import type { ReferentialDeps } from './deps.ts'
import { dryRunReference } from './dry-run.ts'
import { makeReferentialKind } from './kind.ts'
import { referentialResource } from './routes.ts'

/** Checks that the values of a column occur in another table, on schedule and on demand. */
export const referential = feature<ReferentialApi>({
  name: 'referential',
  needs: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
  tags: {
    referential: {
      title: 'Referential checks',
      group: 'Monitoring',
      order: 140,
      description: 'Rows whose parents are missing.',
      page: '/guide/checks',
    },
  },
  make({ db, plugins: { catalog, operatingSchedules, checks } }) {
    const kind = makeReferentialKind(catalog)
    const deps: ReferentialDeps = { db, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    return {
      api: {
        dryRun: (companyId, trial) => dryRunReference(deps, companyId, trial),
      },
      routes: checks.routesOf(referentialResource(deps)),
    }
  },
})
