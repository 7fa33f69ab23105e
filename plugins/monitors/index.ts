import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { makeMonitors } from './apply.ts'
import { routes } from './routes.ts'
import { findOwners } from './store.ts'

/** Checks that stand in files: exported, planned and applied. */
export const monitors: Plugin<undefined> = {
  name: 'monitors',
  dependencies: ['catalog', 'checks', 'validity', 'metrics', 'referential', 'freshness'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      monitors: {
        title: 'Monitors as code',
        group: 'Monitoring',
        order: 118,
        description: 'Checks that stand in files, planned and applied.',
        page: '/api/public/docs/monitors.md',
      },
    } satisfies Record<string, ApiTag>)
    const { catalog, checks } = server.plugins
    checks.addOwners(findOwners)
    const { baseUrl } = server.config
    server.route(routes(makeMonitors({ db: server.db, catalog, checks }), { checks, baseUrl }))
  },
}
