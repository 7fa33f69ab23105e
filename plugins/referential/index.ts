import type { Plugin } from '@hapi/hapi'
import type { ReferentialApi } from './api.ts'
import type { ReferentialDeps } from './deps.ts'
import { dryRunReference } from './dry-run.ts'
import { makeReferentialKind } from './kind.ts'
import { referentialResource } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Checks that the values of a column occur in another table, on schedule and on demand. */
export const referential: Plugin<undefined> = {
  name: 'referential',
  dependencies: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      referential: {
        title: 'Referential checks',
        group: 'Monitoring',
        order: 140,
        description: 'Rows whose parents are missing.',
        page: '/api/public/docs/checks.md',
      },
    } satisfies Record<string, ApiTag>)
    const { db } = server
    const { catalog, operatingSchedules, checks } = server.plugins
    const kind = makeReferentialKind(catalog)
    const deps: ReferentialDeps = { db, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    server.route(checks.routesOf(referentialResource(deps)))
    server.expose({
      dryRun: (companyId, trial) => dryRunReference(deps, companyId, trial),
    } satisfies ReferentialApi)
  },
}
